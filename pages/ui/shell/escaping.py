"""Text that somebody else chose, written so that Markdown and tables show it as it is."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from kcnet_core.storage.safe_csv import harmless_table

MARKS = re.compile(r"[\\`*_{}\[\]()<>#+\-.!|~$:&=]")
# Addresses, icons and emoji are found after escapes were undone, so these need a gap as well.
FOUND_LATER = re.compile(
    r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=[\w.+-]@)(?=[\w-]+\.)|(?<=:)(?=[\w+/-]+:)", re.IGNORECASE
)
# So are these between spaces: it would show them as an arrow, a dash or a sign of its own.
SIGNS = re.compile(r"(?<!\S)([<>~-])(->|[=>-])(?!\S)")
GAP = "\u200b"  # a zero-width space: nothing to see, and a long address may break there


def escape_markdown(text: object) -> str:
    """One line of Markdown that reads as `text`: no link, image, icon, formula, heading or HTML.

    For every error, link, title, file name, label and molecule that a visitor can choose.
    """
    gapped = FOUND_LATER.sub(GAP, " ".join(str(text).split()))
    gapped = SIGNS.sub(rf"\1{GAP}\2", gapped)
    return MARKS.sub(r"\\\g<0>", gapped)


def data_table(data: Any, **options: Any) -> Any:
    """`st.dataframe`; its toolbar saves CSV, so no text in it may be taken for a formula.

    What comes with a style was made harmless before it got that.
    """
    import pandas as pd
    from pandas.io.formats.style import Styler

    return st.dataframe(
        data if isinstance(data, Styler) else harmless_table(pd.DataFrame(data)), **options
    )
