"""The paper's figures beside ours: dots with intervals, sweeps, running times, and searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kcnet_core.figures.compare import tight
from kcnet_core.figures.layout import bare, level_line, plain, style
from kcnet_core.figures.ranked import named_rows
from kcnet_core.palette import faded, model_colour, model_style, theme

SERIES_SYMBOLS = ("circle", "circle-open", "square", "square-open")
SERIES_DASHES = ("solid", "dash", "dot", "dashdot")
BAND = 0.66  # of a row's height that its markers share
TIME_PARTS = {
    "configure_seconds": ("configuration", 0.35),
    "fit_seconds": ("training", 1.0),
    "evaluate_seconds": ("evaluation", 0.6),
}


def paper_and_ours(
    table: pd.DataFrame,
    metric: str,
    *,
    title: str | None = None,
    series: Sequence[str] | None = None,
    dark: bool = False,
    height: int | None = None,
) -> go.Figure:
    """One panel of a table: the paper's figure as a diamond, ours as dots with 95% intervals.

    Parameters
    ----------
    table : DataFrame
        `experiments.outcomes.Result.table()`, the rows of one panel: columns label, series, model,
        paper, paper_sd, mean, low, high.
    series : sequence of str, optional
        All series of the recipe, so that panels give them the same markers.
    """
    labels = list(dict.fromkeys(table["label"]))
    every = list(dict.fromkeys(table["series"] if series is None else series))
    ink, place = theme(dark), {label: i for i, label in enumerate(labels)}
    traces = [_paper_marks(table, place, ink)]
    offsets = _offsets(table, every)
    for k, name in enumerate(every):
        part = table[table["series"] == name]
        y = [place[label] + offsets[label, name] for label in part["label"]]
        traces.append(_our_marks(part, y, name, k, dark))
        traces.append(_legend_mark(name, k, ink))
    beside = [
        f"{row.label}{f' ({row.series})' if row.series else ''} {row.mean:.3f}"
        + (f" (paper {row.paper:.3f})" if pd.notna(row.paper) else "")
        for row in table.itertuples()
    ]
    rows = max(len(labels), 1) * (24 + 11 * max(len(every) - 1, 0))
    return style(
        bare(*traces),
        f"{title + ': ' if title else ''}{metric}, ours beside the paper's: {', '.join(beside)}.",
        dark=dark,
        x=plain(metric[:1].upper() + metric[1:]),
        title=title,
        height=height or 150 + rows,
        legend=True,
        margin={"l": 92},
        xaxis={
            "range": _range(table), "showgrid": True, "nticks": 6,
            "gridcolor": faded(ink.muted, 0.18),
        },
        yaxis=named_rows([plain(label, 24) for label in labels], dark),
        layout={
            "legend": _below(rows),
            "shapes": [
                level_line(i + 0.5, faded(ink.muted, 0.25), dash="solid")
                for i in range(len(labels) - 1)
            ]
        },
    )  # fmt: skip


def _offsets(table: pd.DataFrame, every: list[str]) -> dict[tuple[str, str], float]:
    """Where a series lies within its row; a lone one lies in the middle."""
    offsets = {}
    for label, part in table.groupby("label", sort=False):
        here = [name for name in every if name in set(part["series"])]
        for k, name in enumerate(here):
            offsets[label, name] = BAND * ((k + 0.5) / len(here) - 0.5)
    return offsets


def _below(plot_height: float) -> dict:
    """A legend under the axis title, where it can wrap without meeting anything."""
    return {"y": -56 / plot_height, "yanchor": "top"}


def _paper_marks(table, place, ink) -> dict:
    known = table[table["paper"].notna()].drop_duplicates(["label", "paper"])
    sd = known["paper_sd"].to_numpy(dtype=float)
    return {
        "type": "scatter",
        "x": known["paper"],
        "y": [place[label] for label in known["label"]],
        "mode": "markers",
        "name": "the paper",
        "showlegend": bool(len(known)),
        "marker": {"symbol": "diamond-open", "size": 11, "color": ink.text, "line": {"width": 1.6}},
        "error_x": {
            "array": np.nan_to_num(sd), "color": faded(ink.text, 0.45), "thickness": 1, "width": 4,
        },
        "customdata": [f" ± {s:g}" if np.isfinite(s) else "" for s in sd],
        "hovertemplate": "the paper %{x:.4f}%{customdata}<extra></extra>",
    }  # fmt: skip


def _our_marks(part, y, name, k, dark) -> dict:
    colours = [model_colour(model, dark) for model in part["model"]]
    mean, low, high = (part[c].to_numpy(dtype=float) for c in ("mean", "low", "high"))
    about = [
        f"{plain(row.label)}{f', {plain(name)}' if name else ''}<br>ours {row.mean:.4f}"
        + (f" ({row.low:.4f} to {row.high:.4f})" if pd.notna(row.low) else "")
        + f"<br>{row.n} repeats, {row.tried} settings tried"
        for row in part.itertuples()
    ]
    # One error bar has one colour, so every point's interval is drawn in the neutral ink.
    return {
        "type": "scatter",
        "x": mean,
        "y": y,
        "mode": "markers",
        "name": "ours",
        "showlegend": False,
        "marker": {
            "symbol": SERIES_SYMBOLS[k % 4], "size": 9, "color": colours,
            "line": {"width": 1.8, "color": colours},
        },
        "error_x": {
            "array": np.nan_to_num(high - mean), "arrayminus": np.nan_to_num(mean - low),
            "color": faded(theme(dark).text, 0.55), "thickness": 1.2, "width": 3,
        },
        "customdata": about,
        "hovertemplate": "%{customdata}<extra></extra>",
    }  # fmt: skip


def _legend_mark(name, k, ink) -> dict:
    """Markers have the models' colours; the legend only tells the shapes apart."""
    look = {"symbol": SERIES_SYMBOLS[k % 4], "size": 9, "color": ink.muted,
            "line": {"width": 1.8, "color": ink.muted}}  # fmt: skip
    return {"type": "scatter", "x": [None], "y": [None], "mode": "markers", "marker": look,
            "name": plain(f"ours, {name[:1].lower() + name[1:]}" if name else "ours"),
            "hoverinfo": "skip"}  # fmt: skip


