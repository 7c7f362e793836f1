"""Read the idx files of the MNIST family, packed (.gz) or not, without unpacking them on disk."""

from __future__ import annotations

import gzip
import math
import os
import zlib
from pathlib import Path

import numpy as np

from kcnet_core.errors import DataError, LimitError
from kcnet_core.limits import MAX_UNZIPPED_BYTES

_UNSIGNED_BYTE = 0x08


def idx_path(folder: Path, name: str) -> Path:
    """The packed file called `name` in `folder` where there is one, else the plain one."""
    packed = folder / f"{name}.gz"
    return packed if os.path.isfile(packed) else folder / name  # False, too, where we may not look


def idx_shape(path: Path) -> tuple[int, ...]:
    """Shape announced by the header; reads a few bytes only."""
    with _open(path) as file:
        return _header(file, path)


def read_idx(path: Path) -> np.ndarray:
    """The whole array, uint8. Raises `DataError` when the file is not what its header says."""
    with _open(path) as file:
        shape = _header(file, path)
        size = math.prod(shape)
        if size > MAX_UNZIPPED_BYTES:
            raise LimitError(
                f"{path.name} announces {size:,} bytes of pixels; "
                f"the limit is {MAX_UNZIPPED_BYTES:,} (MAX_UNZIPPED_BYTES)."
            )
        content = _read(file, size + 1, path)
    if len(content) != size:
        found = "more" if len(content) > size else f"only {len(content):,}"
        raise DataError(
            f"{path.name} is damaged: its header announces {size:,} values and it holds {found}. "
            "Delete it and download it again."
        )
    return np.frombuffer(content, dtype=np.uint8).reshape(shape)


def _open(path: Path):
    try:
        return gzip.open(path) if path.suffix == ".gz" else path.open("rb")
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {error.strerror}.") from error


def _header(file, path: Path) -> tuple[int, ...]:
    magic = _read(file, 4, path)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] != _UNSIGNED_BYTE or magic[3] > 3:
        raise DataError(
            f"{path.name} is not an idx file of bytes (its first four bytes are {magic.hex(' ')}). "
            "Delete it and download it again."
        )
    n_dimensions = magic[3]
    sizes = _read(file, 4 * n_dimensions, path)
    if len(sizes) < 4 * n_dimensions or n_dimensions == 0:
        raise DataError(f"{path.name} ends inside its header. Delete it and download it again.")
    return tuple(int(size) for size in np.frombuffer(sizes, dtype=">u4"))


def _read(file, n_bytes: int, path: Path) -> bytes:
    try:
        return file.read(n_bytes)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"{path.name} is truncated or damaged. Delete it and download it again."
        ) from error
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {error.strerror}.") from error
