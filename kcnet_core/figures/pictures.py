"""Values that live on an image's pixels: images, receptive fields, usage and contributions."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go

from kcnet_core.figures.axes import nice_ceiling
from kcnet_core.figures.escaping import escape_html
from kcnet_core.figures.layout import draw
from kcnet_core.figures.reduction import (
    LEVELS,
    indexed_png,
    levels,
    on_pixels,
    photograph_png,
    shade_table,
)
from kcnet_core.figures.traces import heat, scatter
from kcnet_core.palette import colourscale, theme

GAP = 3  # pixels between two small pictures
LABEL = 9  # pixels of room below one for its label
TILE_HEIGHT = 92  # on the page
FEW, FEW_HEIGHT = 4, 210  # so many pictures or fewer are shown larger

# Square pixels and nothing around them
BARE_X = {"showline": False, "showticklabels": False, "ticks": "", "constrain": "domain"}
BARE_Y = {**BARE_X, "showgrid": False, "scaleanchor": "x", "constraintoward": "top"}


def image_grid(
    images, image_shape: tuple[int, ...], labels=(), *, columns: int | None = None,
    title: str | None = None, boxes=None, dark: bool = False,
) -> go.Figure:  # fmt: skip
    """Many images in [0, 1] as one picture, ink on paper, with a label below each, if any.

    `boxes` (n, 4) are rectangles to be drawn on them: top, left, bottom, right.
    """
    images = np.asarray(images, dtype=np.float32).reshape(-1, *image_shape)
    names = [escape_html(label, 14) for label in labels] or [""] * len(images)
    kinds = ", ".join(filter(None, dict.fromkeys(map(str, labels))))
    alt = f"{len(images)} images{f' of {kinds}' if kinds else ''}."
    return _tiles(images, 1.0, "ink", names, columns, title, alt, dark, boxes)


def cell_pictures(
    W: np.ndarray, image_shape: tuple[int, ...], cells, *, title: str = "", boxes=None,
    dark: bool = False,
) -> go.Figure:  # fmt: skip
    """Receptive fields: the inputs (0/1, or scores) of some Kenyon cells on the image grid.

    `boxes` (B, 4) are the rectangles from which each cell of W drew them: top, left, bottom, right.
    """
    cells = [int(cell) for cell in cells]
    fields = on_pixels(np.asarray(W)[cells].astype(np.float32), image_shape)
    scale = "diverging" if fields.min(initial=0) < 0 else "sequential"
    alt = f"Inputs of {len(cells)} Kenyon cells on the image grid"
    if scale == "sequential":
        per_cell = fields.sum(axis=(1, 2))
        alt += f", {per_cell.min():.0f} to {per_cell.max():.0f} each" if len(cells) else ""
    boxes = None if boxes is None else np.asarray(boxes)[cells]
    if boxes is not None and len(cells) == 1:
        top, left, bottom, right = boxes[0]
        alt += f", drawn from rows {top} to {bottom - 1} and columns {left} to {right - 1}"
    names = [] if len(cells) == 1 and title else [str(cell) for cell in cells]
    title = title or "Inputs of Kenyon cells, with the number of each"
    # 0/1 weights use the scale's vivid middle, not its darkest end.
    limit = 1.0 if scale == "diverging" else 1.6
    return _tiles(fields, limit, scale, names, None, title, alt + ".", dark, boxes)


def _tiles(tiles, limit, scale, names, columns, title, alt, dark, boxes=None) -> go.Figure:
    """Pictures of shape (n, height, width), or (n, height, width, 3) in colour, as one PNG, with
    room for labels; ten in a row."""
    n, height, width = tiles.shape[:3]
    columns = min(columns or 10, max(n, 1))
    rows = max(1, math.ceil(n / columns))
    label = LABEL * height / 28 if any(names) else 0
    pitch_x, pitch_y = width + GAP, height + GAP + round(label)
    # One colour more than the scale has, for the paper between the pictures.
    ink = theme(dark)
    paper = list(bytes.fromhex(ink.background.removeprefix("#")))
    at = [((i % columns) * pitch_x, (i // columns) * pitch_y) for i in range(n)]
    sheet = np.full((rows * pitch_y, columns * pitch_x), LEVELS, np.uint8)
    colour = tiles.ndim == 4
    if colour:
        sheet = np.full((*sheet.shape, 3), np.array(paper) / 255, np.float32)
    for (x, y), tile in zip(at, tiles if colour else levels(tiles, scale, limit), strict=True):
        sheet[y : y + height, x : x + width] = tile
    table = np.vstack([shade_table(scale, dark), np.array(paper, np.uint8)])
    source = photograph_png(sheet) if colour else indexed_png(sheet, table)
    traces: list[dict] = [{"type": "image", "source": source, "hoverinfo": "skip"}]
    if any(names):
        xs, ys = [x + (width - 1) / 2 for x, _ in at], [y + height + label * 0.45 for _, y in at]
        look = {"color": ink.muted, "size": 11}
        traces.append(scatter("text", xs, ys, text=names, textfont=look))
    frames = []
    if scale != "ink":
        line = {"color": ink.grid, "width": 1}
        frames = [_frame(place, (0, 0, height, width), line) for place in at]
    if boxes is not None:
        line = {"color": ink.primary, "width": 1.5}
        frames += [_frame(place, box, line) for place, box in zip(at, boxes, strict=True)]
    top = 30 if title else 4
    return draw(
        traces,
        alt,
        dark,
        top + 8 + rows * (FEW_HEIGHT if n <= FEW else TILE_HEIGHT),
        title=title,
        margin={"l": 4, "r": 4, "t": top, "b": 4},
        shapes=frames,
        xaxis={**BARE_X, "range": [-1, columns * pitch_x - GAP + 0.5]},
        yaxis={**BARE_Y, "range": [rows * pitch_y - GAP + 0.5, -1]},
    )


def _frame(at: tuple[int, int], box, line: dict) -> dict:
    """A rectangle on the picture that begins at `at`."""
    (x, y), (top, left, bottom, right) = at, map(int, box)
    return {
        "type": "rect", "x0": x + left - 0.5, "x1": x + right - 0.5, "y0": y + top - 0.5,
        "y1": y + bottom - 0.5, "line": line,
    }  # fmt: skip


def pixel_map(
    values: np.ndarray,
    image_shape: tuple[int, ...],
    title: str | None = None,
    *,
    what: str = "Value of every pixel",
    unit: str = "",
    scale: str = "sequential",
    dark: bool = False,
) -> go.Figure:
    """One value for every pixel, with a scale; the pixel's place and value on hover. Those of its
    colours are added up.

    `what` is how the text form begins where there is no title.
    """
    values = on_pixels(np.asarray(values, dtype=np.float32), image_shape).ravel()
    limit = nice_ceiling(float(np.abs(values).max(initial=0)))
    busiest = int(np.abs(values).argmax())
    alt = (
        f"{title or what}: from {values.min():.3g} to {values.max():.3g}, "
        f"largest at row {busiest // image_shape[1]}, column {busiest % image_shape[1]}."
    )
    return draw(
        [_pixels(values, image_shape, scale, limit, unit, dark)],
        alt,
        dark,
        320,
        title=title,
        margin={"l": 8, "r": 76, "b": 8},
        xaxis={**BARE_X, "range": [-0.5, image_shape[1] - 0.5]},
        yaxis={**BARE_Y, "range": [image_shape[0] - 0.5, -0.5]},
    )


def contribution_map(
    values: np.ndarray, image: np.ndarray, image_shape: tuple[int, ...], *, dark: bool = False
) -> go.Figure:
    """An image, and beside it what every pixel adds to (orange) or takes from (purple) a score.

    `values` are exact contributions, which sum to the score; the image may be on any scale.
    """
    values = on_pixels(np.asarray(values, dtype=np.float32), image_shape).ravel()
    image = np.asarray(image, dtype=np.float32).reshape(image_shape)
    span = float(np.ptp(image)) or 1.0
    limit = nice_ceiling(float(np.quantile(np.abs(values), 0.995)))
    image = (image - image.min()) / span
    if image.ndim == 3:
        seen: dict = {"type": "image", "source": photograph_png(image)}
    else:
        seen = {**_pixels(image, image_shape, "ink", 1.0, "", dark), "showscale": False}
    added = _pixels(values, image_shape, "diverging", limit, "contribution", dark)
    alt = (
        f"The image and the contribution of each of its {len(values)} pixels: together "
        f"{values.sum():+.3f}, of which {values[values > 0].sum():+.3f} for and "
        f"{values[values < 0].sum():+.3f} against."
    )
    frame = {"showline": True, "mirror": True, "linecolor": theme(dark).grid}
    x_axis = {**BARE_X, **frame, "range": [-0.5, image_shape[1] - 0.5]}
    y_axis = {**BARE_Y, **frame, "range": [image_shape[0] - 0.5, -0.5]}
    return draw(
        [
            {**seen, "hoverinfo": "skip", "hovertemplate": None},
            {**added, "xaxis": "x2", "yaxis": "y2"},
        ],
        alt,
        dark,
        330,
        margin={"l": 8, "r": 84, "b": 8, "t": 12},
        xaxis={**x_axis, "domain": [0, 0.48]},
        xaxis2={**x_axis, "domain": [0.52, 1], "anchor": "y2"},
        yaxis=y_axis,
        yaxis2={**y_axis, "anchor": "x2", "scaleanchor": "x2"},
    )


def _pixels(values, image_shape, scale, limit, unit, dark) -> dict:
    shown = f" {unit}" if unit else ""
    return heat(
        np.asarray(values, dtype=np.float32).reshape(image_shape[:2]),
        -limit if scale == "diverging" else 0.0,
        limit,
        f"row %{{y}}, column %{{x}}<br>%{{z:.3g}}{shown}",
        colorscale=colourscale(scale, dark),
        colorbar={"title": unit},
    )