def sweep(
    table: pd.DataFrame,
    metric: str,
    *,
    x: str = "Hidden size (cells or units)",
    title: str | None = None,
    dark: bool = False,
    height: int = 380,
) -> go.Figure:
    """A metric along an axis, one line per label with its 95% band; printed points as diamonds.

    Parameters
    ----------
    table : DataFrame
        Rows of one panel and series of `Result.table()`, with places in the column x.
    """
    ink, traces, ends, used = theme(dark), [], [], {}
    for label, part in table.groupby("label", sort=False):
        part = part.sort_values("x")
        model = part["model"].iloc[0]
        variant = used[model] = used.get(model, -1) + 1  # lines of one model share its colour
        look = model_style(model, dark)
        look["line"] = {**look["line"], "dash": SERIES_DASHES[variant % 4]}
        if variant:
            look["marker"] = {**look["marker"], "symbol": f"{look['marker']['symbol']}-open"}
        traces += _band(part, look["line"]["color"], label)
        traces.append(
            {
                "type": "scatter", "x": part["x"], "y": part["mean"], "name": plain(label),
                "legendgroup": label, "mode": "lines+markers", **look,
                "hovertemplate": f"{plain(label)}, %{{x:,}}<br>{plain(metric)} %{{y:.4f}}"
                "<extra></extra>",
            }
        )  # fmt: skip
        best = part.loc[part["mean"].idxmax()]
        ends.append(f"{label} {best['mean']:.3f} at {best['x']:,g}")
    known = table[table["paper"].notna()]
    if len(known):
        traces.append(
            {
                "type": "scatter", "x": known["x"], "y": known["paper"], "mode": "markers",
                "name": "printed in the paper",
                "marker": {"symbol": "diamond-open", "size": 11,
                           "color": [model_colour(m, dark) for m in known["model"]],
                           "line": {"width": 1.6}},
                "hovertemplate": "the paper, %{x:,}: %{y:.4f}<extra></extra>",
            }
        )  # fmt: skip
    xs = table["x"].to_numpy(dtype=float)
    air = 0.04 * float(np.ptp(xs)) if len(xs) else 1.0
    return style(
        bare(*traces),
        f"{title + ': ' if title else ''}{metric} against {x.lower()}; highest: "
        f"{', '.join(ends) or 'nothing yet'}.",
        dark=dark,
        x=x,
        y=plain(metric[:1].upper() + metric[1:]),
        title=title,
        height=height,
        legend=True,
        xaxis={
            "range": [xs.min() - air, xs.max() + air] if len(xs) else None, "nticks": 8,
            "tickformat": ",~g", "linecolor": ink.muted,
        },
        yaxis={"range": _range(table), "nticks": 7},
        layout={"legend": _below(height - 150)},
    )  # fmt: skip


