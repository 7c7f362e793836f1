"""Figures of what a class measures on flies: inhibition, tags, many flies, and lessons' answers."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from kcnet_core.figures.circuit import finish, mark
from kcnet_core.figures.layout import plain, sign_colours
from kcnet_core.lessons.experiments import FlyComparison, InhibitionSweep, TagPairs
from kcnet_core.palette import colourscale, faded, theme


def active_share_figure(sweep: InhibitionSweep, now: float, names, dark=False) -> go.Figure:
    """How many cells fire, as C moves."""
    ink = theme(dark)
    C = sweep.strengths
    figure = go.Figure()
    figure.add_scatter(
        x=np.concatenate([C, C[::-1]]),
        y=100 * np.concatenate([sweep.share_low, sweep.share_high[::-1]]),
        fill="toself",
        fillcolor=faded(ink.muted, 0.16),
        line={"width": 0},
        hoverinfo="skip",
        name="eight samples of ten",
    )
    figure.add_scatter(
        x=C, y=100 * sweep.share_mean, name="mean of all", line={"color": ink.muted, "dash": "dot"}
    )
    for share, name, colour in (
        (sweep.share_a, names[0], ink.primary),
        (sweep.share_b, names[1], sign_colours(dark)[0]),
    ):
        figure.add_scatter(x=C, y=100 * share, name=name, line={"color": colour, "width": 2.5})
    figure.update_traces(
        hovertemplate="C = %{x:.2f}: %{y:.0f}%", selector={"mode": None, "hoverinfo": None}
    )
    mark(figure, ink, now, f"C = {now:.2f}", ink.text, dash="dot", flip=now > 1.5)
    figure.update_xaxes(title="strength of inhibition C", range=[C[0], C[-1]])
    figure.update_yaxes(title="active cells", ticksuffix="%", range=[0, 103])
    return finish(
        figure, dark, legend=True, alt="Share of active Kenyon cells against inhibition strength C."
    )


def tag_distance_figure(sweep: InhibitionSweep, now: float, dark=False) -> go.Figure:
    """How far apart two samples' active cells are, as C moves."""
    ink = theme(dark)
    figure = go.Figure()
    for distance, name, line in (
        (sweep.distance, "these two", {"color": ink.primary, "width": 2.5}),
        (
            sweep.distance_different,
            "two of different kinds",
            {"color": sign_colours(dark)[0], "dash": "dash"},
        ),
        (sweep.distance_same, "two of one kind", {"color": ink.muted, "dash": "dot"}),
    ):
        figure.add_scatter(
            x=sweep.strengths,
            y=distance,
            name=name,
            line=line,
            hovertemplate="C = %{x:.2f}: %{y:.2f}",
        )
    mark(figure, ink, now, f"C = {now:.2f}", ink.text, dash="dot", flip=now > 1.5)
    figure.update_xaxes(
        title="strength of inhibition C", range=[sweep.strengths[0], sweep.strengths[-1]]
    )
    figure.update_yaxes(title="distance of active cells", range=[0, 1.03])
    return finish(
        figure,
        dark,
        legend=True,
        alt="Distance between the active cells of two samples against inhibition strength C, "
        "for the chosen pair and for pairs of one kind and of different kinds.",
    )


def tag_strips_figure(tags, names, dark=False) -> go.Figure:
    """Tags side by side, a tick per cell; in colour where the first sample has it too."""
    ink = theme(dark)
    figure = go.Figure()
    first = np.asarray(tags[0], dtype=bool)
    for row, tag in enumerate(tags):
        tag = np.asarray(tag, dtype=bool)
        for cells, colour, size in (
            (np.flatnonzero(tag & ~first), ink.muted, 20),
            (np.flatnonzero(tag & first), ink.primary, 26),
        ):
            figure.add_scatter(
                x=cells + 1,
                y=np.full(len(cells), row),
                mode="markers",
                marker={
                    "symbol": "line-ns-open",
                    "size": size,
                    "color": colour,
                    "line": {"width": 2},
                },
                hovertemplate="Kenyon cell %{x}<extra></extra>",
            )
    figure.update_xaxes(title="Kenyon cell", range=[-0.01 * len(first), 1.01 * len(first)])
    figure.update_yaxes(
        tickvals=list(range(len(tags))),
        ticktext=[plain(name, 24) for name in names],
        range=[len(tags) - 0.5, -0.5],
    )
    return finish(
        figure,
        dark,
        across=True,
        height=70 + 52 * len(tags),
        alt="The tags of three samples as ticks along all Kenyon cells; cells shared with the "
        "first sample are coloured.",
    )


