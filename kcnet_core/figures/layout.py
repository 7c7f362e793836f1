"""What all charts have in common: type, margins, quiet axes, steady ranges, and a text form."""

from __future__ import annotations

import html
import math

import plotly.graph_objects as go

from kcnet_core.palette import colour_table, colourscale, theme

FONT = "'Source Sans 3', 'Source Sans Pro', 'Source Sans', system-ui, sans-serif"
HEIGHT = 300
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 34, 50  # fixed, so that a growing tick label moves nothing


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
) -> go.Figure:
    """Dress a figure in the common look and give it its text form.

    Parameters
    ----------
    alt : str
        What the chart says, for those who cannot see it.
    x, y : str
        Axis titles, with units.
    """
    ink = theme(dark)
    axis = {
        "color": ink.muted,
        "gridcolor": ink.grid,
        "linecolor": ink.muted,
        "tickfont": {"color": ink.muted, "size": 12},
        "title": {"font": {"color": ink.text, "size": 13}, "standoff": 8},
        "zeroline": False,
    }
    figure.update_layout(
        template="none",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "color": ink.text, "size": 13},
        height=height,
        margin={"l": LEFT, "r": RIGHT, "t": TOP, "b": BOTTOM, **(margin or {})},
        showlegend=legend,
        legend={
            "orientation": "h",
            "x": 0,
            "y": 1.0,
            "yanchor": "bottom",
            "bgcolor": "rgba(0,0,0,0)",
            "font": {"color": ink.text, "size": 12},
        },
        hovermode=hovermode,
        hoverlabel={
            "bgcolor": ink.surface,
            "bordercolor": ink.muted,
            "font": {"family": FONT, "color": ink.text, "size": 13},
        },
        uirevision="same",  # what a visitor zoomed into stays when new data come
        dragmode=False,
        meta={"alt": alt},
    )
    figure.update_xaxes(showgrid=False, showline=True, ticks="outside", ticklen=4, **axis)
    figure.update_yaxes(showgrid=True, showline=False, **axis)
    if x is not None:
        figure.update_xaxes(title_text=x)
    if y is not None:
        figure.update_yaxes(title_text=y)
    if title:
        figure.update_layout(
            title={
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
        )
    return figure


def alt(figure: go.Figure) -> str:
    """A figure's text for those who cannot see it."""
    return (figure.layout.meta or {}).get("alt", "")


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


def colour_bar(
    scale: str, dark: bool, low: float, high: float, title: str, **options
) -> go.Scatter:
    """A scale beside a picture: a trace without points that only carries its colour bar."""
    ink = theme(dark)
    return go.Scatter(
        x=[None],
        y=[None],
        mode="markers",
        hoverinfo="skip",
        showlegend=False,
        marker={
            "colorscale": colourscale(scale, dark),
            "cmin": low,
            "cmax": high,
            "color": [low],
            "showscale": True,
            "colorbar": bar_style(ink, title, **options),
        },
    )


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
