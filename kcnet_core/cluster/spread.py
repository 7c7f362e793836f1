"""Independent pieces of work on the workers of a cluster, with the same results as here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any

from kcnet_core.cluster.connection import connected, held, spoken, submit
from kcnet_core.contracts import spread_by

SECONDS_BETWEEN_SIGNS = 0.25  # of life: whoever waits for rows may want to stop


@contextmanager
def spreading(client) -> Iterator[Any]:
    """While this is open, the submodels of Ensemble DOA (`KCNetClassifier.fit`) and the flies of a
    nose (`train_nose`) are made by the workers of a cluster.

    >>> with spreading("tcp://10.0.0.5:8786"):  # doctest: +SKIP
    ...     KCNetClassifier(6500, n_epochs=120, n_submodels=10).fit(X, y)
    """
    with connected(client) as cluster:

        def spread(function: Callable, shared: tuple, items: Iterable) -> list:
            return list(_in_order(cluster, function, shared, list(items)))

        token = spread_by.set(spread)
        try:
            yield cluster
        finally:
            spread_by.reset(token)


def _in_order(client, function: Callable, shared: tuple, items: Sequence) -> Iterator[Any]:
    with spoken():
        together = submit(client, held, shared)
        futures = [submit(client, _piece, function, together, item) for item in items]
        try:
            for future in futures:
                yield future.result()
        finally:
            client.cancel(futures)


def _piece(function: Callable, shared: tuple, item) -> Any:
    return function(*shared, item)


def as_they_finish(
    client, futures: dict, deadline: float | None = None, more: Callable[[], dict] = dict
) -> Iterator[tuple | None]:
    """What `futures` stand for, and their results, as these come; None now and then, while all are
    at work. After each of them there may be `more`. The rest is cancelled when the reader has
    enough, or by the `deadline`, a value of `time.monotonic()`."""
    done: SimpleQueue = SimpleQueue()
    in_hand: dict = {}

    def take(some: dict) -> None:
        in_hand.update(some)
        for future in some:
            future.add_done_callback(done.put)

    take(futures)
    try:
        with spoken():
            while in_hand and (deadline is None or time.monotonic() < deadline):
                try:
                    future = done.get(timeout=SECONDS_BETWEEN_SIGNS)
                except Empty:
                    yield None
                else:
                    yield in_hand.pop(future), future.result()
                take(more())
    finally:
        client.cancel(list(in_hand))
