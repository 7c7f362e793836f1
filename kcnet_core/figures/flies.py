"""Figures of what a class measures on flies: inhibition, tags, many flies, and lessons' answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from kcnet_core.figures.axes import ACROSS, QUIET, named_rows
from kcnet_core.figures.circuit import mark, together
from kcnet_core.figures.escaping import axis_title, escape_html
from kcnet_core.figures.intervals import band
from kcnet_core.figures.layout import draw, level_line
from kcnet_core.figures.traces import bars, heat, scatter
from kcnet_core.lessons.experiments import FlyComparison, InhibitionSweep, TagPairs
from kcnet_core.palette import sign_colours, theme


def active_share_figure(
    sweep: InhibitionSweep, now: float, names: Sequence[str], dark: bool = False
) -> go.Figure:
    """How many cells fire, as C moves."""
    ink, C = theme(dark), sweep.strengths
    lines: list[tuple[np.ndarray, str, dict]] = [
        (sweep.share_mean, "mean of all", {"color": ink.muted, "dash": "dot"}),
        (sweep.share_a, names[0], {"color": ink.primary, "width": 2.5}),
        (sweep.share_b, names[1], {"color": sign_colours(dark)[0], "width": 2.5}),
    ]
    low, high = 100 * sweep.share_low, 100 * sweep.share_high
    return _along_C(
        [
            *band(C, low, high, ink.muted, 0.16, name="eight samples of ten"),
            *(_line(C, 100 * share, name, line, ":.0f}%") for share, name, line in lines),
        ],
        "Share of active Kenyon cells against inhibition strength C.",
        sweep,
        now,
        {"title": "Active cells", "ticksuffix": "%", "range": [0, 103]},
        dark,
    )


def tag_distance_figure(sweep: InhibitionSweep, now: float, dark: bool = False) -> go.Figure:
    """How far apart two samples' active cells are, as C moves."""
    ink, purple = theme(dark), sign_colours(dark)[0]
    lines: list[tuple[np.ndarray, str, dict]] = [
        (sweep.distance, "these two", {"color": ink.primary, "width": 2.5}),
        (sweep.distance_different, "two of different kinds", {"color": purple, "dash": "dash"}),
        (sweep.distance_same, "two of one kind", {"color": ink.muted, "dash": "dot"}),
    ]
    return _along_C(
        [_line(sweep.strengths, distance, name, line, ":.2f}") for distance, name, line in lines],
        "Distance between the active cells of two samples against inhibition strength C, for the "
        "chosen pair and for pairs of one kind and of different kinds.",
        sweep,
        now,
        {"title": "Distance of active cells", "range": [0, 1.03]},
        dark,
    )


def _line(x: np.ndarray, y: np.ndarray, name: str, line: dict, form: str) -> dict:
    name = escape_html(name)
    return scatter("lines", x, y, f"{name}<br>C = %{{x:.2f}}: %{{y{form}", name=name, line=line)


def _along_C(traces, alt, sweep: InhibitionSweep, now: float, yaxis, dark) -> go.Figure:
    here = mark(now, f"C = {now:.2f}", theme(dark).text, dark, dash="dot", flip=now > 1.5)
    ends = [sweep.strengths[0], sweep.strengths[-1]]
    return draw(
        traces,
        alt,
        dark,
        320,
        showlegend=True,
        xaxis={"title": "Strength of inhibition C", "range": ends},
        yaxis=yaxis,
        **together([here]),
    )


def tag_strips_figure(tags: np.ndarray, names: Sequence[str], dark: bool = False) -> go.Figure:
    """Tags side by side, a tick per cell; in colour where the first sample has it too."""
    ink, tags = theme(dark), np.asarray(tags, dtype=bool)
    n = tags.shape[1]
    ticks = []
    for shared, colour, size in ((False, ink.muted, 20), (True, ink.primary, 26)):
        rows, cells = np.nonzero(tags & (tags[0] == shared))
        look = {"symbol": "line-ns-open", "size": size, "color": colour, "line": {"width": 2}}
        ticks.append(scatter("markers", cells + 1, rows, "Kenyon cell %{x}", marker=look))
    return draw(
        ticks,
        "The tags of three samples as ticks along all Kenyon cells; cells shared with the first "
        "sample are coloured.",
        dark,
        70 + 52 * len(tags),
        margin={"t": 14},
        xaxis={**ACROSS, "title": "Kenyon cell", "range": [-0.01 * n, 1.01 * n]},
        yaxis=named_rows([escape_html(name, 24) for name in names], dark),
    )


