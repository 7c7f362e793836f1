"""Accuracy per byte: what a trained network takes when it is stored, and what 8 bits cost it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from kcnet_core import figures
from pages.ui.shell.chart import chart
from pages.ui.shell.escaping import data_table
from pages.ui.shell.memo import memo

if TYPE_CHECKING:
    from pages.ui.compare.scores import Results

# On MNIST, KiB and accuracy as their authors print them: ULEEN (Susskind et al. 2023), which also
# lists FINN (Umuroglu et al. 2017) and BTHOWeN (Susskind et al. 2022).
PUBLISHED = {
    "ULEEN": ((262, 0.985), (101, 0.978), (17, 0.962)),
    "FINN": ((355, 0.984), (114, 0.977), (41, 0.958)),
    "BTHOWeN": ((960, 0.952), (210, 0.943), (70, 0.934)),
}
FORMS = {
    "bits": "a bit per possible connection",
    "indices": "the number of each connected input",
    "rectangles": "a bit per pixel of each cell's rectangle",
    "float32": "8 bits per weight",
}


def stored(found: Results) -> None:
    points = memo("stored", found.key, lambda: sizes(found.table))
    if points.empty:
        return
    st.subheader("Accuracy per byte", anchor=False)
    whole = found.comparison.dataset == "mnist" and not found.comparison.rows
    make = partial(figures.accuracy_per_byte, points, PUBLISHED if whole else None)
    chart(found.figure("bytes", make), "compare_bytes")
    data_table(
        pd.DataFrame(
            {
                "Variant": points["variant"],
                "KiB, 8 bits": points["kib"],
                "KiB, 32 bits": points["kib_32"],
                "Accuracy, 8 bits": points["accuracy"],
                "Accuracy, 32 bits": points["accuracy_32"],
                "Lost to rounding": points["accuracy_32"] - points["accuracy"],
                "Hidden layer stored as": points["form"].map(FORMS),
            }
        ),
        key="compare_stored",
        hide_index=True,
        width="stretch",
        alt="Stored size and accuracy of every network in 8 and in 32 bits",
        column_config={
            name: st.column_config.NumberColumn(format="%.1f" if "KiB" in name else "%.4f")
            for name in ("KiB, 8 bits", "KiB, 32 bits", "Accuracy, 8 bits", "Accuracy, 32 bits",
                         "Lost to rounding")
        },
    )  # fmt: skip
    note = (
        "A wiring of 0 and 1 is stored in whichever form is smallest, output weights in 8 or 32 "
        "bits; accuracy in 8 bits is measured on the same test rows with rounded weights."
    )
    if whole:
        note += (
            " The grey lines are figures that the authors of ULEEN, FINN and BTHOWeN published for "
            "MNIST; they were not measured here."
        )
    st.caption(note)


def sizes(table: pd.DataFrame) -> pd.DataFrame:
    """Means of every network whose size and accuracy in 8 bits are known."""
    known = table[table["stored_bytes"].notna() & table["accuracy_8bit"].notna()]
    groups = known.groupby(["variant", "model"], sort=False)
    return pd.DataFrame(
        {
            "kib": groups["stored_bytes_8bit"].mean() / 1024,
            "kib_32": groups["stored_bytes"].mean() / 1024,
            "accuracy": groups["accuracy_8bit"].mean(),
            "accuracy_32": groups["accuracy"].mean(),
            "form": groups["stored_form"].first(),
        }
    ).reset_index()
