"""A figure as the few numbers and words that a small renderer needs to draw it in place.

A page that shows training as it happens cannot use plotly's own renderer: it takes every chart
down and builds it anew when its data change. `pages/ui/live_charts.js` draws these dicts instead.
They keep plotly's words, so that a figure is described once and looks the same in both.
"""

from __future__ import annotations

import html

import numpy as np

from kcnet_core.figures.layout import Sketch, alt

TRACES = ("image", "scatter", "bar", "heatmap")  # what the renderer can draw
LAYOUT = ("margin", "title", "xaxis", "yaxis", "shapes", "annotations", "bargap", "hovermode",
          "hoverlabel", "showlegend", "legend")  # fmt: skip
DIGITS = 6


def compact(figure: Sketch) -> dict:
    """The figure as plain data: `alt`, `layout` and `traces`, with numbers of six digits.

    Parameters
    ----------
    figure : Sketch
        Any figure of this package that was made under `unchecked()`.

    Raises
    ------
    ValueError
        For a trace that the renderer does not know, rather than leaving it out in silence.
    """
    unknown = {trace["type"] for trace in figure.data} - set(TRACES)
    if unknown:
        raise ValueError(f"the live view cannot draw {', '.join(sorted(unknown))}")
    layout = figure.layout
    return {
        "alt": alt(figure),
        "layout": {key: _plain(layout[key]) for key in LAYOUT if key in layout},
        "traces": [_plain(trace) for trace in figure.data],
    }


def _plain(value):
    """Lists, numbers and words as JSON has them; words without plotly's escapes."""
    if isinstance(value, dict):
        return {
            key: html.unescape(part) if key == "text" and isinstance(part, str) else _plain(part)
            for key, part in value.items()
        }
    if isinstance(value, np.ndarray):
        return _rounded(value)
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


def _rounded(values: np.ndarray) -> list:
    if values.dtype.kind != "f":
        return values.tolist()
    return [
        _rounded(row) if row.ndim else float(f"{row:.{DIGITS}g}")
        for row in values.astype(np.float64)
    ]
