"""How a metric went from epoch to epoch: its lines, and a chart of them (an option for ECharts)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from kcnet_core.figures.axes import metric_range
from kcnet_core.figures.echarts import Points, last_value, level, line, option, ring
from kcnet_core.network.history import EpochRecord
from kcnet_core.palette import faded, model_colour, theme

MAX_POINTS = 400  # of one line; more cannot be told apart on a page
MAX_LISTED = 12  # submodels that the words under the pointer name one by one
WORDS = (0.3, 0.1)  # share of a chart's width and height that a few words take


@dataclass(frozen=True)
class Curve:
    """One chart: ECharts' option, and its text for those who cannot see it."""

    option: dict[str, Any]
    alt: str


@dataclass(frozen=True)
class MetricLines:
    """A metric on training and validation rows by epoch; of an ensemble the mean, and each one."""

    train: Points
    validation: Points
    submodels: dict[int, Points]
    ends: tuple[float, float]  # of the axis
    last_epoch: int  # planned or seen
    free_place: str  # for words beside the metric at which training stops
    alt: str


def validation_curve(
    records: Iterable[EpochRecord],
    metric_name: str = "accuracy",
    *,
    n_epochs: int | None = None,
    stop_metric: float | None = None,
    model: str | None = None,
    mark_best: bool = False,
    dark: bool = False,
) -> Curve:
    """Validation metric (solid) and training metric (dotted) over epochs.

    An ensemble has one thin line per submodel and a thick one for their mean. The axis ends at
    `n_epochs`, so that it stands still while the curve grows; a line marks the metric at which
    training would stop, a ring the best epoch of a single network, whose wiring is kept.
    """
    found = metric_lines(records, metric_name, n_epochs, stop_metric)
    train, validation, ensemble = found.train, found.validation, bool(found.submodels)
    colour = model_colour(model or ("Ensemble DOA" if ensemble else "DOA"), dark)
    muted, suffix = theme(dark).muted, ", mean" if ensemble else ""
    series = [line(f"training{suffix}", train, muted, 1.5, "dotted")] if len(train[0]) else []
    # Of many submodels, only their mean is named under the pointer.
    listed = {"show": len(found.submodels) <= MAX_LISTED}
    series += [
        line(f"submodel {k + 1}", curve, faded(colour, 0.45), 1, tooltip=listed)
        for k, curve in found.submodels.items()
    ]
    if len(validation[0]):
        series.append(line(f"validation{suffix}", validation, colour))
        series.append(last_value(validation, colour, "{:.3f}"))
        if mark_best and not ensemble:
            series.append(ring("best, kept", validation, colour))
    legend = [one["name"] for one in series if one["name"] and "submodel " not in one["name"]]
    if stop_metric:
        series.append(level(stop_metric, f"stops at {stop_metric:g}", muted, found.free_place))
    low, high = found.ends
    drawn = option(
        series, "Epoch", metric_name[:1].upper() + metric_name[1:],
        x={"min": 0, "max": found.last_epoch, "minInterval": 1}, y={"min": low, "max": high},
        legend=legend, value="%.4f", right=46,
    )  # fmt: skip
    return Curve(drawn, found.alt)


def metric_lines(
    records: Iterable[EpochRecord],
    metric_name: str,
    n_epochs: int | None = None,
    stop_metric: float | None = None,
) -> MetricLines:
    lines = by_submodel(records, MAX_POINTS)
    shown = {field: {k: points(part, field) for k, part in lines.items()}
             for field in ("train_metric", "validation_metric")}  # fmt: skip
    train, validation = (mean_curve(list(curves.values())) for curves in shown.values())
    values = [v for part in shown.values() for _, known in part.values() for v in known]
    low, high = metric_range([*values, *([stop_metric] if stop_metric else [])])
    ends, end = (low, min(high, 1.0)), last_epoch(lines, n_epochs)
    place = _free_place(stop_metric, [train, validation], ends, end) if stop_metric else ""
    alt = _curve_alt(metric_name, lines, validation)
    submodels = _submodels(shown["validation_metric"]) if len(lines) > 1 else {}
    return MetricLines(train, validation, submodels, ends, end, place, alt)


