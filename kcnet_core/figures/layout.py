"""What all charts have in common: type, margins, quiet axes, steady ranges, and a text form."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import plotly.graph_objects as go

from kcnet_core.palette import colour_table, colourscale, faded, theme

FONT = "'Source Sans 3', 'Source Sans Pro', 'Source Sans', system-ui, sans-serif"
HEIGHT = 300
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 34, 50  # fixed, so that a growing tick label moves nothing

_unchecked: ContextVar[bool] = ContextVar("unchecked", default=False)


@dataclass
class Sketch:
    """Traces and layout of a figure that plotly has not checked and cannot draw."""

    data: list[dict]
    layout: dict


@contextmanager
def unchecked() -> Iterator[None]:
    """Figures made in here are sketches: plotly's checks would take most of the time.

    For charts that are drawn anew every second and not by plotly (see `live.compact`).
    """
    token = _unchecked.set(True)
    try:
        yield
    finally:
        _unchecked.reset(token)


def style(
    figure: go.Figure,
    alt: str,
    *,
    dark: bool,
    x: str | None = None,
    y: str | None = None,
    title: str | None = None,
    height: int = HEIGHT,
    legend: bool = False,
    margin: dict | None = None,
    hovermode: str | bool = "closest",
    xaxis: dict | None = None,
    yaxis: dict | None = None,
    layout: dict | None = None,
) -> go.Figure:
    """Dress a figure in the common look and give it its text form.

    Parameters
    ----------
    alt : str
        What the chart says, for those who cannot see it.
    x, y : str
        Axis titles, with units.
    xaxis, yaxis : dict
        What else all horizontal and all vertical axes have.
    layout : dict
        Anything else. The layout is set in one go: plotly's update methods cost milliseconds each,
        and several charts are drawn every second while a network trains.
    """
    ink = theme(dark)
    sketch = isinstance(figure, Sketch)
    whole = dict(figure.layout) if sketch else figure.layout.to_plotly_json()
    whole.pop("template", None)
    common = {
        "color": ink.muted,
        "gridcolor": ink.grid,
        "linecolor": ink.muted,
        "tickfont": {"color": ink.muted, "size": 12},
        "title": {"font": {"color": ink.text, "size": 13}, "standoff": 8},
        "zeroline": False,
    }
    each = {
        "xaxis": {"showgrid": False, "showline": True, "ticks": "outside", "ticklen": 4},
        "yaxis": {"showgrid": True, "showline": False},
    }
    for kind, text, more in (("xaxis", x, xaxis), ("yaxis", y, yaxis)):
        named = {} if text is None else {"title": {"text": text}}
        for name in {kind, *(key for key in whole if key.startswith(kind))}:
            parts = (whole.get(name, {}), common, each[kind], named, more or {})
            whole[name] = merged(*parts)
    look = {
        "template": "none",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "color": ink.text, "size": 13},
        "height": height,
        "margin": {"l": LEFT, "r": RIGHT, "t": TOP, "b": BOTTOM, **(margin or {})},
        "showlegend": legend,
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1.0,
            "yanchor": "bottom",
            "bgcolor": "rgba(0,0,0,0)",
            "font": {"color": ink.text, "size": 12},
        },
        "hovermode": hovermode,
        "hoverlabel": {
            "bgcolor": ink.surface,
            "bordercolor": ink.muted,
            "font": {"family": FONT, "color": ink.text, "size": 13},
        },
        "uirevision": "same",  # what a visitor zoomed into stays when new data come
        "dragmode": False,
        "meta": {"alt": alt},
    }
    if title:
        look["title"] = {
            "text": plain(title),
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 6},
            "font": {"size": 14, "color": ink.text, "weight": 600},
        }
    figure.layout = merged(whole, look, layout or {})
    return figure


def merged(*parts: dict) -> dict:
    """Nested dicts put together; a later part wins."""
    result: dict = {}
    for part in parts:
        for key, value in part.items():
            both = isinstance(value, dict) and isinstance(result.get(key), dict)
            result[key] = merged(result[key], value) if both else value
    return result


def bare(*traces: dict, **layout) -> go.Figure:
    """A figure of these traces without plotly's own template, which is large and never shown."""
    if _unchecked.get():
        return Sketch(list(traces), layout)
    return go.Figure(list(traces), {"template": "none", **layout})


