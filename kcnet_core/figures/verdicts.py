"""Which differences between models are real, and what a hyperparameter search found."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kcnet_core.figures.axes import nice_ceiling, square_axes
from kcnet_core.figures.escaping import escape_html
from kcnet_core.figures.intervals import tight
from kcnet_core.figures.layout import draw, level_line
from kcnet_core.figures.traces import heat, numbers, scatter
from kcnet_core.palette import colourscale, faded, model_colour, theme

MOST_WITH_NUMBERS = 12  # variants; more numbers would not fit their cells


def pairwise_matrix(pairs: pd.DataFrame, metric: str, *, dark: bool = False) -> go.Figure:
    """Differences between all pairs (row minus column); only those that are real have a colour.

    `pairs` is `experiments.evaluate.pairwise(table, metric)`.
    """
    names = list(dict.fromkeys([*pairs["first"], *pairs["second"]]))
    n, place = len(names), {name: i for i, name in enumerate(names)}
    z = np.full((n, n), np.nan)
    real = np.zeros((n, n), dtype=bool)
    hover = np.full((n, n), "", dtype=object)
    for row in pairs.itertuples():
        i, j = place[row.first], place[row.second]
        z[i, j], z[j, i] = row.difference, -row.difference
        real[i, j] = real[j, i] = bool(row.better)
        about = f"p = {row.p_holm:.3g} (Holm), {row.n} splits"
        about += f"<br>{escape_html(row.better)} is better" if row.better else "<br>may be chance"
        one, two = escape_html(row.first), escape_html(row.second)
        hover[i, j] = (
            f"{one} minus {two}<br>{row.difference:+.4f} ({row.low:+.4f} to {row.high:+.4f})<br>"
            + about
        )
        hover[j, i] = (
            f"{two} minus {one}<br>{-row.difference:+.4f} ({-row.high:+.4f} to {-row.low:+.4f})<br>"
            + about
        )
    limit = nice_ceiling(float(np.nanmax(np.abs(z)))) if len(pairs) else 1.0
    ink = theme(dark)
    look = {"colorscale": colourscale("diverging", dark), "showscale": False, "xgap": 1, "ygap": 1}
    squares = heat(np.where(real, z, 0.0), -2 * limit, 2 * limit, "%{text}", text=hover, **look)
    traces = [squares]
    if n <= MOST_WITH_NUMBERS:
        texts = {
            at: f"{z[at]:+.3f}".replace("-", "\N{MINUS SIGN}")
            for at in zip(*np.isfinite(z).nonzero(), strict=True)
        }
        bold = {at: f"<b>{text}</b>" if real[at] else text for at, text in texts.items()}
        traces.append(numbers(bold, np.where(real, ink.text, ink.muted)))
    winners = [f"{r.better} over {r.second if r.better == r.first else r.first}"
               for r in pairs.itertuples() if r.better]  # fmt: skip
    alt = f"Differences in {metric} between {n} variants: " + (
        "clear ones are " + ", ".join(winners) + "."
        if winners
        else "none is clear; all may be chance."
    )
    row = 40 if n <= MOST_WITH_NUMBERS else 26
    return draw(
        traces,
        alt,
        dark,
        110 + row * max(n, 3),
        margin={"t": 10},
        **square_axes([escape_html(name, 22) for name in names], "minus"),
    )


def trials_scatter(
    trials, metric: str, *, higher_is_better: bool = True, model: str = "KCNet", dark: bool = False,
) -> go.Figure:  # fmt: skip
    """Hyperparameter search: every trial as a dot and the best so far as a line.

    The first trial is the untuned setting, drawn as a level line.
    """
    done = [trial for trial in trials if trial.value is not None]
    values = np.array([trial.value for trial in done], dtype=float)
    tried = [trial.number for trial in done]
    best = (np.maximum if higher_is_better else np.minimum).accumulate(values)
    colour = model_colour(model, dark)
    about = [
        "<br>".join(f"{escape_html(key)} = {_short(value)}" for key, value in trial.params.items())
        for trial in done
    ]
    hover = "trial %{x}: %{y:.4f}<br>%{customdata}"
    dot = {"color": faded(colour, 0.55), "size": 8}
    step = {"color": colour, "width": 2.5, "shape": "hv"}
    traces = [
        scatter("markers", tried, values, hover, customdata=about, name="trials", marker=dot),
        scatter("lines", tried, best, name="best so far", line=step),
    ]
    alt, extras = f"Hyperparameter search for {model}: no trial yet.", {}
    if done:
        if tried[0] == 0:
            words = {"text": "untuned", "y": float(values[0]), "yanchor": "top",
                     "x": 1, "xref": "paper", "xanchor": "right"}  # fmt: skip
            extras = {"shapes": [level_line(values[0])], "annotations": [words]}
        winner = int(values.argmax() if higher_is_better else values.argmin())
        alt = (
            f"Hyperparameter search for {model}: {len(done)} trials, best validation {metric} "
            f"{values[winner]:.4f} in trial {tried[winner]}."
        )
    end = max([10, *tried]) + 0.5
    return draw(
        traces,
        alt,
        dark,
        320,
        showlegend=True,
        xaxis={"title": "Trial", "range": [-0.5, end], "tickformat": "d", "nticks": 8},
        yaxis={"title": f"Validation {escape_html(metric)}", "range": tight(values), "nticks": 6},
        **extras,
    )


def _short(value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else escape_html(value, 30)
