"""What figures are made with: the common look, and words and lines inside a chart."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

import plotly.graph_objects as go

from kcnet_core.figures.template import TEMPLATES

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
    return go.Figure(list(traces), look(alt, dark, height, **layout))


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


def unique_labels(names: Iterable[object], longest: int | None = None) -> list[str]:
    """Escaped names for a category axis, which would merge two that are the same."""
    labels, seen = [], set()
    for i, name in enumerate(names):
        label = escape_html(name, longest)
        if label in seen:
            label = f"{label} ({i})"
        seen.add(label)
        labels.append(label)
    return labels
