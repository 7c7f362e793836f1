"""A fit from more rows than memory holds: sums of chunks, added anywhere, merged, solved once.

H H' and H Y are sums over rows, so it does not matter who adds which rows: `begin` draws the hidden
layer once, every copy of the network `add`s its own chunks, `merge` joins two copies, and `finish`
solves. The result is that of `fit` on all rows, to float tolerance, in any order and chunking.
DOA, which must see the same rows again and again, searches the wiring on a sample of them.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from kcnet_core.contracts import Steps, drain
from kcnet_core.errors import DataError
from kcnet_core.network.calibration import CalibrationRows
from kcnet_core.network.history import EpochRecord, Progress
from kcnet_core.network.labels import TargetCode
from kcnet_core.network.readout import RidgeReadout
from kcnet_core.network.ridge import Gram, RidgeSums
from kcnet_core.network.seeds import STREAM_CHOICES, generator, seed_sequence
from kcnet_core.network.validation import all_or_nothing, prepare

SEARCH_ROWS = 60_000  # on which DOA improves the wiring, at most
BANDS = 8  # of rows, in which a triangle is sent
Chunk = tuple[Any, ...]  # X (n, d) and y, perhaps also sample_weight


def begin(
    net: RidgeReadout, chunk: Chunk, *, n_rows: int | None = None, classes=None,
    search: CalibrationRows | None = None,
) -> None:  # fmt: skip
    """Draw the hidden layer for rows like those of `chunk`, of which none is added yet.

    `n_rows` are all rows that will come, if that is known, and `classes` all classes. A network
    with DOA first improves its wiring on the rows of `search`.
    """
    X, Y, _, _, code = prepare(net, chunk[0], chunk[1], None, None, classes)
    like = np.broadcast_to(X[:1], (n_rows or len(X), X.shape[1]))
    if not getattr(net, "n_epochs", 0):
        net._start_partial(like, code)
        return
    if search is None:
        raise DataError("DOA searches the wiring on a sample of the rows, and none was given.")
    X, Y = search.X, search.Y
    net.fit(X, code.labels(Y), search.w)
    took = {name: net.timings_[name] for name in ("wiring", "doa")}
    net._begin(like, code, seed_sequence(net.random_state), took)


def search_sample(net: RidgeReadout, n_inputs: int) -> CalibrationRows:
    """An empty sample for DOA: the same rows in the same order, however they are chunked."""
    rng = generator(seed_sequence(net.random_state), STREAM_CHOICES, 1)
    return CalibrationRows(SEARCH_ROWS, n_inputs, rng)


def sampled(sample: CalibrationRows, net: RidgeReadout, chunk: Chunk, code: TargetCode) -> None:
    """Let the rows of a chunk into the sample."""
    weighted = chunk[2] if len(chunk) > 2 else None
    X, Y, w, _, _ = prepare(net, chunk[0], chunk[1], weighted, None, None, code)
    sample.add(X, Y, w)


def add_steps(net: RidgeReadout, chunk: Chunk) -> Steps[Progress, int]:
    """Add the rows of a chunk to the sums; returns how many."""
    X, y, *weighted = chunk
    w = weighted[0] if weighted else None
    if len(X) == 0 or (w is not None and not np.any(w)):
        return 0
    X, Y, w, _, _ = prepare(net, X, y, w, None, None, net.target_code_)
    yield from net._add_chunks(X, Y, w, more=True)
    return len(X)


def add(net: RidgeReadout, chunk: Chunk) -> int:
    """The same at once."""
    return drain(add_steps(net, chunk))


def merge(net: RidgeReadout, other: RidgeReadout) -> None:
    """Join what another copy of the network has added; that copy must not be used afterwards."""
    sums, sample = net._remembered("rows cannot be added")
    others, other_sample = other._remembered("its rows cannot be added")
    sums.merge(others)
    sample.merge(other_sample)


def packed(net: RidgeReadout) -> tuple[RidgeReadout, RidgeSums, tuple | None]:
    """A copy of the network as it travels: without its sums, and these as NumPy arrays beside it,
    H H' by one triangle, for it is symmetric."""
    net, sums = copy.copy(net), copy.copy(net._remembered("it cannot be sent")[0])
    sums.settle()
    gram, sums.gram, net._sums = sums.gram, None, None
    if gram is None:
        return net, sums, None
    return net, sums, (_triangle(gram.HH.cpu().numpy()), gram.HY.cpu().numpy())


