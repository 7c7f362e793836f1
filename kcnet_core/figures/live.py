"""A figure as the few numbers and words that a small renderer needs to draw it in place.

A page that shows training as it happens cannot use plotly's own renderer: it takes every chart
down and builds it anew when its data change. `pages/ui/live_charts.js` draws these dicts instead.
They keep plotly's words, so that a figure is described once and looks the same in both.
"""

from __future__ import annotations

import base64
import html

import numpy as np
import plotly.graph_objects as go

from kcnet_core.figures.layout import alt

TRACES = ("image", "scatter", "bar", "heatmap")  # what the renderer can draw
LAYOUT = ("margin", "title", "xaxis", "yaxis", "shapes", "annotations", "bargap", "hovermode",
          "hoverlabel", "showlegend", "legend")  # fmt: skip
DIGITS = 6


def compact(figure: go.Figure) -> dict:
    """The figure as plain data: `alt`, `layout` and `traces`, with numbers of six digits.

    Raises
    ------
    ValueError
        For a trace that the renderer does not know, rather than leaving it out in silence.
    """
    whole = figure.to_plotly_json()
    unknown = {trace["type"] for trace in whole["data"]} - set(TRACES)
    if unknown:
        raise ValueError(f"the live view cannot draw {', '.join(sorted(unknown))}")
    return {
        "alt": alt(figure),
        "layout": {key: _plain(whole["layout"][key]) for key in LAYOUT if key in whole["layout"]},
        "traces": [_plain(trace) for trace in whole["data"]],
    }


def _plain(value):
    """Lists, numbers and words as JSON has them; words without plotly's escapes."""
    if isinstance(value, dict) and "bdata" in value:  # how plotly writes an array
        array = np.frombuffer(base64.b64decode(value["bdata"]), np.dtype(value["dtype"]))
        shape = [int(side) for side in value.get("shape", "-1").split(",")]
        return _rounded(array.reshape(shape))
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
