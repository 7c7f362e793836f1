"""Axes of numbers that move rarely while data arrive, and axes of names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from kcnet_core.palette import theme

ACROSS = {"showgrid": True, "showline": False, "ticks": "", "nticks": 6}  # the axis under rows
QUIET = {"showgrid": False, "showline": False, "ticks": ""}  # an axis of names


def nice_ceiling(value: float) -> float:
    """1, 2 or 5 times a power of ten, at least `value`; an axis end that moves rarely."""
    if not math.isfinite(value) or value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 5, 10) if value <= step * power * (1 + 1e-9))


def metric_range(values: Iterable[float | None]) -> list[float]:
    """A range for a metric in [0, 1] that moves only in steps of a tenth."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    if not known:
        return [0.0, 1.0]
    low = math.floor(10 * (min(known) - 0.01)) / 10
    high = math.ceil(10 * (max(known) + 0.01)) / 10
    return [max(0.0, low) if min(known) >= 0 else low, min(1.02, high) if high <= 1.1 else high]


def named_rows(labels: Sequence[str], dark: bool) -> dict:
    """A vertical axis of names, first on top."""
    return {
        "tickvals": np.arange(len(labels)),
        "ticktext": labels,
        "tickfont": {"color": theme(dark).text},
        "range": [len(labels) - 0.5, -0.5],
        "ticklabelstandoff": 6,
        "showgrid": False,
        "automargin": True,
    }


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
