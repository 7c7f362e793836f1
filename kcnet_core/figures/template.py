"""The look of all charts as two plotly templates: type, margins, quiet axes, colours.

A figure says only what is particular to it: traces, axis titles, ranges, its text form.
"""

from __future__ import annotations

import plotly.graph_objects as go
import plotly.io as pio

from kcnet_core.palette import colourscale, faded, theme

FONT = "'Source Sans 3', 'Source Sans Pro', 'Source Sans', system-ui, sans-serif"
TEMPLATES = ("kcnet_light", "kcnet_dark")
CLEAR = "rgba(0,0,0,0)"


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
        # What a label says is in each trace's own words; its name in a box beside them says less.
        "hoverlabel": {
            "bgcolor": ink.surface,
            "bordercolor": ink.muted,
            "font": text,
            "namelength": 0,
        },
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
