"""Many images as one PNG, as an SVG or as HTML, for pages that have no chart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kcnet_core.figures.escaping import escape_html
from kcnet_core.figures.reduction import LEVELS, indexed_png, levels, matrix_png, shade_table
from kcnet_core.palette import theme

GAP = 3  # pixels between two small pictures
LABEL = 9  # pixels of room below one for its label
TILE_WIDTH = "clamp(2.9rem, 6vw, 4.2rem)"


@dataclass(frozen=True)
class Sheet:
    """Pictures laid out in rows and columns as one PNG, with room for labels."""

    png: str  # data URI
    at: list[tuple[int, int]]  # left and top of each picture
    size: tuple[int, int]  # of a picture: width and height
    label: float  # room below a picture
    whole: tuple[int, int]  # width and height of the sheet
    n_rows: int


def sheet_of(
    tiles: np.ndarray, limit: float, scale: str, names: Sequence[str], columns: int | None,
    dark: bool,
) -> Sheet:  # fmt: skip
    """Pictures of shape (n, height, width) in rows and columns; ten in a row if not told."""
    n, height, width = tiles.shape
    columns = min(columns or 10, max(n, 1))
    rows = max(1, math.ceil(n / columns))
    label = LABEL * height / 28 if any(names) else 0
    pitch_x, pitch_y = width + GAP, height + GAP + round(label)
    # One colour more than the scale has, for the paper between the pictures.
    paper = list(bytes.fromhex(theme(dark).background.removeprefix("#")))
    table = np.vstack([shade_table(scale, dark), np.array(paper, np.uint8)])
    index = np.full((rows * pitch_y, columns * pitch_x), LEVELS, np.uint8)
    for i, tile in enumerate(levels(tiles, scale, limit)):
        top, left = (i // columns) * pitch_y, (i % columns) * pitch_x
        index[top : top + height, left : left + width] = tile
    at = [((i % columns) * pitch_x, (i // columns) * pitch_y) for i in range(n)]
    whole = columns * pitch_x - GAP, rows * pitch_y - GAP
    return Sheet(indexed_png(index, table), at, (width, height), label, whole, rows)


def image_sheet(
    images: np.ndarray, image_shape: tuple[int, int], labels, *, dark: bool = False
) -> str:
    """Many images with a label below each as an SVG: a picture for pages that have no other chart.

    Parameters
    ----------
    images : ndarray of shape (n, height * width), in [0, 1]
    labels : sequence of str
    """
    images = np.asarray(images, dtype=np.float32).reshape(-1, *image_shape)
    names = [escape_html(label, 14) for label in labels]
    sheet = sheet_of(images, 1.0, "ink", names, None, dark)
    (width, height), (right, bottom) = sheet.size, sheet.whole
    words = "".join(
        f'<text x="{x + width / 2}" y="{y + height + 0.75 * sheet.label}">{name}</text>'
        for (x, y), name in zip(sheet.at, names, strict=True)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right} {bottom}" '
        f'width="{4 * right}" height="{4 * bottom}">'
        f'<image href="{sheet.png}" width="{right + GAP}" height="{bottom + GAP}" '
        'preserveAspectRatio="none" style="image-rendering: pixelated"/>'
        f'<g font-family="sans-serif" font-size="{0.6 * sheet.label}" text-anchor="middle" '
        f'fill="{theme(dark).muted}">{words}</g></svg>'
    )


def image_tiles(
    images: np.ndarray, image_shape: tuple[int, int], labels, *, dark: bool = False
) -> str:
    """Images with a label below each as HTML that fills its place: as many in a row as there fit.

    Unlike `image_grid` it has no height of its own, so a narrow screen shows fewer in a row at a
    size that can be read, with nothing blank around them.

    Parameters
    ----------
    images : ndarray of shape (n, height * width), in [0, 1]
    labels : sequence of str
        Any text; it is escaped.
    """
    images = np.asarray(images, dtype=np.float32).reshape(-1, *image_shape)
    tiles = "".join(
        f'<figure style="margin:0"><img src="{matrix_png(image, "ink", dark)}" alt="" '
        'style="display:block;width:100%;margin-bottom:2px;image-rendering:pixelated">'
        f'<figcaption style="overflow-wrap:anywhere">{escape_html(label)}</figcaption></figure>'
        for image, label in zip(images, labels, strict=True)
    )
    return (
        f'<div style="display:grid;grid-template-columns:repeat(auto-fill,{TILE_WIDTH});'
        "justify-content:space-between;gap:0.7rem 0.6rem;text-align:center;line-height:1.3;"
        f'font-size:0.75rem;color:{theme(dark).muted}">{tiles}</div>'
    )
