"""A row of a dataset as a picture: pixels for images, a structure drawing for molecules."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from typing import Any

import numpy as np
import streamlit as st
from PIL import Image

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.molecules.pictures import molecule_svg, svg_data_uri
from pages.ui.shell import visitor
from pages.ui.shell.escaping import escape_markdown


def pixels(dataset: Dataset, row: int, dark: bool) -> np.ndarray:
    """Values 0..255 of an image row, its scaling undone: colours, or ink on the page's paper."""
    raw = np.clip(dataset.raw_pixels(dataset.X[row]), 0, 1).reshape(dataset.image_shape)
    raw = raw if dark or raw.ndim == 3 else 1 - raw
    return (raw * 255).astype(np.uint8)


def thumbnail(dataset: Dataset, row: int, dark: bool) -> str:
    """A data URI for an image column of a table."""
    if dataset.smiles is not None:
        return svg_data_uri(molecule_svg(dataset.smiles[row], 160, 100, dark=dark))
    image = Image.fromarray(pixels(dataset, row, dark)).resize((56, 56), Image.Resampling.NEAREST)
    out = io.BytesIO()
    image.save(out, "PNG")
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()


def molecule(dataset: Dataset, row: int, dark: bool, width: int = 300, height: int = 220) -> None:
    """A molecule's drawing and name (an image is drawn beside its contributions instead)."""
    assert dataset.smiles is not None, "only odors have molecules"
    name = dataset.row_names[row] if dataset.row_names else dataset.smiles[row]
    st.image(molecule_svg(dataset.smiles[row], width, height, dark=dark), alt=name)
    st.text(name)


def cards(dataset: Dataset, rows: Iterable[int]) -> None:
    """Molecules in a grid: drawing, name and odor characters."""
    with st.grid(min_column_width=180, border=True) as grid:
        for row in rows:
            with grid.cell():
                molecule(dataset, row, visitor.dark(), 190, 120)
                st.caption(escape_markdown(label(dataset, dataset.y[row], " · ", "none")))


def label(dataset: Dataset, value: Any, between: str = ", ", nothing: str = "—") -> str:
    """What a row is, or was taken for: its class, or all of its odor characters."""
    if not dataset.multilabel:
        return dataset.target_names[int(value)]
    names = (name for name, on in zip(dataset.target_names, value, strict=True) if on)
    return between.join(names) or nothing
