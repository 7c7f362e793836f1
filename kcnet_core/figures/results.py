"""What a trained model does: errors, calibration, time, class scores, cells and contributions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from kcnet_core.figures.axes import metric_range, named_rows, nice_ceiling, square_axes
from kcnet_core.figures.escaping import escape_html
from kcnet_core.figures.layout import draw, level_line
from kcnet_core.figures.ranked import ranked_bars, two_sided_bars
from kcnet_core.figures.traces import heat, numbers, scatter
from kcnet_core.palette import colour_table, colourscale, faded, hex_colour, model_colour, theme

MOST_CLASSES_WITH_NUMBERS = 15
MOST_ANSWERS = 10  # shown of one sample
MOST_CELLS_DRAWN = 2_000
CHANCE = 0.5  # AUROC of guessing
MOST_OUTPUTS = 20  # shown of one cell
READABLE_UNTIL = 0.4  # of the scale of errors, dark text can be read
STAGES = {
    "wiring": "wiring",
    "doa": "tuning the wiring (DOA)",
    "gram": "Gram matrix",
    "solve": "solving",
    "calibrate": "calibrating",
    "epochs": "gradient descent",
    "prepare": "splitting and scaling",
    "evaluate": "evaluating",
}


def confusion_matrix(cm, names, *, dark: bool = False) -> go.Figure:
    """Errors by class: truth in rows, prediction in columns, both as share of the row's class.

    Right answers are grey and errors orange on a scale of their own, so that few errors among many
    right answers can still be seen.
    """
    cm = np.asarray(cm)
    ink, c = theme(dark), len(cm)
    share = cm / np.maximum(cm.sum(axis=1, keepdims=True), 1)
    right = np.eye(c, dtype=bool)
    errors = np.where(right, np.nan, 100 * share)
    worst = float(np.nanmax(errors)) if c > 1 else 0.0
    labels = [escape_html(name, 18) for name in names]
    axis = np.arange(c)
    hover = (
        "truth %{customdata[0]}<br>answer %{customdata[1]}<br>"
        "%{customdata[2]} rows, %{customdata[3]:.1f}%"
    )
    about = np.array(
        [[[labels[i], labels[j], int(cm[i, j]), 100 * share[i, j]] for j in axis] for i in axis],
        dtype=object,
    )
    # Grey below zero for right answers; the errors use the lighter part of the scale above it.
    limit = 1.7 * nice_ceiling(worst) if worst else 1.0
    grey = hex_colour(colour_table("ink", dark)[36])
    scale = [[0, grey], [0.5, grey]]
    scale += [[0.5 + at / 2, colour] for at, colour in colourscale("sequential", dark)]
    z, look = np.where(right, -limit, errors), {"colorscale": scale, "showscale": False}
    traces = [heat(z, -limit, limit, hover, customdata=about, xgap=1, ygap=1, **look)]
    if c <= MOST_CLASSES_WITH_NUMBERS:
        dense = errors > READABLE_UNTIL * limit
        colours = np.where(dense, ink.background, ink.text)
        filled = zip(*cm.nonzero(), strict=True)
        traces.append(numbers({at: f"{cm[at]:,}" for at in filled}, colours))
    total = int(cm.sum())
    alt = (
        f"Confusion matrix of {total} test rows in {c} classes: "
        f"{cm[right].sum() / max(total, 1):.1%} right."
    )
    if worst > 0:
        i, j = np.unravel_index(np.nanargmax(errors), errors.shape)
        alt += (
            f" The most frequent error: {names[i]} taken for {names[j]}, {cm[i, j]} rows "
            f"({share[i, j]:.1%} of {names[i]})."
        )
    return draw(
        traces,
        alt,
        dark,
        (380 if c <= 20 else 560),
        margin={"t": 12},
        **square_axes(labels, "Answer of the model", "Truth", every=1 if c <= 50 else 2),
    )


def reliability(points, *, model: str = "KCNet", dark: bool = False):
    """Stated confidence against share right; a well calibrated model lies on the diagonal.

    `points` has arrays `confidence`, `correct` and `count`, one entry per bin.
    """
    colour = model_colour(model, dark)
    confidence, correct, count = (
        np.asarray(getattr(points, field), dtype=float)
        for field in ("confidence", "correct", "count")
    )
    broken = {"color": theme(dark).muted, "width": 1, "dash": "dash"}
    sizes = 5 + 15 * np.sqrt(count / max(count.max(initial=0), 1))
    bins = scatter(
        "lines+markers",
        confidence,
        correct,
        "stated %{x:.2f}<br>right %{y:.2f}<br>%{customdata:,} answers",
        customdata=count,
        line={"color": colour, "width": 1.5},
        marker={"color": colour, "opacity": 1, "line": {"width": 0}, "size": sizes},
    )
    gap = float(np.average(np.abs(confidence - correct), weights=count)) if count.sum() else 0.0
    alt = (
        f"Reliability over {len(count)} bins of stated confidence: the mean gap between confidence "
        f"and share right (calibration error) is {gap:.3f}."
    )
    words = {
        "text": f"calibration error {gap:.3f}<br>larger dots: more answers", "font": {"size": 12},
        "x": 0.98, "xref": "paper", "xanchor": "right", "align": "right",
        "y": 0.03, "yref": "paper", "yanchor": "bottom",
    }  # fmt: skip
    return draw(
        [scatter("lines", [0, 1], [0, 1], line=broken), bins],
        alt,
        dark,
        340,
        margin={"t": 12},
        annotations=[words],
        xaxis={"title": "Stated confidence", "range": [-0.03, 1.03], "nticks": 6},
        yaxis={"title": "Share of answers that are right", "range": [-0.03, 1.05], "nticks": 6},
    )


def timing_bar(
    timings: Mapping[str, float], *, model: str = "KCNet", dark: bool = False
) -> go.Figure:
    """Where the seconds went, in the order in which they were spent."""
    spent = {stage: seconds for stage, seconds in timings.items() if seconds and seconds > 0}
    total = sum(spent.values())
    names = [STAGES.get(stage, stage) for stage in spent]
    texts = [f"{_seconds(s)} ({_percent(s / total)})" for s in spent.values()]
    alt = f"Time spent, {_seconds(total)} in all: " + ", ".join(
        f"{name} {text}" for name, text in zip(names, texts, strict=True)
    )
    return ranked_bars(
        list(spent.values()), names, texts, alt=alt + ".", x="Seconds",
        colour=model_colour(model, dark), dark=dark,
    )  # fmt: skip


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "< 1%"


def _seconds(seconds: float) -> str:
    if seconds < 0.1:
        return f"{1000 * seconds:.2g} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:,.0f} s"


def class_scores(probabilities, names, truth=(), *, dark: bool = False) -> go.Figure:
    """The model's answer for one sample: its most probable classes, and the true ones in blue."""
    probabilities = np.asarray(probabilities, dtype=float)
    truth = {truth} if isinstance(truth, str) else set(truth or ())
    order = np.argsort(-probabilities, kind="stable")
    shown = [k for i, k in enumerate(order) if i < MOST_ANSWERS or names[k] in truth]
    ink = theme(dark)
    colours = [ink.good if names[k] in truth else faded(ink.muted, 0.8) for k in shown]
    best = order[0]
    alt = f"The model answers {names[best]} with probability {probabilities[best]:.2f}"
    alt += f"; true: {', '.join(sorted(truth))}." if truth else "."
    return ranked_bars(
        probabilities[shown],
        [f"{names[k]}  ✓" if names[k] in truth else names[k] for k in shown],
        [f"{probabilities[k]:.1%}" for k in shown],
        alt=alt, x="Probability", colour=colours, x_range=[0, 1.16],
        xaxis={"tickformat": ".0%", "tickvals": [0, 0.25, 0.5, 0.75, 1]}, dark=dark,
    )  # fmt: skip


