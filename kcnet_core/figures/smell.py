"""Odor profiles, molecules against characters, and how far the answers can be trusted."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import plotly.graph_objects as go

from kcnet_core.figures.axes import ACROSS, named_rows
from kcnet_core.figures.escaping import escape_html, unique_labels
from kcnet_core.figures.intervals import interval_rows
from kcnet_core.figures.layout import draw
from kcnet_core.figures.traces import bars_across, heat, row_ends, scatter
from kcnet_core.palette import faded, model_colour, model_style, theme

ROW_HEIGHT = 27
LONGEST_NAME = 24
LONGEST_MOLECULE = 30
LANE = 0.16  # of a row, between the marks of two molecules
SIDE_BY_SIDE = ("KCNet", "ELM", "FSHN", "Ensemble DOA")  # whose looks molecules borrow


def odor_profile(
    names: Sequence[str], probabilities, each, *, line: float, truth: Sequence[str] = (),
    greyed: Sequence[int] = (), top: int = 12, dark: bool = False,
) -> go.Figure:  # fmt: skip
    """One molecule's characters, most probable first: a bar for all flies, a dot for `each`.

    Characters that reach `line` are named: drawn in full colour, the others pale. True ones of a
    known molecule are marked, and shown even if improbable; `greyed` ones, which the model cannot
    tell, are left out.
    """
    p, each = np.asarray(probabilities, dtype=float), np.atleast_2d(np.asarray(each, dtype=float))
    order = [int(k) for k in np.argsort(-p, kind="stable") if k not in set(greyed)]
    shown = [k for i, k in enumerate(order) if i < top or names[k] in truth]
    colour = model_colour("KCNet", dark)
    full = p >= line
    about = [
        f"{escape_html(names[k])}: {p[k]:.0%}"
        + (f"<br>{len(each)} flies: {each[:, k].min():.0%} to {each[:, k].max():.0%}"
           if len(each) > 1 else "")
        + ("<br>true of this molecule" if names[k] in truth else "")
        for k in shown
    ]  # fmt: skip
    strength = [colour if full[k] else faded(colour, 0.32) for k in shown]
    bars = bars_across(100 * p[shown], strength, "%{customdata}", customdata=about, width=0.62)
    look = {"color": faded(theme(dark).text, 0.55), "size": 4.5}
    rows = np.repeat(np.arange(len(shown)), len(each))
    dots = scatter("markers", 100 * each[:, shown].T.ravel(), rows, marker=look)
    reach = 100 * np.maximum(p, each.max(axis=0))[shown]
    numbers = row_ends(reach, [f"{p[k]:.0%}" for k in shown])
    said = ", ".join(f"{names[k]} {p[k]:.0%}" for k in shown[:5])
    alt = f"Odor profile, most probable first: {said}."
    if truth:
        alt += f" True of this molecule: {', '.join(sorted(truth))}."
    ticked = [
        f"{escape_html(names[k], LONGEST_NAME)}{'  ✓' if names[k] in truth else ''}" for k in shown
    ]
    figure = draw(
        [bars, dots, numbers] if len(each) > 1 else [bars, numbers],
        alt,
        dark,
        66 + ROW_HEIGHT * max(3, len(shown)),
        margin={"t": 6},
        xaxis={
            **ACROSS,
            "title": "Probability (%)",
            "range": [0, 112],
            "tickvals": [0, 25, 50, 75, 100],
        },
        yaxis=named_rows(ticked, dark),
    )
    return figure.add_vline(100 * line, line={"color": theme(dark).muted, "dash": "dot"})


def odor_profiles(
    characters: Sequence[str], P, molecules: Sequence[str], *, lines: Collection[float],
    dark: bool = False,
) -> go.Figure:  # fmt: skip
    """Two to four molecules on one axis: a mark for each, joined where they differ.

    P (m, c) has a row for each molecule; characters come in the order they are given in. `lines`
    are those from which on characters are named.
    """
    P = 100 * np.atleast_2d(np.asarray(P, dtype=float))
    low, high, rows = P.min(axis=0), P.max(axis=0), np.arange(P.shape[1])
    # Marks at the same place lie below each other, so that each can be seen.
    lanes = LANE * (np.arange(len(P)) - (len(P) - 1) / 2)
    gaps = np.full(len(rows), None, dtype=object)
    x = np.column_stack([low, high, gaps]).ravel()
    y = np.column_stack([rows, rows, gaps]).ravel()
    span = scatter("lines", x, y, line={"color": faded(theme(dark).text, 0.28), "width": 5},
                   showlegend=False)  # fmt: skip
    marks = [
        scatter(
            "markers", one, rows + lane, "%{customdata}", name=escape_html(name, LONGEST_MOLECULE),
            customdata=[f"{escape_html(name)}<br>{escape_html(word)}: {p:.0f}%"
                        for word, p in zip(characters, one, strict=True)],
            marker={**model_style(look, dark)["marker"], "size": 12},
        )
        for name, one, look, lane in zip(molecules, P, SIDE_BY_SIDE, lanes, strict=False)
    ]  # fmt: skip
    most = int((high - low).argmax())
    alt = (
        f"{len(P)} molecules side by side; they differ most in {characters[most]}, from "
        f"{low[most]:.0f}% to {high[most]:.0f}%."
    )
    figure = draw(
        [span, *marks],
        alt,
        dark,
        110 + ROW_HEIGHT * max(3, len(rows)),
        margin={"t": 44},
        xaxis={**ACROSS, "title": "Probability (%)", "range": [-4, 104]},
        yaxis=named_rows([escape_html(word, LONGEST_NAME) for word in characters], dark),
        showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
    )
    for line in set(lines):
        figure.add_vline(100 * line, line={"color": theme(dark).muted, "dash": "dot"})
    return figure


def smell_map(
    places, names: Sequence[str], has, character: str, asked=None, asked_name: str = "",
    *, dark: bool = False,
) -> go.Figure:  # fmt: skip
    """Molecules at their places (n, 2), those that have a character in colour; `asked` (2,) among
    them. A point's `customdata` is its row."""
    places, has = np.asarray(places, dtype=float), np.asarray(has, dtype=bool)
    colour, pale = model_colour("KCNet", dark), faded(theme(dark).text, 0.22)

    def points(rows: np.ndarray, name: str, **look) -> dict:
        return scatter(
            "markers", places[rows, 0], places[rows, 1], "%{text}<extra></extra>", name=name,
            text=[escape_html(names[row]) for row in rows], customdata=rows.tolist(), marker=look,
        )  # fmt: skip

    word = escape_html(character, LONGEST_NAME)
    traces = [
        points(np.flatnonzero(~has), f"not {word}", color=pale, size=6),
        points(np.flatnonzero(has), word, color=colour, size=8, symbol="diamond"),
    ]
    if asked is not None:
        ring = {
            "color": "rgba(0,0,0,0)",
            "size": 18,
            "line": {"color": theme(dark).text, "width": 3},
        }
        called = escape_html(asked_name, LONGEST_MOLECULE)
        traces.append(scatter("markers", [asked[0]], [asked[1]], name=called, marker=ring))
    bare = {
        "showgrid": False,
        "showline": False,
        "showticklabels": False,
        "ticks": "",
        "zeroline": False,
        "title": "",
    }
    alt = (
        f"Map of {len(places)} known molecules by smell; {int(has.sum())} of them are {character}."
    )
    if asked is not None:
        near = int(((places - np.asarray(asked)) ** 2).sum(axis=1).argmin())
        alt += f" {asked_name} lies nearest to {names[near]}."
    return draw(
        traces, alt, dark, 460, margin={"t": 44, "l": 10, "b": 10}, xaxis=bare, yaxis=bare,
        showlegend=True, legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        hovermode="closest", clickmode="event+select", dragmode=False,
    )  # fmt: skip


