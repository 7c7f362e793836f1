"""Independent pieces of work on the workers of a cluster, with the same results as here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from kcnet_core.cluster.connection import connected, held, spoken, submit
from kcnet_core.contracts import spread_by


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


def as_they_finish(client, futures: dict, timeout: float | None = None) -> Iterator[tuple]:
    """What `futures` stand for, and their results, as these come; the rest is cancelled when the
    reader has enough or the time is over."""
    from distributed import as_completed

    try:
        with spoken():
            for future in as_completed(list(futures), loop=client.loop, timeout=timeout):
                yield futures[future], future.result()
    except TimeoutError:
        return
    finally:
        client.cancel([future for future in futures if not future.done()])
