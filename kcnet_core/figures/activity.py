"""Hidden cells as a field of lights: which of them answer one sample, and how strongly."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go

from kcnet_core.figures.axes import QUIET
from kcnet_core.figures.layout import draw
from kcnet_core.figures.traces import heat, scatter


def cell_field(activity, *, name: str, limit: float, dark: bool = False) -> go.Figure:
    """All cells of a hidden layer in reading order, each as bright as it is active.

    Samples that are to be compared have the same `limit`: the activity of the brightest colour.
    """
    activity = np.asarray(activity, dtype=np.float32)
    B = len(activity)
    columns = max(1, math.ceil(math.sqrt(1.6 * B)))
    rows = math.ceil(B / columns)
    field = np.full(rows * columns, np.nan, np.float32)
    field[:B] = activity
    limit = limit or 1.0
    lights = heat(
        field.reshape(rows, columns),
        0,
        limit,
        "cell %{customdata}<br>activity %{z:.3g}",
        customdata=np.arange(rows * columns).reshape(rows, columns),
        colorbar={"title": "activity"},
        hoverongaps=False,
        xgap=1,
        ygap=1,
    )
    awake = float((activity > 0.01 * limit).mean()) if B else 0.0
    alt = (
        f"{name}: {B} hidden cells, {awake:.0%} of them active, mean {activity.mean():.3g}, "
        f"largest {activity.max():.3g}."
    )
    hidden = {**QUIET, "showticklabels": False}
    return draw(
        [lights],
        alt,
        dark,
        300,
        title=name,
        margin={"l": 8, "r": 84, "t": 36, "b": 8},
        xaxis={**hidden, "range": [-0.5, columns - 0.5]},
        yaxis={**hidden, "range": [rows - 0.5, -0.5]},
    )


def activity_ranks(
    activities: dict[str, np.ndarray], colours: dict[str, str], *, dark: bool = False,
) -> go.Figure:  # fmt: skip
    """Each network's cells from the most to the least active, relative to the most active one."""
    traces, parts = [], []
    for name, activity in activities.items():
        ranked = np.sort(np.asarray(activity, dtype=float))[::-1]
        ranked = ranked / (ranked[0] or 1.0)
        share = 100 * (np.arange(len(ranked)) + 0.5) / len(ranked)
        parts.append(f"{name}'s middle cell at {np.median(ranked):.0%}")
        hover = name + ": %{x:.0f}% of cells are above %{y:.0%}"
        look = {"color": colours[name], "width": 2.5}
        traces.append(scatter("lines", share, ranked, hover, name=name, line=look))
    return draw(
        traces,
        f"Activity of the hidden cells, ranked: {', '.join(parts)} of the strongest cell.",
        dark,
        260,
        showlegend=True,
        xaxis={"title": "Cells, most active first (%)", "range": [0, 100]},
        yaxis={"title": "Activity / strongest", "range": [0, 1.05], "nticks": 5},
    )
