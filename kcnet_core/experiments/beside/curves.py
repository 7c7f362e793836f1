"""What the points of all seeds so far come to: curves by width, and the difference of the two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kcnet_core.experiments.beside.steps import Point, Scene
from kcnet_core.experiments.metrics import Interval, mean_interval


@dataclass(frozen=True)
class Curves:
    """Mean scores by width at one level of noise; KCNet first."""

    widths: np.ndarray  # (k,)
    seeds: np.ndarray  # (k,) that have reached this width
    mean: np.ndarray  # (2, k)
    low: np.ndarray  # (2, k), NaN with a single seed
    high: np.ndarray
    seconds: np.ndarray  # (2, k): mean


def curves(points: Iterable[Point], level: int) -> Curves:
    by_width: dict[int, list[Point]] = {}
    for point in points:
        by_width.setdefault(point.width, []).append(point)
    widths = sorted(by_width)
    found = [
        [interval([p.scores[k, level] for p in by_width[width]], by_width[width]) for k in (0, 1)]
        for width in widths
    ]
    mean, low, high = (
        np.array([[getattr(one, name) for one in pair] for pair in found]).reshape(-1, 2).T
        for name in ("mean", "low", "high")
    )
    return Curves(
        np.array(widths, int),
        np.array([len(by_width[width]) for width in widths], int),
        mean, low, high,
        np.array([np.mean([p.seconds for p in by_width[w]], axis=0) for w in widths])
        .reshape(-1, 2).T,
    )  # fmt: skip


def differences(points: Iterable[Point], width: int, level: int) -> list[Interval]:
    """KCNet minus ELM at one width on the same rows: the mean and its 95% interval after the
    first seed, after two, and so on."""
    here = sorted((p for p in points if p.width == width), key=lambda point: point.repeat)
    values = [float(p.scores[0, level] - p.scores[1, level]) for p in here]
    return [interval(values[:n], here[:n]) for n in range(1, len(here) + 1)]


def interval(values: Sequence[float], points: Sequence[Point]) -> Interval:
    """Splits that share rows make it wider; where only the seed differs it is about the seeds."""
    if points[0].protocol == "benchmark":
        return mean_interval(values)
    rows = [float(np.mean([getattr(p, name) for p in points])) for name in ("n_train", "n_test")]
    return mean_interval(values, n_train=rows[0], n_test=rows[1])


def scene_of(points: Sequence[Point]) -> Scene | None:
    """What the first seed drew, once it is there."""
    return points[0].scene if points else None


def nearest(points: Iterable[Point], width: int) -> Point | None:
    """The first seed's point at this width or, while it still grows, the widest so far."""
    first = [p for p in points if p.repeat == 0 and p.width <= width]
    return max(first, key=lambda point: point.width, default=None)