def label_scores(values, names, counts, *, model: str = "KCNet", dark: bool = False) -> go.Figure:
    """The AUROC of every label as dots beside the line of guessing, best first."""
    values = np.asarray(values, dtype=float)
    known = [k for k in np.argsort(-values, kind="stable") if np.isfinite(values[k])]
    colour = model_colour(model, dark)
    labels = [f"{escape_html(names[k], 22)}  ({int(counts[k])})" for k in known]
    at = np.arange(len(known))
    x = [x for k in known for x in (CHANCE, values[k], None)]
    stems = scatter("lines", x, np.repeat(at, 3), line={"color": faded(colour, 0.4), "width": 2})
    dots = scatter(
        "markers+text",
        values[known],
        at,
        "%{customdata}<br>%{x:.3f}",
        customdata=labels,
        marker={"color": colour, "size": 9},
        text=[f"  {values[k]:.2f}  " for k in known],
        textfont={"size": 11},
        textposition=[f"middle {'left' if values[k] < CHANCE else 'right'}" for k in known],
        cliponaxis=False,
    )
    mean = float(np.mean(values[known])) if known else float("nan")
    alt = f"AUROC of {len(known)} labels, mean {mean:.3f}; {CHANCE:g} is guessing. " + (
        f"Best {names[known[0]]} {values[known[0]]:.2f}, "
        f"worst {names[known[-1]]} {values[known[-1]]:.2f}."
        if known
        else ""
    )
    return draw(
        [stems, dots],
        alt,
        dark,
        84 + 24 * max(3, len(known)),
        margin={"t": 12, "r": 48},
        shapes=[level_line(CHANCE, "x")],
        xaxis={
            "title": "AUROC (in brackets: test rows with the label)",
            "range": metric_range([*values[known], CHANCE]),
        },
        yaxis=named_rows(labels, dark),
    )


