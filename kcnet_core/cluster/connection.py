"""A client of a cluster whose workers compute as this process does, and sentences when it ends."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import kcnet_core
from kcnet_core.errors import KCNetError
from kcnet_core.jobs.policies import step_aside

LOCAL = "local"
PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "dask", "distributed")
CONNECT_SECONDS = 10.0
WORKER_SECONDS = 30.0  # for the first worker to come
CLOSE_SECONDS = 5.0
SCHEDULER_GONE = (
    "The cluster's scheduler is gone. What was finished is kept: start the same again for the "
    "rest. With the cluster this needs its scheduler and its workers back; without it, leave "
    "--cluster out, or run the app with KCNET_CLUSTER_GONE=here."
)
# Nobody looks at the statistics of local workers, which would be stopped for them all the time.
QUIET = {
    "distributed.worker.profile.enabled": False,  # a hundred times a second
    "distributed.admin.tick.interval": "1s",  # fifty times
    "distributed.admin.system-monitor.interval": "2s",
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
}


class ClusterError(KCNetError):
    """The cluster is not there, went away, or would not compute what this process does."""


class OtherVersions(ClusterError):
    """A worker has other versions than who asks it."""


@contextmanager
def connected(cluster) -> Iterator[Any]:
    """A `distributed.Client`: of "local" workers that end with it, of the scheduler at an address,
    or the one that is given. Its workers have been asked for their versions."""
    _installed()
    if not isinstance(cluster, str):
        with spoken():
            check_workers(cluster)
            yield cluster
        return
    with _workers_here() if cluster == LOCAL else _nothing(cluster) as address:
        client = client_of(address)
        try:
            with spoken():
                check_workers(client)
                yield client
        finally:
            client.close(timeout=CLOSE_SECONDS)


def _installed() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise ClusterError(
            "A cluster needs dask and distributed, which are not installed: "
            "pip install dask distributed"
        ) from None


def client_of(address: str):
    """A client of the scheduler at this address."""
    _installed()
    from distributed import Client, Security

    certificates = Security().get_connection_args("client").get("ssl_context")
    if address.startswith("tls://") and certificates is None:
        raise ClusterError(
            f"{address} asks for certificates, and Dask's configuration names none: set "
            "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT and "
            "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY to their files."
        )
    try:
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(
            f"No scheduler answers at {address}. Start one with `dask scheduler` and give its "
            f"address, like tcp://10.0.0.5:8786, or use {LOCAL!r}."
        ) from error


@contextmanager
def _workers_here():
    """A scheduler and one worker of one thread for each core that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    n_cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    with local_workers(n_cores) as workers:
        yield workers.scheduler_address


@contextmanager
def local_workers(n: int):
    """A `LocalCluster` of n processes with one thread each."""
    import dask
    from distributed import LocalCluster

    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with (
        dask.config.set(QUIET),
        LocalCluster(n_workers=n, **options) as workers,
    ):
        yield workers


@contextmanager
def _nothing(address: str):
    yield address


@contextmanager
def spoken():
    """What ends the work of a cluster, as a sentence."""
    _installed()
    from distributed import KilledWorker
    from distributed.client import CancelledError
    from distributed.comm import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise ClusterError(
            "Several workers ended while they did the same piece of work; probably their memory is "
            "too small for it. What was finished is kept. Give workers more memory, or take fewer "
            "cells or smaller chunks."
        ) from error
    except (CancelledError, CommClosedError) as error:
        raise ClusterError(SCHEDULER_GONE) from error


def worker_addresses(client) -> list[str]:
    """Where its workers are, at least one."""
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except TimeoutError as error:
        raise ClusterError(
            f"The scheduler at {client.scheduler.address} has no workers. Start some with "
            f"`dask worker {client.scheduler.address}`."
        ) from error
    return sorted(client.scheduler_info(n_workers=-1)["workers"])


@cache
def versions() -> dict[str, str]:
    """What must be the same for the same results: packages, and the code of this one."""
    found = {"Python": ".".join(platform.python_version_tuple()[:2])}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    home = Path(kcnet_core.__file__).parent
    code = hashlib.sha256()
    for path in sorted(home.rglob("*.py")):
        code.update(path.relative_to(home).as_posix().encode() + b"\0" + path.read_bytes())
    return {**found, "kcnet_core (code)": code.hexdigest()[:8]}


def refuse_others(here: dict[str, str], there: dict[str, str], where: str) -> None:
    """A sentence that names both versions, if they differ."""
    other = [
        f"{name} {there.get(name, 'missing')} instead of {have}"
        for name, have in here.items()
        if there.get(name) != have
    ]
    if other:
        raise OtherVersions(
            f"The worker {where} has {', '.join(other)}: results would not be the same. Install "
            "the same versions there and start it again."
        )


def check_workers(client) -> None:
    """Refuse a cluster with a worker that has other versions."""
    worker_addresses(client)
    for address, there in client.run(versions, on_error="return").items():
        if isinstance(there, ImportError):
            raise ClusterError(
                f"The worker {address} cannot import kcnet_core ({there}). Install this project "
                "there, and start the worker with the same Python."
            )
        if isinstance(there, OSError):
            continue  # it has just ended; whoever comes in its place is asked by its first task
        if isinstance(there, Exception):
            raise there
        refuse_others(versions(), there, address)


def on_worker(asked: dict[str, str], function: Callable, *args):
    """What every task runs: a worker may have joined after the others were asked, and a web process
    on the same machine goes before it."""
    step_aside()
    if asked != versions():
        from distributed import get_worker

        refuse_others(asked, versions(), get_worker().address)
    return function(*args)


def submit(client, function: Callable, *args, workers=None):
    """A future of `function(*args)`; `workers` are preferred, and others do in their place."""
    import dask

    where = {"workers": workers, "allow_other_workers": True} if workers else {}
    # Data travel with their task, so that it can be done again when a worker is lost.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        return client.submit(on_worker, versions(), function, *args, pure=False, **where)


def held(value):
    """The value itself, as a task: what is submitted so is there again after a worker is lost."""
    return value
