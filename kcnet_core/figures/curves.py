"""What happens while a network trains: metric, density and flips by epoch, and the scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import plotly.graph_objects as go

from kcnet_core.figures.layout import metric_range, nice_ceiling, plain, sign_colours, style
from kcnet_core.palette import faded, model_colour, theme
from kcnet_core.records import EpochRecord

MAX_POINTS = 400  # of one line; more cannot be told apart on a page
SCORE_EDGES = np.linspace(-1, 1, 61)


def validation_curve(
    records: Iterable[EpochRecord] | Mapping[int, list[EpochRecord]],
    metric_name: str = "accuracy",
    *,
    n_epochs: int | None = None,
    stop_metric: float | None = None,
    model: str | None = None,
    dark: bool = False,
    height: int = 300,
) -> go.Figure:
    """Validation metric (solid) and training metric (dotted) over epochs.

    An ensemble has one thin line per submodel and a thick one for their mean.

    Parameters
    ----------
    records : EpochRecords in any order, or a mapping from submodel to its records
    n_epochs : int, optional
        Where the axis ends, so that it stands still while the curve grows.
    stop_metric : float, optional
        Drawn as the line at which training would stop.
    """
    lines = by_submodel(records)
    ensemble = len(lines) > 1
    colour = model_colour(model or ("Ensemble DOA" if ensemble else "DOA"), dark)
    ink = theme(dark)
    figure = go.Figure()
    everything = []
    means = {}
    for field, name, dash in (
        ("train_metric", "training", "dot"),
        ("validation_metric", "validation", "solid"),
    ):
        curves = {k: _points(part, field) for k, part in lines.items()}
        everything += [value for _, values in curves.values() for value in values]
        if ensemble and field == "validation_metric":
            figure.add_trace(_bundle(curves, faded(colour, 0.45)))
        epochs, values = _mean_curve(list(curves.values()))
        if not len(epochs):
            continue
        means[name] = (epochs, values)
        figure.add_trace(
            go.Scatter(
                x=epochs,
                y=values,
                name=f"{name}, mean" if ensemble else name,
                mode="lines" if len(epochs) > 1 else "markers",
                line={"color": colour if dash == "solid" else ink.muted, "dash": dash,
                      "width": 2.5 if dash == "solid" else 1.5},
                marker={"color": colour, "size": 7},
                hovertemplate=f"epoch %{{x}}<br>{name} %{{y:.4f}}<extra></extra>",
            )
        )  # fmt: skip
    if "validation" in means:
        epochs, values = means["validation"]
        figure.add_trace(_last_value(epochs[-1], values[-1], colour))
    if stop_metric:
        figure.add_hline(
            y=stop_metric,
            line={"color": ink.muted, "width": 1, "dash": "dash"},
            annotation={
                "text": f"stops at {stop_metric:g}",
                "font": {"color": ink.muted, "size": 11},
            },
            annotation_position="top left",
        )
        everything.append(stop_metric)
    style(
        figure,
        _curve_alt(metric_name, lines, means),
        dark=dark,
        x="Epoch",
        y=plain(metric_name[:1].upper() + metric_name[1:]),
        height=height,
        legend=True,
        hovermode="x" if not ensemble else "closest",
        margin={"r": 48},
    )
    _epoch_axis(figure, lines, n_epochs)
    figure.update_yaxes(range=metric_range(everything), tickformat=".2~f", nticks=6)
    return figure


def density_curve(
    records, *, n_epochs: int | None = None, model: str | None = None, dark: bool = False,
    height: int = 300,
) -> go.Figure:  # fmt: skip
    """Share of ones in W over epochs (mean over submodels)."""
    lines = by_submodel(records)
    colour = model_colour(model or ("Ensemble DOA" if len(lines) > 1 else "DOA"), dark)
    epochs, values = _mean_curve([_points(part, "density") for part in lines.values()])
    percent = 100 * values
    figure = go.Figure(
        go.Scatter(
            x=epochs,
            y=percent,
            mode="lines" if len(epochs) > 1 else "markers",
            line={"color": colour, "width": 2.5},
            marker={"color": colour, "size": 7},
            hovertemplate="epoch %{x}<br>%{y:.2f} % ones<extra></extra>",
        )
    )
    alt = "Density of W: no epoch yet."
    if len(epochs):
        figure.add_trace(_last_value(epochs[-1], percent[-1], colour, "{:.1f}"))
        alt = (
            f"Density of W: {percent[0]:.2f} % of all connections are on in epoch {epochs[0]}, "
            f"{percent[-1]:.2f} % in epoch {epochs[-1]}."
        )
    style(figure, alt, dark=dark, x="Epoch", y="Ones in W (%)", height=height, margin={"r": 44})
    _epoch_axis(figure, lines, n_epochs)
    figure.update_yaxes(range=[0, nice_ceiling(1.05 * max(percent, default=1.0))], nticks=6)
    return figure


def flips_bars(
    records, *, n_epochs: int | None = None, dark: bool = False, height: int = 300
) -> go.Figure:
    """Connections switched on (up) and off (down) in each epoch, over all submodels."""
    lines = by_submodel(records)
    totals: dict[int, list[int]] = {}
    for part in lines.values():
        for record in part:
            total = totals.setdefault(record.epoch, [0, 0])
            total[0] += record.flips_on
            total[1] += record.flips_off
    epochs = sorted(totals)
    flips = np.array([totals[epoch] for epoch in epochs], dtype=int).reshape(-1, 2)
    off_colour, on_colour = sign_colours(dark)
    figure = go.Figure(
        [
            go.Bar(
                x=epochs,
                y=sign * flips[:, k],
                name=name,
                customdata=flips[:, k],
                marker={"color": colour, "line": {"width": 0}},
                hovertemplate=f"epoch %{{x}}<br>%{{customdata:,}} {name}<extra></extra>",
            )
            for k, sign, name, colour in (
                (0, 1, "switched on", on_colour),
                (1, -1, "switched off", off_colour),
            )
        ]
    )
    last = f", in the last one {flips[-1, 0]} on and {flips[-1, 1]} off" if len(epochs) else ""
    alt = (
        f"Connections flipped in {len(epochs)} epochs: {flips[:, 0].sum()} switched on and "
        f"{flips[:, 1].sum()} switched off{last}."
    )
    style(figure, alt, dark=dark, x="Epoch", y="Connections flipped", height=height, legend=True)
    figure.update_layout(barmode="relative", bargap=0.15 if len(epochs) <= 80 else 0)
    _epoch_axis(figure, lines, n_epochs)
    top = nice_ceiling(flips.max(initial=0))
    ticks = np.array([-top, -top / 2, 0, top / 2, top])
    figure.update_yaxes(
        range=[-1.05 * top, 1.05 * top],
        tickvals=ticks,
        ticktext=[f"{abs(tick):,.0f}" if top >= 2 else f"{abs(tick):g}" for tick in ticks],
        zeroline=True,
        zerolinecolor=theme(dark).muted,
        zerolinewidth=1,
    )
    return figure


def score_histogram(
    S_or_counts: np.ndarray,
    edges: np.ndarray | None = None,
    *,
    dark: bool = False,
    height: int = 260,
) -> go.Figure:
    """Distribution of the preference scores; above zero a connection is on.

    Parameters
    ----------
    S_or_counts : ndarray
        The score matrix (two-dimensional), or its counts over `edges`.
    """
    edges = SCORE_EDGES if edges is None else np.asarray(edges)
    counts = np.asarray(S_or_counts)
    if counts.ndim == 2:
        counts = np.histogram(counts, edges)[0]
    share = 100 * counts / max(1, counts.sum())
    middle, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    below, above = sign_colours(dark)
    figure = go.Figure(
        go.Bar(
            x=middle,
            y=share,
            width=width,
            marker={"color": np.where(middle < 0, below, above), "line": {"width": 0}},
            hovertemplate="score %{x:.2f}<br>%{y:.2f} % of connections<extra></extra>",
        )
    )
    on = share[middle > 0].sum()
    alt = (
        f"Distribution of the preference scores: {on:.1f} % lie above zero (connection on), "
        f"the fullest bin is at {middle[share.argmax()]:.2f} with {share.max():.1f} %."
    )
    style(figure, alt, dark=dark, x="Preference score S", y="Connections (%)", height=height)
    span = float(edges[-1] - edges[0])
    figure.update_layout(bargap=0)
    figure.update_xaxes(range=[edges[0] - 0.01 * span, edges[-1] + 0.01 * span], nticks=9)
    figure.update_yaxes(range=[0, nice_ceiling(1.05 * share.max())], nticks=5)
    for x, text, colour, anchor in (
        (-0.02, "off", below, "right"),
        (0.02, "on", above, "left"),
    ):
        figure.add_annotation(
            x=x, y=1, yref="paper", text=text, showarrow=False, xanchor=anchor, yanchor="top",
            font={"color": colour, "size": 12},
        )  # fmt: skip
    return figure


def by_submodel(records) -> dict[int, list[EpochRecord]]:
    """Records sorted into one list per submodel, each in order of epochs."""
    if isinstance(records, Mapping):
        records = [record for part in records.values() for record in part]
    lines: dict[int, list[EpochRecord]] = {}
    for record in records:
        lines.setdefault(record.submodel, []).append(record)
    return {k: sorted(lines[k], key=lambda record: record.epoch) for k in sorted(lines)}


def _points(part: list[EpochRecord], field: str) -> tuple[np.ndarray, np.ndarray]:
    known = [(r.epoch, value) for r in part if (value := getattr(r, field)) is not None]
    epochs, values = (
        (np.array(column) for column in zip(*known, strict=True)) if known else ([], [])
    )
    return np.asarray(epochs, dtype=int), np.asarray(values, dtype=float)


def _mean_curve(curves) -> tuple[np.ndarray, np.ndarray]:
    """Mean at the epochs that every submodel has reached."""
    curves = [curve for curve in curves if len(curve[0])]
    if not curves:
        return np.array([], dtype=int), np.array([])
    common = set(curves[0][0].tolist()).intersection(*(set(e.tolist()) for e, _ in curves[1:]))
    epochs = np.array(sorted(common), dtype=int)
    values = np.mean([v[np.isin(e, epochs)] for e, v in curves], axis=0)
    return _thinned(epochs), _thinned(values)


def _thinned(values: np.ndarray, most: int = MAX_POINTS) -> np.ndarray:
    """At most `most` of them, always with the first and the last."""
    if len(values) <= most:
        return values
    return values[np.unique(np.linspace(0, len(values) - 1, most).round().astype(int))]


def _bundle(curves, colour) -> go.Scatter:
    """All submodels in one trace, parted by gaps: fifty traces would make the page slow."""
    each = max(20, 2 * MAX_POINTS // max(1, len(curves)))
    x, y, submodel = [], [], []
    for k, (epochs, values) in curves.items():
        thin = _thinned(epochs, each)
        x += [*thin.tolist(), None]
        y += [*_thinned(values, each).round(5).tolist(), None]
        submodel += [k + 1] * (len(thin) + 1)
    return go.Scatter(
        x=x, y=y, customdata=submodel, name="submodels", mode="lines",
        line={"color": colour, "width": 1}, connectgaps=False,
        hovertemplate="submodel %{customdata}, epoch %{x}<br>validation %{y:.4f}<extra></extra>",
    )  # fmt: skip


def _last_value(x, y, colour, form="{:.3f}") -> go.Scatter:
    """The newest number, written at the end of its line."""
    return go.Scatter(
        x=[x], y=[y], mode="markers+text", text=[" " + form.format(y)], textposition="middle right",
        textfont={"color": colour, "size": 13}, marker={"color": colour, "size": 7},
        hoverinfo="skip", showlegend=False, cliponaxis=False,
    )  # fmt: skip


def _epoch_axis(figure: go.Figure, lines, n_epochs: int | None):
    last = max((part[-1].epoch for part in lines.values()), default=1)
    end = max(n_epochs or last, last, 1)
    figure.update_xaxes(range=[0, end + 0.5], nticks=8, tickformat="d")


def _curve_alt(metric_name, lines, means) -> str:
    if "validation" not in means:
        return f"Validation {metric_name}: no epoch yet."
    epochs, values = means["validation"]
    of = f"mean of {len(lines)} submodels" if len(lines) > 1 else "one network"
    return (
        f"Validation {metric_name} over epochs, {of}: {values[0]:.4f} in epoch {epochs[0]}, "
        f"{values[-1]:.4f} in epoch {epochs[-1]}, best {values.max():.4f} in epoch "
        f"{epochs[values.argmax()]}."
    )
