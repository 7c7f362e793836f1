"""Receptive fields: the rectangle of the image that each Kenyon cell draws its inputs from."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kcnet_core.errors import DataError, KCNetError

CHANNELS = 3  # of an image whose number of inputs is three times a square


def image_shape_of(n_inputs: int, given=None) -> tuple[int, int, int]:
    """Height, width and channels of `n_inputs` inputs; row by row, the channels of a pixel last.

    Without a given shape it is a square, or a square with three channels.
    """
    if given is not None:
        shape = tuple(int(side) for side in given)
        if math.prod(shape) != n_inputs:
            raise DataError(
                f"image_shape={shape} has {math.prod(shape):,} inputs, but the data has "
                f"{n_inputs:,}: give the height and width (and channels) of the images."
            )
        height, width, depth = (*shape, 1)[:3]
        return height, width, depth
    for channels in (1, CHANNELS):
        side = math.isqrt(n_inputs // channels)
        if channels * side * side == n_inputs and side > 1:
            return side, side, channels
    raise DataError(
        f"Local wiring needs to know where each input lies, and {n_inputs:,} inputs are no square "
        f'image: give image_shape=(height, width), or use wiring="random" for data that are no '
        f"images."
    )


def is_image_shape(value) -> bool:
    """Whether `value` may be given as an `image_shape`."""
    if value is None:
        return True
    if not isinstance(value, tuple | list) or len(value) not in (2, 3):
        return False
    return all(
        isinstance(side, int | np.integer) and not isinstance(side, bool) and side >= 1
        for side in value
    )


@dataclass(frozen=True)
class Fields:
    """The rectangles of all cells on an image of shape (height, width, channels).

    `boxes` (B, 4) are top, left, bottom and right; bottom and right lie just outside.
    """

    boxes: np.ndarray
    shape: tuple[int, int, int]

    @classmethod
    def sample(
        cls, n_hidden: int, shape: tuple[int, int, int], smallest: int, largest: int, rng
    ) -> Fields:
        """Sides and places drawn evenly; a side is never longer than the image's."""
        if smallest > largest:
            raise KCNetError(
                f"min_field={smallest} is larger than max_field={largest}: a field's sides are "
                f"drawn between the two."
            )
        sides = np.array(shape[:2])
        drawn = rng.integers(smallest, largest + 1, (n_hidden, 2))
        drawn = np.minimum(drawn, sides)
        corner = rng.integers(0, sides - drawn + 1)
        return cls(np.concatenate([corner, corner + drawn], axis=1).astype(np.int32), shape)

    @classmethod
    def whole(cls, n_hidden: int, shape: tuple[int, int, int]) -> Fields:
        """Cells that see the whole image."""
        return cls(np.tile(np.array([0, 0, *shape[:2]], np.int32), (n_hidden, 1)), shape)

    @classmethod
    def concatenate(cls, parts: list[Fields]) -> Fields:
        return cls(np.concatenate([part.boxes for part in parts]), parts[0].shape)

    def first(self, n_cells: int) -> Fields:
        return Fields(self.boxes[:n_cells], self.shape)

    def mask(self, margin: int = 0) -> np.ndarray:
        """Which inputs lie in each cell's field (B, d), or within `margin` pixels around it."""
        height, width, channels = self.shape
        top, left, bottom, right = (side[:, None] for side in self.boxes.T)
        y, x = np.arange(height), np.arange(width)
        rows = (y >= top - margin) & (y < bottom + margin)  # (B, height)
        columns = (x >= left - margin) & (x < right + margin)
        pixels = rows[:, :, None] & columns[:, None, :]
        return np.repeat(pixels.reshape(len(self.boxes), -1), channels, axis=1)
