"""One figure for every step of a sample's way through the circuit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from kcnet_core.figures.axes import ACROSS, named_rows
from kcnet_core.figures.escaping import escape_html
from kcnet_core.figures.layout import draw
from kcnet_core.figures.pictures import pixel_map
from kcnet_core.figures.ranked import ranked_bars, two_sided_bars
from kcnet_core.figures.traces import bars, bars_across, scatter
from kcnet_core.lessons.circuit import ForwardPass, tag_size
from kcnet_core.lessons.circuit_drawing import shown_answers
from kcnet_core.palette import faded, sign_colours, theme

CELL_BINS = 44
HEIGHT = 320
MOST_BARS = 12  # inputs named in a ranked bar chart
PALE = 0.35  # opacity of a bar that nobody measured
TOP = {"t": 14}  # margin above a chart without legend


def rates_figure(
    forward: ForwardPass, meanings: Sequence[str], dark: bool = False,
    names: Sequence[str] | None = None, known: np.ndarray | None = None,
) -> go.Figure:  # fmt: skip
    """The input vector as the brain receives it: one bar per glomerulus, in order.

    `names` stand below the bars, where they are few and short. Bars that are not `known` (n,) were
    never measured, and are pale.
    """
    n, colour = len(forward.rates), theme(dark).primary
    pale = faded(colour, PALE)
    colours = colour if known is None else [colour if one else pale for one in known]
    ticks: dict = {}
    if names is not None:
        ticks = {"tickvals": [*range(1, n + 1)], "ticktext": list(names), "tickangle": -90}
    about = [f"{escape_html(meaning)}<br>rate %{{y:.2f}}" for meaning in meanings]
    return draw(
        [bars(np.arange(1, n + 1), forward.rates, colours, about)],
        "Firing rate of every glomerulus, in the order of the input vector"
        + ("." if known is None else "; pale: never measured."),
        dark,
        HEIGHT,
        margin=TOP,
        bargap=0 if n > 200 else 0.15,
        xaxis={"title": "Glomerulus", **ticks},
        yaxis={"title": "Firing rate", "range": [0, 1.04]},
    )


def cell_inputs_figure(
    forward: ForwardPass, cell: int, names: Sequence[str], meanings: Sequence[str],
    dark: bool = False,
) -> go.Figure:  # fmt: skip
    """What one Kenyon cell listens to, and how loud each input is now."""
    inputs = forward.inputs_of(cell)
    rates = forward.rates[inputs]
    return ranked_bars(
        rates,
        [names[i] for i in inputs],
        [f"{rate:.2f}" for rate in rates],
        notes=[meanings[i] if meanings[i] != names[i] else "" for i in inputs],
        alt="Firing rates of the inputs of the chosen Kenyon cell.",
        x="Firing rate",
        colour=theme(dark).primary,
        x_range=[0, 1.16],
        dark=dark,
        height=HEIGHT,
    )


def sums_figure(forward: ForwardPass, cell: int, dark: bool = False) -> go.Figure:
    """All cells by what they receive, with their mean and the chosen cell."""
    ink, most = theme(dark), forward.sums.max()
    here = forward.sums[cell]
    marks = [
        mark(forward.mean, f"mean μ = {forward.mean:.2f}", ink.text, dark, dash="dot"),
        mark(here, f"cell {cell + 1}: {here:.2f}", ink.primary, dark,
             high=0.84, flip=here > 0.75 * most),
    ]  # fmt: skip
    return draw(
        [_histogram(forward.sums, (0, most), ink.muted)],
        "Histogram of the sums that all Kenyon cells receive, with the mean over all cells and the "
        "chosen cell marked.",
        dark,
        HEIGHT,
        margin=TOP,
        xaxis={"title": "Sum of the inputs, x̄"},
        yaxis={"title": "Kenyon cells"},
        **together(marks),
    )


def inhibited_figure(forward: ForwardPass, cell: int, dark: bool = False) -> go.Figure:
    """The same cells after inhibition: everything moves left by C times the mean."""
    ink, most, here = theme(dark), forward.sums.max(), forward.inhibited[cell]
    # The axis holds every C from 0 to 2, so that the heap moves and the axis does not.
    span = (-2 * forward.mean, most)
    shift = forward.inhibition * forward.mean
    marks = [
        mark(0, "0", ink.text, dark),
        mark(here, f"cell {cell + 1}: {here:.2f}", ink.text, dark,
             dash="dot", high=0.84, flip=here > 0.7 * most),
    ]  # fmt: skip
    layout = together(marks)
    if shift > 0:
        layout["annotations"] += [
            {
                "text": "", "x": forward.mean - shift, "ax": forward.mean, "axref": "x",
                "y": 1.08, "yref": "paper", "ay": 0, "showarrow": True, "arrowhead": 3,
                "arrowwidth": 1.8, "arrowcolor": ink.text,
            },
            {
                "text": f"C μ = {shift:.2f}", "x": forward.mean - shift / 2, "y": 1.17,
                "yref": "paper", "font": {"color": ink.text, "size": 13},
            },
        ]  # fmt: skip
    return draw(
        [_histogram(forward.inhibited, span, sign_colours(dark)[0], ink.primary)],
        "Histogram of all Kenyon cells after C times the mean is subtracted; cells below zero in "
        "one colour, above zero in another.",
        dark,
        HEIGHT,
        margin={"t": 52},
        xaxis={"title": "After inhibition, x̂"},
        yaxis={"title": "Kenyon cells"},
        **layout,
    )


def activity_figure(forward: ForwardPass, dark: bool = False) -> go.Figure:
    """Cells from the loudest to the silent ones; the tag is the loudest twentieth."""
    ink = theme(dark)
    ranked = np.sort(forward.activity)[::-1]
    share = 100 * np.arange(1, len(ranked) + 1) / len(ranked)
    edge = share[tag_size(len(ranked)) - 1]
    look = {"color": ink.primary, "width": 2, "shape": "hv"}
    area = {"fill": "tozeroy", "fillcolor": faded(ink.primary, 0.16)}
    hover = "cell %{x:.1f}% of the way<br>activity %{y:.2f}"
    active = 100 * forward.active_share
    words = f"{active:.0f}% active"
    marks = [mark(active, words, ink.text, dark, dash="dot", high=0.62, flip=active > 75)]
    layout = together(marks if active < 100 else [])
    layout["shapes"].append(
        {"type": "rect", "x0": 0, "x1": edge, "y0": 0, "y1": 1, "yref": "paper",
         "fillcolor": ink.primary, "opacity": 0.28, "line": {"width": 0}}
    )  # fmt: skip
    layout["annotations"].append(
        {"text": " the tag: top 5%", "x": edge, "xanchor": "left", "y": 1, "yref": "paper",
         "yanchor": "top", "font": {"color": ink.text, "size": 13}}
    )  # fmt: skip
    return draw(
        [scatter("lines", share, ranked, hover, line=look, **area)],
        "Activity of all Kenyon cells after the ReLU, sorted from loudest to silent, with the top "
        "five percent marked as the tag.",
        dark,
        HEIGHT,
        margin=TOP,
        xaxis={"title": "Cells, loudest first", "ticksuffix": "%", "range": [0, 100]},
        yaxis={"title": "Activity h", "rangemode": "tozero"},
        **layout,
    )


def votes_figure(
    forward: ForwardPass, answer_names: Sequence[str], dark: bool = False
) -> go.Figure:
    """For every answer: votes for it, votes against it, and what is left."""
    ink = theme(dark)
    shown = shown_answers(forward)
    votes = forward.votes[:, shown] if forward.votes.shape[1] > 1 else forward.votes
    names = [escape_html(answer_names[k]) for k in shown][: votes.shape[1]]
    sides = [
        bars_across(
            np.where(sign * votes > 0, votes, 0).sum(axis=0),
            faded(colour, 0.75),
            f"%{{customdata}}: %{{x:.2f}} {label}",
            customdata=names,
            name=label,
            width=0.55,
        )
        for sign, colour, label in ((1, ink.primary, "for"), (-1, sign_colours(dark)[0], "against"))
    ]
    look = {"color": ink.text, "size": 9, "symbol": "diamond"}
    hover = "%{customdata}: score %{x:.2f}"
    sums = votes.sum(axis=0), np.arange(len(names))
    score = scatter("markers", *sums, hover, customdata=names, marker=look, name="sum: the score")
    return draw(
        [*sides, score],
        "For every answer, the sum of positive votes, the sum of negative votes, and their total.",
        dark,
        HEIGHT,
        showlegend=True,
        barmode="relative",
        xaxis={**ACROSS, "title": "Votes, h × β", "zeroline": True},
        yaxis=named_rows(names, dark),
    )


def pixel_map_figure(contribution, image_shape: tuple[int, ...], dark: bool = False) -> go.Figure:
    """Exact share of every pixel in a score: orange speaks for the answer, purple against it."""
    return pixel_map(
        contribution, image_shape, unit="votes", scale="diverging", dark=dark,
        what="Exact contribution of every pixel to the leading answer, for it or against it",
    )  # fmt: skip


def input_shares_figure(
    contribution, names: Sequence[str], meanings: Sequence[str], dark: bool = False
) -> go.Figure:
    """The inputs that speak loudest for and against an answer."""
    contribution = np.asarray(contribution)
    top = np.argsort(-np.abs(contribution))[:MOST_BARS]
    top = top[np.argsort(-contribution[top])]
    return two_sided_bars(
        contribution[top],
        [names[i] for i in top],
        notes=[meanings[i] if meanings[i] != names[i] else "" for i in top],
        alt="The inputs with the largest exact contributions to the leading answer, for and "
        "against.",
        x="Exact contribution to the score",
        dark=dark,
        height=HEIGHT,
    )


def _histogram(
    values: np.ndarray, span: tuple[float, float], below: str, above: str | None = None
) -> dict:
    # Edges at multiples of the width put one on 0, so that no bar is half one colour.
    width = max(span[1] - span[0], 1e-6) / CELL_BINS
    edges = width * np.arange(np.floor(span[0] / width), np.ceil(span[1] / width) + 1)
    counts, _ = np.histogram(values, edges)
    middles = (edges[1:] + edges[:-1]) / 2
    colours = np.where(middles > 0, above or below, below)
    return bars(middles, counts, colours, "%{x:.2f}: %{y} cells", width=0.92 * width)


def mark(
    x: float, text: str, colour: str, dark: bool, *, dash: str = "solid", high: float = 1.0,
    flip: bool = False,
) -> tuple[dict, dict]:  # fmt: skip
    """An upright line and its label; `flip` puts it on the left, where the right is the edge."""
    line = {
        "type": "line", "x0": x, "x1": x, "y0": 0, "y1": high, "yref": "paper",
        "line": {"color": colour, "width": 2, "dash": dash},
    }  # fmt: skip
    label = {
        "text": text, "x": x, "xanchor": "right" if flip else "left", "xshift": -4 if flip else 4,
        "y": high, "yref": "paper", "yanchor": "top", "font": {"color": colour, "size": 13},
        "bgcolor": theme(dark).background, "borderpad": 1,
    }  # fmt: skip
    return line, label


def together(marks: Sequence[tuple[dict, dict]]) -> dict[str, list[dict]]:
    """The lines and the labels of marks, as a layout has them."""
    return {"shapes": [line for line, _ in marks], "annotations": [label for _, label in marks]}
