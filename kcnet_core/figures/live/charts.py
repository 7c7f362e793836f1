"""Curves of a run under way, as numbers that the live view draws in step with S and W."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kcnet_core.figures.axes import nice_ceiling
from kcnet_core.figures.echarts import Points
from kcnet_core.figures.training import (
    MAX_LISTED,
    MAX_POINTS,
    by_submodel,
    last_epoch,
    mean_curve,
    metric_lines,
    points,
)
from kcnet_core.network.history import EpochRecord
from kcnet_core.palette import faded, model_colour, sign_colours, theme

if TYPE_CHECKING:
    from kcnet_core.experiments.run import Run
    from kcnet_core.experiments.training import TrainView

MAX_BARS = 250  # of flips by epoch
Chart = dict[str, Any]  # what `pages/ui/train/film_chart.js` draws


def training_charts(run: Run, view: TrainView | None, *, dark: bool = False) -> list[Chart]:
    """The charts of a run with epochs, however far it has come; FSHN has only the first of them."""
    records: Sequence[EpochRecord] = view.records if view is not None else ()
    charts = [metric_chart(run, records, view.metric_name if view else "accuracy", dark)]
    if run.model != "FSHN":
        counts = view.recent[-1].S_counts if view is not None and view.recent else None
        charts += [
            flips_chart(run, records, dark),
            density_chart(run, records, dark),
            scores_chart(counts, dark),
        ]
    return charts


def metric_chart(run: Run, records: Iterable[EpochRecord], metric: str, dark: bool) -> Chart:
    """Validation metric (solid) and training metric (dotted) over epochs.

    An ensemble has one thin line per submodel and a thick one for their mean. The axis ends with
    the last epoch planned, so that it stands still while the curve grows; a line marks the metric
    at which training would stop, a ring the best epoch of a single network, whose wiring is kept.
    """
    stop = run.stop_metric or None
    found = metric_lines(records, metric, run.n_epochs, stop)
    colour, ensemble = model_colour(run.model, dark), bool(found.submodels)
    suffix = ", mean" if ensemble else ""
    series = [_line(f"training{suffix}", found.train, theme(dark).muted, 1.5, dash=[2, 3])]
    # Of many submodels, only their mean is told under the pointer.
    thin, listed = faded(colour, 0.45), len(found.submodels) <= MAX_LISTED
    series += [
        _line(f"submodel {k + 1}", curve, thin, 1, listed=listed, named=False)
        for k, curve in found.submodels.items()
    ]
    best = "best, kept" if run.model == "DOA" else None
    series.append(_line(f"validation{suffix}", found.validation, colour, 2.5, end=3, ring=best))
    level = {"at": stop, "text": f"stops at {stop:g}", "place": found.free_place} if stop else None
    name = metric[:1].upper() + metric[1:]
    return _chart(name, series, found.alt, found.last_epoch, found.ends, digits=4, level=level)


def flips_chart(run: Run, records: Iterable[EpochRecord], dark: bool) -> Chart:
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
    end = max(run.n_epochs or 1, int(epochs.max(initial=1)))
    together = -(-end // MAX_BARS)
    if together > 1 and totals:
        starts = np.flatnonzero(np.diff(epochs // together, prepend=-1))
        flips = np.add.reduceat(flips, starts) / np.diff(starts, append=len(epochs))[:, None]
        epochs = epochs[starts]
    off_colour, on_colour = sign_colours(dark)
    high = nice_ceiling(flips.max(initial=0))
    series = [
        _bars("switched on", (epochs, flips[:, 0]), on_colour),
        _bars("switched off", (epochs, -flips[:, 1]), off_colour),
    ]
    ends = (-high, high)
    return _chart("Connections flipped", series, alt, end, ends, digits=0, bar=together)


def density_chart(run: Run, records: Iterable[EpochRecord], dark: bool) -> Chart:
    """Share of ones in W over epochs (mean over submodels)."""
    lines = by_submodel(records, MAX_POINTS)
    epochs, values = mean_curve([points(part, "density") for part in lines.values()])
    percent, alt = 100 * values, "Density of W: no epoch yet."
    if len(epochs):
        alt = (
            f"Density of W: {percent[0]:.2f}% of all connections are on in epoch {epochs[0]}, "
            f"{percent[-1]:.2f}% in epoch {epochs[-1]}."
        )
    series = [_line("ones in W", (epochs, percent), model_colour(run.model, dark), 2.5, end=1)]
    ends = (0.0, nice_ceiling(1.05 * percent.max(initial=0.01)))
    end = last_epoch(lines, run.n_epochs)
    return _chart("Ones in W (%)", series, alt, end, ends, digits=2, unit="%")


def scores_chart(counts: np.ndarray | None, dark: bool) -> Chart:
    """Distribution of the preference scores from -1 to 1; above zero a connection is on.

    `counts` are the newest, in equal bins, and None before there are any; the bars are those of the
    moment that is shown.
    """
    alt = "Distribution of the preference scores: none yet."
    counts = np.zeros(2) if counts is None else counts
    share = score_shares(counts)
    width = 2 / len(counts)
    middle = -1 + width * (np.arange(len(counts)) + 0.5)
    if counts.any():
        alt = (
            f"Distribution of the preference scores: {share[middle > 0].sum():.1f}% lie above zero "
            f"(connection on), the fullest bin is at {middle[share.argmax()]:.2f} with "
            f"{share.max():.1f}%."
        )
    series = [
        _bars(name, (middle[part].round(3), share[part]), colour) | {"first": int(part.argmax())}
        for name, part, colour in zip(
            ("off", "on"), (middle < 0, middle >= 0), sign_colours(dark), strict=True
        )
    ]
    ends = (0.0, nice_ceiling(1.05 * share.max()))
    chart = _chart("Connections (%)", series, alt, 1, ends, digits=2, unit="%", bar=width)
    return chart | {"x": {"name": "Preference score S", "min": -1, "max": 1}, "of_moment": "scores"}


def score_shares(counts: np.ndarray) -> np.ndarray:
    """Per cent of all connections in each bin."""
    return 100 * counts / max(1, counts.sum())


def _line(
    name: str,
    at: Points,
    colour: str,
    width: float,
    *,
    dash: Sequence[int] = (),
    end: int | None = None,
    ring: str | None = None,
    listed: bool = True,
    named: bool = True,
) -> dict[str, Any]:
    """`end`: digits of the newest value, written where the line ends; `ring`: words for its best.

    It is `named` in the legend and `listed` under the pointer.
    """
    return {
        **_numbers(at), "name": name, "colour": colour, "width": width, "dash": list(dash),
        "end": end, "ring": ring, "listed": listed, "named": named,
    }  # fmt: skip


def _bars(name: str, at: Points, colour: str) -> dict[str, Any]:
    return {**_numbers(at), "name": name, "colour": colour, "listed": True, "named": True}


def _numbers(at: Points) -> dict[str, list[float]]:
    return {"x": at[0].tolist(), "y": [float(f"{value:.5g}") for value in at[1].tolist()]}


def _chart(
    title: str,
    series: list[dict],
    alt: str,
    end: int,
    ends: tuple[float, float],
    *,
    digits: int,
    unit: str = "",
    level: dict | None = None,
    bar: float | None = None,
) -> Chart:
    """By epoch, unless it is said otherwise; `bar` is the width of one."""
    return {
        "title": title, "alt": alt, "series": series, "level": level, "bar": bar, "unit": unit,
        "digits": digits, "x": {"name": "Epoch", "min": 0, "max": end},
        "y": {"min": ends[0], "max": ends[1]},
    }  # fmt: skip
