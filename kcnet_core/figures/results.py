"""What a trained model does: errors, calibration, time, class scores, cells and contributions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from kcnet_core.figures.layout import (
    bare,
    level_line,
    metric_range,
    nice_ceiling,
    note,
    plain,
    ring,
    style,
)
from kcnet_core.figures.ranked import named_rows, ranked_bars, two_sided_bars
from kcnet_core.palette import colour_table, colourscale, faded, model_colour, theme

MOST_CLASSES_WITH_NUMBERS = 15
MOST_CELLS_DRAWN = 2_000
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


def confusion_matrix(cm, names, *, dark: bool = False, height: int | None = None) -> go.Figure:
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
    labels = [plain(name, 18) for name in names]
    axis = np.arange(c)
    hover = (
        "truth %{customdata[0]}<br>answer %{customdata[1]}<br>"
        "%{customdata[2]} rows, %{customdata[3]:.1f}%<extra></extra>"
    )
    about = np.array(
        [[[labels[i], labels[j], int(cm[i, j]), 100 * share[i, j]] for j in axis] for i in axis],
        dtype=object,
    )
    # Grey below zero for right answers; the errors use the lighter part of the scale above it.
    limit = 1.7 * nice_ceiling(worst) if worst else 1.0
    grey = "#{:02X}{:02X}{:02X}".format(*colour_table("ink", dark)[36])
    scale = [[0, grey], [0.5, grey]]
    scale += [[0.5 + at / 2, colour] for at, colour in colourscale("sequential", dark)]
    traces = [
        {
            "type": "heatmap", "z": np.where(right, -limit, errors), "zmin": -limit, "zmax": limit,
            "colorscale": scale, "x": axis, "y": axis, "customdata": about, "hovertemplate": hover,
            "xgap": 1, "ygap": 1, "showscale": False,
        }
    ]  # fmt: skip
    if c <= MOST_CLASSES_WITH_NUMBERS:
        filled = [(i, j) for i in axis for j in axis if cm[i, j]]
        traces.append(
            {
                "type": "scatter", "x": [j for _, j in filled], "y": [i for i, _ in filled],
                "mode": "text", "text": [f"{cm[i, j]:,}" for i, j in filled], "hoverinfo": "skip",
                "textfont": {"size": 11, "color": [
                    ink.background if errors[i, j] > READABLE_UNTIL * limit else ink.text
                    for i, j in filled
                ]},
            }
        )  # fmt: skip
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
    every = 1 if c <= 50 else 2
    ticks = {"tickvals": axis[::every], "ticktext": labels[::every], "automargin": True,
             "showgrid": False, "showline": False, "ticks": ""}  # fmt: skip
    return style(
        bare(*traces),
        alt,
        dark=dark,
        x="Answer of the model",
        y="Truth",
        height=height or (380 if c <= 20 else 560),
        margin={"t": 12},
        xaxis={**ticks, "range": [-0.5, c - 0.5]},
        yaxis={**ticks, "range": [c - 0.5, -0.5]},
    )


def reliability(points, *, model: str = "KCNet", dark: bool = False, height: int = 340):
    """Stated confidence against share right; a well calibrated model lies on the diagonal.

    Parameters
    ----------
    points : object with arrays `confidence`, `correct` and `count`, one entry per bin
    """
    ink, colour = theme(dark), model_colour(model, dark)
    confidence, correct, count = (
        np.asarray(getattr(points, field), dtype=float)
        for field in ("confidence", "correct", "count")
    )
    figure = bare(
        {
            "type": "scatter", "x": [0, 1], "y": [0, 1], "mode": "lines", "hoverinfo": "skip",
            "line": {"color": ink.muted, "width": 1, "dash": "dash"},
        },
        {
            "type": "scatter", "x": confidence, "y": correct, "customdata": count,
            "mode": "lines+markers", "line": {"color": colour, "width": 1.5},
            "marker": {"color": colour, "opacity": 1, "line": {"width": 0},
                       "size": 5 + 15 * np.sqrt(count / max(count.max(initial=0), 1))},
            "hovertemplate": "stated %{x:.2f}<br>right %{y:.2f}<br>%{customdata:,} answers"
            "<extra></extra>",
        },
    )  # fmt: skip
    gap = float(np.average(np.abs(confidence - correct), weights=count)) if count.sum() else 0.0
    alt = (
        f"Reliability over {len(count)} bins of stated confidence: the mean gap between confidence "
        f"and share right (calibration error) is {gap:.3f}."
    )
    corner = {"x": 0.98, "y": 0.03, "xref": "paper", "yref": "paper", "xanchor": "right"}
    text = f"calibration error {gap:.3f}<br>larger dots: more answers"
    words = note(text, ink.muted, 12, yanchor="bottom", align="right", **corner)
    return style(
        figure,
        alt,
        dark=dark,
        x="Stated confidence",
        y="Share of answers that are right",
        height=height,
        margin={"t": 12},
        xaxis={"range": [-0.03, 1.03], "nticks": 6},
        yaxis={"range": [-0.03, 1.05], "nticks": 6},
        layout={"annotations": [words]},
    )


def timing_bar(
    timings: Mapping[str, float], *, model: str = "KCNet", dark: bool = False, height=None
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
        colour=model_colour(model, dark), dark=dark, height=height,
    )  # fmt: skip


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "< 1%"


def _seconds(seconds: float) -> str:
    if seconds < 0.1:
        return f"{1000 * seconds:.2g} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:,.0f} s"


def class_scores(
    probabilities, names, truth=(), *, top: int = 10, dark: bool = False, height: int | None = None
) -> go.Figure:
    """The model's answer for one sample: its most probable classes, with the truth marked.

    Parameters
    ----------
    truth : sequence of str
        Names of the true classes; blue bars. They are shown even if improbable.
    """
    probabilities = np.asarray(probabilities, dtype=float)
    truth = {truth} if isinstance(truth, str) else set(truth or ())
    order = np.argsort(-probabilities, kind="stable")
    shown = [k for i, k in enumerate(order) if i < top or names[k] in truth]
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
        xaxis={"tickformat": ".0%", "tickvals": [0, 0.25, 0.5, 0.75, 1]}, dark=dark, height=height,
    )  # fmt: skip


def label_scores(
    values, names, counts=None, *, metric: str = "AUROC", chance: float = 0.5, model: str = "KCNet",
    dark: bool = False, height: int | None = None,
) -> go.Figure:  # fmt: skip
    """A metric for every label as dots beside the line of guessing, best first."""
    values = np.asarray(values, dtype=float)
    known = [k for k in np.argsort(-values, kind="stable") if np.isfinite(values[k])]
    ink, colour = theme(dark), model_colour(model, dark)
    labels = [
        plain(names[k], 22) + (f"  ({int(counts[k])})" if counts is not None else "") for k in known
    ]
    at = np.arange(len(known))
    stems = [x for k in known for x in (chance, values[k], None)]
    sides = ["middle left" if values[k] < chance else "middle right" for k in known]
    figure = bare(
        {
            "type": "scatter", "x": stems, "y": np.repeat(at, 3), "mode": "lines",
            "hoverinfo": "skip", "line": {"color": faded(colour, 0.4), "width": 2},
        },
        {
            "type": "scatter", "x": values[known], "y": at, "mode": "markers+text",
            "marker": {"color": colour, "size": 9}, "textposition": sides,
            "text": [f"  {values[k]:.2f}  " for k in known], "cliponaxis": False,
            "textfont": {"color": ink.text, "size": 11}, "customdata": labels,
            "hovertemplate": "%{customdata}<br>%{x:.3f}<extra></extra>",
        },
    )  # fmt: skip
    mean = float(np.mean(values[known])) if known else float("nan")
    alt = f"{metric} of {len(known)} labels, mean {mean:.3f}; {chance:g} is guessing. " + (
        f"Best {names[known[0]]} {values[known[0]]:.2f}, "
        f"worst {names[known[-1]]} {values[known[-1]]:.2f}."
        if known
        else ""
    )
    return style(
        figure,
        alt,
        dark=dark,
        x=metric if counts is None else f"{metric} (in brackets: test rows with the label)",
        height=height or 84 + 24 * max(3, len(known)),
        margin={"t": 12, "r": 48},
        xaxis={"range": metric_range([*values[known], chance])},
        yaxis=named_rows(labels, dark),
        layout={"shapes": [level_line(chance, ink.muted, "x")]},
    )


def cell_scatter(
    active_share, strength, *, chosen: int | None = None, model: str = "KCNet", dark: bool = False,
    height: int = 340,
) -> go.Figure:  # fmt: skip
    """Every Kenyon cell by how often it is active and how much the output listens to it.

    A point's `customdata` is the cell's number. Of very many cells an even sample is drawn; the
    `chosen` one has a ring.
    """
    active_share, strength = np.asarray(active_share), np.asarray(strength)
    B = len(active_share)
    cells = np.unique(np.linspace(0, B - 1, min(B, MOST_CELLS_DRAWN)).round().astype(int))
    colour = model_colour(model, dark)
    points = {
        "type": "scatter",
        "x": 100 * active_share[cells],
        "y": strength[cells],
        "customdata": cells,  # a plain list of numbers: rows of them come back without an order
        "mode": "markers",
        "marker": {"color": faded(colour, 0.55), "size": 7, "line": {"width": 0}},
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
        "hovertemplate": "Kenyon cell %{customdata}<br>active in %{x:.0f}% of rows<br>"
        "sum of |output weights| %{y:.3g}<extra></extra>",
    }
    alt = (
        f"{B} Kenyon cells: active in {100 * active_share.mean():.0f}% of the rows on average "
        f"({100 * active_share.min():.0f} to {100 * active_share.max():.0f}%); sums of absolute "
        f"output weights from {strength.min():.3g} to {strength.max():.3g}."
    )
    rings = []
    if chosen is not None:
        alt += f" Cell {chosen} has a ring."
        at = 100 * active_share[chosen], strength[chosen]
        rings = [ring(*at, theme(dark).text, 14, hoverinfo="skip")]
    return style(
        bare(*rings, points),
        alt,
        dark=dark,
        x="Active in rows (%)",
        y="Sum of |output weights|",
        height=height,
        margin={"t": 12},
        xaxis={"range": [-3, 103]},
        yaxis={"range": [0, nice_ceiling(1.05 * float(strength.max(initial=0)))], "nticks": 6},
    )


def output_weights(values, names, *, dark: bool = False, height: int | None = None) -> go.Figure:
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
        dark=dark, height=height,
    )  # fmt: skip


def contribution_bars(
    values, names, meanings: Mapping[str, str] | None = None, *, top: int = 15, dark: bool = False,
    height: int | None = None,
) -> go.Figure:  # fmt: skip
    """The inputs that add most to (orange) or take most from (purple) a score, and all the rest.

    Parameters
    ----------
    values : ndarray of shape (d,)
        Exact contributions; the bars, with the rest, sum to the score.
    meanings : mapping from name to a short explanation, shown on hover
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
        bars, labels, alt=alt, x="Contribution to the score", notes=notes, dark=dark, height=height
    )