def _curve_alt(metric_name: str, lines: Mapping[int, list], validation: Points) -> str:
    epochs, values = validation
    if not len(epochs):
        return f"Validation {metric_name}: no epoch yet."
    of = f"mean of {len(lines)} submodels" if len(lines) > 1 else "one network"
    return (
        f"Validation {metric_name} over epochs, {of}: {values[0]:.4f} in epoch {epochs[0]}, "
        f"{values[-1]:.4f} in epoch {epochs[-1]}, best {values.max():.4f} in epoch "
        f"{epochs[values.argmax()]}."
    )


def _submodels(curves: Mapping[int, Points]) -> dict[int, Points]:
    """A line for each, of fewer points where there are many of them."""
    each = max(20, 2 * MAX_POINTS // len(curves))
    return {k: (thinned(x, each), thinned(y, each)) for k, (x, y) in curves.items()}


def _free_place(
    level: float, curves: Sequence[Points], y_range: tuple[float, float], end: float
) -> str:
    """Where words beside a level line are farthest from the curves; above on the left if free."""
    tall = WORDS[1] * (y_range[1] - y_range[0])
    places = {}
    for side, first in (("Start", 0.0), ("End", (1 - WORDS[0]) * end)):
        for edge, middle in (("Top", level + tall / 2), ("Bottom", level - tall / 2)):
            near = [
                np.abs(values[(epochs >= first) & (epochs <= first + WORDS[0] * end)] - middle)
                for epochs, values in curves
            ]
            gap = np.concatenate(near).min(initial=np.inf) if near else np.inf
            places[f"inside{side}{edge}"] = min(float(gap), tall)
    return max(places, key=lambda place: places[place])


# -- records of epochs as numbers to draw ----------------------------------------------------------


def by_submodel(records: Iterable[EpochRecord], most: int) -> dict[int, list[EpochRecord]]:
    """Records in one list per submodel, in order of epochs; of more than `most` epochs a part."""
    records = list(records)
    if len(records) > most:
        epochs = np.array(sorted({record.epoch for record in records}), dtype=int)
        kept = set(thinned(epochs, most).tolist())
        records = [record for record in records if record.epoch in kept]
    lines: dict[int, list[EpochRecord]] = {}
    for record in records:
        lines.setdefault(record.submodel, []).append(record)
    return {k: sorted(lines[k], key=lambda record: record.epoch) for k in sorted(lines)}


def points(part: Sequence[EpochRecord], field: str) -> tuple[np.ndarray, np.ndarray]:
    """Epochs and values of a field, where it was measured."""
    known = [(r.epoch, value) for r in part if (value := getattr(r, field)) is not None]
    table = np.array(known, dtype=float).reshape(-1, 2)
    return table[:, 0].astype(int), table[:, 1]


def mean_curve(curves: Iterable[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Mean at the epochs that every submodel has reached."""
    curves = [curve for curve in curves if len(curve[0])]
    if not curves:
        return np.array([], dtype=int), np.array([])
    epochs = reduce(np.intersect1d, [epochs for epochs, _ in curves])
    return epochs, np.mean([v[np.isin(e, epochs)] for e, v in curves], axis=0)


def thinned(values: np.ndarray, most: int) -> np.ndarray:
    """At most `most` of them, always with the first and the last."""
    if len(values) <= most:
        return values
    return values[np.unique(np.linspace(0, len(values) - 1, most).round().astype(int))]


def last_epoch(lines: Mapping[int, list[EpochRecord]], n_epochs: int | None) -> int:
    """Where an axis of epochs ends: the last one planned, or the last one seen."""
    return max([n_epochs or 1, *(part[-1].epoch for part in lines.values())])
