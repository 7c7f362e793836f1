"""What happens while a network trains: metric, density and flips by epoch, and the scores.

These are options for ECharts, which a page can change in place while a run goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from kcnet_core.figures.axes import metric_range, nice_ceiling
from kcnet_core.figures.echarts import (
    Points,
    bars,
    last_value,
    level,
    line,
    mirrored,
    option,
    ring,
)
from kcnet_core.network.history import EpochRecord
from kcnet_core.palette import faded, model_colour, sign_colours, theme

if TYPE_CHECKING:
    from kcnet_core.experiments.run import Run
    from kcnet_core.experiments.training import TrainView

MAX_POINTS = 400  # of one line; more cannot be told apart on a page
MAX_BARS = 250
MAX_LISTED = 12  # submodels that the words under the pointer name one by one
WORDS = (0.3, 0.1)  # share of a chart's width and height that a few words take


@dataclass(frozen=True)
class Curve:
    """One chart: ECharts' option, and its text for those who cannot see it."""

    option: dict[str, Any]
    alt: str


def training_curves(run: Run, view: TrainView | None, *, dark: bool = False) -> dict[str, Curve]:
    """The charts of a run with DOA, however far it has come; FSHN has only the first of them."""
    records: Sequence[EpochRecord] = view.records if view is not None else ()
    name = view.metric_name if view is not None else "accuracy"
    tuned = run.model != "FSHN"
    curves = {
        "curve": validation_curve(
            records, name, n_epochs=run.n_epochs, stop_metric=run.stop_metric or None,
            model=run.model, mark_best=tuned, dark=dark,
        )
    }  # fmt: skip
    if tuned:
        counts = view.recent[-1].S_counts if view is not None and view.recent else None
        curves["flips"] = flips_bars(records, n_epochs=run.n_epochs, dark=dark)
        curves["density"] = density_curve(records, n_epochs=run.n_epochs, dark=dark)
        curves["scores"] = score_histogram(counts, dark=dark)
    return curves


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
    lines = by_submodel(records, MAX_POINTS)
    ensemble = len(lines) > 1
    colour = model_colour(model or ("Ensemble DOA" if ensemble else "DOA"), dark)
    muted, suffix = theme(dark).muted, ", mean" if ensemble else ""
    shown = {field: {k: points(part, field) for k, part in lines.items()}
             for field in ("train_metric", "validation_metric")}  # fmt: skip
    train, validation = (mean_curve(list(curves.values())) for curves in shown.values())
    series = [line(f"training{suffix}", train, muted, 1.5, "dotted")] if len(train[0]) else []
    if ensemble:
        series += _submodels(shown["validation_metric"], faded(colour, 0.45))
    if len(validation[0]):
        series.append(line(f"validation{suffix}", validation, colour))
        series.append(last_value(validation, colour, "{:.3f}"))
        if mark_best and not ensemble:
            series.append(ring("best, kept", validation, colour))
    legend = [one["name"] for one in series if one["name"] and "submodel " not in one["name"]]
    values = [v for part in shown.values() for _, known in part.values() for v in known]
    low, high = metric_range([*values, *([stop_metric] if stop_metric else [])])
    end = last_epoch(lines, n_epochs)
    if stop_metric:
        place = _free_place(stop_metric, [train, validation], (low, high), end)
        series.append(level(stop_metric, f"stops at {stop_metric:g}", muted, place))
    drawn = option(
        series, "Epoch", metric_name[:1].upper() + metric_name[1:],
        x={"min": 0, "max": end, "minInterval": 1}, y={"min": low, "max": min(high, 1.0)},
        legend=legend, value="%.4f", right=46,
    )  # fmt: skip
    return Curve(drawn, _curve_alt(metric_name, lines, validation))


def density_curve(
    records: Iterable[EpochRecord], *, n_epochs: int | None = None, dark: bool = False
) -> Curve:
    """Share of ones in W over epochs (mean over submodels)."""
    lines = by_submodel(records, MAX_POINTS)
    colour = model_colour("Ensemble DOA" if len(lines) > 1 else "DOA", dark)
    epochs, values = mean_curve([points(part, "density") for part in lines.values()])
    percent = 100 * values
    series, alt = [], "Density of W: no epoch yet."
    if len(epochs):
        series = [
            line("ones in W", (epochs, percent), colour),
            last_value((epochs, percent), colour, "{:.1f}"),
        ]
        alt = (
            f"Density of W: {percent[0]:.2f}% of all connections are on in epoch {epochs[0]}, "
            f"{percent[-1]:.2f}% in epoch {epochs[-1]}."
        )
    drawn = option(
        series, "Epoch", "Ones in W (%)",
        x={"min": 0, "max": last_epoch(lines, n_epochs), "minInterval": 1},
        y={"min": 0, "max": nice_ceiling(1.05 * percent.max(initial=0.01))},
        value="%.2f%%", right=40,
    )  # fmt: skip
    return Curve(drawn, alt)


