"""Pictures of S and W: the whole matrix as one image, or a window that names every entry."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from kcnet_core.experiments.block_means import block_size, reduce_matrix
from kcnet_core.figures.escaping import escape_html, unique_labels
from kcnet_core.figures.layout import draw
from kcnet_core.figures.reduction import KINDS, in_words, matrix_png, nice_limit, scale_end
from kcnet_core.figures.traces import heat, scatter
from kcnet_core.palette import colourscale, theme

MAX_WINDOW = 200  # cells or inputs; more would freeze the page
LONGEST_TICK = 24


def matrix_picture(
    M: np.ndarray,
    kind: str = "S",
    *,
    shape: tuple[int, int] | None = None,
    limit: float | None = None,
    n_submodels: int = 1,
    title: str | None = None,
    dark: bool = False,
    height: int = 340,
) -> go.Figure:
    """A whole matrix as one palette PNG with axes in cells and inputs.

    A matrix that `reduce_matrix` made smaller before comes with its full `shape`. S always spans -1
    to 1; the other kinds choose a round `limit` of their scale that shows the blocks well, unless
    pictures are to be compared. Thin lines part the submodels of an ensemble.
    """
    if shape is None:
        shape = M.shape
        M = reduce_matrix(M, how="density" if kind == "W" else "mean")
    (B, d), (rows, columns) = shape, (block_size(side) for side in shape)
    scale, unit, what = KINDS[kind]
    limit = scale_end(M, kind) if limit is None else limit
    low = -limit if scale == "diverging" else 0.0
    cell = "Hidden unit" if kind == "A" else "Kenyon cell"
    image = {
        "type": "image",
        "source": matrix_png(M, scale, dark, limit),
        "x0": (columns - 1) / 2,
        "dx": columns,
        "y0": (rows - 1) / 2,
        "dy": rows,
        "hoverinfo": "skip",
    }
    x_axis, y_axis = framed(dark, [-0.5, d - 0.5], [B - 0.5, -0.5])
    borders = [
        {"type": "line", "x0": -0.5, "x1": d - 0.5, "y0": at, "y1": at, "line": {"width": 0.5}}
        for at in np.arange(1, n_submodels) * B / n_submodels - 0.5
    ]
    return draw(
        [image, _colour_bar(colourscale(scale, dark), low, limit, unit)],
        in_words(M, shape, title or what, f"{cell.replace('H', 'h')}s", unit),
        dark,
        height,
        title=title,
        margin={"r": 84},
        shapes=borders,
        xaxis={**x_axis, "title": "Input"},
        yaxis={**y_axis, "title": cell},
    )


def _colour_bar(scale: list[list], low: float, high: float, title: str) -> dict:
    """A scale beside a picture: a trace without points that only carries its colour bar."""
    ends = {"cmin": low, "cmax": high, "color": [low]}
    bar = {"colorscale": scale, "showscale": True, "colorbar": {"title": title}}
    return scatter("markers", [None], [None], marker={**ends, **bar})


def framed(dark: bool, x_range: list, y_range: list) -> tuple[dict, dict]:
    """Axes around a picture: a thin frame, no grid, and no forced square pixels."""
    frame = {"showline": True, "mirror": True, "linecolor": theme(dark).grid, "showgrid": False}
    ticks = {"ticks": "outside", "ticklen": 4, "scaleanchor": False}
    return {**frame, "range": x_range}, {**frame, **ticks, "range": y_range}


def matrix_window(
    M: np.ndarray,
    rows: slice,
    columns: slice,
    feature_names,
    kind: str = "S",
    *,
    dark: bool = False,
) -> go.Figure:
    """A part of the full matrix, at most 200 x 200, that names input and cell on hover."""
    cells, inputs = (
        _window(part, side) for part, side in zip((rows, columns), M.shape, strict=True)
    )
    z = M[cells, inputs]
    shown = list(feature_names)[inputs]
    names = unique_labels(shown)
    scale, unit, what = KINDS[kind]
    limit = 1.0 if kind in ("S", "W") else nice_limit(z)
    value = "S = %{z:.3f}" if kind == "S" else "%{z:.3g}"
    window = heat(
        z.astype(np.uint8 if kind == "W" else np.float32),
        -limit if scale == "diverging" else 0,
        limit,
        f"%{{x}}<br>Kenyon cell %{{y}}<br>{value}",
        x=names,
        y=np.arange(cells.start, cells.stop),
        colorscale=colourscale(scale, dark),
        colorbar={"title": {"S": "score", "W": "connected"}.get(kind, unit)},
    )
    every = max(1, len(names) // 20)
    x_axis, y_axis = framed(dark, [-0.5, len(names) - 0.5], [cells.stop - 0.5, cells.start - 0.5])
    x_axis |= {
        "type": "category",
        "tickvals": names[::every],
        "ticktext": [escape_html(name, LONGEST_TICK) for name in shown[::every]],
        "tickangle": -60,
        "automargin": True,
    }
    return draw(
        [window],
        f"{what} of Kenyon cells {cells.start} to {cells.stop - 1} and inputs {shown[0]} "
        f"to {shown[-1]}.",
        dark,
        460,
        margin={"r": 84},
        xaxis={**x_axis, "title": "Input"},
        yaxis={**y_axis, "title": "Kenyon cell"},
    )


def _window(part: slice, side: int) -> slice:
    """Cut to the matrix and to the largest window."""
    start = min(max(0, part.start), side - 1)
    return slice(start, max(start + 1, min(part.stop, side, start + MAX_WINDOW)))
