"""Rows that lie in files, in Dask arrays or behind functions, as chunks that a worker reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kcnet_core.errors import DataError


@dataclass(frozen=True)
class FileRows:
    """Some rows of a `.npy` file, read when called for: the file must be where the reader is."""

    path: str
    start: int
    stop: int

    def __call__(self) -> np.ndarray:
        return np.asarray(opened(self.path, "c")[self.start : self.stop])


@dataclass(frozen=True)
class BlockRows:
    """A block of a Dask array, computed when called for, and nothing besides it."""

    graph: Any
    key: Any

    def __call__(self) -> np.ndarray:
        from dask.local import get_sync

        return np.asarray(get_sync(self.graph, self.key))


# One of X, y and sample_weight: an array, what returns one, or a future of one.
Part = Any
# Of X, y and perhaps sample_weight; or one function that returns them all.
Parts = tuple[Part, ...]


@dataclass(frozen=True)
class Source:
    """All rows, chunk by chunk."""

    chunks: list[Parts]
    n_rows: list[int] | None  # of each chunk, where that is known before it is read
    y: Any = None  # all labels, where they can be had

    @property
    def total(self) -> int | None:
        return None if self.n_rows is None else sum(self.n_rows)

    def places(self) -> list[str]:
        """How an error calls the chunks."""
        if self.n_rows is None:
            return [f"chunk {k + 1}" for k in range(len(self.chunks))]
        ends = np.cumsum([0, *self.n_rows])
        return [f"rows {a:,} to {b - 1:,}" for a, b in pairwise(ends)]


def read(parts: Parts) -> tuple:
    """X, y and perhaps sample_weight of a chunk."""
    if len(parts) == 1:
        return tuple(parts[0]())
    return tuple(part() if callable(part) else part for part in parts if part is not None)


def opened(path: str | Path, mode: Literal["r", "c"] = "r") -> np.ndarray:
    """A `.npy` file, mapped: only what is asked for is read. No pickled objects.

    With "c" others may write into the array, which does not change the file: torch asks for this
    where it shall not copy.
    """
    try:
        return np.load(path, mmap_mode=mode, allow_pickle=False)
    except FileNotFoundError:
        raise DataError(f"There is no file {path} on this machine.") from None
    except (ValueError, EOFError) as error:
        raise DataError(f"{path} is not a .npy file of numbers ({error}).") from None


def source(
    X, y=None, sample_weight=None, *, chunk_rows: int, n_lanes: int | None = None, client=None
) -> Source:
    """Rows as chunks of `chunk_rows`, or of at most so many where they shall be dealt evenly to
    some lanes; Dask arrays keep their own blocks.

    X, y and sample_weight are arrays, names of `.npy` files, memory maps or Dask arrays. Or X is a
    list of (X, y[, sample_weight]), or of functions that return such, and y is left out.
    """
    if y is None:
        return _listed(X)
    if _is_dask(X):
        edges = _block_edges(X)
    else:
        X = _mapped(X)
        size = chunk_rows if n_lanes is None else _even(len(X), chunk_rows, n_lanes)
        edges = [*range(0, len(X), size), len(X)] if len(X) else [0]
    whole = [X, y if _is_dask(y) else _mapped(y)]
    if sample_weight is not None:
        whole.append(sample_weight if _is_dask(sample_weight) else _mapped(sample_weight))
    for name, array in zip(("y", "sample_weight"), whole[1:], strict=False):
        if len(array) != edges[-1]:
            raise DataError(f"X has {edges[-1]} rows, but {name} has {len(array)}.")
    columns = [_parts(array, edges, client) for array in whole]
    sizes = [b - a for a, b in pairwise(edges)]
    return Source(list(zip(*columns, strict=True)), sizes, whole[1])


def _even(n_rows: int, chunk_rows: int, n_lanes: int) -> int:
    """Rows of a chunk, so that each lane gets as many of them."""
    n_chunks = n_lanes * max(1, ceil(n_rows / (chunk_rows * n_lanes)))
    return max(1, ceil(n_rows / n_chunks))


def _listed(chunks) -> Source:
    if iter(chunks) is chunks:
        raise DataError(
            "A generator can be read only once, and a worker that is lost must have its chunks "
            "read again: give a list of chunks, or of functions that return them."
        )
    parts = [(chunk,) if callable(chunk) else tuple(chunk) for chunk in chunks]
    known = all(len(chunk) > 1 for chunk in parts)
    y = np.concatenate([chunk[1] for chunk in parts]) if known and parts else None
    return Source(parts, [len(chunk[0]) for chunk in parts] if known else None, y)


def _parts(array, edges: Sequence[int], client) -> list[Part]:
    """An array cut at the edges."""
    if _is_dask(array):
        return _blocks(array, edges, client)
    path = _file_of(array)
    if path is None:
        return [np.asarray(array[a:b]) for a, b in pairwise(edges)]
    return [FileRows(path, a, b) for a, b in pairwise(edges)]


def _mapped(array) -> np.ndarray:
    return opened(array) if isinstance(array, str | Path) else np.asanyarray(array)


def _file_of(array) -> str | None:
    """The `.npy` file that a memory map is the whole of."""
    name = getattr(array, "filename", None)
    if not isinstance(array, np.memmap) or not name or Path(name).suffix != ".npy":
        return None
    there = opened(name)
    same = there.shape == array.shape and there.dtype == array.dtype
    return str(Path(name).resolve()) if same else None


def _is_dask(array) -> bool:
    return type(array).__module__.split(".")[0] == "dask"


def _block_edges(X) -> list[int]:
    sizes = np.asarray(X.chunks[0], float)
    if np.isnan(sizes).any():
        raise DataError(
            "The Dask array does not know how many rows its blocks have: call "
            "compute_chunk_sizes() on it first."
        )
    return np.cumsum([0, *sizes]).astype(int).tolist()


def _blocks(array, edges: Sequence[int], client) -> list[Part]:
    """Blocks by rows; those that lie on the cluster already are taken from there."""
    import dask
    from dask.core import flatten
    from dask.optimization import cull

    rows = tuple(b - a for a, b in pairwise(edges))
    array = array.rechunk((rows, *((-1,) * (array.ndim - 1))))
    if _futures_in(array):
        blocks = array.to_delayed().ravel()
        return [block.compute if client is None else client.compute(block) for block in blocks]
    (array,) = dask.optimize(array)
    graph = dict(array.__dask_graph__())
    return [BlockRows(cull(graph, [key])[0], key) for key in flatten(array.__dask_keys__())]


def _futures_in(array) -> bool:
    try:
        from distributed import futures_of
    except ImportError:
        return False
    return bool(futures_of(array))
