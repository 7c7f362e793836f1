"""Molecules as cards in a grid: drawing, name and odor characters."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.molecules.pictures import molecule_svg
from pages.ui.shell import visitor
from pages.ui.shell.escaping import plain


def cards(dataset: Dataset, rows: Iterable[int]) -> None:
    with st.grid(min_column_width=180, border=True) as grid:
        for row in rows:
            with grid.cell():
                name = dataset.row_names[row] if dataset.row_names else dataset.smiles[row]
                st.image(molecule_svg(dataset.smiles[row], 190, 120, dark=visitor.dark()), alt=name)
                st.text(name)
                st.caption(plain(characters(dataset, row)))


def characters(dataset: Dataset, row: int) -> str:
    value = dataset.y[row]
    if not dataset.multilabel:
        return dataset.target_names[int(value)]
    return " · ".join(n for n, on in zip(dataset.target_names, value, strict=True) if on) or "none"