def tag_scatter_figure(
    pairs: TagPairs,
    marked: Sequence[tuple[float, float, str]],
    kinds: tuple[str, str],
    dark: bool = False,
) -> go.Figure:
    """Input similarity against shared tag, a dot per pair of samples.

    `marked` are similarities, overlaps and labels; `kinds` are words for pairs of one kind and of
    different kinds.
    """
    ink = theme(dark)
    dots = [
        scatter(
            "markers",
            pairs.similarity[pairs.same == same],
            100 * pairs.overlap[pairs.same == same],
            "similarity %{x:.2f}, shared %{y:.0f}%",
            type="scattergl",
            name=name,
            marker={"size": 5, "color": colour, "opacity": 0.38},
        )
        for same, name, colour in (
            (False, kinds[1], sign_colours(dark)[0]),
            (True, kinds[0], ink.primary),
        )
    ]
    circle = {"size": 13, "color": ink.background, "line": {"color": ink.text, "width": 2.5}}
    circles = [
        scatter(
            "markers+text",
            [similarity],
            [100 * overlap],
            f"{label}: %{{y:.0f}}%",
            text=[f"<b>{label}</b>"],
            textposition="top left" if similarity > 0.5 else "top right",
            textfont={"size": 13},
            marker=circle,
            showlegend=False,
        )
        for similarity, overlap, label in marked
    ]
    return draw(
        [*dots, *circles],
        "Scatter of pairs of samples: similarity of their inputs against the share of their tags "
        "that they have in common.",
        dark,
        380,
        showlegend=True,
        xaxis={"title": "Similarity of the inputs (correlation)"},
        yaxis={"title": "Shared part of the tag", "ticksuffix": "%", "rangemode": "tozero"},
        **_level(100 * pairs.chance, "chance", ink.muted, dash="dot"),
    )


def _level(at: float, text: str, colour: str, **line) -> dict:
    """A line across the chart with words above its right end, as a layout has them."""
    words = {
        "text": text, "x": 1, "xref": "paper", "xanchor": "right", "y": at, "yanchor": "bottom",
        "font": {"color": colour, "size": 13},
    }  # fmt: skip
    return {"shapes": [level_line(at, color=colour, **line)], "annotations": [words]}


def fly_pairs_figure(comparison: FlyComparison, dark: bool = False) -> go.Figure:
    """Every pair of flies: shared wiring above the diagonal, shared answers below it."""
    n = len(comparison.overlap)
    upper = np.triu(np.ones((n, n), dtype=bool), k=1)
    percent = 100 * np.where(upper, comparison.overlap, comparison.agreement)
    percent[np.diag_indices(n)] = np.nan
    labels = [f"fly {i + 1}" for i in range(n)]
    squares = heat(
        percent,
        0,
        100,
        "%{y} and %{x}: %{z:.1f}% %{customdata}",
        x=labels,
        y=labels,
        xgap=1.5,
        ygap=1.5,
        texttemplate="%{z:.0f}" if n <= 12 else None,
        customdata=np.where(upper, "of the wiring shared", "of the answers equal"),
        colorbar={"ticksuffix": "%"},
    )
    axis = {**QUIET, "constrain": "domain", "showticklabels": n <= 16}
    return draw(
        [squares],
        "Matrix of flies: above the diagonal the share of connections two flies have in common, "
        "below it the share of samples on which they agree.",
        dark,
        400,
        margin={"t": 14},
        xaxis=axis,
        yaxis={**axis, "autorange": "reversed", "scaleanchor": "x"},
    )


def opinions_figure(
    opinions: np.ndarray, answer_names: Sequence[str], dark: bool = False
) -> go.Figure:
    """What every fly says about the sample on the table."""
    n, c = opinions.shape
    order = np.arange(c) if c <= 10 else np.argsort(-opinions.mean(axis=0))[:10]
    names = [escape_html(answer_names[k]) for k in order]
    dots = scatter(
        "markers",
        100 * opinions[:, order].T.ravel(),
        np.repeat(np.arange(len(order)), n),
        "fly %{customdata[0]}: %{x:.0f}% %{customdata[1]}",
        customdata=[[fly + 1, name] for name in names for fly in range(n)],
        marker={"size": 9, "color": theme(dark).primary, "opacity": 0.45},
    )
    return draw(
        [dots],
        "Probability that every fly gives to every answer for the current sample.",
        dark,
        400,
        margin={"t": 14},
        xaxis={
            **ACROSS,
            "title": "Probability, a dot per fly",
            "ticksuffix": "%",
            "range": [-3, 103],
        },
        yaxis=named_rows(names, dark),
    )


def measurement_figure(
    labels: Sequence[object], values: Sequence[float], unit: str, title: str, *,
    guess: float | None = None, best: Sequence[int] = (), dark: bool = False,
) -> go.Figure:  # fmt: skip
    """What a lesson measured, beside what was predicted.

    The line of the prediction ends at its words, and goes behind those of the bars.
    """
    ink = theme(dark)
    names = [escape_html(label) for label in labels]
    measured = bars(
        names,
        values,
        [ink.primary if i in best else ink.muted for i in range(len(values))],
        "%{x}: %{y:.1f}",
        width=0.5,
    )
    words = [
        {"text": f"{value:.1f}", "x": name, "y": value, "yanchor": "bottom", "yshift": 2,
         "font": {"color": ink.text, "size": 13}, "bgcolor": ink.background, "borderpad": 1}
        for name, value in zip(names, values, strict=True)
    ]  # fmt: skip
    level: dict = {"annotations": words}
    if guess is not None:
        level = _level(guess, "your<br>prediction", sign_colours(dark)[0], width=2)
        beside = {"x": 1.01, "xanchor": "left", "yanchor": "middle", "align": "left"}
        level["annotations"] = [level["annotations"][0] | beside, *words]
    return draw(
        [measured],
        f"Bars of the measured {title}.",
        dark,
        margin={"t": 22} if guess is None else {"t": 22, "r": 90},
        xaxis={"type": "category"},
        yaxis={
            "title": axis_title(title),
            "ticksuffix": "%" if unit == "%" else "",
            "rangemode": "tozero",
        },
        **level,
    )
