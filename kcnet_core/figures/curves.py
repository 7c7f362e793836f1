"""What happens while a network trains: metric, density and flips by epoch, and the scores."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np
import plotly.graph_objects as go

from kcnet_core.figures.epochs import by_submodel, last_epoch, mean_curve, points, thinned
from kcnet_core.figures.layout import axis_title, draw, level_line, metric_range, nice_ceiling
from kcnet_core.figures.traces import bars, ring, scatter
from kcnet_core.network.history import EpochRecord
from kcnet_core.palette import faded, model_colour, sign_colours, theme

MAX_POINTS = 400  # of one line; more cannot be told apart on a page
MAX_BARS = 250
FEW_EPOCHS = 8  # each has a tick of its own
WORDS = (0.15, 0.1)  # share of a chart's width and height that a few words take
SCORE_EDGES = np.linspace(-1, 1, 61)


def validation_curve(
    records: Iterable[EpochRecord],
    metric_name: str = "accuracy",
    *,
    n_epochs: int | None = None,
    stop_metric: float | None = None,
    model: str | None = None,
    mark_best: bool = False,
    dark: bool = False,
    height: int = 300,
) -> go.Figure:
    """Validation metric (solid) and training metric (dotted) over epochs.

    An ensemble has one thin line per submodel and a thick one for their mean.

    Parameters
    ----------
    records : EpochRecords of all submodels, in any order
    n_epochs : int, optional
        Where the axis ends, so that it stands still while the curve grows.
    stop_metric : float, optional
        Drawn as the line at which training would stop.
    mark_best : bool
        Put a ring around the best epoch of a single network, whose wiring is the one to be kept.
    """
    lines = by_submodel(records, MAX_POINTS)
    ensemble, end = len(lines) > 1, last_epoch(lines, n_epochs)
    colour = model_colour(model or ("Ensemble DOA" if ensemble else "DOA"), dark)
    traces, everything, means = [], [], {}
    for field, name, look in (
        ("train_metric", "training", {"color": theme(dark).muted, "dash": "dot", "width": 1.5}),
        ("validation_metric", "validation", {"color": colour, "width": 2.5}),
    ):
        curves = {k: points(part, field) for k, part in lines.items()}
        everything += [value for _, values in curves.values() for value in values]
        if ensemble and name == "validation":
            traces.append(_bundle(curves, faded(colour, 0.45)))
        epochs, values = mean_curve(curves.values())
        if len(epochs):
            means[name] = (epochs, values)
            traces.append(_line(epochs, values, look, f"{name} %{{y:.4f}}",
                                f"{name}, mean" if ensemble else name))  # fmt: skip
    if "validation" in means:
        epochs, values = means["validation"]
        traces.append(_last_value(epochs[-1], values[-1], colour))
        if mark_best and not ensemble:
            best = int(values.argmax())
            words = f"epoch {epochs[best]}<br>best so far, {values[best]:.4f}: its wiring is kept"
            traces.append(ring(epochs[best], values[best], colour, 13, words, name="best, kept"))
    extras = {}
    if stop_metric:
        everything.append(stop_metric)
        place = _free_place(stop_metric, means.values(), metric_range(everything), end)
        text = {"text": f"stops at {stop_metric:g}", "xref": "paper", "y": stop_metric, **place}
        extras = {"shapes": [level_line(stop_metric)], "annotations": [text]}
    return draw(
        traces,
        _curve_alt(metric_name, lines, means),
        dark,
        height,
        showlegend=True,
        hovermode="closest" if ensemble else "x",
        margin={"r": 48},
        xaxis=_epoch_axis(end),
        yaxis={
            "title": axis_title(metric_name),
            "range": metric_range(everything),
            "tickformat": ".2~f",
            "nticks": 6,
        },
        **extras,
    )


def density_curve(
    records: Iterable[EpochRecord],
    *,
    n_epochs: int | None = None,
    model: str | None = None,
    dark: bool = False,
    height: int = 300,
) -> go.Figure:
    """Share of ones in W over epochs (mean over submodels)."""
    lines = by_submodel(records, MAX_POINTS)
    colour = model_colour(model or ("Ensemble DOA" if len(lines) > 1 else "DOA"), dark)
    epochs, values = mean_curve(points(part, "density") for part in lines.values())
    percent = 100 * values
    traces, alt = [], "Density of W: no epoch yet."
    if len(epochs):
        look = {"color": colour, "width": 2.5}
        traces = [
            _line(epochs, percent, look, "%{y:.2f}% ones", "density"),
            _last_value(epochs[-1], percent[-1], colour, "{:.1f}"),
        ]
        alt = (
            f"Density of W: {percent[0]:.2f}% of all connections are on in epoch {epochs[0]}, "
            f"{percent[-1]:.2f}% in epoch {epochs[-1]}."
        )
    top = nice_ceiling(1.05 * max(percent, default=1.0))
    return draw(
        traces,
        alt,
        dark,
        height,
        margin={"r": 44},
        xaxis=_epoch_axis(last_epoch(lines, n_epochs), nticks=5),
        yaxis={"title": "Ones in W (%)", "range": [0, top], "nticks": 6},
    )


def flips_bars(
    records: Iterable[EpochRecord],
    *,
    n_epochs: int | None = None,
    dark: bool = False,
    height: int = 300,
) -> go.Figure:
    """Connections switched on (up) and off (down) in each epoch, over all submodels.

    Of very many epochs, every bar is the mean of a few.
    """
    totals: dict[int, list[int]] = {}
    for record in records:
        total = totals.setdefault(record.epoch, [0, 0])
        total[0] += record.flips_on
        total[1] += record.flips_off
    epochs = np.array(sorted(totals), dtype=int)
    flips = np.array([totals[epoch] for epoch in epochs], dtype=float).reshape(-1, 2)
    last = f", in the last one {flips[-1, 0]:.0f} on and {flips[-1, 1]:.0f} off" if totals else ""
    alt = (
        f"Connections flipped in {len(epochs)} epochs: {flips[:, 0].sum():.0f} switched on and "
        f"{flips[:, 1].sum():.0f} switched off{last}."
    )
    end = max(n_epochs or 1, epochs.max(initial=1))
    together = -(-end // MAX_BARS)
    if together > 1:
        starts = np.flatnonzero(np.diff(epochs // together, prepend=-1))
        counts = np.diff(starts, append=len(epochs))
        flips = np.add.reduceat(flips, starts, axis=0) / counts[:, None] if totals else flips
        epochs = epochs[starts]
    below, above = sign_colours(dark)
    hover = "epoch %{x}<br>%{customdata:,.0f} "
    on, off = flips.T
    sides = [
        bars(epochs, on, above, f"{hover}switched on", customdata=on, name="switched on"),
        bars(epochs, -off, below, f"{hover}switched off", customdata=off, name="switched off"),
    ]
    top = nice_ceiling(flips.max(initial=0))
    ticks = [-top, -top / 2, 0, top / 2, top]
    return draw(
        sides,
        alt,
        dark,
        height,
        showlegend=True,
        barmode="relative",
        bargap=0.15 if len(epochs) <= 80 else 0,
        xaxis=_epoch_axis(end, nticks=5),
        yaxis={
            "title": "Connections flipped",
            "range": [-1.05 * top, 1.05 * top],
            "tickvals": ticks,
            "ticktext": [f"{abs(tick):,.0f}" if top >= 2 else f"{abs(tick):g}" for tick in ticks],
            "zeroline": True,
        },
    )


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
    middle = (edges[1:] + edges[:-1]) / 2
    below, above = sign_colours(dark)
    hover = "score %{x:.2f}<br>%{y:.2f}% of connections"
    width = float(edges[1] - edges[0])
    sides = [
        bars(middle[part], share[part], colour, hover, width=width)
        for part, colour in ((middle < 0, below), (middle >= 0, above))
    ]
    on = share[middle > 0].sum()
    alt = (
        f"Distribution of the preference scores: {on:.1f}% lie above zero (connection on), "
        f"the fullest bin is at {middle[share.argmax()]:.2f} with {share.max():.1f}%."
    )
    air = 0.01 * float(edges[-1] - edges[0])
    top = nice_ceiling(1.05 * share.max())
    words = [
        {"text": text, "x": x, "xanchor": side, "y": 1, "yref": "paper", "yanchor": "top",
         "font": {"color": colour, "size": 12}}
        for text, x, side, colour in (("off", -air, "right", below), ("on", air, "left", above))
    ]  # fmt: skip
    return draw(
        sides,
        alt,
        dark,
        height,
        bargap=0,
        annotations=words,
        xaxis={
            "title": "Preference score S",
            "range": [edges[0] - air, edges[-1] + air],
            "nticks": 9,
        },
        yaxis={"title": "Connections (%)", "range": [0, top], "nticks": 5},
    )


def _line(x, y, look: dict, hover: str, name: str) -> dict:
    mode, dot = "lines" if len(x) > 1 else "markers", {"color": look["color"], "size": 7}
    return scatter(mode, x, y, f"epoch %{{x}}<br>{hover}", name=name, line=look, marker=dot)


def _bundle(curves, colour) -> dict:
    """All submodels in one trace, parted by gaps: fifty traces would make the page slow."""
    each = max(20, 2 * MAX_POINTS // max(1, len(curves)))
    x, y, submodel = [], [], []
    for k, (epochs, values) in curves.items():
        thin = thinned(epochs, each).tolist()
        x += [*thin, None]
        y += [*thinned(values, each).round(5).tolist(), None]
        submodel += [k + 1] * (len(thin) + 1)
    hover = "submodel %{customdata}, epoch %{x}<br>validation %{y:.4f}"
    look = {"color": colour, "width": 1}
    return scatter("lines", x, y, hover, customdata=submodel, name="submodels", line=look)


def _last_value(x, y, colour, form="{:.3f}") -> dict:
    """The newest number, written at the end of its line."""
    return scatter(
        "markers+text",
        [x],
        [y],
        text=[" " + form.format(y)],
        textposition="middle right",
        textfont={"color": colour, "size": 13},
        marker={"color": colour, "size": 7},
        showlegend=False,
        cliponaxis=False,
    )


def _free_place(level: float, curves, y_range, end: float) -> dict:
    """Where words beside a level line are farthest from the curves; above on the left if free."""
    tall = WORDS[1] * (y_range[1] - y_range[0])
    places = []
    for xanchor, yanchor in product(("left", "right"), ("bottom", "top")):
        middle = level + (tall / 2 if yanchor == "bottom" else -tall / 2)
        first = 0.0 if xanchor == "left" else (1 - WORDS[0]) * end
        gap = min(
            (
                float(np.abs(values[near] - middle).min())
                for epochs, values in curves
                if (near := (epochs >= first) & (epochs <= first + WORDS[0] * end)).any()
            ),
            default=np.inf,
        )
        places.append((min(gap, tall), {"x": int(xanchor == "right"), "xanchor": xanchor,
                                        "yanchor": yanchor}))  # fmt: skip
    return max(places, key=lambda place: place[0])[1]


def _epoch_axis(end: int, nticks: int = 8) -> dict:
    ticks = {"dtick": 1} if end <= FEW_EPOCHS else {"nticks": nticks}
    return {"title": "Epoch", "range": [0, end + 0.5], "tickformat": "d", **ticks}


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
