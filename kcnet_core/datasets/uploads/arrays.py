"""The user's own images as arrays: X and y out of an .npz, which is never unpickled."""

from __future__ import annotations

import io
import math

import numpy as np

from kcnet_core.datasets.uploads.archive import read_entry
from kcnet_core.errors import DataError, LimitError
from kcnet_core.limits import MAX_IMAGE_PIXELS, MAX_IMAGES, MAX_UNZIPPED_BYTES, MAX_UPLOAD_PIXELS

_HEADER_BYTES = 10_012  # numpy reads no longer one
_MAX_AXES = 32  # as in numpy
CHUNK_VALUES = 500_000  # that are worked on at once


def arrays_from_npz(pack, entries) -> tuple[np.ndarray, list[str]]:
    """Byte images of shape (n, height, width) and the class name of each."""
    arrays = arrays_by_name(entries)
    for key in ("X", "y"):
        if key not in arrays:
            raise DataError(
                f"The .npz holds no array {key}; it has {', '.join(sorted(arrays)[:10])}. "
                "Save it with numpy.savez(file, X=images, y=labels)."
            )
    # Labels become Python objects, so what the headers tell of their number is settled first.
    X_shape, _ = array_header(pack, arrays["X"], "X")
    y_shape, _ = array_header(pack, arrays["y"], "y")
    if len(y_shape) != 1 and (len(y_shape) != 2 or y_shape[1] != 1):
        raise DataError(f"y has the shape {y_shape}; it must have one label per image.")
    n_images = X_shape[0] if X_shape else 0
    if n_images > MAX_IMAGES:
        raise LimitError(f"X has {n_images:,} images; the limit is {MAX_IMAGES:,} (MAX_IMAGES).")
    if n_images != y_shape[0]:
        raise DataError(
            f"X has {n_images:,} images, but y has {y_shape[0]:,} labels; save one label per image."
        )
    labels = _labels(read_array(pack, arrays["y"], "y"))
    return _images(read_array(pack, arrays["X"], "X")), labels


def arrays_by_name(entries) -> dict:
    """The archive's files by the names of their arrays; of equal names the last counts."""
    return {entry.filename.removesuffix(".npy"): entry for entry in entries}


def n_announced(pack, entries) -> int:
    """How many images the header of X announces; only the header is unpacked."""
    try:
        shape, _ = array_header(pack, arrays_by_name(entries)["X"], "X")
    except (KeyError, DataError):  # reading it in earnest will say what is wrong
        return 0
    return shape[0] if shape else 0


def array_header(pack, entry, name) -> tuple[tuple[int, ...], np.dtype]:
    """Shape and type that an array announces, if its file can hold them; no values are read."""
    file = io.BytesIO(read_entry(pack, entry, max_bytes=_HEADER_BYTES))
    try:
        read_header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[np.lib.format.read_magic(file)]
        shape, _, dtype = read_header(file)
    except Exception as error:  # numpy's header parser raises nearly everything on hostile bytes
        raise DataError(f"{name} is no plain numpy array; save it again.") from error
    if dtype.hasobject:
        raise DataError(
            f"{name} holds Python objects, which are never loaded; save plain numbers (for y "
            "also plain text)."
        )
    if dtype.kind == "V" or dtype.itemsize == 0 or len(shape) > _MAX_AXES:
        raise DataError(
            f"{name} has values of several fields or of no bytes, or more than {_MAX_AXES} axes; "
            "save plain numbers (for y also plain text)."
        )
    # numpy sets memory aside by the header alone, so the header must not promise too much.
    announced = math.prod(shape) * dtype.itemsize
    if any(not 0 <= side <= MAX_UNZIPPED_BYTES for side in shape) or announced > entry.file_size:
        raise DataError(f"{name} announces more values than it holds; save it again.")
    return shape, dtype


