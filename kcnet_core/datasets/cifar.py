"""Read CIFAR-10 as torchvision lays it out, without unpickling anything.

The published batches are Python pickles, which can run code when they are loaded. Here a pickle is
only looked through, instruction by instruction, for the two things in it that are wanted.
"""

from __future__ import annotations

import pickletools
from pathlib import Path

import numpy as np

from kcnet_core.errors import DataError
from kcnet_core.limits import MEGABYTE

FOLDER = "images/cifar-10-batches-py"
ARCHIVE = "images/cifar-10-python.tar.gz"
TRAIN = tuple(f"data_batch_{k}" for k in range(1, 6))
TEST = ("test_batch",)
FILES = tuple(f"{FOLDER}/{name}" for name in (*TRAIN, *TEST))
CLASSES = (
    *("airplane", "automobile", "bird", "cat", "deer"),
    *("dog", "frog", "horse", "ship", "truck"),
)
_VALUES = 32 * 32 * 3
_MOST_BYTES = 64 * MEGABYTE  # a published batch has 31 million
_MOST_STEPS = 1_000_000  # of a pickle; a published batch has some 50,000


def read_parts(folder: Path) -> list[np.ndarray]:
    """Training images (n, 32, 32, 3) and labels, test images and labels, all bytes."""
    parts = []
    for names in (TRAIN, TEST):
        batches = [read_batch(folder / FOLDER / name) for name in names]
        parts += [np.concatenate(column) for column in zip(*batches, strict=True)]
    return parts


def read_batch(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 32, 32, 3) and labels (n,) of one batch."""
    try:
        pixels, labels, by_columns = _found(path)
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # also of a text that is none, UnicodeError
        raise DataError(
            f"{path.name} is damaged or no batch of CIFAR-10. Delete it and download it again."
        ) from error
    known = all(0 <= label < len(CLASSES) for label in labels)
    if not labels or not known or len(pixels) != _VALUES * len(labels):
        raise DataError(
            f"{path.name} holds {len(labels):,} labels and {len(pixels):,} values of pixels, not "
            f"{_VALUES:,} for each label from 0 to 9. Delete it and download it again."
        )
    rows = np.frombuffer(pixels, np.uint8)
    rows = rows.reshape(_VALUES, -1).T if by_columns else rows.reshape(-1, _VALUES)
    planes = rows.reshape(-1, 3, 32, 32)  # red, green, blue, one after the other
    return np.ascontiguousarray(planes.transpose(0, 2, 3, 1)), np.array(labels, np.uint8)


def _found(path: Path) -> tuple[bytes, list[int], bool]:
    """The longest text of a pickle, the numbers behind its text "labels", and whether the pixels
    lie column by column."""
    pixels, labels, key, flag, by_columns = b"", [], "", False, False
    with path.open("rb") as file:  # whole: a text that claims to be longer takes no memory
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError("longer than a batch")
    for step, (code, value, _) in enumerate(pickletools.genops(content)):
        if step > _MOST_STEPS:
            raise ValueError("more steps than a batch has")
        if isinstance(value, (str, bytes, bytearray)):
            text = value.encode("latin-1") if isinstance(value, str) else bytes(value)
            key = value if isinstance(value, str) else ""
            if len(text) > len(pixels):
                pixels, by_columns = text, flag
        elif isinstance(value, int) and "INT" in code.name and key == "labels":
            labels.append(value)
        if code.name in ("NEWTRUE", "NEWFALSE"):
            flag = code.name == "NEWTRUE"
    return pixels, labels, by_columns
