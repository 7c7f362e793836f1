"""The look of all charts, as plotly templates for light and dark, and figures made in it.

A figure says only what is particular to it: traces, axes, and its text for those who cannot see it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import plotly.graph_objects as go
import plotly.io as pio

from kcnet_core.figures.escaping import escape_html
from kcnet_core.palette import colourscale, faded, theme

HEIGHT = 300
FONT = "'Source Sans 3', 'Source Sans Pro', 'Source Sans', system-ui, sans-serif"
TEMPLATES = ("kcnet_light", "kcnet_dark")
CLEAR = "rgba(0,0,0,0)"


def draw(
    traces: Iterable[dict], alt: str, dark: bool, height: int = HEIGHT, **layout: Any
) -> go.Figure:
    """A figure in the common look; `alt` is what it says to those who cannot see it.

    `layout` is what is particular to it, in plotly's words; but its title, if it has any, is text
    in which nothing is read as a tag.
    """
    title = layout.pop("title", None)
    if title:
        layout["title"] = {"text": escape_html(title)}
    return go.Figure(list(traces), look(alt, dark, height, **layout))


def look(alt: str, dark: bool, height: int, **layout: Any) -> dict:
    """The layout of a figure: the common look, and what is particular to it."""
    return {"template": TEMPLATES[dark], "height": height, "meta": {"alt": alt}, **layout}


def level_line(at: float, axis: str = "y", dash: str = "dash", **line) -> dict:
    """A thin line across the whole chart, at a value of one axis."""
    other = "x" if axis == "y" else "y"
    return {
        "type": "line",
        f"{axis}0": at,
        f"{axis}1": at,
        f"{other}0": 0,
        f"{other}1": 1,
        f"{other}ref": "paper",
        "line": {"dash": dash, **line},
    }


def alt(figure: go.Figure) -> str:
    """A figure's text for those who cannot see it."""
    return (figure.layout["meta"] or {}).get("alt", "")


def _template(dark: bool) -> go.layout.Template:
    ink = theme(dark)
    text = {"family": FONT, "color": ink.text, "size": 13}
    axis = {
        "color": ink.muted,
        "gridcolor": ink.grid,
        "linecolor": ink.muted,
        "tickfont": {"color": ink.muted, "size": 12},
        "title": {"font": {"color": ink.text, "size": 13}, "standoff": 8},
        "zeroline": False,
        "zerolinecolor": ink.muted,
        "zerolinewidth": 1,
    }
    colour_bar = {
        "thickness": 9,
        "len": 1.0,
        "ypad": 0,
        "x": 1.02,
        "outlinewidth": 0,
        "ticks": "",
        "nticks": 5,
        "tickfont": {"color": ink.muted, "size": 11},
        "title": {"side": "right", "font": {"color": ink.muted, "size": 12}},
    }
    layout = {
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "font": text,
        # Fixed, so that a growing tick label moves nothing.
        "margin": {"l": 62, "r": 16, "t": 34, "b": 50},
        "title": {
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 6},
            "font": {"size": 14, "color": ink.text, "weight": 600},
        },
        "showlegend": False,
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1.0,
            "yanchor": "bottom",
            "bgcolor": CLEAR,
            "font": {"color": ink.text, "size": 12},
        },
        "hovermode": "closest",
        "hoverlabel": {"bgcolor": ink.surface, "bordercolor": ink.muted, "font": text},
        "uirevision": "same",  # what a visitor zoomed into stays when new data come
        "dragmode": False,
        "xaxis": {
            **axis,
            "gridcolor": faded(ink.muted, 0.18),
            "showgrid": False,
            "showline": True,
            "ticks": "outside",
            "ticklen": 4,
        },
        "yaxis": {**axis, "showgrid": True, "showline": False},
        "annotationdefaults": {"showarrow": False, "font": {"color": ink.muted, "size": 11}},
        "shapedefaults": {"line": {"color": ink.muted, "width": 1}},
    }
    number = {"color": ink.text, "size": 12}
    data = {
        "bar": [{"textfont": number, "textposition": "outside", "cliponaxis": False}],
        "heatmap": [{"colorscale": colourscale("sequential", dark), "colorbar": colour_bar}],
        "scatter": [
            {
                "error_x": {"thickness": 1, "width": 3},
                "error_y": {"thickness": 1, "width": 3},
                "marker": {"colorbar": colour_bar},
                "textfont": number,
            }
        ],
    }
    return go.layout.Template(layout=layout, data=data)


for _dark, _name in enumerate(TEMPLATES):
    pio.templates[_name] = _template(bool(_dark))
