"""One client for all jobs of this process, and what workers hold for them."""

from __future__ import annotations

import threading
import time
import weakref
from collections import defaultdict
from contextlib import contextmanager, suppress
from secrets import token_hex
from typing import Any

from kcnet_core.cluster.connection import SCHEDULER_GONE, ClusterError, client_of, worker_addresses
from kcnet_core.cluster.on_worker import LEASE_SECONDS, OP

SECONDS_TO_NOTICE = 0.3  # that the scheduler is gone, and not only a worker

_lock = threading.Lock()
_clients: dict[str, Any] = {}
_held: dict[str, tuple[Any, str]] = {}  # runs by their id: the client, and the worker's address
_keys: dict[int, str] = {}  # of data, as workers know them


def shared_client(address: str):
    """The client of the cluster at this address, which stays open."""
    with _lock:
        client = _clients.get(address)
        if client is None or client.status != "running":
            if client is not None:
                client.close(timeout=1)
            client = _clients[address] = client_of(address)
        return client


def n_threads(address: str) -> int:
    """Threads of all workers, as far as is known without asking."""
    client = _clients.get(address)
    if client is None or client.status != "running":
        return 0
    workers = client.scheduler_info(n_workers=-1).get("workers", {})
    return sum(worker["nthreads"] for worker in workers.values())


def say(client, place: str, action: str, **told) -> Any:
    """What the worker at `place` answers; OSError if it is gone."""
    message = {"op": OP, "action": action, **told}
    _refuse_gone(client)
    try:
        return client.sync(client.scheduler.proxy, msg=message, worker=place)
    except OSError:
        time.sleep(SECONDS_TO_NOTICE)
        _refuse_gone(client)
        raise


def workers_of(client) -> list[str]:
    """Where its workers are, at least one."""
    _refuse_gone(client)
    try:
        return worker_addresses(client)
    except OSError as error:
        raise ClusterError(SCHEDULER_GONE) from error


def _refuse_gone(client) -> None:
    """Its own connection tells first that the scheduler is gone; others try for long."""
    if client.status != "running":
        raise ClusterError(SCHEDULER_GONE)


def data_key(data: Any) -> str:
    """The same for the same object; nobody else knows it."""
    if id(data) not in _keys:
        _keys[id(data)] = token_hex(16)
        weakref.finalize(data, _keys.pop, id(data), None)
    return _keys[id(data)]


@contextmanager
def wanted(client, place: str, run_id: str):
    """While this is open, a worker is told now and then that the run is still wanted: if this
    process ends, it will not be."""
    with _lock:
        if not _held and not any(thread.name == _KEEPER for thread in threading.enumerate()):
            threading.Thread(target=_keep, name=_KEEPER, daemon=True).start()
        _held[run_id] = client, place
    try:
        yield
    finally:
        del _held[run_id]
        with suppress(RuntimeError):  # the client was closed meanwhile
            client.loop.add_callback(_end, client, place, run_id)


async def _end(client, place: str, run_id: str) -> None:
    """Nobody waits for it: a worker that is lost is sought for half a minute."""
    with suppress(OSError):
        message = {"op": OP, "action": "end", "id": run_id}
        await client.scheduler.proxy(msg=message, worker=place)


_KEEPER = "kcnet-cluster-runs"


def _keep() -> None:
    while True:
        time.sleep(LEASE_SECONDS / 4)
        ids: dict[tuple[Any, str], list[str]] = defaultdict(list)
        for run_id, where in list(_held.items()):
            ids[where].append(run_id)
        for (client, place), run_ids in ids.items():
            with suppress(Exception):  # its own driver finds out
                say(client, place, "heard", ids=run_ids)
