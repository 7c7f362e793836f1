"""A table as coloured squares with names at both sides, and numbers in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kcnet_core.figures.traces import scatter

QUIET = {"showgrid": False, "showline": False, "ticks": ""}  # an axis of names


def square_axes(
    labels: Sequence[str], x: str = "", y: str = "", every: int = 1, **look
) -> dict[str, dict]:
    """Both axes of a table that has the same names in rows and columns, first on top."""
    ticks = {
        **QUIET,
        "tickvals": np.arange(len(labels))[::every],
        "ticktext": labels[::every],
        "automargin": True,
        **look,
    }
    first, last = -0.5, len(labels) - 0.5
    return {
        "xaxis": {**ticks, "title": x, "range": [first, last]},
        "yaxis": {**ticks, "title": y, "range": [last, first]},
    }


def numbers(texts: Mapping[tuple[int, int], str], colours: np.ndarray) -> dict:
    """Words in squares, by (row, column), each in the colour that `colours` has there."""
    rows, columns = zip(*texts, strict=True) if texts else ((), ())
    look = {"size": 11, "color": [colours[at] for at in texts]}
    return scatter("text", columns, rows, text=list(texts.values()), textfont=look)
