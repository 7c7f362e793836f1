"""One fit over many machines: every worker adds up its own chunks, sums meet in a tree.

Chunks are dealt to lanes, one for each worker. A lane is a chain of tasks that hand one copy of the
network on and add a chunk each; it stays where its sums are, so that what travels is one sum per
worker and not one per chunk, and a worker holds one chunk and one sum. If a worker is lost, Dask
makes its lane again elsewhere, from its first chunk.
"""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass

import numpy as np

from kcnet_core.cluster.connection import connected, held, submit, worker_addresses
from kcnet_core.cluster.sources import Parts, Source, read, source
from kcnet_core.errors import DataError
from kcnet_core.network.calibration import CalibrationRows
from kcnet_core.network.labels import TargetCode
from kcnet_core.network.readout import RidgeReadout
from kcnet_core.network.regression import chunks as chunked
from kcnet_core.network.ridge import rows_per_chunk
from kcnet_core.network.validation import prepare

CHECKED_ROWS = 1000  # of the first chunk, to know inputs and kind of labels


@dataclass
class Lane:
    """A copy of the network that has added some chunks."""

    net: RidgeReadout
    n_chunks: int = 0

    def __sizeof__(self) -> int:
        """What Dask weighs before it moves a lane."""
        return object.__sizeof__(self) + 8 * self.net.n_hidden**2

    def __getstate__(self) -> dict:
        return {**vars(self), "net": chunked.packed(self.net)}

    def __setstate__(self, state: dict) -> None:
        vars(self).update(state, net=chunked.unpacked(*state["net"]))


def fit(
    net: RidgeReadout, X, y=None, sample_weight=None, *, client=None, chunk_rows: int | None = None,
    classes=None,
) -> RidgeReadout:  # fmt: skip
    """Fit to rows that need not fit into memory, on a cluster or here.

    The result is that of `net.fit` on all rows to float tolerance, for any number of workers and
    any chunking, and the wiring is the same. With DOA the wiring is searched here, on a sample of
    at most `SEARCH_ROWS` rows, and the output weights are fitted to all of them.

    Parameters
    ----------
    net : KCNetClassifier or ELMClassifier
    X, y, sample_weight
        Arrays, names of `.npy` files (every worker must see them), memory maps or Dask arrays. Or X
        is a list of chunks (X, y[, sample_weight]), or of functions that return such, and y is
        left out.
    client : distributed.Client, address of a scheduler, "local" or None
        None computes here, one chunk in memory at a time.
    chunk_rows : int, optional
        Rows read at once; None takes as many as a fit in memory does, or a few less, so that every
        worker gets as many.
    classes : array, optional
        All classes, where a list of functions does not tell them before.

    Returns
    -------
    net

    Examples
    --------
    >>> import numpy as np
    >>> from kcnet_core import KCNetClassifier
    >>> from kcnet_core.cluster import fit
    >>> X = np.random.default_rng(0).normal(size=(300, 9))
    >>> net = fit(KCNetClassifier(50, random_state=0), X, X.argmax(1), chunk_rows=100)
    >>> net.coef_.shape
    (50, 9)
    """
    if chunk_rows is not None and chunk_rows < 1:
        raise DataError(f"chunk_rows must be at least 1, not {chunk_rows}.")
    size = chunk_rows or rows_per_chunk(net.n_hidden)
    if client is None:
        rows = source(X, y, sample_weight, chunk_rows=size)
        known = classes if classes is not None else _classes(rows)
        return chunked.fit_chunks(net, _Readings(rows.chunks), classes=known)
    with connected(client) as cluster:
        n_lanes = None if chunk_rows else len(worker_addresses(cluster))
        rows = source(X, y, sample_weight, chunk_rows=size, n_lanes=n_lanes, client=cluster)
        fitted = _fitted(cluster, net, rows, classes if classes is not None else _classes(rows))
    net.__dict__.update(fitted.__dict__)
    return net


@dataclass(frozen=True)
class _Readings:
    """Chunks that are read each time they are asked for."""

    chunks: list[Parts]

    def __iter__(self):
        return map(read, self.chunks)


def _classes(rows: Source):
    """All classes, where all labels are known and each row has one."""
    y = rows.y
    if y is None or y.ndim != 1:
        return None
    if hasattr(y, "compute"):
        import dask.array

        return dask.array.unique(y).compute()
    return np.unique(y)


