"""Horizontal bars with names: the form for anything ranked."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from kcnet_core.figures.layout import nice_ceiling, plain, sign_colours, style
from kcnet_core.palette import faded, theme

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
    dark: bool = False,
    height: int | None = None,
) -> go.Figure:
    """Bars from zero, first on top, each with its number at its end."""
    values = np.asarray(values, dtype=float)
    figure = _bars(values, names, texts, colour, notes, x, dark)
    top = float(values.max(initial=0)) or 1.0
    _finish(figure, names, alt, x, x_range or [0, 1.42 * top], dark, height)
    return figure


def two_sided_bars(
    values, names, *, alt: str, x: str, notes=None, dark: bool = False, height: int | None = None
) -> go.Figure:
    """Bars to both sides of zero: purple below, orange above."""
    values = np.asarray(values, dtype=float)
    below, above = sign_colours(dark)
    texts = signed(values)
    colours = np.where(values < 0, below, above)
    figure = _bars(values, names, texts, colours, notes, x, dark)
    reach = 1.5 * float(np.abs(values).max(initial=0)) or nice_ceiling(0)
    _finish(figure, names, alt, x, [-reach, reach], dark, height)
    figure.update_xaxes(zeroline=True, zerolinecolor=theme(dark).muted, zerolinewidth=1)
    return figure


def signed(values) -> list[str]:
    """Numbers with their sign and the digits that the largest of them deserves."""
    largest = float(np.abs(values).max(initial=0))
    decimals = int(np.clip(2 - np.floor(np.log10(largest)), 0, 6)) if largest > 0 else 2
    return [f"{value:+.{decimals}f}".replace("-", "\N{MINUS SIGN}") for value in values]


def _bars(values, names, texts, colour, notes, x, dark) -> go.Figure:
    notes = notes or [""] * len(values)
    about = [
        f"{plain(name)}<br>" + (f"<i>{plain(note)}</i><br>" if note else "") + f"{x}: {text}"
        for name, note, text in zip(names, notes, texts, strict=True)
    ]
    return go.Figure(
        go.Bar(
            x=values,
            y=np.arange(len(values)),
            orientation="h",
            width=0.66,
            marker={"color": colour, "line": {"width": 0}},
            text=[f" {text} " for text in texts],
            textposition="outside",
            textfont={"color": theme(dark).text, "size": 12},
            cliponaxis=False,
            customdata=about,
            hovertemplate="%{customdata}<extra></extra>",
        )
    )


def _finish(figure, names, alt, x, x_range, dark, height):
    n = len(names)
    style(
        figure, alt, dark=dark, x=x, height=height or 70 + BAR_HEIGHT * max(2, n),
        margin={"t": 8, "b": 46},
    )  # fmt: skip
    grid = {"showgrid": True, "gridcolor": faded(theme(dark).muted, 0.18), "nticks": 6}
    figure.update_xaxes(range=x_range, showline=False, ticks="", **grid)
    figure.update_yaxes(
        tickvals=np.arange(n),
        ticktext=[plain(name, LONGEST_NAME) for name in names],
        tickfont={"color": theme(dark).text},
        range=[n - 0.5, -0.5],
        ticklabelstandoff=6,
        showgrid=False,
        automargin=True,
    )