def unpacked(net: RidgeReadout, sums: RidgeSums, arrays: tuple | None) -> RidgeReadout:
    """The network again, from what was `packed`."""
    if arrays is not None:
        HH, HY = _symmetric(arrays[0]), np.require(arrays[1], requirements="W")
        sums.gram = Gram(*(torch.from_numpy(a).to(sums.device) for a in (HH, HY)))
    net._sums = sums
    return net


def _triangle(A: np.ndarray) -> list[np.ndarray]:
    """The lower triangle of A (B, B) in bands of rows, with little more than half of its bytes."""
    edges = np.linspace(0, len(A), BANDS + 1).astype(int).tolist()
    return [np.ascontiguousarray(A[a:b, :b]) for a, b in pairwise(edges)]


def _symmetric(bands: list[np.ndarray]) -> np.ndarray:
    """The matrix of which these are the lower triangle."""
    A = np.empty((bands[-1].shape[1],) * 2, bands[-1].dtype)
    for band in bands:
        b = band.shape[1]
        a = b - len(band)
        A[a:b, :b] = band
        A[:a, a:b] = band[:, :a].T
    return A


def finish(net: RidgeReadout) -> None:
    """Solve for the output weights and calibrate."""
    sums, _ = net._remembered("it cannot be solved")
    sums.settle()
    if not sums.n_rows:
        raise DataError("There was no row to learn from.")
    train, left_out = net._finish()
    seconds = sum(net.timings_.values())
    density = net.wiring_.density if hasattr(net, "wiring_") else 1.0
    net.history_ = [*getattr(net, "history_", ())] or [
        EpochRecord(0, 0, train, left_out, density=density, seconds=seconds)
    ]
    if getattr(net, "scores_", None) is not None:
        net.n_trained_parameters_ += net.scores_.size


def fit_chunks(net: RidgeReadout, chunks: Iterable[Chunk], *, classes=None) -> RidgeReadout:
    """Fit to the rows of all chunks, one chunk in memory at a time.

    Parameters
    ----------
    net : KCNetClassifier or ELMClassifier
    chunks : iterable of (X, y) or (X, y, sample_weight)
        With DOA they are read twice, so that a generator, which can be read once, is not enough.
    classes : array, optional
        All classes, where the first chunk does not hold every one.

    Returns
    -------
    net
    """
    drain(all_or_nothing(net, _fit_steps(net, chunks, classes)))
    return net


def _fit_steps(net: RidgeReadout, chunks: Iterable[Chunk], classes) -> Steps[Progress, None]:
    search = None
    if getattr(net, "n_epochs", 0):
        if iter(chunks) is chunks:
            raise DataError(
                "DOA reads the chunks twice, and a generator can be read only once: give a list, "
                "or an object whose __iter__ begins anew."
            )
        search = sample_of(net, chunks, classes)
    begun, started = False, time.perf_counter()
    for chunk in chunks:
        if not begun:
            begin(net, chunk, classes=classes, search=search)
            begun, started = True, time.perf_counter()
        yield from add_steps(net, chunk)
    if not begun:
        raise DataError("There was no chunk to learn from.")
    net.timings_["gram"] += time.perf_counter() - started
    finish(net)


def sample_of(net: RidgeReadout, chunks: Iterable[Chunk], classes) -> CalibrationRows:
    """The rows on which DOA searches."""
    code, sample = None, None
    for chunk in chunks:
        if code is None or sample is None:
            X, _, _, _, code = prepare(net, chunk[0], chunk[1], None, None, classes)
            sample = search_sample(net, X.shape[1])
        sampled(sample, net, chunk, code)
    if sample is None:
        raise DataError("There was no chunk to learn from.")
    return sample