def _fitted(client, net: RidgeReadout, rows: Source, classes) -> RidgeReadout:
    if not rows.chunks:
        raise DataError("There was no chunk to learn from.")
    places = rows.places()
    net = copy.copy(net)
    first, found = submit(client, _first, places[0], *rows.chunks[0]).result()
    classes = found if classes is None else classes
    search = _search(client, net, rows, places, classes, first)
    chunked.begin(net, first, n_rows=rows.total, classes=classes, search=search)
    begun = time.perf_counter()
    addresses = worker_addresses(client)
    start = submit(client, held, Lane(net))
    lanes = []
    for address, lane in zip(addresses, _dealt(rows, len(addresses)), strict=False):
        head = submit(client, copy.deepcopy, start, workers=[address])
        for k, chunk in enumerate(lane):
            head = submit(client, _add, head, k, places[chunk], *rows.chunks[chunk],
                          workers=[address])  # fmt: skip
        lanes.append(head)
    # From the workers themselves: through the scheduler sums would travel twice.
    whole, *other = client.gather(_tree(client, lanes), direct=True)
    for lane in other:
        _merged(whole, lane)
    fitted = whole.net
    fitted.timings_["gram"] += time.perf_counter() - begun
    chunked.finish(fitted)
    return fitted


def _dealt(rows: Source, n_lanes: int) -> list[list[int]]:
    """Chunks one after the other for each lane, about as many rows in each."""
    sizes = np.ones(len(rows.chunks)) if rows.n_rows is None else np.maximum(rows.n_rows, 1)
    middles = np.cumsum(sizes) - sizes / 2
    lane_of = np.minimum(middles / sizes.sum() * n_lanes, n_lanes - 1).astype(int)
    lanes = [np.flatnonzero(lane_of == k).tolist() for k in range(n_lanes)]
    return [lane for lane in lanes if lane]


def _tree(client, lanes: list) -> list:
    """Lanes merged two by two, until there are two: the last two travel at once, to be merged
    where they are solved."""
    while len(lanes) > 2:
        pairs = [lanes[k : k + 2] for k in range(0, len(lanes), 2)]
        lanes = [submit(client, _merged, *pair) if pair[1:] else pair[0] for pair in pairs]
    return lanes


def _search(client, net, rows: Source, places, classes, first) -> CalibrationRows | None:
    """The rows on which DOA searches; workers send only what may be among them."""
    if not getattr(net, "n_epochs", 0):
        return None
    X, _, _, _, code = prepare(net, first[0], first[1], None, None, classes)
    sample = chunked.search_sample(net, X.shape[1])
    futures = [
        submit(client, _sampled, sample, net, code, place, *parts)
        for place, parts in zip(places, rows.chunks, strict=True)
    ]
    while futures:  # in their order, so that the sample is that of a fit in one piece
        sample.merge(futures.pop(0).result())
    return sample


# -- on a worker -------------------------------------------------------------------------------


def _first(place: str, *parts) -> tuple[tuple, np.ndarray | None]:
    """Some rows, and the classes that the chunk has."""
    X, y, *_ = _read(parts, place)
    classes = np.unique(y) if np.ndim(y) == 1 else None
    return (np.asarray(X[:CHECKED_ROWS]), np.asarray(y[:CHECKED_ROWS])), classes


def _read(parts: Parts, place: str) -> tuple:
    try:
        return read(parts)
    except DataError as error:
        raise DataError(f"In {place}: {error}") from None


def _add(lane: Lane, k: int, place: str, *parts) -> Lane:
    """The lane itself with one more chunk: nobody else has it, and its memory serves again."""
    if lane.n_chunks != k:
        raise RuntimeError(f"{place} would be added as number {k} after {lane.n_chunks} others")
    try:
        chunked.add(lane.net, read(parts))
    except DataError as error:
        raise DataError(f"In {place}: {error}") from None
    lane.n_chunks += 1
    return lane


def _merged(lane: Lane, other: Lane) -> Lane:
    chunked.merge(lane.net, other.net)
    return lane


def _sampled(sample, net, code: TargetCode, place: str, *parts) -> CalibrationRows:
    sample, net = copy.deepcopy(sample), copy.copy(net)
    chunked.sampled(sample, net, _read(parts, place), code)
    return sample
