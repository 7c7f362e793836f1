"""Large NumPy products on all cores, cut into pieces that no core waits for.

BLAS's own threads wait for each other at full speed, in a loop: as soon as another program wants a
core, a product on two of them was measured to take up to twenty times as long as on one. So here
each piece runs on one BLAS thread, and whichever core is free takes the next. Where the cuts are
depends on the shape alone, never on the number of cores: BLAS rounds a piece differently by its
shape, and DOA turns a difference in the last digit into another wiring.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import numpy as np

PIECE = 384  # rows or columns of the result, or more where that would make too many pieces
MOST_PIECES = 8  # along one side
ROWS_OF_A_PIECE = 2048  # of data, of which something cheap is made; fewer are not worth a helper


def matmul(A: np.ndarray, B: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """A B, cut along the longer side of the result."""
    m, n = A.shape[0], B.shape[1]
    out = np.empty((m, n), np.result_type(A, B)) if out is None else out

    if m >= n:
        cuts = [(A[rows], B, out[rows]) for rows in _slices(m)]
    else:
        cuts = [(A, B[:, columns], out[:, columns]) for columns in _slices(n)]
    run_pieces(partial(np.matmul, *cut) for cut in cuts)
    return out


def self_matmul(H: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """H H': one triangle is computed, and copied to the other."""
    out = np.empty((len(H), len(H)), H.dtype) if out is None else out

    def block(a: slice, b: slice) -> None:
        # NumPy sees a matrix times its own transpose, on the diagonal, and halves the work.
        np.matmul(H[a], H[b].T, out=out[a, b])
        if a != b:
            out[b, a] = out[a, b].T

    slices = _slices(len(H))
    run_pieces(partial(block, a, b) for k, a in enumerate(slices) for b in slices[: k + 1])
    return out


def _slices(length: int) -> list[slice]:
    n = min(MOST_PIECES, -(-length // PIECE))
    edges = np.linspace(0, length, n + 1).astype(int)
    return [slice(a, b) for a, b in itertools.pairwise(edges)]


class _BlasThreads:
    """Rest while any product runs in pieces; as the user had set them otherwise."""

    def __init__(self):
        self._lock = threading.Lock()
        self._users = 0
        self._libraries: Any = None
        self._limiter: Any = None
        self._n = 1

    def __enter__(self) -> int:
        """The number of threads that BLAS would have used."""
        with self._lock:
            if not self._users:
                if self._libraries is None:
                    from threadpoolctl import ThreadpoolController

                    self._libraries = ThreadpoolController().select(user_api="blas")
                counts = [library.num_threads for library in self._libraries.lib_controllers]
                self._n = max(counts, default=1)
                if self._n > 1:
                    self._take_control()
                    self._limiter = self._libraries.limit(limits=1)
            self._users += 1
            return self._n

    def __exit__(self, *_) -> None:
        with self._lock:
            self._users -= 1
            if not self._users and self._limiter is not None:
                self._take_control()
                self._limiter.restore_original_limits()
                self._limiter = None
                self._take_control()

    def _take_control(self) -> None:
        """threadpoolctl obeys only the thread that set OpenBLAS first, until that is forgotten."""
        for library in self._libraries.lib_controllers:
            if hasattr(library, "clear_controlling_thread"):
                library.clear_controlling_thread(force=True)


def n_cores() -> int:
    """Cores that products may use."""
    with _blas as n:
        return n


@contextmanager
def on_one_core():
    """Products of the calling thread take no helpers, for others use the other cores."""
    _this_thread.alone = True
    try:
        yield
    finally:
        _this_thread.alone = False


def run_pieces(pieces: Iterable[Callable[[], object]]) -> None:
    """Carry out all pieces, in this thread and in helpers."""
    with _blas as n_threads:
        todo, lock = iter(pieces), threading.Lock()
        n_helpers = 0 if getattr(_this_thread, "alone", False) else n_threads - 1
        helpers = [_threads().submit(_work, todo, lock) for _ in range(n_helpers)]
        try:
            _work(todo, lock)
        finally:
            for helper in helpers:
                helper.result()


def run_on_rows(piece: Callable[[slice], object], n_rows: int) -> None:
    """Carry out a piece for all rows, some at a time."""
    starts = range(0, n_rows, ROWS_OF_A_PIECE)
    slices = [slice(start, start + ROWS_OF_A_PIECE) for start in starts]
    if len(slices) <= 1:
        piece(slice(0, n_rows))
    else:
        run_pieces(partial(piece, rows) for rows in slices)


def _work(todo: Iterator[Callable[[], object]], lock: threading.Lock) -> None:
    while True:
        with lock:
            piece = next(todo, None)
        if piece is None:
            return
        piece()


_blas = _BlasThreads()
_this_thread = threading.local()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="product")


def _start_anew() -> None:
    """A forked child has none of its parent's threads, and perhaps a lock that one of them held."""
    global _blas
    _blas = _BlasThreads()
    _threads.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
