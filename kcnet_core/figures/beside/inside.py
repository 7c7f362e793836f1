"""Pictures of the inside of two networks: weights of some cells, and cells that answer."""

from __future__ import annotations

import math

import numpy as np

from kcnet_core.figures.reduction import LEVELS, indexed_png, levels, shade_table
from kcnet_core.palette import theme

SIZE = (132, 440)  # pixels of a picture, as a page shows it
MOST_COLUMNS = 220  # of a weight matrix; a single one of the 0/1 wiring must stay visible


def weights_picture(window: np.ndarray, *, dark: bool = False) -> str:
    """Weights of the first cells (k, d), one row each: 0/1 in orange, others from purple over the
    paper to orange. A data URI; neighbouring inputs share a column where there are too many."""
    binary = window.dtype == np.uint8
    M = _columns(window.astype(np.float32), binary)
    scale = "sequential" if binary else "diverging"
    index = levels(M, scale, 1.5 if binary else 1.0)  # 0/1 in the vivid middle of the scale
    return indexed_png(_enlarged(index), shade_table(scale, dark))


def cells_picture(activity: np.ndarray, *, dark: bool = False) -> str:
    """All cells in reading order, each as bright as it is active; the rest of the field is grid."""
    B = len(activity)
    columns = max(1, math.ceil(math.sqrt(SIZE[1] / SIZE[0] * B)))
    rows = math.ceil(B / columns)
    index = np.full(rows * columns, LEVELS, np.uint8)
    index[:B] = levels(activity, "sequential", float(activity.max()) or 1.0)
    empty = np.frombuffer(bytes.fromhex(theme(dark).grid.removeprefix("#")), np.uint8)
    table = np.vstack([shade_table("sequential", dark), empty])
    return indexed_png(_enlarged(index.reshape(rows, columns)), table)


def _columns(M: np.ndarray, binary: bool) -> np.ndarray:
    """At most so many columns: whether any of a few neighbours is connected, or the first."""
    step = -(-M.shape[1] // MOST_COLUMNS)
    if step == 1:
        return M
    padded = np.pad(M, ((0, 0), (0, -M.shape[1] % step)))
    blocks = padded.reshape(len(M), -1, step)
    return blocks.max(axis=2) if binary else blocks[:, :, 0]


def _enlarged(index: np.ndarray) -> np.ndarray:
    """Every entry as a rectangle; a browser that enlarged it would blur it."""
    up, across = (max(1, round(size / side)) for size, side in zip(SIZE, index.shape, strict=True))
    return np.repeat(np.repeat(index, up, axis=0), across, axis=1)