def odor_heatmap(
    P, molecules: Sequence[str], characters: Sequence[str], *, dark: bool = False
) -> go.Figure:
    """Probabilities of many molecules: one row each, characters in columns."""
    P = np.asarray(P, dtype=float)
    rows, columns = unique_labels(molecules, LONGEST_MOLECULE), unique_labels(characters, 18)
    squares = heat(
        100 * P,
        0,
        100,
        "%{customdata[0]}<br>%{customdata[1]}: %{z:.0f}%",
        customdata=np.array([[[r, c] for c in columns] for r in rows], dtype=object),
        colorbar={"title": "Probability (%)"},
        xgap=1,
        ygap=1,
    )
    i, k = (int(at) for at in np.unravel_index(int(P.argmax()), P.shape))
    alt = (
        f"Probabilities of {len(columns)} odor characters for {len(rows)} molecules; the highest "
        f"is {P[i, k]:.0%}, {characters[k]} of {molecules[i]}."
    )
    return draw(
        [squares],
        alt,
        dark,
        130 + 22 * max(4, len(rows)),
        margin={"t": 96, "r": 70, "b": 12},
        xaxis={
            "tickvals": np.arange(len(columns)),
            "ticktext": columns,
            "tickangle": -50,
            "tickfont": {"color": theme(dark).text},
            "range": [-0.5, len(columns) - 0.5],
            "side": "top",
            "showline": False,
            "ticks": "",
        },
        yaxis=named_rows(rows, dark),
    )


