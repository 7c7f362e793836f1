"""Hand-drawn digits: made to look like MNIST's, and short enough to travel in a link."""

from __future__ import annotations

import base64
import binascii
import zlib

import numpy as np

from kcnet_core.errors import DataError

SIDE = 28  # pixels of a drawing, as in MNIST
BOX = 20  # MNIST fits every digit into a box of this side
MIDDLE = 14  # and puts its centre of mass on this row and column (measured over 5,000 digits)
FAINT = 0.05  # darker than this counts as ink
_LEVELS = 15  # shades kept in a link
_LONGEST_CODE = 2_000


def read_pixels(values) -> np.ndarray:
    """Check what a drawing surface sent: 784 numbers from 0 to 255, as (28, 28) from 0 to 1."""
    try:
        pixels = np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError):
        pixels = np.empty(0, np.float32)
    if pixels.size != SIDE * SIDE or not np.isfinite(pixels).all():
        raise DataError(
            f"A drawing has {SIDE} x {SIDE} brightness values; clear it and draw it again."
        )
    return np.clip(pixels.reshape(SIDE, SIDE) / 255, 0, 1)


def is_blank(pixels) -> bool:
    return not np.any(np.asarray(pixels) > FAINT)


def centre_like_mnist(pixels) -> np.ndarray:
    """Fit the ink into a 20 x 20 box and put its centre of mass in the middle, as MNIST does.

    Brightness (28, 28) lies between 0 (paper) and 1 (ink); a blank drawing stays blank.
    """
    from scipy.ndimage import affine_transform, center_of_mass

    pixels = np.asarray(pixels, dtype=float)
    if is_blank(pixels):
        return np.zeros((SIDE, SIDE), dtype=np.float32)
    rows, columns = np.nonzero(pixels > FAINT)
    extent = max(int(np.ptp(rows)), int(np.ptp(columns))) + 1
    # A dot or a short dash keeps its size: blown up to the box it would be a blot.
    zoom = BOX / max(extent, BOX / 2)
    centre = np.array(center_of_mass(np.where(pixels > FAINT, pixels, 0)))
    # affine_transform asks where each output pixel comes from: input = output / zoom + offset.
    moved = affine_transform(
        pixels, np.full(2, 1 / zoom), offset=centre - MIDDLE / zoom, order=1, mode="grid-constant"
    )
    return np.clip(moved, 0, 1).astype(np.float32)


def to_code(pixels) -> str:
    """A drawing as a short text that fits into a link."""
    shades = np.rint(np.clip(pixels, 0, 1) * _LEVELS).astype(np.uint8).ravel()
    packed = (shades[0::2] << 4) | shades[1::2]
    return base64.urlsafe_b64encode(zlib.compress(packed.tobytes(), 9)).decode().rstrip("=")


def from_code(code: str) -> np.ndarray:
    """The drawing behind a text made by `to_code`."""
    complaint = DataError("The drawing in this link is damaged; clear it and draw it again.")
    if len(code) > _LONGEST_CODE:
        raise complaint
    try:
        squeezed = base64.urlsafe_b64decode(code + "=" * (-len(code) % 4))
        # The limit keeps a small malicious text from unpacking into gigabytes.
        packed = zlib.decompressobj().decompress(squeezed, SIDE * SIDE)
    except (ValueError, binascii.Error, zlib.error) as error:
        raise complaint from error
    if len(packed) != SIDE * SIDE // 2:
        raise complaint
    pairs = np.frombuffer(packed, dtype=np.uint8)
    shades = np.stack([pairs >> 4, pairs & 15], axis=1)
    return (shades.reshape(SIDE, SIDE) / _LEVELS).astype(np.float32)
