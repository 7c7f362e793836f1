"""Which differences between models are real, and what a hyperparameter search found."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kcnet_core.figures.compare import tight
from kcnet_core.figures.layout import bare, level_line, nice_ceiling, note, plain, style
from kcnet_core.palette import colourscale, faded, model_colour, theme

MOST_WITH_NUMBERS = 12  # variants; more numbers would not fit their cells


def pairwise_matrix(
    pairs: pd.DataFrame, metric: str, *, dark: bool = False, height: int | None = None
) -> go.Figure:
    """Differences between all pairs (row minus column); only those that are real have a colour.

    Parameters
    ----------
    pairs : DataFrame
        `experiments.evaluate.pairwise(table, metric)`.
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
        about += f"<br>{plain(row.better)} is better" if row.better else "<br>may be chance"
        one, two = plain(row.first), plain(row.second)
        hover[i, j] = (
            f"{one} minus {two}<br>{row.difference:+.4f} ({row.low:+.4f} to {row.high:+.4f})<br>"
            + about
        )
        hover[j, i] = (
            f"{two} minus {one}<br>{-row.difference:+.4f} ({-row.high:+.4f} to {-row.low:+.4f})<br>"
            + about
        )
    limit = nice_ceiling(float(np.nanmax(np.abs(z)))) if len(pairs) else 1.0
    ink, axis = theme(dark), np.arange(n)
    known = [(i, j) for i in axis for j in axis if np.isfinite(z[i, j])]
    traces = [
        {
            "type": "heatmap", "z": np.where(real, z, 0.0), "x": axis, "y": axis,
            "zmin": -2 * limit, "zmax": 2 * limit, "colorscale": colourscale("diverging", dark),
            "showscale": False, "xgap": 1, "ygap": 1, "text": hover,
            "hovertemplate": "%{text}<extra></extra>",
        }
    ]  # fmt: skip
    if n <= MOST_WITH_NUMBERS:
        colours = [ink.text if real[i, j] else ink.muted for i, j in known]
        texts = [f"{z[i, j]:+.3f}".replace("-", "\N{MINUS SIGN}") for i, j in known]
        texts = [f"<b>{t}</b>" if real[at] else t for at, t in zip(known, texts, strict=True)]
        traces.append(
            {
                "type": "scatter", "x": [j for _, j in known], "y": [i for i, _ in known],
                "mode": "text", "hoverinfo": "skip", "text": texts,
                "textfont": {"size": 11, "color": colours},
            }
        )  # fmt: skip
    winners = [f"{r.better} over {r.second if r.better == r.first else r.first}"
               for r in pairs.itertuples() if r.better]  # fmt: skip
    alt = f"Differences in {metric} between {n} variants: " + (
        "clear ones are " + ", ".join(winners) + "."
        if winners
        else "none is clear; all may be chance."
    )
    ticks = {"tickvals": axis, "ticktext": [plain(name, 22) for name in names], "showgrid": False,
             "showline": False, "ticks": "", "automargin": True}  # fmt: skip
    row = 40 if n <= MOST_WITH_NUMBERS else 26
    return style(
        bare(*traces),
        alt,
        dark=dark,
        x="minus",
        height=height or 110 + row * max(n, 3),
        margin={"t": 10},
        xaxis={**ticks, "range": [-0.5, n - 0.5]},
        yaxis={**ticks, "range": [n - 0.5, -0.5]},
    )


def trials_scatter(
    trials, metric: str, *, higher_is_better: bool = True, model: str = "KCNet", dark: bool = False,
    height: int = 320,
) -> go.Figure:  # fmt: skip
    """Hyperparameter search: every trial as a dot and the best so far as a line.

    Parameters
    ----------
    trials : sequence of experiments.search.Trial
        The first one is the untuned setting, drawn as a level line.
    """
    done = [trial for trial in trials if trial.value is not None]
    values = np.array([trial.value for trial in done], dtype=float)
    numbers = [trial.number for trial in done]
    best = (np.maximum if higher_is_better else np.minimum).accumulate(values)
    colour, ink = model_colour(model, dark), theme(dark)
    about = [
        "<br>".join(f"{plain(key)} = {_short(value)}" for key, value in trial.params.items())
        for trial in done
    ]
    traces = [
        {
            "type": "scatter", "x": numbers, "y": values, "mode": "markers", "name": "trials",
            "customdata": about, "marker": {"color": faded(colour, 0.55), "size": 8},
            "hovertemplate": "trial %{x}: %{y:.4f}<br>%{customdata}<extra></extra>",
        },
        {
            "type": "scatter", "x": numbers, "y": best, "mode": "lines", "name": "best so far",
            "hoverinfo": "skip", "line": {"color": colour, "width": 2.5, "shape": "hv"},
        },
    ]  # fmt: skip
    alt, extras = f"Hyperparameter search for {model}: no trial yet.", {}
    if done:
        if numbers[0] == 0:
            place = {"x": 1, "xref": "paper", "xanchor": "right", "y": float(values[0])}
            words = note("untuned", ink.muted, yanchor="top", **place)
            extras = {"shapes": [level_line(values[0], ink.muted)], "annotations": [words]}
        winner = int(values.argmax() if higher_is_better else values.argmin())
        alt = (
            f"Hyperparameter search for {model}: {len(done)} trials, best validation {metric} "
            f"{values[winner]:.4f} in trial {numbers[winner]}."
        )
    return style(
        bare(*traces),
        alt,
        dark=dark,
        x="Trial",
        y=f"Validation {plain(metric)}",
        height=height,
        legend=True,
        xaxis={"range": [-0.5, max([10, *numbers]) + 0.5], "tickformat": "d", "nticks": 8},
        yaxis={"range": tight(values), "nticks": 6},
        layout=extras,
    )


def _short(value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else plain(value, 30)
