"""Horizontal bars with names: the form for anything ranked."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from kcnet_core.figures.axes import ACROSS, named_rows, nice_ceiling
from kcnet_core.figures.escaping import escape_html
from kcnet_core.figures.layout import draw
from kcnet_core.figures.traces import bars_across
from kcnet_core.palette import sign_colours

BAR_HEIGHT = 25
LONGEST_NAME = 30


def ranked_bars(
    values,
    names,
    texts,
    *,
    alt: str,
    x: str,
    colour,
    notes=None,
    x_range: list | None = None,
    xaxis: dict | None = None,
    dark: bool = False,
    height: int | None = None,
) -> go.Figure:
    """Bars from zero, first on top, each with its number at its end."""
    values = np.asarray(values, dtype=float)
    top = float(values.max(initial=0)) or 1.0
    axis = {"range": x_range or [0, 1.42 * top], **(xaxis or {})}
    return _bars(values, names, texts, colour, notes, axis, alt, x, dark, height)


def two_sided_bars(
    values, names, *, alt: str, x: str, notes=None, dark: bool = False, height: int | None = None
) -> go.Figure:
    """Bars to both sides of zero: purple below, orange above."""
    values = np.asarray(values, dtype=float)
    colours = np.where(values < 0, *sign_colours(dark))
    reach = 1.5 * float(np.abs(values).max(initial=0)) or nice_ceiling(0)
    axis = {"range": [-reach, reach], "zeroline": True}
    return _bars(values, names, signed(values), colours, notes, axis, alt, x, dark, height)


def signed(values) -> list[str]:
    """Numbers with their sign and the digits that the largest of them deserves."""
    largest = float(np.abs(values).max(initial=0))
    decimals = int(np.clip(2 - np.floor(np.log10(largest)), 0, 6)) if largest > 0 else 2
    return [f"{value:+.{decimals}f}".replace("-", "\N{MINUS SIGN}") for value in values]


def _bars(values, names, texts, colour, notes, axis, alt, x, dark, height) -> go.Figure:
    n = len(values)
    about = [
        f"{escape_html(name)}<br>{f'<i>{escape_html(note)}</i><br>' if note else ''}{x}: {text}"
        for name, note, text in zip(names, notes or [""] * n, texts, strict=True)
    ]
    look = {"text": [f" {text} " for text in texts], "width": 0.66}
    bars = bars_across(values, colour, "%{customdata}", customdata=about, **look)
    return draw(
        [bars],
        alt,
        dark,
        height or 70 + BAR_HEIGHT * max(2, n),
        margin={"t": 8, "b": 46},
        xaxis={**ACROSS, "title": x, **axis},
        yaxis=named_rows([escape_html(name, LONGEST_NAME) for name in names], dark),
    )
