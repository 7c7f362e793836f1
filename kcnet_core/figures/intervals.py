"""Means with their 95% intervals: bands, whiskers, rows of them, and ranges that hold them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kcnet_core.figures.axes import ACROSS, metric_range, named_rows, nice_ceiling
from kcnet_core.figures.layout import draw, level_line
from kcnet_core.figures.traces import scatter
from kcnet_core.palette import faded

ROW_HEIGHT = 25


def band(x, low, high, colour: str, strength: float = 0.14, **more) -> list[dict]:
    """The area between two lines where both are known; none if that is a single point."""
    x, low, high = (np.asarray(values, dtype=float) for values in (x, low, high))
    known = np.isfinite(low) & np.isfinite(high)
    if known.sum() < 2:
        return []
    x, y = [*x[known], *x[known][::-1]], [*high[known], *low[known][::-1]]
    look = {"fillcolor": faded(colour, strength), "line": {"width": 0}, **more}
    return [scatter("lines", x, y, fill="toself") | look]


def whiskers(part: pd.DataFrame, colour: str, **look) -> dict:
    """Error bars from `low` to `high` around `mean`; an unknown interval has none."""
    mean, low, high = columns_of(part, "mean", "low", "high")
    up, down = np.nan_to_num(high - mean), np.nan_to_num(mean - low)
    return {"array": up, "arrayminus": down, "color": colour, **look}


def columns_of(table: pd.DataFrame, *names: str) -> list[np.ndarray]:
    """Columns as numbers; one that is missing knows none."""
    return [
        table[name].to_numpy(dtype=float) if name in table else np.full(len(table), np.nan)
        for name in names
    ]


def interval_range(table: pd.DataFrame, spreads: float, least: float) -> list[float]:
    """A range that holds all means, and intervals as far as they do not squeeze the means.

    Either side has room for them: so many `spreads` of the means, but at `least` so much.
    """
    mean, low, high, paper = columns_of(table, "mean", "low", "high", "paper")
    inner = np.concatenate([mean, paper])
    inner = inner[np.isfinite(inner)]
    if not len(inner):
        return [0.0, 1.0]
    room = max(spreads * float(np.ptp(inner)), least)
    ends = np.concatenate([low, high])
    ends = np.clip(ends[np.isfinite(ends)], inner.min() - room, inner.max() + room)
    return tight([*inner, *ends])


def tight(values: Sequence[float] | np.ndarray) -> list[float]:
    """The values with a little air, ends rounded so that they move rarely."""
    values = np.asarray(values, dtype=float)
    if not len(values):
        return metric_range([])
    span = max(float(np.ptp(values)), 0.01)
    step = nice_ceiling(span) / 10
    most = 1.01 if values.max() <= 1 else math.inf  # no metric is above one, but a point has width
    return [
        step * math.floor((values.min() - 0.05 * span) / step),
        min(step * math.ceil((values.max() + 0.05 * span) / step), most),
    ]


def interval_rows(
    labels: Sequence[str],
    means: np.ndarray,
    lows: np.ndarray,
    highs: np.ndarray,
    *,
    colours: Sequence[str],
    about: Sequence[str],
    alt: str,
    x: str,
    x_range: list[float],
    symbols: Sequence[str] | str = "circle",
    level: float | None = None,
    dark: bool = False,
) -> go.Figure:
    """One row for each mean: a dot on its interval, first on top.

    `about` is what the pointer shows, escaped where it has to be; a broken line marks the `level`
    of guessing.
    """
    at = np.arange(len(labels))
    bars = [
        scatter("lines", [low, high], [i, i], line={"color": faded(colour, 0.45), "width": 5})
        for i, low, high, colour in zip(at, lows, highs, colours, strict=True)
    ]
    look = {"color": colours, "size": 10, "symbol": symbols}
    dots = scatter("markers", means, at, "%{customdata}", customdata=about, marker=look)
    return draw(
        [*bars, dots],
        alt,
        dark,
        76 + ROW_HEIGHT * max(3, len(labels)),
        margin={"t": 8, "r": 22},
        xaxis={**ACROSS, "title": x, "range": x_range, "showline": True},
        yaxis=named_rows(labels, dark),
        shapes=[] if level is None else [level_line(level, "x")],
    )
