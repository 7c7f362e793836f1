"""Curves of two networks that grow, as options for ECharts, which change in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kcnet_core.experiments.beside.curves import Curves
from kcnet_core.experiments.beside.plan import NARROWEST, PAIR
from kcnet_core.experiments.metrics import Interval
from kcnet_core.figures.axes import metric_range, nice_ceiling
from kcnet_core.figures.echarts import Points, last_value, level, line, option, pairs
from kcnet_core.figures.training import Curve
from kcnet_core.palette import MODEL_LOOKS, faded, model_colour, theme

DASHES = {"solid": "solid", "longdash": "dashed"}  # plotly's words in ECharts'
LEAST_DIFFERENCE = 0.02  # that the axis of differences spans to either side
BAND_SEEDS = 3  # from which on intervals are drawn as a band; that of two says next to nothing
APART = 7  # pixels that two numbers at the ends of their lines keep between them, each
MOST_BARS = 12  # outputs that can be read in one column


def width_curve(
    found: Curves, metric: str, widest: int, width: int, *, dark: bool = False
) -> Curve:
    """A metric of both networks against their width, with 95% bands where seeds were repeated.

    The axis ends at the `widest` network from the start; a line marks the `width` looked at.
    """
    series: list[dict] = []
    tie = len(found.widths) and found.mean[0, -1] == found.mean[1, -1]
    for k, name in enumerate(PAIR):
        colour = model_colour(name, dark)
        known = found.seeds >= BAND_SEEDS
        series += _band(
            name, found.widths[known], found.low[k][known], found.high[k][known], colour
        )
        points = (found.widths, found.mean[k])
        if len(found.widths):
            dash = DASHES[MODEL_LOOKS[name][3]]
            series += [line(name, points, colour, 2.5, dash), last_value(points, colour, "{:.3f}")]
            higher = found.mean[k, -1] >= found.mean[1 - k, -1]
            series[-1]["label"]["offset"] = [0, -APART if higher and not (k and tie) else APART]
    series.append(_upright(width, f"{width:,}", theme(dark).muted))
    low, high = metric_range(found.mean.ravel())
    drawn = option(
        series, "Width (hidden cells)", metric[:1].upper() + metric[1:],
        x={"type": "log", "min": NARROWEST, "max": widest}, y={"min": low, "max": min(high, 1.0)},
        legend=PAIR if len(found.widths) else (), value="%.4f", right=52,
    )  # fmt: skip
    return Curve(drawn, _widths_alt(found, metric))


def difference_curve(
    found: Sequence[Interval], seeds: int, metric: str, *, dark: bool = False
) -> Curve:
    """KCNet minus ELM after one seed, after two, and so on: a mean whose interval closes."""
    ink = theme(dark)
    at = np.arange(1, len(found) + 1)
    mean, low, high = (
        np.array([getattr(one, name) for one in found]) for name in ("mean", "low", "high")
    )
    known = np.isfinite(low)
    side = "Bottom" if found and found[0].mean > 0 else "Top"  # where the curve does not begin
    series = [level(0.0, "no difference", ink.muted, f"insideStart{side}")] if found else []
    series += _band("interval", at[known], low[known], high[known], ink.text, 0.12)
    if len(found):
        series.append(line("mean difference", (at, mean), ink.text, 2, symbol="circle"))
        series.append(last_value((at, mean), ink.text, "{:+.3f}"))
        series[-1]["label"]["formatter"] = f"{mean[-1]:+.3f}".replace("-", "\N{MINUS SIGN}")
    # An interval of two seeds is often so wide that it would flatten all others.
    reach = max(LEAST_DIFFERENCE, 2.5 * float(np.abs(mean).max(initial=0)))
    later = np.abs(np.concatenate([low[2:], high[2:]]))
    reach = nice_ceiling(max(reach, float(later.max(initial=0))))
    drawn = option(
        series, "Seeds so far", "KCNet − ELM",
        x={"min": 0.5, "max": seeds + 0.5, "minInterval": 1},
        y={"min": -reach, "max": reach, "interval": reach}, value="%.4f", right=56,
    )  # fmt: skip
    return Curve(drawn, _difference_alt(found, metric))


def output_bars(
    outputs: np.ndarray,
    names: Sequence[str],
    truth: Sequence[int],
    model: str,
    ends: tuple[float, float],
    *,
    dark: bool = False,
) -> Curve:
    """What a network's outputs say of one sample; true classes have their name in bold.

    NaN stands for a class that no training row had. `ends` are the lowest and highest outputs of
    all networks that are to be compared.
    """
    colour, ink = model_colour(model, dark), theme(dark)
    values = [None if np.isnan(value) else float(f"{value:.4g}") for value in outputs]
    strongest = int(np.nanargmax(outputs))
    bars = [
        {"value": value, "itemStyle": {"color": colour if i == strongest else faded(colour, 0.45)}}
        for i, value in enumerate(values)
    ]
    labels = [
        {"value": name, "textStyle": {"fontWeight": "bold", "color": ink.text}}
        if i in truth
        else name
        for i, name in enumerate(names)
    ]
    drawn: dict[str, Any] = {
        "animation": False,
        "grid": {"left": 34, "right": 6, "top": 8, "bottom": 22, "outerBoundsMode": "none"},
        "tooltip": {"trigger": "axis", "confine": True, "valueFormatter": "%.3f"},
        "xAxis": {"type": "category", "data": labels, "axisTick": {"show": False},
                  "axisLabel": {"interval": 0, "color": ink.muted, "hideOverlap": False},
                  "axisLine": {"onZero": False}},
        "yAxis": {"type": "value", "min": min(-0.5, float(np.floor(2 * ends[0]) / 2)),
                  "max": max(1.0, float(np.ceil(2 * ends[1]) / 2)), "interval": 0.5},
        "series": [{"type": "bar", "name": "output", "data": bars, "barCategoryGap": "22%"}],
    }  # fmt: skip
    said = ", ".join(
        f"{name} {value:.2f}" for name, value in zip(names, values, strict=True)
        if value is not None
    )  # fmt: skip
    alt = f"{model}'s outputs: {said}. Strongest: {names[strongest]}."
    return Curve(drawn, alt)


def as_rows(drawn: Curve) -> Curve:
    """`output_bars` as rows, for labels with long names; first on top."""
    across, up = drawn.option["yAxis"], drawn.option["xAxis"]
    rows = up | {
        "inverse": True,
        "axisLabel": up["axisLabel"] | {"width": 96, "overflow": "truncate"},
    }
    grid = drawn.option["grid"] | {"left": 104, "bottom": 20, "right": 12}
    return Curve(drawn.option | {"xAxis": across, "yAxis": rows, "grid": grid}, drawn.alt)


def _band(
    name: str, x: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str, strength: float = 0.16
) -> list[dict]:
    """The area between two lines: one that is not seen, and the height of the area upon it."""
    if len(x) < 2:
        return []
    bare = {
        "type": "line", "name": "", "symbol": "none", "silent": True, "stack": f"{name} band",
        "stackStrategy": "all", "lineStyle": {"opacity": 0}, "tooltip": {"show": False},
        "color": colour,
    }  # fmt: skip
    lower: Points = (x, low)
    upper: Points = (x, high - low)
    area = {"areaStyle": {"color": faded(colour, strength), "opacity": 1}}
    return [bare | {"data": pairs(lower)}, bare | area | {"data": pairs(upper)}]


def _upright(at: float, words: str, colour: str) -> dict:
    mark = level(at, words, colour, "insideEndTop")
    mark["markLine"]["data"] = [{"xAxis": at}]
    mark["markLine"]["label"] |= {"position": "end", "rotate": 0}
    return mark


def _widths_alt(found: Curves, metric: str) -> str:
    if not len(found.widths):
        return f"{metric} against width: nothing measured yet."
    ends = " and ".join(
        f"{name} {found.mean[k, 0]:.3f} to {found.mean[k, -1]:.3f}" for k, name in enumerate(PAIR)
    )
    return (
        f"{metric} as the width grows from {found.widths[0]} to {found.widths[-1]:,} cells: {ends}."
    )


def _difference_alt(found: Sequence[Interval], metric: str) -> str:
    if not found:
        return f"Difference in {metric}: nothing measured yet."
    last, interval = found[-1], ""
    if np.isfinite(last.low):
        interval = f", 95% interval {last.low:+.4f} to {last.high:+.4f}"
    return f"KCNet minus ELM in {metric} after {last.n} seeds: {last.mean:+.4f}{interval}."
