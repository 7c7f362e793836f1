"""Small matrices: what they are called, their scales and shades, and palette PNGs of them."""

from __future__ import annotations

import base64
import io

import numpy as np

from kcnet_core import palette
from kcnet_core.experiments.block_means import block_size

LEVELS = 64  # shades in a picture: the eye sees no more, and the PNG is a third smaller
KINDS = {  # scale, what one pixel shows, what the matrix is called
    "S": ("diverging", "mean score", "Preference scores S"),
    "W": ("sequential", "share of ones", "Weights W"),
    "A": ("diverging", "mean weight", "Weights of an ELM"),
    "difference": ("diverging", "change", "Difference"),
    "usage": ("sequential", "cells", "How many cells use each pixel"),
}
NICE_LIMITS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def nice_limit(values: np.ndarray) -> float:
    """The end of a scale that shows `values` well and moves only in large steps."""
    largest = float(np.quantile(np.abs(values), 0.998)) if values.size else 0.0
    return next((limit for limit in NICE_LIMITS if largest <= limit), 1.0)


def scale_end(M: np.ndarray, kind: str) -> float:
    """Where the colours of a matrix end: S always spans -1 to 1."""
    return 1.0 if kind == "S" else nice_limit(M)


def in_words(M: np.ndarray, shape: tuple[int, int], what: str, cells: str, unit: str) -> str:
    """A (reduced) matrix for those who cannot see it."""
    (B, d), (rows, columns) = shape, (block_size(side) for side in shape)
    blocks = f", {rows} x {columns} entries per pixel" if rows * columns > 1 else ""
    return (
        f"{what}: {B} {cells} in rows, {d} inputs in columns{blocks}; "
        f"{unit} {M.min():.2g} to {M.max():.2g}, on average {M.mean():.2g}."
    )


def matrix_png(M: np.ndarray, scale: str, dark: bool = False, limit: float = 1.0) -> str:
    """A (small) matrix as a palette PNG in a data URI; see `levels`."""
    return indexed_png(levels(M, scale, limit), shade_table(scale, dark))


def levels(M: np.ndarray, scale: str, limit: float, n: int = LEVELS) -> np.ndarray:
    """The shade of every entry, uint8 from 0 to n - 1; "diverging" begins at -limit, not 0."""
    low = -limit if scale == "diverging" else 0.0
    shades = (n - 1) / (limit - low)
    return np.clip((np.nan_to_num(M) - low) * shades + 0.5, 0, n - 1).astype(np.uint8)


def shade_table(scale: str, dark: bool, n: int = LEVELS) -> np.ndarray:
    """`n` colours of a scale, (n, 3) uint8."""
    return palette.colour_table(scale, dark)[np.linspace(0, 255, n).round().astype(int)]


def on_pixels(values: np.ndarray, image_shape: tuple[int, ...]) -> np.ndarray:
    """Values (..., d) of an image's inputs as (..., height, width), summed over its colours."""
    shaped = np.asarray(values).reshape(*np.shape(values)[:-1], *image_shape)
    return shaped.sum(axis=-1) if len(image_shape) == 3 else shaped


def photograph_png(image: np.ndarray) -> str:
    """An image (height, width, 3) in [0, 1] as a PNG in its own colours, in a data URI."""
    from PIL import Image

    return _data_uri(Image.fromarray((np.clip(image, 0, 1) * 255 + 0.5).astype(np.uint8)))


def indexed_png(index: np.ndarray, table: np.ndarray) -> str:
    """A PNG data URI of colour numbers (uint8) and their colours."""
    from PIL import Image

    image = Image.fromarray(np.ascontiguousarray(index))
    image.putpalette(np.ascontiguousarray(table).tobytes())  # makes it mode P
    return _data_uri(image)


def _data_uri(image) -> str:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=2)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