def level_line(at: float, colour: str, axis: str = "y", dash: str = "dash") -> dict:
    """A thin line across the whole chart, at a value of one axis."""
    other = "x" if axis == "y" else "y"
    return {
        "type": "line",
        f"{axis}0": at,
        f"{axis}1": at,
        f"{other}0": 0,
        f"{other}1": 1,
        f"{other}ref": "paper",
        "line": {"color": colour, "width": 1, "dash": dash},
    }


def note(text: str, colour: str, size: int = 11, **place) -> dict:
    """A few words inside a chart."""
    return {"text": text, "showarrow": False, "font": {"color": colour, "size": size}, **place}


def ring(x: float, y: float, colour: str, size: int, **more) -> dict:
    """A circle around one point."""
    edge = {"color": colour, "width": 2}
    return {
        "type": "scatter", "x": [x], "y": [y], "mode": "markers",
        "marker": {"size": size, "color": faded(colour, 0.0), "line": edge}, **more,
    }  # fmt: skip


def alt(figure: go.Figure) -> str:
    """A figure's text for those who cannot see it."""
    return (figure.layout["meta"] or {}).get("alt", "")


def plain(text: object, longest: int | None = None) -> str:
    """Text that plotly shows as it is: it would read tags in names that a visitor uploaded."""
    text = str(text)
    if longest is not None and len(text) > longest:
        text = text[: longest - 1] + "…"
    return html.escape(text, quote=False)


def unique_labels(names, longest: int | None = None) -> list[str]:
    """Plain names for a category axis, which would merge two that are the same."""
    labels, seen = [], set()
    for i, name in enumerate(names):
        label = plain(name, longest)
        if label in seen:
            label = f"{label} ({i})"
        seen.add(label)
        labels.append(label)
    return labels


def nice_ceiling(value: float) -> float:
    """1, 2 or 5 times a power of ten, at least `value`; an axis end that moves rarely."""
    if not math.isfinite(value) or value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 5, 10) if value <= step * power * (1 + 1e-9))


def metric_range(values, full: bool = False) -> list[float]:
    """A range for a metric in [0, 1] that moves only in steps of a tenth."""
    values = [value for value in values if value is not None and math.isfinite(value)]
    if full or not values:
        return [0.0, 1.0]
    low = math.floor(10 * (min(values) - 0.01)) / 10
    high = math.ceil(10 * (max(values) + 0.01)) / 10
    return [max(0.0, low) if min(values) >= 0 else low, min(1.02, high) if high <= 1.1 else high]


def colour_bar(scale: str, dark: bool, low: float, high: float, title: str, **options) -> dict:
    """A scale beside a picture: a trace without points that only carries its colour bar."""
    return {
        "type": "scatter",
        "x": [None],
        "y": [None],
        "mode": "markers",
        "hoverinfo": "skip",
        "showlegend": False,
        "marker": {
            "colorscale": colourscale(scale, dark),
            "cmin": low,
            "cmax": high,
            "color": [low],
            "showscale": True,
            "colorbar": bar_style(theme(dark), title, **options),
        },
    }


def bar_style(ink, title: str, **options) -> dict:
    return {
        "thickness": 9,
        "len": 1.0,
        "ypad": 0,
        "x": 1.02,
        "outlinewidth": 0,
        "ticks": "",
        "nticks": 5,
        "tickfont": {"color": ink.muted, "size": 11},
        "title": {"text": title, "side": "right", "font": {"color": ink.muted, "size": 12}},
        **options,
    }


def sign_colours(dark: bool) -> tuple[str, str]:
    """Colours for below and above zero: the purple and the orange of the diverging scale."""
    table = colour_table("diverging", dark)
    return tuple("#{:02X}{:02X}{:02X}".format(*table[i]) for i in (42, 213))
