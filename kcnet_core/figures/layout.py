"""What figures are made with: the common look, words and lines inside a chart, steady ranges."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
import plotly.io as pio

from kcnet_core.figures.template import TEMPLATES
from kcnet_core.palette import colourscale

HEIGHT = 300


def draw(
    traces: Iterable[dict], alt: str, dark: bool, height: int = HEIGHT, **layout: Any
) -> go.Figure:
    """A figure in the common look.

    Parameters
    ----------
    alt : str
        What the chart says, for those who cannot see it.
    layout
        What is particular to this figure, in plotly's words; but its title, if it has any, is text
        in which nothing is read as a tag.
    """
    title = layout.pop("title", None)
    if title:
        layout["title"] = {"text": escape_html(title)}
    whole = look(alt, dark, height, **layout)
    if _unchecked.get():
        return _sketch(traces, whole)
    return go.Figure(list(traces), whole)


def look(alt: str, dark: bool, height: int, **layout: Any) -> dict:
    """The layout of a figure: the common look, and what is particular to it."""
    return {"template": TEMPLATES[dark], "height": height, "meta": {"alt": alt}, **layout}


def level_line(at: float, axis: str = "y", dash: str = "dash", **line) -> dict:
    """A thin line across the whole chart, at a value of one axis."""
    other = "x" if axis == "y" else "y"
    return {
        "type": "line",
        f"{axis}0": at,
        f"{axis}1": at,
        f"{other}0": 0,
        f"{other}1": 1,
        f"{other}ref": "paper",
        "line": {"dash": dash, **line},
    }


def alt(figure: go.Figure) -> str:
    """A figure's text for those who cannot see it."""
    return (figure.layout["meta"] or {}).get("alt", "")


def escape_html(text: object, longest: int | None = None) -> str:
    """Text that plotly shows as it is: it would read tags in names that a visitor uploaded."""
    text = str(text)
    if longest is not None and len(text) > longest:
        text = text[: longest - 1] + "…"
    return html.escape(text, quote=False)


def axis_title(words: str) -> str:
    """Words such as a metric's name at an axis: escaped, with a capital letter."""
    return escape_html(words[:1].upper() + words[1:])


def unique_labels(names, longest: int | None = None) -> list[str]:
    """Escaped names for a category axis, which would merge two that are the same."""
    labels, seen = [], set()
    for i, name in enumerate(names):
        label = escape_html(name, longest)
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


# -- for the live view, until it draws by itself ---------------------------------------------------

_unchecked: ContextVar[bool] = ContextVar("unchecked", default=False)
plain = escape_html


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


def _sketch(traces: Iterable[dict], layout: dict) -> Sketch:
    """With the template's words in it, for a renderer that knows no templates."""
    template = pio.templates[layout.pop("template")].to_plotly_json()
    common, data = template["layout"], template["data"]
    each = {"annotations": common.pop("annotationdefaults"), "shapes": common.pop("shapedefaults")}
    for name, words in each.items():
        layout[name] = [_merged(words, part) for part in layout.get(name, ())]
    for axis in ("xaxis", "yaxis"):
        if "title" in layout.get(axis, {}):
            layout[axis] = {**layout[axis], "title": {"text": layout[axis]["title"]}}
    scaled = [
        _merged(data[t["type"]][0], t) if "colorbar" in {**t, **t.get("marker", {})} else t
        for t in traces
    ]
    return Sketch(scaled, _merged(common, layout))


def _merged(*parts: dict) -> dict:
    """Nested dicts put together; a later part wins."""
    result: dict = {}
    for part in parts:
        for key, value in part.items():
            both = isinstance(value, dict) and isinstance(result.get(key), dict)
            result[key] = _merged(result[key], value) if both else value
    return result


def bare(*traces: dict) -> tuple[dict, ...]:
    return traces


def style(traces, alt, *, dark, x, y, title, height, margin, xaxis, yaxis, layout=None):
    return draw(
        traces, alt, dark, height, title=title, margin=margin,
        xaxis={"title": x, **xaxis}, yaxis={"title": y, **yaxis}, **(layout or {}),
    )  # fmt: skip


def colour_bar(scale: str, dark: bool, low: float, high: float, title: str) -> dict:
    """A scale beside a picture: a trace without points that only carries its colour bar."""
    return {
        "type": "scatter",
        "x": [None],
        "y": [None],
        "mode": "markers",
        "hoverinfo": "skip",
        "marker": {
            "colorscale": colourscale(scale, dark),
            "cmin": low,
            "cmax": high,
            "color": [low],
            "showscale": True,
            "colorbar": {"title": {"text": title}},
        },
    }


def bar_style(ink, title: str) -> dict:
    return {"title": {"text": title}}
