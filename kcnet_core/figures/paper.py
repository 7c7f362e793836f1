"""The paper's figures beside ours: dots with intervals, sweeps, running times, and searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from kcnet_core.figures.axes import named_rows
from kcnet_core.figures.escaping import axis_title, escape_html
from kcnet_core.figures.intervals import band, interval_range, tight, whiskers
from kcnet_core.figures.layout import draw, level_line
from kcnet_core.figures.traces import bars_across, row_ends, scatter
from kcnet_core.palette import faded, model_colour, model_style, theme

SERIES_SYMBOLS = (
    "circle", "circle-open", "square", "square-open", "triangle-up", "triangle-up-open",
)  # fmt: skip
SERIES_DASHES = ("solid", "dash", "dot", "dashdot")
LEGEND_ROW = 19  # pixels; on a phone each name has a row of its own
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
) -> go.Figure:
    """One panel of a table: the paper's figure as a diamond, ours as dots with 95% intervals.

    `table` has the rows of one panel of `paper.outcomes.Result.table()`; `series` are all of the
    recipe, so that panels give them the same markers.
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
    return draw(
        traces,
        f"{title + ': ' if title else ''}{metric}, ours beside the paper's: {', '.join(beside)}.",
        dark,
        150 + rows + LEGEND_ROW * max(len(every) - 2, 0),
        title=title,
        showlegend=True,
        legend=_below(rows),
        margin={"l": 92},
        shapes=[
            level_line(i + 0.5, dash="solid", color=faded(ink.muted, 0.25))
            for i in range(len(labels) - 1)
        ],
        xaxis={"title": axis_title(metric), "range": _range(table), "showgrid": True, "nticks": 6},
        yaxis=named_rows([escape_html(label, 24) for label in labels], dark),
    )


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
    return scatter(
        "markers",
        known["paper"],
        [place[label] for label in known["label"]],
        "the paper %{x:.4f}%{customdata}",
        customdata=[f" ± {s:g}" if np.isfinite(s) else "" for s in sd],
        name="the paper",
        showlegend=bool(len(known)),
        marker=_diamond(ink.text),
        error_x={"array": np.nan_to_num(sd), "color": faded(ink.text, 0.45), "width": 4},
    )


def _diamond(colour) -> dict:
    """The marker of what is printed in the paper."""
    return {"symbol": "diamond-open", "size": 11, "color": colour, "line": {"width": 1.6}}


def _our_marks(part, y, name, k, dark) -> dict:
    colours = [model_colour(model, dark) for model in part["model"]]
    about = [
        f"{escape_html(row.label)}{f', {escape_html(name)}' if name else ''}<br>ours {row.mean:.4f}"
        + (f" ({row.low:.4f} to {row.high:.4f})" if pd.notna(row.low) else "")
        + f"<br>{row.n} repeats{f', {row.tried} settings tried' if row.tried > 1 else ''}"
        for row in part.itertuples()
    ]
    # One error bar has one colour, so every point's interval is drawn in the neutral ink.
    return scatter(
        "markers",
        part["mean"],
        y,
        "%{customdata}",
        customdata=about,
        name="ours",
        showlegend=False,
        marker=_series_mark(k, colours),
        error_x=whiskers(part, faded(theme(dark).text, 0.55), thickness=1.2),
    )


def _series_mark(k: int, colour) -> dict:
    edge = {"width": 1.8, "color": colour}
    return {
        "symbol": SERIES_SYMBOLS[k % len(SERIES_SYMBOLS)],
        "size": 9,
        "color": colour,
        "line": edge,
    }


def _legend_mark(name, k, ink) -> dict:
    """Markers have the models' colours; the legend only tells the shapes apart."""
    words = escape_html(f"ours, {name[:1].lower() + name[1:]}" if name else "ours")
    return scatter("markers", [None], [None], name=words, marker=_series_mark(k, ink.muted))


