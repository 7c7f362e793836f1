"""Molecules as cards in a grid: drawing, name and odor characters."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from kcnet_core.datasets.dataset import Dataset
from pages.ui.shell import visitor
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.row_picture import label, molecule


def cards(dataset: Dataset, rows: Iterable[int]) -> None:
    with st.grid(min_column_width=180, border=True) as grid:
        for row in rows:
            with grid.cell():
                molecule(dataset, row, visitor.dark(), 190, 120)
                st.caption(escape_markdown(label(dataset, dataset.y[row], " · ", "none")))
