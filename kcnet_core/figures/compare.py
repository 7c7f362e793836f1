"""Models side by side: quality against hidden size, time and noise."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kcnet_core.figures.escaping import axis_title, escape_html
from kcnet_core.figures.intervals import band, columns_of, interval_range, whiskers
from kcnet_core.figures.layout import draw
from kcnet_core.figures.traces import scatter
from kcnet_core.palette import MODEL_LOOKS, faded, model_style, theme

FEW_LEVELS = 3
PLOT = (300, 300)  # pixels of a chart on a narrow page; labels apart there are apart anywhere
MARKER = 9
LETTER = (6, 12)  # pixels of one, in a label
CORNERS = {
    f"{edge} {side}": (right, up)
    for side, right in (("right", 1), ("left", -1))
    for edge, up in (("bottom", -1), ("top", 1))
}


def metric_vs_hidden(lines: pd.DataFrame, metric: str, *, dark: bool = False) -> go.Figure:
    """A metric against hidden size with 95% bands; a model without hidden size is a level line.

    More than three level lines would hide each other's bands and names: they keep their interval
    for the pointer and their name in the legend. `lines` is
    `experiments.evaluate.summary(table, by=("variant", "model", "hidden"))`.
    """
    if "metric" in lines:
        lines = lines[lines["metric"] == metric]
    lines = lines[lines["mean"].notna()]
    traces = []
    sizes = lines["hidden"].dropna()
    ends = (float(sizes.min()), float(sizes.max())) if len(sizes) else (10.0, 1000.0)
    crowded = lines[lines["hidden"].isna()]["model"].nunique() > FEW_LEVELS
    for model, part in by_model(lines):
        wide = part[part["hidden"].notna()].sort_values("hidden")
        traces += _band_and_line(model, wide["hidden"], wide, metric, dark)
        for _, row in part[part["hidden"].isna()].iterrows():
            level = pd.DataFrame([row, row])
            *band, line = _band_and_line(model, list(ends), level, metric, dark, level=True)
            traces += [{**line, "mode": "lines"}] if crowded else [*band, line]
    return draw(
        traces,
        _best_alt(lines, metric, f"{metric} against hidden size"),
        dark,
        400,
        showlegend=True,
        xaxis={**size_axis(sizes), "title": "Hidden size (cells or units)"},
        yaxis=_metric_axis(lines, metric),
    )


def metric_vs_time(points: pd.DataFrame, metric: str, *, dark: bool = False) -> go.Figure:
    """A metric against time, with the front of best trade-offs as a line.

    `points` is `experiments.compare.trade_offs(table, metric)`.
    """
    points = points[points["seconds"].notna() & points["mean"].notna()]
    edge = points[points["best"].astype(bool)].sort_values("seconds")
    traces = [
        scatter(
            "lines",
            edge["seconds"],
            edge["mean"],
            name="best trade-offs",
            line={"color": faded(theme(dark).muted, 0.6), "width": 7},
        )
    ]
    across, up = log_axis(points["seconds"]), _metric_axis(points, metric)
    # A size at every point would be a thicket; the front and each model's largest are enough.
    slowest = [part["seconds"].idxmax() for _, part in by_model(points)]
    texts = {
        i: f"{points.loc[i, 'hidden']:,.0f}"
        for i in dict.fromkeys([*edge.index, *slowest])
        if pd.notna(points.loc[i, "hidden"])
    }
    corners = _free_corners(points, texts, across.get("range", [0, 1]), up["range"])
    for model, part in by_model(points):
        part = part.sort_values("seconds")
        look = model_style(model, dark)
        sizes = ["" if pd.isna(size) else f"{size:,.0f}" for size in part["hidden"]]
        traces.append(
            scatter(
                "lines+markers+text",
                part["seconds"],
                part["mean"],
                f"%{{customdata}}<br>{escape_html(metric)} %{{y:.4f}}<br>%{{x:.3g}} s",
                name=escape_html(model),
                text=[texts[i] if i in corners else "" for i in part.index],
                textposition=[corners.get(i, "bottom right") for i in part.index],
                textfont={"size": 10, "color": look["line"]["color"]},
                cliponaxis=False,
                customdata=[f"{escape_html(model)} {size}".strip() for size in sizes],
                error_y=whiskers(part, look["line"]["color"]),
                line={**look["line"], "width": 1},
                marker={**look["marker"], "size": MARKER},
            )
        )
    alt = _best_alt(points, metric, f"{metric} against seconds") + (
        " On the front of best trade-offs: "
        + ", ".join(
            f"{row['variant'] if 'variant' in row else row['model']} "
            f"({row['mean']:.3f} in {row['seconds']:.2g} s)"
            for _, row in edge.iterrows()
        )
        + "."
    )
    return draw(
        traces,
        alt,
        dark,
        400,
        showlegend=True,
        xaxis={**across, "title": "Configuration, training and evaluation (seconds)"},
        yaxis=up,
    )


def _free_corners(points, texts, x_range, y_range) -> dict:
    """At which corner of its point each label meets no point, interval or other label.

    A label that has no such corner is left out; the pointer still finds it.
    """
    x = PLOT[0] * (np.log10(points["seconds"]) - x_range[0]) / (x_range[1] - x_range[0])
    height = y_range[1] - y_range[0]
    mean, low, high = (
        PLOT[1] * (points.get(c, points["mean"]).fillna(points["mean"]) - y_range[0]) / height
        for c in ("mean", "low", "high")
    )
    half = MARKER / 2
    taken = [
        *zip(x - half, mean - half, x + half, mean + half, strict=True),
        *zip(x - 3, low, x + 3, high, strict=True),
    ]
    free = {}
    for i, text in texts.items():
        for corner, (right, up) in CORNERS.items():
            ends_x = sorted(x[i] + right * (half + k * LETTER[0] * len(text)) for k in (0, 1))
            ends_y = sorted(mean[i] + up * (half + k * LETTER[1]) for k in (0, 1))
            box = (ends_x[0], ends_y[0], ends_x[1], ends_y[1])
            if not any(_meet(box, other) for other in taken):
                free[i] = corner
                taken.append(box)
                break
    return free


def _meet(one, two) -> bool:
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]


def noise_curves(lines: pd.DataFrame, metric: str, noise: str, *, dark: bool = False) -> go.Figure:
    """How a metric falls as noise, blur or dropped inputs grow, with 95% bands.

    `lines` has the columns model, level, mean, and low and high where known; `noise` is the title
    of their axis, with the unit of `level`.
    """
    traces, ends = [], []
    for model, part in by_model(lines):
        part = part.sort_values("level")
        traces += _band_and_line(model, part["level"], part, metric, dark)
        ends.append(f"{model} {part['mean'].iloc[-1]:.3f}")
    return draw(
        traces,
        f"{metric} as {noise.lower()} grows; at the end: {', '.join(ends) or 'nothing yet'}.",
        dark,
        360,
        showlegend=True,
        xaxis={"title": noise, "nticks": 8},
        yaxis=_metric_axis(lines, metric),
    )


# -- what these charts share -----------------------------------------------------------------------


def by_model(lines: pd.DataFrame):
    """Parts in the order of the palette, so that a legend reads the same everywhere."""
    known = list(MODEL_LOOKS)

    def place(model: str) -> int:
        name = model.partition(", ")[0]  # a model's wirings stand together
        return known.index(name) if name in known else len(known)

    for model in sorted(dict.fromkeys(lines["model"]), key=place):
        yield model, lines[lines["model"] == model]


def _band_and_line(model, x, part, metric, dark, level=False) -> list[dict]:
    if not len(part):
        return []
    x, look = np.asarray(x, dtype=float), model_style(model, dark)
    colour, (low, high) = look["line"]["color"], columns_of(part, "low", "high")
    area = band(x, low, high, colour, 0.06 if level else 0.14, legendgroup=model, showlegend=False)
    interval = [
        f" ({a:.4f} to {b:.4f})" if np.isfinite(b - a) else ""
        for a, b in zip(low, high, strict=True)
    ]
    name = escape_html(model)
    line = scatter(
        "lines+text" if level else "lines+markers",
        x,
        part["mean"],
        f"{name}, %{{x:,}}<br>{escape_html(metric)} %{{y:.4f}}%{{customdata}}",
        customdata=interval,
        name=name,
        legendgroup=model,
        error_y=None if area else whiskers(part, colour),
        text=["", name] if level else None,
        textposition="top left",
        textfont={"size": 11, "color": colour},
        **look,
    )
    return [*area, line]


def _metric_axis(lines: pd.DataFrame, metric: str) -> dict:
    return {
        "title": axis_title(metric),
        "range": interval_range(lines, spreads=0.5, least=0.02),
        "nticks": 7,
    }


def log_axis(values) -> dict:
    """A logarithmic axis with ticks at 1, 2 and 5, or at powers of ten when it is long."""
    values = np.asarray(values, dtype=float)
    values = values[values > 0]
    if not len(values):
        return {"type": "log"}
    low, high = math.log10(values.min()) - 0.15, math.log10(values.max()) + 0.2
    steps = (1, 2, 5) if high - low < 3.5 else (1,)
    ticks = [
        step * 10.0**power
        for power in range(math.floor(low), math.ceil(high) + 1)
        for step in steps
        if low <= math.log10(step * 10.0**power) <= high
    ]
    text = [f"{tick:,.{max(0, -math.floor(math.log10(tick)))}f}" for tick in ticks]
    return {"type": "log", "range": [low, high], "tickvals": ticks, "ticktext": text}


def size_axis(sizes) -> dict:
    """A logarithmic axis whose ticks are the hidden sizes themselves."""
    ticks = sorted({float(size) for size in sizes})
    if not ticks:
        return {}
    low, high = math.log10(ticks[0]), math.log10(ticks[-1])
    air = max(0.06 * (high - low), 0.05)
    text = [f"{tick:,.0f}" for tick in ticks]
    return {"type": "log", "range": [low - air, high + air], "tickvals": ticks, "ticktext": text}


def _best_alt(lines, metric, what) -> str:
    if not len(lines):
        return f"{what}: nothing measured yet."
    parts = []
    for model, part in by_model(lines):
        best = part.loc[part["mean"].idxmax()]
        size = "" if pd.isna(best["hidden"]) else f" at {best['hidden']:,.0f}"
        parts.append(f"{model} {best['mean']:.3f}{size}")
    return f"{what}; highest means: {', '.join(parts)}."
