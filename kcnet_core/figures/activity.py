"""Hidden cells as a field of lights: which of them answer one sample, and how strongly."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go

from kcnet_core.figures.layout import bar_style, bare, style
from kcnet_core.palette import colourscale, theme


def cell_field(
    activity: np.ndarray, *, name: str, limit: float, unit: str = "activity", dark: bool = False,
    height: int = 300,
) -> go.Figure:  # fmt: skip
    """All cells of a hidden layer in reading order, each as bright as it is active.

    Parameters
    ----------
    activity : ndarray of shape (B,)
        Not negative.
    name : str
        Of the network.
    limit : float
        Activity of the brightest colour; give the same for samples that are to be compared.
    """
    activity = np.asarray(activity, dtype=np.float32)
    B = len(activity)
    columns = max(1, math.ceil(math.sqrt(1.6 * B)))
    rows = math.ceil(B / columns)
    field = np.full(rows * columns, np.nan, np.float32)
    field[:B] = activity
    numbers = np.arange(rows * columns).reshape(rows, columns)
    ink, limit = theme(dark), limit or 1.0
    lights = {
        "type": "heatmap",
        "z": field.reshape(rows, columns),
        "customdata": numbers,
        "zmin": 0,
        "zmax": limit,
        "xgap": 1,
        "ygap": 1,
        "colorscale": colourscale("sequential", dark),
        "colorbar": bar_style(ink, unit),
        "hoverongaps": False,
        "hovertemplate": "cell %{customdata}<br>" + unit + " %{z:.3g}<extra></extra>",
    }
    awake = float((activity > 0.01 * limit).mean()) if B else 0.0
    alt = (
        f"{name}: {B} hidden cells, {awake:.0%} of them active, mean {activity.mean():.3g}, "
        f"largest {activity.max():.3g}."
    )
    hidden = {"showticklabels": False, "showline": False, "ticks": "", "showgrid": False}
    return style(
        bare(lights),
        alt,
        dark=dark,
        title=name,
        height=height,
        margin={"l": 8, "r": 84, "t": 36, "b": 8},
        xaxis={**hidden, "range": [-0.5, columns - 0.5]},
        yaxis={**hidden, "range": [rows - 0.5, -0.5]},
    )


def activity_ranks(
    activities: dict[str, np.ndarray], colours: dict[str, str], *, dark: bool = False,
    height: int = 260,
) -> go.Figure:  # fmt: skip
    """Each network's cells from the most to the least active, relative to the most active one.

    Parameters
    ----------
    activities : mapping from network to ndarray of shape (B,)
    colours : mapping from network to line colour
    """
    traces, parts = [], []
    for name, activity in activities.items():
        ranked = np.sort(np.asarray(activity, dtype=float))[::-1]
        ranked = ranked / (ranked[0] or 1.0)
        share = 100 * (np.arange(len(ranked)) + 0.5) / len(ranked)
        parts.append(f"{name}'s middle cell at {np.median(ranked):.0%}")
        traces.append(
            {
                "type": "scatter",
                "x": share,
                "y": ranked,
                "mode": "lines",
                "name": name,
                "line": {"color": colours[name], "width": 2.5},
                "hovertemplate": name + ": %{x:.0f}% of cells are above %{y:.0%}<extra></extra>",
            }
        )
    return style(
        bare(*traces),
        f"Activity of the hidden cells, ranked: {', '.join(parts)} of the strongest cell.",
        dark=dark,
        x="Cells, most active first (%)",
        y="Activity / strongest",
        height=height,
        legend=True,
        xaxis={"range": [0, 100]},
        yaxis={"range": [0, 1.05], "nticks": 5},
    )