def tag_scatter_figure(pairs: TagPairs, marked, kinds, dark=False) -> go.Figure:
    """Input similarity against shared tag, a dot per pair of samples.

    Parameters
    ----------
    marked : list of (similarity, overlap, label)
    kinds : (str, str)
        What to call pairs of one kind and of different kinds.
    """
    ink = theme(dark)
    figure = go.Figure()
    for same, name, colour in (
        (False, kinds[1], sign_colours(dark)[0]),
        (True, kinds[0], ink.primary),
    ):
        keep = pairs.same == same
        figure.add_scattergl(
            x=pairs.similarity[keep],
            y=100 * pairs.overlap[keep],
            mode="markers",
            name=name,
            marker={"size": 5, "color": colour, "opacity": 0.38},
            hovertemplate="similarity %{x:.2f}, shared %{y:.0f}%<extra></extra>",
        )
    for similarity, overlap, label in marked:
        figure.add_scatter(
            x=[similarity],
            y=[100 * overlap],
            mode="markers+text",
            text=[f"<b>{label}</b>"],
            textposition="top left" if similarity > 0.5 else "top right",
            marker={
                "size": 13,
                "color": ink.background,
                "line": {"color": ink.text, "width": 2.5},
            },
            showlegend=False,
            hovertemplate=f"{label}: %{{y:.0f}}%<extra></extra>",
        )
    figure.add_hline(y=100 * pairs.chance, line={"color": ink.muted, "dash": "dot", "width": 1})
    figure.add_annotation(
        x=1, xref="paper", y=100 * pairs.chance, text="chance", showarrow=False,
        xanchor="right", yanchor="bottom", font={"color": ink.muted},
    )  # fmt: skip
    figure.update_xaxes(title="similarity of the inputs (correlation)")
    figure.update_yaxes(title="shared part of the tag", ticksuffix="%", rangemode="tozero")
    return finish(
        figure,
        dark,
        legend=True,
        height=380,
        alt="Scatter of pairs of samples: similarity of their inputs against the share of their "
        "tags that they have in common.",
    )


def fly_pairs_figure(comparison: FlyComparison, dark=False) -> go.Figure:
    """Every pair of flies: shared wiring above the diagonal, shared answers below it."""
    n = len(comparison.overlap)
    upper = np.triu(np.ones((n, n), dtype=bool), k=1)
    percent = 100 * np.where(upper, comparison.overlap, comparison.agreement)
    percent[np.diag_indices(n)] = np.nan
    labels = [f"fly {i + 1}" for i in range(n)]
    figure = go.Figure(
        go.Heatmap(
            z=percent,
            x=labels,
            y=labels,
            zmin=0,
            zmax=100,
            colorscale=colourscale("sequential", dark),
            xgap=1.5,
            ygap=1.5,
            texttemplate="%{z:.0f}" if n <= 12 else None,
            customdata=np.where(upper, "of the wiring shared", "of the answers equal"),
            hovertemplate="%{y} and %{x}: %{z:.1f}% %{customdata}<extra></extra>",
            colorbar={"thickness": 10, "ticksuffix": "%", "outlinewidth": 0, "len": 0.9},
        )
    )
    figure.update_xaxes(constrain="domain", showticklabels=n <= 16)
    figure.update_yaxes(
        autorange="reversed", scaleanchor="x", constrain="domain",
        showticklabels=n <= 16,
    )  # fmt: skip
    finish(
        figure,
        dark,
        height=400,
        alt="Matrix of flies: above the diagonal the share of connections two flies have in "
        "common, below it the share of samples on which they agree.",
    )
    return figure.update_yaxes(showgrid=False)


def opinions_figure(opinions, answer_names, dark=False) -> go.Figure:
    """What every fly says about the sample on the table."""
    ink = theme(dark)
    n, c = opinions.shape
    order = np.arange(c) if c <= 10 else np.argsort(-opinions.mean(axis=0))[:10]
    figure = go.Figure()
    for k in order:
        figure.add_scatter(
            x=100 * opinions[:, k],
            y=[plain(answer_names[k])] * n,
            mode="markers",
            marker={"size": 9, "color": ink.primary, "opacity": 0.45},
            customdata=np.arange(1, n + 1),
            hovertemplate="fly %{customdata}: %{x:.0f}% %{y}<extra></extra>",
        )
    figure.update_xaxes(title="probability, a dot per fly", ticksuffix="%", range=[-3, 103])
    figure.update_yaxes(autorange="reversed", type="category")
    return finish(
        figure,
        dark,
        across=True,
        height=400,
        alt="Probability that every fly gives to every answer for the current sample.",
    )


def measurement_figure(labels, values, unit, title, *, guess=None, best=(), dark=False):
    """What a lesson measured, beside what was predicted."""
    ink = theme(dark)
    figure = go.Figure(
        go.Bar(
            x=[str(label) for label in labels],
            y=values,
            width=0.5,
            text=[f"{value:.1f}" for value in values],
            textposition="outside",
            cliponaxis=False,
            marker={"color": [ink.primary if i in best else ink.muted for i in range(len(values))]},
            hovertemplate="%{x}: %{y:.1f}<extra></extra>",
        )
    )
    if guess is not None:
        purple = sign_colours(dark)[0]
        figure.add_hline(y=guess, line={"color": purple, "width": 2, "dash": "dash"})
        figure.add_annotation(
            x=1, xref="paper", y=guess, text="your prediction", showarrow=False,
            xanchor="right", yanchor="bottom", font={"color": purple}, bgcolor=ink.background,
        )  # fmt: skip
    figure.update_xaxes(type="category", showgrid=False)
    figure.update_yaxes(title=title, ticksuffix="%" if unit == "%" else "", rangemode="tozero")
    return finish(figure, dark, height=300, alt=f"Bars of the measured {title}.")
