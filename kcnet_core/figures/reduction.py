"""Large matrices made small enough for a browser: block reduction and palette PNGs."""

from __future__ import annotations

import base64
import io
import math

import numpy as np

from kcnet_core import palette

MAX_SIDE = 400  # a larger picture has more pixels than its place on the page
LEVELS = 64  # shades in a picture: the eye sees no more, and the PNG is a third smaller
NICE_LIMITS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def block_size(n: int, max_side: int = MAX_SIDE) -> int:
    """Rows (or columns) that share one pixel."""
    return max(1, math.ceil(n / max_side))


def reduce_matrix(M: np.ndarray, max_side: int = MAX_SIDE, how: str = "mean") -> np.ndarray:
    """At most `max_side` x `max_side` block means of M.

    Parameters
    ----------
    M : ndarray of shape (B, d)
    how : {"mean", "density"}
        "density" is the share of entries that are not zero; plain subsampling would lose the ones.

    Returns
    -------
    ndarray of float32. The last block of a side covers what is left and is its mean.
    """
    if how not in ("mean", "density"):
        raise ValueError(f"how must be 'mean' or 'density', not {how!r}")
    if how == "density" and M.dtype not in (np.uint8, np.bool_):
        M = M != 0
    rows, columns = (block_size(side, max_side) for side in M.shape)
    sums = _column_block_sums(_row_block_sums(M, rows), columns)
    return sums / np.outer(_block_counts(M.shape[0], rows), _block_counts(M.shape[1], columns))


def _row_block_sums(M: np.ndarray, size: int) -> np.ndarray:
    """Sums of `size` rows at a time. Reshaping is twenty times faster than np.add.reduceat here."""
    n, d = M.shape
    whole = n // size
    sums = np.empty((math.ceil(n / size), d), np.float32)
    M[: whole * size].reshape(whole, size, d).sum(axis=1, dtype=np.float32, out=sums[:whole])
    if n % size:
        M[whole * size :].sum(axis=0, dtype=np.float32, out=sums[whole])
    return sums


def _column_block_sums(M: np.ndarray, size: int) -> np.ndarray:
    sums = M[:, ::size].copy()
    for offset in range(1, size):
        part = M[:, offset::size]
        sums[:, : part.shape[1]] += part
    return sums


def _block_counts(n: int, size: int) -> np.ndarray:
    counts = np.full(math.ceil(n / size), size, np.float32)
    counts[-1] = n - size * (len(counts) - 1)
    return counts


def nice_limit(values: np.ndarray) -> float:
    """The end of a scale that shows `values` well and moves only in large steps."""
    largest = float(np.quantile(np.abs(values), 0.998)) if values.size else 0.0
    return next((limit for limit in NICE_LIMITS if largest <= limit), 1.0)


def matrix_png(M: np.ndarray, scale: str, dark: bool = False, limit: float = 1.0) -> str:
    """A (small) matrix as a palette PNG in a data URI.

    Parameters
    ----------
    M : ndarray of shape (rows, columns)
    scale : {"diverging", "sequential", "ink"}
        "diverging" spans -limit to limit, the others 0 to limit.
    """
    low = -limit if scale == "diverging" else 0.0
    shades = (LEVELS - 1) / (limit - low)
    index = np.clip((np.nan_to_num(M) - low) * shades + 0.5, 0, LEVELS - 1).astype(np.uint8)
    return indexed_png(index, shade_table(scale, dark))


def shade_table(scale: str, dark: bool) -> np.ndarray:
    """`LEVELS` colours of a scale, (LEVELS, 3) uint8."""
    return palette.colour_table(scale, dark)[np.linspace(0, 255, LEVELS).round().astype(int)]


def indexed_png(index: np.ndarray, table: np.ndarray) -> str:
    """A PNG data URI of colour numbers (uint8) and their colours."""
    from PIL import Image

    image = Image.fromarray(np.ascontiguousarray(index))
    image.putpalette(np.ascontiguousarray(table).tobytes())  # makes it mode P
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=2)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