def character_quality(
    names, means, lows, highs, counts, *, metric: str = "AUROC", chance: float | None = 0.5,
    dark: bool = False,
) -> go.Figure:  # fmt: skip
    """A metric of every character on unseen molecules, with its 95% interval, best first.

    One whose interval reaches down to guessing is grey.
    """
    means, lows, highs = (np.asarray(a, dtype=float) for a in (means, lows, highs))
    order = [int(k) for k in np.argsort(-means, kind="stable") if np.isfinite(means[k])]
    alt = f"{metric} of {len(order)} odor characters on unseen molecules, with 95% intervals"
    if order:
        best, worst = order[0], order[-1]
        alt += f": from {means[worst]:.2f} ({names[worst]}) to {means[best]:.2f} ({names[best]})."
    grey, colour = theme(dark).muted, model_colour("KCNet", dark)
    return interval_rows(
        [f"{escape_html(names[k], 20)}  ({int(counts[k])})" for k in order],
        means[order],
        lows[order],
        highs[order],
        colours=[colour if chance is None or lows[k] > chance else grey for k in order],
        about=[
            f"{escape_html(names[k])}: {means[k]:.2f} ({lows[k]:.2f} to {highs[k]:.2f})<br>"
            f"{int(counts[k])} rows have it"
            for k in order
        ],
        alt=alt,
        x=f"{metric} on unseen molecules",
        x_range=[0.0 if chance is None else min([chance - 0.03, *(lows[order] - 0.02)]), 1.02],
        level=chance,
        dark=dark,
    )


def rival_scores(names, means, lows, highs, *, dark: bool = False) -> go.Figure:
    """Mean AUROC of several models on the same unseen molecules, best first."""
    means, lows, highs = (np.asarray(a, dtype=float) for a in (means, lows, highs))
    order = [int(k) for k in np.argsort(-means, kind="stable")]
    looks = [model_style(names[k].split(",")[0], dark)["marker"] for k in order]
    said = ", ".join(f"{names[k]} {means[k]:.3f}" for k in order)
    return interval_rows(
        [escape_html(names[k], 28) for k in order],
        means[order],
        lows[order],
        highs[order],
        colours=[look["color"] for look in looks],
        symbols=[look["symbol"] for look in looks],
        about=[
            f"{escape_html(names[k])}: {means[k]:.3f} ({lows[k]:.3f} to {highs[k]:.3f})"
            for k in order
        ],
        alt=f"Mean AUROC on unseen molecules: {said}.",
        x="Mean AUROC on unseen molecules",
        x_range=[np.nanmin(lows) - 0.005, np.nanmax(highs) + 0.005],
        dark=dark,
    )
