"""What models cost: seconds, split into their parts, and trained parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from kcnet_core.figures.compare import by_model, log_axis, size_axis
from kcnet_core.figures.escaping import escape_html
from kcnet_core.figures.layout import draw, look
from kcnet_core.figures.ranked import ranked_bars
from kcnet_core.figures.traces import scatter
from kcnet_core.palette import model_colour, model_style, theme

PUBLISHED_SYMBOLS = ("asterisk-open", "x-thin-open", "cross-thin-open")
TIME_PARTS = {
    "configure_seconds": "Configuration",
    "fit_seconds": "Training",
    "evaluate_seconds": "Evaluation",
}


def time_split(lines: pd.DataFrame, *, dark: bool = False) -> go.Figure:
    """Seconds against hidden size, one panel for configuration, training and evaluation.

    `lines` is as for `metric_vs_hidden`, with the metrics of `TIME_PARTS`.
    """
    figure = make_subplots(
        rows=1, cols=3, shared_yaxes=True, horizontal_spacing=0.03,
        subplot_titles=list(TIME_PARTS.values()),
    )  # fmt: skip
    known = lines[lines["metric"].isin(TIME_PARTS) & (lines["mean"] > 0)]
    sizes = known["hidden"].dropna()
    ends = [float(sizes.min()), float(sizes.max())] if len(sizes) else [10.0, 1000.0]
    for column, (part_name, label) in enumerate(TIME_PARTS.items(), start=1):
        for model, part in by_model(known[known["metric"] == part_name]):
            part = part.sort_values("hidden")
            level = part["hidden"].isna().all()
            name = escape_html(model)
            trace = scatter(
                "lines" if level else "lines+markers",
                ends if level else part["hidden"],
                np.repeat(part["mean"], 2) if level else part["mean"],
                f"{name}, %{{x:,}} hidden<br>{label.lower()} %{{y:.3g}} s",
                name=name,
                legendgroup=model,
                showlegend=label == "Training",
                **model_style(model, dark),
            )
            figure.add_trace(trace, row=1, col=column)
    training = known[known["metric"] == "fit_seconds"]
    fastest = training.loc[training["mean"].idxmin()] if len(training) else None
    alt = "Seconds for configuration, training and evaluation against hidden size"
    if fastest is not None:
        alt += f"; the shortest training is {fastest['model']} with {fastest['mean']:.3g} s"
    figure.update_layout(
        look(alt + ".", dark, 360, margin={"t": 74}, showlegend=True, legend={"y": 1.1})
    )
    figure.update_xaxes(title="Hidden size", **size_axis(sizes))
    figure.update_yaxes(log_axis(known["mean"]))
    figure.update_yaxes(title="Seconds", col=1)
    return figure.update_annotations(font={"size": 13, "color": theme(dark).text})


def parameters_bar(table: pd.DataFrame, *, dark: bool = False):
    """Trained parameters of every variant, fewest first, on a logarithmic axis.

    Models without such a number (trees, neighbours) are left out.
    """
    known = table[table["parameters"].notna() & (table["parameters"] > 0)]
    means = known.groupby(["variant", "model"], sort=False)["parameters"].mean().reset_index()
    means = means.sort_values("parameters", kind="stable")
    values = means["parameters"].to_numpy(dtype=float)
    alt = "Trained parameters: " + ", ".join(
        f"{variant} {value:,.0f}" for variant, value in zip(means["variant"], values, strict=True)
    )
    ends = (values.min(), values.max()) if len(values) else (10, 100)
    low, high = math.floor(math.log10(ends[0]) - 0.3), math.log10(ends[1]) + 0.9
    axis = {"type": "log", "dtick": 1, "exponentformat": "power", "tickfont": {"size": 11}}
    return ranked_bars(
        values, list(means["variant"]), [f"{value:,.0f}" for value in values], alt=alt + ".",
        x="Trained parameters", colour=[model_colour(model, dark) for model in means["model"]],
        x_range=[low, high], xaxis=axis, dark=dark,
    )  # fmt: skip


def accuracy_per_byte(
    points: pd.DataFrame, published: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    *, dark: bool = False,
) -> go.Figure:  # fmt: skip
    """Accuracy in 8 bits against stored KiB, one line per model.

    `points` has variant, model, kib and accuracy; `published` is (KiB, accuracy) by name: figures
    of others, drawn apart.
    """
    ink, traces = theme(dark), []
    for model, part in by_model(points):
        part = part.sort_values("kib")
        traces.append(
            scatter(
                "lines+markers",
                part["kib"],
                part["accuracy"],
                "%{customdata}<br>%{x:,.1f} KiB<br>accuracy %{y:.4f}",
                customdata=[escape_html(variant) for variant in part["variant"]],
                name=escape_html(model),
                **model_style(model, dark),
            )
        )
    every = [points["kib"].to_numpy(float)], [points["accuracy"].to_numpy(float)]
    for (name, known), symbol in zip((published or {}).items(), PUBLISHED_SYMBOLS, strict=False):
        kib, accuracy = zip(*sorted(known), strict=True)
        traces.append(
            scatter(
                "lines+markers",
                kib,
                accuracy,
                f"{name}, published elsewhere<br>%{{x:,}} KiB<br>accuracy %{{y:.3f}}",
                name=f"{name} (published elsewhere)",
                line={"color": ink.muted, "dash": "dash", "width": 1.5},
                marker={"color": ink.muted, "symbol": symbol, "size": 8},
            )
        )
        every[0].append(np.array(kib))
        every[1].append(np.array(accuracy))
    sizes, values = (np.concatenate(part) for part in every)
    best = points.loc[points["accuracy"].idxmax()]
    alt = (
        f"Accuracy with 8-bit output weights against stored size; the highest is "
        f"{best['variant']} with {best['accuracy']:.4f} in {best['kib']:,.1f} KiB."
    )
    low, high = float(values.min()), float(values.max())
    air = 0.08 * (high - low) + 0.002
    return draw(
        traces, alt, dark, 400, showlegend=True,
        xaxis={**log_axis(sizes), "title": "Stored size in 8 bits (KiB)"},
        yaxis={"title": "Accuracy", "range": [low - air, min(1.0, high + air)], "nticks": 7},
    )  # fmt: skip