def cell_scatter(
    active_share, strength, *, chosen: int | None = None, model: str = "KCNet", dark: bool = False,
) -> go.Figure:  # fmt: skip
    """Every Kenyon cell by how often it is active and how much the output listens to it.

    A point's `customdata` is the cell's number. Of very many cells an even sample is drawn; the
    `chosen` one has a ring.
    """
    active_share, strength = np.asarray(active_share), np.asarray(strength)
    B = len(active_share)
    cells = np.unique(np.linspace(0, B - 1, min(B, MOST_CELLS_DRAWN)).round().astype(int))
    colour = model_colour(model, dark)
    points = scatter(
        "markers",
        100 * active_share[cells],
        strength[cells],
        "Kenyon cell %{customdata}<br>active in %{x:.0f}% of rows<br>"
        "sum of |output weights| %{y:.3g}",
        customdata=cells,  # a plain list of numbers: rows of them come back without an order
        marker={"color": faded(colour, 0.55), "size": 7},
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )
    alt = (
        f"{B} Kenyon cells: active in {100 * active_share.mean():.0f}% of the rows on average "
        f"({100 * active_share.min():.0f} to {100 * active_share.max():.0f}%); sums of absolute "
        f"output weights from {strength.min():.3g} to {strength.max():.3g}."
    )
    rings = []
    if chosen is not None:
        alt += f" Cell {chosen} has a ring."
        ink = theme(dark).text
        look = {"size": 14, "color": faded(ink, 0.0), "line": {"color": ink, "width": 2}}
        x, y = 100 * active_share[chosen], strength[chosen]
        rings = [scatter("markers", [x], [y], marker=look)]
    top = nice_ceiling(1.05 * float(strength.max(initial=0)))
    return draw(
        [*rings, points],
        alt,
        dark,
        340,
        margin={"t": 12},
        xaxis={"title": "Active in rows (%)", "range": [-3, 103]},
        yaxis={"title": "Sum of |output weights|", "range": [0, top], "nticks": 6},
    )


def output_weights(values, names, *, dark: bool = False) -> go.Figure:
    """What one Kenyon cell says to each output: for (orange) or against (purple)."""
    values = np.asarray(values, dtype=float).ravel()
    names = list(names)[-len(values) :]  # two classes share one output, which votes for the second
    order = np.argsort(-np.abs(values), kind="stable")[:MOST_OUTPUTS]
    loudest, left_out = order[0], len(values) - len(order)
    alt = (
        f"Output weights of one Kenyon cell to {len(values)} classes; the largest is "
        f"{values[loudest]:+.3g} for {names[loudest]}."
    )
    return two_sided_bars(
        values[order], [names[k] for k in order], alt=alt,
        x=f"Output weight (the {MOST_OUTPUTS} largest of {len(values)})" if left_out
        else "Output weight",
        dark=dark,
    )  # fmt: skip


def contribution_bars(
    values, names, meanings: Mapping[str, str] | None = None, *, top: int = 15, dark: bool = False,
) -> go.Figure:  # fmt: skip
    """The inputs that add most to (orange) or take most from (purple) a score, and all the rest.

    `values` are exact: the bars, with the rest, sum to the score; `meanings` explain names.
    """
    values = np.asarray(values, dtype=float)
    order = np.argsort(-np.abs(values), kind="stable")
    shown, rest = order[:top], order[top:]
    bars, labels = list(values[shown]), [names[k] for k in shown]
    notes = [(meanings or {}).get(names[k], "") for k in shown]
    if len(rest):
        bars.append(values[rest].sum())
        labels.append(f"the other {len(rest)} together")
        notes.append("")
    first = shown[0]
    alt = (
        f"Contributions of {len(values)} inputs, together {values.sum():+.3f}; the largest is "
        f"{values[first]:+.3f} from {names[first]}."
    )
    return two_sided_bars(
        bars, labels, alt=alt, x="Contribution to the score", notes=notes, dark=dark
    )
