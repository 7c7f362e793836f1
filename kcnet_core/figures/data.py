"""What a dataset looks like: labels, descriptors, and which inputs a network uses."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from kcnet_core.figures.axes import square_axes
from kcnet_core.figures.escaping import escape_html, unique_labels
from kcnet_core.figures.layout import draw, look
from kcnet_core.figures.ranked import ranked_bars
from kcnet_core.figures.traces import bars, heat
from kcnet_core.palette import colourscale, theme

HISTOGRAM_BINS = 36
HISTOGRAM_COLUMNS = 3
MAX_CORRELATED = 120
MOST_USED = 20  # inputs shown


def label_balance(counts, names, n_rows: int, *, dark: bool = False) -> go.Figure:
    """How many of `n_rows` have each label, most first; a row may have several."""
    counts = np.asarray(counts)
    order = np.argsort(-counts, kind="stable")
    texts = [f"{counts[k]:,} ({counts[k] / max(n_rows, 1):.0%})" for k in order]
    alt = (
        f"Label balance of {n_rows} rows: from {names[order[0]]} with {counts[order[0]]} to "
        f"{names[order[-1]]} with {counts[order[-1]]}."
    )
    return ranked_bars(
        counts[order], [names[k] for k in order], texts, alt=alt, x="Rows",
        colour=theme(dark).good, dark=dark,
    )  # fmt: skip


def usage_bars(usage: np.ndarray, names, *, dark: bool = False) -> go.Figure:
    """The inputs that most Kenyon cells listen to, of how many use each."""
    order = np.argsort(-usage, kind="stable")[:MOST_USED]
    alt = (
        f"The {len(order)} most used of {len(usage)} inputs: {names[order[0]]} is heard by "
        f"{usage[order[0]]} cells; an input is heard by {usage.mean():.1f} cells on average, and "
        f"{int((usage == 0).sum())} by none."
    )
    return ranked_bars(
        usage[order], [names[k] for k in order], [f"{usage[k]:,}" for k in order], alt=alt,
        x="Kenyon cells that use the input", colour=theme(dark).primary, dark=dark,
    )  # fmt: skip


def descriptor_histograms(X, names, *, dark: bool = False) -> go.Figure:
    """The distribution of each input over the rows, small multiples of one shape.

    The outer half per cent at both ends is left out, or a few rows would flatten all others.
    """
    X = np.asarray(X, dtype=float)
    n = X.shape[1]
    columns = min(HISTOGRAM_COLUMNS, n)
    rows = math.ceil(n / columns)
    ink = theme(dark)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=[escape_html(name, 26) for name in names],
        horizontal_spacing=0.07,
        vertical_spacing=min(0.25, 0.34 / rows),
    )
    lines = []
    for k in range(n):
        values = X[np.isfinite(X[:, k]), k]
        low, high = np.quantile(values, [0.005, 0.995]) if len(values) else (0.0, 1.0)
        if low == high:
            low, high = low - 0.5, high + 0.5
        counts, edges = np.histogram(values, HISTOGRAM_BINS, range=(low, high))
        where = {"row": k // columns + 1, "col": k % columns + 1}
        middles, width = (edges[1:] + edges[:-1]) / 2, float(edges[1] - edges[0])
        hover = "%{x:.3g}: %{y} rows"
        figure.add_trace(bars(middles, counts, ink.good, hover, width=width), **where)
        if len(values):
            lines.append(f"{names[k]} median {np.median(values):.3g}, {low:.3g} to {high:.3g}")
    alt = f"Distributions over {len(X)} rows: " + "; ".join(lines) + "."
    margin = {"l": 44, "t": 30, "b": 30}
    figure.update_layout(look(alt, dark, 40 + 170 * rows, margin=margin, bargap=0))
    figure.update_xaxes(nticks=5)
    figure.update_yaxes(nticks=3, rangemode="tozero")
    figure.update_yaxes(title="Rows", col=1)
    return figure.update_annotations(font={"size": 13, "color": ink.text})


def correlation_matrix(X, names, *, dark: bool = False) -> go.Figure:
    """Correlation of every two inputs over the rows; an input that never changes is left blank."""
    X = np.asarray(X, dtype=float)[:, :MAX_CORRELATED]
    labels = unique_labels(list(names)[: X.shape[1]])
    known = np.isfinite(X).all(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        C = np.atleast_2d(np.corrcoef(X[known], rowvar=False)).astype(np.float32)
    hover = "%{x}<br>%{y}<br>correlation %{z:.2f}"
    scale = {"colorscale": colourscale("diverging", dark), "colorbar": {"title": "correlation"}}
    others = np.abs(C[np.triu_indices(len(C), 1)])
    strong = float(np.mean(others[np.isfinite(others)] > 0.9)) if others.size else 0.0
    alt = (
        f"Correlation of {len(labels)} inputs: {strong:.0%} of all pairs are correlated above 0.9 "
        "or below -0.9."
    )
    axes = square_axes(
        [escape_html(name, 20) for name in list(names)[: len(labels)]],
        every=math.ceil(len(labels) / 24),
        tickfont={"size": 10},
    )
    axes["xaxis"]["tickangle"] = -60
    squares = heat(C, -1, 1, hover, x=labels, y=labels, **scale)
    return draw([squares], alt, dark, 460, margin={"r": 84, "t": 12}, **axes)
