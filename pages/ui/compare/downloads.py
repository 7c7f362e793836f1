"""What a visitor takes home from a comparison: tables, a script, figures and a link."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.evaluate import pairwise
from kcnet_core.experiments.protocols import PROTOCOLS
from kcnet_core.storage.safe_csv import csv_text
from pages.ui.compare import state
from pages.ui.compare.scores import Results
from pages.ui.shell import measured
from pages.ui.shell.chart import FORMATS
from pages.ui.shell.escaping import data_table
from pages.ui.shell.words import column_name

SCRIPT = '''"""Repeats a comparison of KCNet Lab."""

from kcnet_core.experiments.comparison.rows import compare_steps
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.evaluate import results_table, summary

comparison = Comparison(
{fields}
)
rows = []
for row in compare_steps(comparison):
    rows.append(row)
    print(row["variant"], row["repeat"], row["error"] or row["{metric}"])
table = results_table(rows)
table.to_csv("{name}.csv", index=False)
print(summary(table, by=("variant",)).query("metric == '{metric}'"))
'''


def take_home(found: Results) -> None:
    comparison = found.comparison
    name = f"kcnet-compare-{comparison.dataset}"
    offers = (
        ("Rows", rows_csv, "One line per model, size, repeat and fold: every score and time."),
        ("Means", means_csv, "One line per variant and metric, with 95% intervals."),
        ("Differences", pairs_csv, "One line per pair of variants, with intervals and p-values."),
    )
    with st.container(horizontal=True):
        for label, make, help_text in offers:
            st.download_button(
                label, lambda make=make: make(found), f"{name}-{label.lower()}.csv", "text/csv",
                key=f"compare_csv_{label}", icon=":material/table:", on_click="ignore",
                help=help_text,
            )  # fmt: skip
        if comparison.dataset != "uploaded":
            st.download_button(
                "Script", lambda: script(found, name), f"{name}.py", "text/x-python",
                key="compare_script", icon=":material/code:", on_click="ignore",
                help="A short Python script that repeats this comparison with kcnet_core.",
            )  # fmt: skip
    st.segmented_control(
        "Figures are saved as",
        FORMATS,
        default=FORMATS[0],
        required=True,
        key="figure_format",
        persist_state="session",
        format_func=str.upper,
        help="Every figure has a camera button in its corner.",
    )
    state.links(comparison)
    st.header("Every row", anchor=False)
    data_table(shown_rows(found), key="compare_rows", hide_index=True, height=360,
                 alt="Every measured row of the comparison", placeholder="—")  # fmt: skip


def shown_rows(found: Results) -> pd.DataFrame:
    """The rows with titles in place of the names that files and scripts use."""
    table = found.table.dropna(axis=1, how="all").drop(columns=["id"], errors="ignore")
    protocols = table["protocol"].map(lambda name: PROTOCOLS[name].title)
    table = table.assign(dataset=found.dataset.title, protocol=protocols)
    return table.rename(columns=column_name)


def rows_csv(found: Results) -> str:
    """Measured rows, and those that failed, with what they said."""
    job = measured.job("compare")
    failed = []
    if job is not None and job.config == found.comparison and job.view.snapshot is not None:
        failed = [row for row in job.view.snapshot.items if row["error"]]
    return named_csv(found, pd.concat([found.table, pd.DataFrame(failed)]))


def means_csv(found: Results) -> str:
    return named_csv(found, found.lines)


def pairs_csv(found: Results) -> str:
    return named_csv(found, pairwise(found.table, found.metric).assign(metric=found.metric))


def named_csv(found: Results, table: pd.DataFrame) -> str:
    """With how the data were loaded, such as their pixels' scale, where it is not as always."""
    options = found.comparison.to_query().get("options")
    return csv_text(table.assign(options=options) if options else table)


def script(found: Results, name: str) -> str:
    default = Comparison()
    chosen = {
        field: value
        for field, value in vars(found.comparison).items()
        if value != getattr(default, field) or field in ("dataset", "models", "hidden")
    }
    lines = "\n".join(f"    {field}={value!r}," for field, value in chosen.items())
    return SCRIPT.format(fields=lines, metric=found.metric, name=name)