def _range(table: pd.DataFrame) -> list[float]:
    """Room for all figures, and for intervals as far as they do not squeeze the figures."""
    mean, low, high, paper = (
        table[c].to_numpy(dtype=float) for c in ("mean", "low", "high", "paper")
    )
    inner = np.concatenate([mean, paper])
    inner = inner[np.isfinite(inner)]
    room = max(0.8 * float(np.ptp(inner)), 0.01) if len(inner) else 0.0
    ends = np.concatenate([low, high])
    ends = np.clip(ends[np.isfinite(ends)], inner.min() - room, inner.max() + room)
    return tight(np.concatenate([inner, ends]))


def _band(part, colour, label) -> list[dict]:
    known = part[part["low"].notna() & part["high"].notna()]
    if len(known) < 2:
        return []
    return [
        {
            "type": "scatter", "x": [*known["x"], *known["x"][::-1]],
            "y": [*known["high"], *known["low"][::-1]], "fill": "toself", "mode": "lines",
            "fillcolor": faded(colour, 0.13), "line": {"width": 0}, "hoverinfo": "skip",
            "legendgroup": label, "showlegend": False,
        }
    ]  # fmt: skip


def running_times(
    table: pd.DataFrame,
    *,
    title: str | None = None,
    dark: bool = False,
    height: int | None = None,
) -> go.Figure:
    """Mean seconds of every line of one panel, divided into their three parts."""
    names = [row.label + (f", {row.series}" if row.series else "") for row in table.itertuples()]
    colours = [model_colour(model, dark) for model in table["model"]]
    total = table["seconds"].to_numpy(dtype=float)
    bars = []
    for part, (words, strength) in TIME_PARTS.items():
        values = table[part].to_numpy(dtype=float)
        bars.append(
            {
                "type": "bar", "orientation": "h", "x": values, "y": np.arange(len(table)),
                "width": 0.62, "name": words, "customdata": [plain(name) for name in names],
                "marker": {"color": [faded(c, strength) for c in colours], "line": {"width": 0}},
                "hovertemplate": f"%{{customdata}}<br>{words} %{{x:.3g}} s<extra></extra>",
            }
        )  # fmt: skip
    top = float(np.nanmax(total, initial=0.0)) or 1.0
    numbers = {
        "type": "scatter", "x": total, "y": np.arange(len(table)), "mode": "text",
        "text": [f"  {value:,.3g} s" for value in total], "textposition": "middle right",
        "textfont": {"color": theme(dark).text, "size": 12}, "hoverinfo": "skip",
        "showlegend": False, "cliponaxis": False,
    }  # fmt: skip
    said = ", ".join(f"{name} {value:.3g} s" for name, value in zip(names, total, strict=True))
    return style(
        bare(*bars, numbers),
        f"{title + ': ' if title else ''}running time: {said}.",
        dark=dark,
        x="Seconds in all",
        title=title,
        height=height or 96 + 32 * max(2, len(table)),
        margin={"t": 40, "l": 100},
        xaxis={"range": [0, 1.25 * top], "nticks": 6, "showgrid": True},
        yaxis=named_rows([plain(name, 34) for name in names], dark),
        layout={"barmode": "stack"},
    )


def best_so_far(
    trials: Mapping[str, Sequence[Mapping]], metric: str, *, dark: bool = False, height: int = 380
) -> go.Figure:
    """How the best setting of every model improved while Optuna searched.

    Parameters
    ----------
    trials : mapping from model to its trials
        Each with number and value (None when it failed).
    """
    traces, said, values = [], [], []
    for model, tried in trials.items():
        known = [trial for trial in tried if trial["value"] is not None]
        if not known:
            continue
        best = np.maximum.accumulate([trial["value"] for trial in known])
        look = model_style(model, dark)
        traces.append(
            {
                "type": "scatter", "x": [trial["number"] + 1 for trial in known], "y": best,
                "name": plain(model), "mode": "lines+markers",
                "line": {**look["line"], "shape": "hv"}, "marker": {**look["marker"], "size": 6},
                "hovertemplate": f"{plain(model)}<br>best of %{{x}}: %{{y:.4f}}<extra></extra>",
            }
        )  # fmt: skip
        values += best.tolist()
        said.append(f"{model} {best[-1]:.3f}")
    last = max((len(tried) for tried in trials.values()), default=1)
    return style(
        bare(*traces),
        f"Best validation {metric} as settings are tried: {', '.join(said) or 'nothing yet'}.",
        dark=dark,
        x="Settings tried",
        y=f"Best validation {plain(metric)}",
        height=height,
        legend=True,
        margin={"t": 12},
        xaxis={"range": [0.5, last + 0.5], "tickformat": "d", "dtick": max(1, round(last / 10))},
        yaxis={"range": tight(values) if values else [0, 1], "nticks": 7},
        layout={"legend": _below(height - 150)},
    )  # fmt: skip