def read_array(pack, entry, name) -> np.ndarray:
    """The array, which is never unpickled."""
    array_header(pack, entry, name)
    content = read_entry(pack, entry)
    try:
        return np.load(io.BytesIO(content), allow_pickle=False)
    except Exception as error:
        raise DataError(f"{name} is no plain numpy array; save it again.") from error


def _labels(y: np.ndarray) -> list[str]:
    y = y.reshape(-1)
    if y.dtype.kind == "f":
        if not np.isfinite(y).all() or (y != np.round(y)).any():
            raise DataError(
                "y holds fractions or missing values; labels are whole numbers or text."
            )
        if float(np.abs(y).max(initial=0)) > 2**53:
            raise DataError(
                "y holds numbers beyond 2^53, which are not exact as fractions; save whole numbers "
                "or text."
            )
        y = y.astype(np.int64)
    if y.dtype.kind not in "iubSU":
        raise DataError(f"y is of type {y.dtype}; labels are whole numbers or text.")
    if y.dtype.kind == "S":  # one by one: as an array of text they would take four times as much
        return [label.decode("utf-8", "replace")[:60] for label in y]
    return [str(label)[:60] for label in y]


def _images(X: np.ndarray) -> np.ndarray:
    if X.dtype.kind not in "iubf":
        raise DataError(f"X is of type {X.dtype}; images are numbers.")
    if X.size == 0:
        raise DataError("X holds no images.")
    if X.ndim == 4 and X.shape[1] == 1:
        X = X[:, 0]
    if X.ndim == 4 and X.shape[3] == 1:
        X = X[..., 0]
    side = math.isqrt(X.shape[1]) if X.ndim == 2 else 0
    if X.ndim == 2 and side * side == X.shape[1]:
        X = X.reshape(len(X), side, side)
    colour = X.ndim == 4 and X.shape[3] in (3, 4)
    if X.ndim != 3 and not colour:
        raise DataError(
            f"X has the shape {X.shape}; images are (n, height, width), (n, height, width, 3) or "
            "(n, pixels) of a square."
        )
    n_pixels = X.shape[1] * X.shape[2]
    if n_pixels > MAX_IMAGE_PIXELS or len(X) * n_pixels > MAX_UPLOAD_PIXELS:
        raise LimitError(
            f"X has {len(X):,} images of {n_pixels:,} pixels; the limits are {MAX_IMAGE_PIXELS:,} "
            f"pixels each (MAX_IMAGE_PIXELS) and {MAX_UPLOAD_PIXELS:,} in all (MAX_UPLOAD_PIXELS)."
        )
    scale = _scale(X)
    if X.dtype == np.uint8 and scale == 1 and not colour:
        return X
    grey = np.empty(X.shape[:3], dtype=np.uint8)
    n_rows = max(1, CHUNK_VALUES // X[0].size)
    for start in range(0, len(X), n_rows):  # keeps everything wider than a byte small
        chunk = X[start : start + n_rows].astype(np.float32)
        chunk *= scale
        np.round(chunk, out=chunk)
        grey[start : start + n_rows] = _grey(chunk) if colour else chunk
        del chunk  # before the next is made
    return grey


def _scale(X: np.ndarray) -> int:
    """What makes bytes of values that go from 0 to 1 or from 0 to 255, whichever it is."""
    low, high = float(X.min()), float(X.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise DataError("X holds values that are not finite; replace them first.")
    if low < 0 or high > 255:
        raise DataError(
            f"X goes from {low:g} to {high:g}; pixels go from 0 to 1 or from 0 to 255. "
            "Save the images before they are standardised."
        )
    return 255 if high <= 1 else 1


def _grey(X: np.ndarray) -> np.ndarray:
    """Luma of the first three channels, as Pillow weighs them."""
    grey = X[..., 0] * np.float32(0.299)
    grey += X[..., 1] * np.float32(0.587)
    grey += X[..., 2] * np.float32(0.114)
    return np.round(grey)
