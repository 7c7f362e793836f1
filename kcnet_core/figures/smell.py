"""Odor profiles, molecules against characters, and how far the answers can be trusted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from kcnet_core.figures.layout import bar_style, plain, style, unique_labels
from kcnet_core.palette import colourscale, faded, model_colour, model_style, theme

ROW_HEIGHT = 27
LONGEST_NAME = 24
LONGEST_MOLECULE = 30


def odor_profile(
    names: Sequence[str],
    probabilities,
    each,
    *,
    thresholds=None,
    truth: Sequence[str] = (),
    greyed: Sequence[int] = (),
    top: int = 12,
    dark: bool = False,
    height: int | None = None,
) -> go.Figure:
    """One molecule's characters, most probable first: a bar for all flies, a dot for each.

    Parameters
    ----------
    probabilities : ndarray of shape (c,)
    each : ndarray of shape (F, c)
    thresholds : ndarray of shape (c,), optional
        Characters that reach theirs are drawn in full colour, the others pale.
    truth : sequence of str
        True characters of a known molecule; marked, and shown even if improbable.
    greyed : sequence of int
        Characters that the model cannot tell; they come last, without a bar.
    """
    p, each = np.asarray(probabilities, dtype=float), np.atleast_2d(np.asarray(each, dtype=float))
    greyed, truth = set(greyed), set(truth)
    order = [int(k) for k in np.argsort(-p, kind="stable") if k not in greyed]
    shown = [k for i, k in enumerate(order) if i < top or names[k] in truth]
    ink, colour = theme(dark), model_colour("KCNet", dark)
    full = np.ones(len(p), bool) if thresholds is None else p >= np.asarray(thresholds)
    at = np.arange(len(shown))
    about = [
        f"{plain(names[k])}: {p[k]:.0%}"
        + (f"<br>{len(each)} flies: {each[:, k].min():.0%} to {each[:, k].max():.0%}"
           if len(each) > 1 else "")
        + ("<br>true of this molecule" if names[k] in truth else "")
        for k in shown
    ]  # fmt: skip
    figure = go.Figure(
        go.Bar(
            x=100 * p[shown], y=at, orientation="h", width=0.62,
            marker={"color": [colour if full[k] else faded(colour, 0.32) for k in shown],
                    "line": {"width": 0}},
            customdata=about, hovertemplate="%{customdata}<extra></extra>",
        )
    )  # fmt: skip
    if len(each) > 1:
        figure.add_trace(
            go.Scatter(
                x=100 * each[:, shown].T.ravel(), y=np.repeat(at, len(each)), mode="markers",
                marker={"color": faded(ink.text, 0.55), "size": 4.5, "line": {"width": 0}},
                hoverinfo="skip",
            )
        )  # fmt: skip
    for i, k in enumerate(shown):
        figure.add_annotation(
            x=100 * max(p[k], each[:, k].max()), y=i, text=f"{p[k]:.0%}", showarrow=False,
            xanchor="left", xshift=7, font={"color": ink.text, "size": 12},
        )  # fmt: skip
    said = ", ".join(f"{names[k]} {p[k]:.0%}" for k in shown[:5])
    alt = f"Odor profile, most probable first: {said}."
    if truth:
        alt += f" True of this molecule: {', '.join(sorted(truth))}."
    style(figure, alt, dark=dark, x="Probability (%)",
          height=height or 66 + ROW_HEIGHT * max(3, len(shown)), margin={"t": 6})  # fmt: skip
    figure.update_xaxes(
        range=[0, 112], tickvals=[0, 25, 50, 75, 100], showline=False, ticks="", showgrid=True,
        gridcolor=faded(ink.muted, 0.18),
    )  # fmt: skip
    labels = [f"{plain(names[k], LONGEST_NAME)}{'  ✓' if names[k] in truth else ''}" for k in shown]
    _name_rows(figure, labels, dark)
    return figure


def odor_heatmap(
    P, molecules: Sequence[str], characters: Sequence[str], *, dark: bool = False, height=None
) -> go.Figure:
    """Probabilities of many molecules: one row each, characters in columns."""
    P = np.asarray(P, dtype=float)
    rows, columns = unique_labels(molecules, LONGEST_MOLECULE), unique_labels(characters, 18)
    ink = theme(dark)
    figure = go.Figure(
        go.Heatmap(
            z=100 * P, x=np.arange(len(columns)), y=np.arange(len(rows)), zmin=0, zmax=100,
            colorscale=colourscale("sequential", dark), xgap=1, ygap=1,
            customdata=np.array([[[r, c] for c in columns] for r in rows], dtype=object),
            hovertemplate="%{customdata[0]}<br>%{customdata[1]}: %{z:.0f}%<extra></extra>",
            colorbar=bar_style(ink, "Probability (%)"),
        )
    )  # fmt: skip
    i, k = np.unravel_index(int(P.argmax()), P.shape)
    alt = (
        f"Probabilities of {len(columns)} odor characters for {len(rows)} molecules; the highest "
        f"is {P[i, k]:.0%}, {characters[k]} of {molecules[i]}."
    )
    style(figure, alt, dark=dark, height=height or 130 + 22 * max(4, len(rows)),
          margin={"t": 96, "r": 70, "b": 12})  # fmt: skip
    figure.update_xaxes(
        tickvals=np.arange(len(columns)), ticktext=columns, side="top", tickangle=-50,
        showline=False, ticks="", tickfont={"color": ink.text, "size": 12},
        range=[-0.5, len(columns) - 0.5],
    )  # fmt: skip
    _name_rows(figure, rows, dark)
    return figure


def character_quality(
    names, means, lows, highs, counts, *, metric: str = "AUROC", chance: float | None = 0.5,
    dark: bool = False, height=None,
) -> go.Figure:  # fmt: skip
    """A metric of every character on unseen molecules, with its 95% interval, best first."""
    means, lows, highs = (np.asarray(a, dtype=float) for a in (means, lows, highs))
    order = [int(k) for k in np.argsort(-means, kind="stable") if np.isfinite(means[k])]
    ink, colour = theme(dark), model_colour("KCNet", dark)
    good = [chance is None or lows[k] > chance for k in order]
    at = np.arange(len(order))
    colours = [colour if ok else ink.muted for ok in good]
    figure = go.Figure(
        [
            go.Scatter(
                x=[v for k in order for v in (lows[k], highs[k], None)], y=np.repeat(at, 3),
                mode="lines", hoverinfo="skip",
                line={"color": faded(colour, 0.45), "width": 5},
            ),
            go.Scatter(
                x=means[order], y=at, mode="markers", marker={"color": colours, "size": 9},
                customdata=[[plain(names[k]), lows[k], highs[k], int(counts[k])] for k in order],
                hovertemplate="%{customdata[0]}: %{x:.2f} (%{customdata[1]:.2f} to "
                "%{customdata[2]:.2f})<br>%{customdata[3]} rows have it<extra></extra>",
            ),
        ]
    )  # fmt: skip
    alt = f"{metric} of {len(order)} odor characters on unseen molecules, with 95% intervals"
    if order:
        best, worst = order[0], order[-1]
        alt += f": from {means[worst]:.2f} ({names[worst]}) to {means[best]:.2f} ({names[best]})."
    if chance is not None:
        figure.add_vline(x=chance, line={"color": ink.muted, "width": 1, "dash": "dash"})
    style(figure, alt, dark=dark, x=f"{metric} on unseen molecules",
          height=height or 76 + 23 * max(3, len(order)), margin={"t": 8, "r": 22})  # fmt: skip
    low = 0.0 if chance is None else min([chance - 0.03, *(lows[order] - 0.02)])
    figure.update_xaxes(range=[low, 1.02], showgrid=True, gridcolor=faded(ink.muted, 0.18))
    _name_rows(figure, [f"{plain(names[k], 20)}  ({int(counts[k])})" for k in order], dark)
    return figure


def rival_scores(names, means, lows, highs, *, dark: bool = False, height=None) -> go.Figure:
    """Mean AUROC of several models on the same unseen molecules, best first."""
    means, lows, highs = (np.asarray(a, dtype=float) for a in (means, lows, highs))
    order = [int(k) for k in np.argsort(-means, kind="stable")]
    figure = go.Figure()
    for i, k in enumerate(order):
        look = model_style(names[k].split(",")[0], dark)
        figure.add_trace(
            go.Scatter(
                x=[lows[k], highs[k]], y=[i, i], mode="lines", hoverinfo="skip",
                line={"color": faded(look["marker"]["color"], 0.45), "width": 5},
            )
        )  # fmt: skip
        figure.add_trace(
            go.Scatter(
                x=[means[k]], y=[i], mode="markers", marker={**look["marker"], "size": 11},
                customdata=[[plain(names[k]), lows[k], highs[k]]],
                hovertemplate="%{customdata[0]}: %{x:.3f} (%{customdata[1]:.3f} to "
                "%{customdata[2]:.3f})<extra></extra>",
            )
        )  # fmt: skip
    said = ", ".join(f"{names[k]} {means[k]:.3f}" for k in order)
    style(figure, f"Mean AUROC on unseen molecules: {said}.", dark=dark,
          x="Mean AUROC on unseen molecules", height=height or 76 + ROW_HEIGHT * len(order),
          margin={"t": 8, "r": 22})  # fmt: skip
    ends = [low for low in lows if np.isfinite(low)] + [h for h in highs if np.isfinite(h)]
    figure.update_xaxes(range=[min(ends) - 0.005, max(ends) + 0.005], showgrid=True,
                        gridcolor=faded(theme(dark).muted, 0.18))  # fmt: skip
    _name_rows(figure, [plain(names[k], 28) for k in order], dark)
    return figure


def _name_rows(figure: go.Figure, labels: Sequence[str], dark: bool) -> None:
    n = len(labels)
    figure.update_yaxes(
        tickvals=np.arange(n), ticktext=list(labels), range=[n - 0.5, -0.5],
        tickfont={"color": theme(dark).text, "size": 13}, ticklabelstandoff=6, showgrid=False,
        automargin=True,
    )  # fmt: skip
