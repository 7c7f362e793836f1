"""Many images as HTML, for pages that have no chart."""

from __future__ import annotations

import numpy as np

from kcnet_core.figures.escaping import escape_html
from kcnet_core.figures.reduction import matrix_png, photograph_png
from kcnet_core.palette import theme

TILE_WIDTH = "clamp(2.9rem, 6vw, 4.2rem)"


def image_png(image: np.ndarray, dark: bool = False) -> str:
    """An image in [0, 1] as a data URI: a photograph in colour, or ink on the page's paper."""
    return photograph_png(image) if image.ndim == 3 else matrix_png(image, "ink", dark)


def image_tiles(
    images: np.ndarray, image_shape: tuple[int, ...], labels, *, dark: bool = False
) -> str:
    """Images with a label below each as HTML that fills its place: as many in a row as there fit.

    Unlike `image_grid` it has no height of its own, so a narrow screen shows fewer in a row at a
    size that can be read, with nothing blank around them. Images are in [0, 1]; labels are any
    text, and escaped.
    """
    images = np.asarray(images, dtype=np.float32).reshape(-1, *image_shape)
    tiles = "".join(
        f'<figure style="margin:0"><img src="{image_png(image, dark)}" alt="" '
        'style="display:block;width:100%;margin-bottom:2px;image-rendering:pixelated">'
        f'<figcaption style="overflow-wrap:anywhere">{escape_html(label)}</figcaption></figure>'
        for image, label in zip(images, labels, strict=True)
    )
    return (
        f'<div style="display:grid;grid-template-columns:repeat(auto-fill,{TILE_WIDTH});'
        "justify-content:space-between;gap:0.7rem 0.6rem;text-align:center;line-height:1.3;"
        f'font-size:0.75rem;color:{theme(dark).muted}">{tiles}</div>'
    )
