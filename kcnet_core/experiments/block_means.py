"""Large matrices made small enough for a picture, without losing their ones."""

from __future__ import annotations

import math

import numpy as np

MAX_SIDE = 260  # about as many pixels as its place on the page has; more are only sent


def block_size(n: int, max_side: int = MAX_SIDE) -> int:
    """Rows (or columns) that share one pixel."""
    return max(1, math.ceil(n / max_side))


def reduce_matrix(M: np.ndarray, max_side: int = MAX_SIDE, how: str = "mean") -> np.ndarray:
    """At most `max_side` x `max_side` block means of M (B, d), as float32.

    With "density", the share of entries that are not zero; plain subsampling would lose the ones.
    The last block of a side covers what is left and is its mean.
    """
    if how not in ("mean", "density"):
        raise ValueError(f"how must be 'mean' or 'density', not {how!r}")
    if how == "density":
        return density_and_usage(M, max_side)[0]
    return _means(_row_block_sums(M, block_size(len(M), max_side)), M.shape, max_side)


def density_and_usage(W: np.ndarray, max_side: int = MAX_SIDE) -> tuple[np.ndarray, np.ndarray]:
    """`reduce_matrix` of a wiring, and how many cells use each input; W is read once for both.

    A connection is one, however many synapses it counts.
    """
    by_rows = _row_block_sums(W != 0, block_size(len(W), max_side))
    return _means(by_rows, W.shape, max_side), by_rows.sum(axis=0).astype(np.int64)


def _means(by_rows: np.ndarray, shape: tuple[int, ...], max_side: int) -> np.ndarray:
    rows, columns = (block_size(side, max_side) for side in shape)
    sums = _column_block_sums(by_rows, columns)
    return sums / np.outer(_block_counts(shape[0], rows), _block_counts(shape[1], columns))


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
