"""A canvas that plays the frames of one matrix and stays in place from the first to the last."""

from __future__ import annotations

from pages.ui.shell.component import component

_canvas = component(__file__, "kcnet_matrix_canvas")


def matrix_canvas(data: bytes, key: str) -> None:
    """Draw `data` (see `kcnet_core.figures.canvas_data`); under the same key in the same place."""
    _canvas(key=key, data=data)
