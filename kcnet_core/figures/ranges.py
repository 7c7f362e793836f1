"""Ends of axes and scales that move rarely while numbers arrive."""

from __future__ import annotations

import math
from collections.abc import Iterable


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