def flips_bars(
    records: Iterable[EpochRecord], *, n_epochs: int | None = None, dark: bool = False
) -> Curve:
    """Connections switched on (up) and off (down) in each epoch, over all submodels.

    Of very many epochs, every bar is the mean of a few.
    """
    totals: dict[int, list[int]] = {}
    for record in records:
        total = totals.setdefault(record.epoch, [0, 0])
        total[0] += record.flips_on
        total[1] += record.flips_off
    epochs = np.array(sorted(totals), dtype=int)
    flips = np.array([totals[epoch] for epoch in epochs], dtype=float).reshape(-1, 2)
    last = f", in the last one {flips[-1, 0]:.0f} on and {flips[-1, 1]:.0f} off" if totals else ""
    alt = (
        f"Connections flipped in {len(epochs)} epochs: {flips[:, 0].sum():.0f} switched on and "
        f"{flips[:, 1].sum():.0f} switched off{last}."
    )
    end = max(n_epochs or 1, epochs.max(initial=1))
    together = -(-end // MAX_BARS)
    if together > 1 and totals:
        starts = np.flatnonzero(np.diff(epochs // together, prepend=-1))
        flips = np.add.reduceat(flips, starts) / np.diff(starts, append=len(epochs))[:, None]
        epochs = epochs[starts]
    off_colour, on_colour = sign_colours(dark)
    parts = ((0, "switched on", on_colour), (1, "switched off", off_colour))
    series = [
        bars(name, (epochs, flips[:, k]), colour, xAxisIndex=k, yAxisIndex=k)
        for k, name, colour in parts
    ]
    drawn = option(
        series, "Epoch", "Connections flipped",
        x={"min": -0.5, "max": end + 0.5, "minInterval": 1},
        y={"min": 0, "max": nice_ceiling(flips.max(initial=0))},
        legend=[name for _, name, _ in parts], value="%,.0f",
    )  # fmt: skip
    return Curve(mirrored(drawn), alt)


def score_histogram(counts: np.ndarray | None, *, dark: bool = False) -> Curve:
    """Distribution of the preference scores from -1 to 1; above zero a connection is on.

    `counts` are in equal bins; None before there are any.
    """
    known = counts is not None
    counts = np.zeros(2) if counts is None else counts
    edges = np.linspace(-1, 1, len(counts) + 1)
    middle, share = (edges[1:] + edges[:-1]) / 2, 100 * counts / max(1, counts.sum())
    parts = zip(("off", "on"), (middle < 0, middle >= 0), sign_colours(dark), strict=True)
    series = [
        bars(
            name, (middle[part].round(3), share[part]), colour, barGap="-100%", barCategoryGap="0%"
        )
        for name, part, colour in parts
    ]
    alt = (
        f"Distribution of the preference scores: {share[middle > 0].sum():.1f}% lie above zero "
        f"(connection on), the fullest bin is at {middle[share.argmax()]:.2f} with "
        f"{share.max():.1f}%."
    )
    drawn = option(
        series if known else [], "Preference score S", "Connections (%)",
        x={"min": -1, "max": 1}, y={"min": 0, "max": nice_ceiling(1.05 * share.max())},
        legend=["off", "on"], value="%.2f%%",
    )  # fmt: skip
    return Curve(drawn, alt if known else "Distribution of the preference scores: none yet.")


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


def _submodels(curves: Mapping[int, Points], colour: str) -> list[dict]:
    """A thin line for each; of many, only their mean is named under the pointer."""
    each = max(20, 2 * MAX_POINTS // len(curves))
    listed = {"show": len(curves) <= MAX_LISTED}
    return [
        line(f"submodel {k + 1}", (thinned(x, each), thinned(y, each)), colour, 1, tooltip=listed)
        for k, (x, y) in curves.items()
    ]


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