def sweep(
    table: pd.DataFrame, metric: str, *, x: str, title: str | None = None, dark: bool = False
) -> go.Figure:
    """A metric along an axis, one line per label with its 95% band; printed points as diamonds.

    `table` has the rows of one panel and series, with places in the column x.
    """
    traces: list[dict] = []
    ends: list[str] = []
    used: dict[str, int] = {}
    for label, part in table.groupby("label", sort=False):
        part = part.sort_values("x")
        model = part["model"].iloc[0]
        variant = used[model] = used.get(model, -1) + 1  # lines of one model share its colour
        look = model_style(model, dark)
        look["line"] = {**look["line"], "dash": SERIES_DASHES[variant % 4]}
        if variant:
            look["marker"] = {**look["marker"], "symbol": f"{look['marker']['symbol']}-open"}
        traces += band(part["x"], part["low"], part["high"], look["line"]["color"],
                       legendgroup=label, showlegend=False)  # fmt: skip
        name = escape_html(label)
        hover = f"{name}, %{{x:,}}<br>{escape_html(metric)} %{{y:.4f}}"
        line = scatter("lines+markers", part["x"], part["mean"], hover, **look)
        traces.append({**line, "name": name, "legendgroup": label})
        best = part.loc[part["mean"].idxmax()]
        ends.append(f"{label} {best['mean']:.3f} at {best['x']:,g}")
    known = table[table["paper"].notna()]
    if len(known):
        look = _diamond([model_colour(model, dark) for model in known["model"]])
        hover = "the paper, %{x:,}: %{y:.4f}"
        printed = scatter("markers", known["x"], known["paper"], hover, marker=look)
        traces.append({**printed, "name": "printed in the paper"})
    xs = table["x"].to_numpy(dtype=float)
    air = 0.04 * float(np.ptp(xs)) if len(xs) else 1.0
    return draw(
        traces,
        f"{title + ': ' if title else ''}{metric} against {x.lower()}; highest: "
        f"{', '.join(ends) or 'nothing yet'}.",
        dark,
        380,
        title=title,
        showlegend=True,
        legend=_below(230),
        xaxis={
            "title": x,
            "range": [xs.min() - air, xs.max() + air] if len(xs) else None,
            "nticks": 8,
            "tickformat": ",~g",
        },
        yaxis={"title": axis_title(metric), "range": _range(table), "nticks": 7},
    )


def _range(table: pd.DataFrame) -> list[float]:
    """Whiskers have their room, unless they are so long that the means could not be told apart."""
    return interval_range(table, spreads=2.5, least=0.1)


def running_times(
    table: pd.DataFrame, *, title: str | None = None, dark: bool = False
) -> go.Figure:
    """Mean seconds of every line of one panel, divided into their three parts."""
    names = [row.label + (f", {row.series}" if row.series else "") for row in table.itertuples()]
    colours = [model_colour(model, dark) for model in table["model"]]
    total = table["seconds"].to_numpy(dtype=float)
    bars = [
        bars_across(
            table[part].to_numpy(dtype=float),
            [faded(colour, strength) for colour in colours],
            f"%{{customdata}}<br>{words} %{{x:.3g}} s",
            customdata=[escape_html(name) for name in names],
            name=words,
            width=0.62,
        )
        for part, (words, strength) in TIME_PARTS.items()
    ]
    top = float(np.nanmax(total, initial=0.0)) or 1.0
    numbers = row_ends(total, [f"{value:,.3g} s" for value in total])
    said = ", ".join(f"{name} {value:.3g} s" for name, value in zip(names, total, strict=True))
    return draw(
        [*bars, numbers],
        f"{title + ': ' if title else ''}running time: {said}.",
        dark,
        96 + 32 * max(2, len(table)),
        title=title,
        barmode="stack",
        margin={"t": 40, "l": 100},
        xaxis={"title": "Seconds in all", "range": [0, 1.25 * top], "nticks": 6, "showgrid": True},
        yaxis=named_rows([escape_html(name, 34) for name in names], dark),
    )


def best_so_far(
    trials: Mapping[str, Sequence[Mapping]], metric: str, *, dark: bool = False
) -> go.Figure:
    """How the best setting of every model improved while Optuna searched."""
    traces, said, values = [], [], []
    for model, tried in trials.items():
        known = [trial for trial in tried if trial["value"] is not None]
        if not known:
            continue
        best = np.maximum.accumulate([trial["value"] for trial in known])
        look = model_style(model, dark)
        name = escape_html(model)
        traces.append(
            scatter(
                "lines+markers",
                [trial["number"] + 1 for trial in known],
                best,
                f"{name}<br>best of %{{x}}: %{{y:.4f}}",
                name=name,
                line={**look["line"], "shape": "hv"},
                marker={**look["marker"], "size": 6},
            )
        )
        values += best.tolist()
        said.append(f"{model} {best[-1]:.3f}")
    last = max((len(tried) for tried in trials.values()), default=1)
    return draw(
        traces,
        f"Best validation {metric} as settings are tried: {', '.join(said) or 'nothing yet'}.",
        dark,
        380,
        showlegend=True,
        legend=_below(230),
        margin={"t": 12},
        xaxis={
            "title": "Settings tried",
            "range": [0.5, last + 0.5],
            "tickformat": "d",
            "dtick": max(1, round(last / 10)),
        },
        yaxis={
            "title": f"Best validation {escape_html(metric)}",
            "range": tight(values),
            "nticks": 7,
        },
    )
