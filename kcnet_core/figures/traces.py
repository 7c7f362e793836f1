"""The traces that charts are made of, each in one line; what else one has is in plotly's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


def scatter(mode: str, x, y, hover: str | None = None, **more) -> dict:
    """Lines, markers or text at (x, y); without words for the pointer, it is passed over."""
    return {"type": "scatter", "mode": mode, "x": x, "y": y, **_said(hover), **more}


def bars(x, y, colour, hover: str | Sequence[str] | None = None, **more) -> dict:
    """Bars up to y, in one colour or in one each."""
    return {"type": "bar", "x": x, "y": y, "marker": {"color": colour}, **_said(hover), **more}


def bars_across(x, colour, hover: str | None = None, **more) -> dict:
    """Bars to the right, one in each of the rows 0, 1, 2, ..."""
    return bars(x, np.arange(len(x)), colour, hover, orientation="h", **more)


def row_ends(x, texts: Sequence[str]) -> dict:
    """Words to the right of x, one in each of the rows 0, 1, 2, ..."""
    words = [f"  {text}" for text in texts]
    trace = scatter("text", x, np.arange(len(x)), text=words, textposition="middle right")
    return trace | {"cliponaxis": False}


def heat(z, low: float, high: float, hover: str | None = None, **more) -> dict:
    """Coloured squares; orange for more, unless it brings a scale of its own."""
    return {"type": "heatmap", "z": z, "zmin": low, "zmax": high, **_said(hover), **more}


def numbers(texts: Mapping[tuple[int, int], str], colours: np.ndarray) -> dict:
    """Words in squares, by (row, column), each in the colour that `colours` has there."""
    rows, columns = zip(*texts, strict=True) if texts else ((), ())
    look = {"size": 11, "color": [colours[at] for at in texts]}
    return scatter("text", columns, rows, text=list(texts.values()), textfont=look)


def _said(hover: str | Sequence[str] | None) -> dict:
    """What the pointer shows; plotly would put the trace's name in a box beside it."""
    if hover is None:
        return {"hoverinfo": "skip"}
    alone = "<extra></extra>"
    words = hover + alone if isinstance(hover, str) else [each + alone for each in hover]
    return {"hovertemplate": words}
