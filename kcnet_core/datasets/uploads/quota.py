"""What the uploads of all visitors hold together: the memory of one server is common to them."""

from __future__ import annotations

import threading
from typing import NamedTuple
from weakref import ReferenceType, WeakValueDictionary

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import LimitError
from kcnet_core.limits import MAX_HELD_UPLOAD_BYTES, MAX_UPLOAD_BYTES, MEGABYTE


class UploadBytes(NamedTuple):
    """Memory that an upload will need, told before it is read."""

    reading: int  # at most, while it is read
    kept: int  # of its inputs afterwards


class HeldUploads:
    """Uploaded datasets for as long as anybody holds them: a session, a job or a trained model.

    `instead_of` refers weakly to the dataset that an upload will replace in its session.
    """

    def __init__(self) -> None:
        self._held: WeakValueDictionary[int, Dataset] = WeakValueDictionary()
        self._lock = threading.RLock()

    def refuse_beyond(self, n_bytes: int, instead_of: ReferenceType[Dataset] | None = None) -> None:
        """Raise a `LimitError` if `n_bytes` more would be too many."""
        replaced = instead_of() if instead_of else None
        with self._lock:
            held = sum(one.X.nbytes for one in self._held.values() if one is not replaced)
        if held + n_bytes > MAX_HELD_UPLOAD_BYTES:
            raise LimitError(
                f"The uploads of all visitors hold {_megabytes(held)} now, and this one would add "
                f"{_megabytes(n_bytes)}; together at most {_megabytes(MAX_HELD_UPLOAD_BYTES)} are "
                "kept (MAX_HELD_UPLOAD_BYTES). Bring fewer rows or smaller images, or try again "
                "later: what nobody uses any more is let go."
            )

    def add(self, dataset: Dataset, instead_of: ReferenceType[Dataset] | None = None) -> None:
        """Count `dataset` from now on, or refuse it: others may have come while it was read."""
        with self._lock:
            self.refuse_beyond(dataset.X.nbytes, instead_of)
            self._held[id(dataset)] = dataset


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / MEGABYTE:,.0f} MB"


def refuse_large(content: bytes) -> None:
    """Raise a `LimitError` for an uploaded file of too many bytes."""
    if len(content) > MAX_UPLOAD_BYTES:
        raise LimitError(
            f"The file has {_megabytes(len(content))}; the limit is {_megabytes(MAX_UPLOAD_BYTES)} "
            "(MAX_UPLOAD_BYTES)."
        )
