"""The app's jobs on the cluster that KCNET_CLUSTER names, so that it only has to draw.

Queue and ownership stay those of the app; memory is planned where the work is done. A job that is
stopped gives up what workers have in hand, and one that is paused takes no more steps or rows until
it goes on.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kcnet_core.contracts import Steps
from kcnet_core.jobs import Estimate, OtherProcesses
from kcnet_core.jobs.process import PROCESS_BYTES, of_server

if TYPE_CHECKING:
    from kcnet_core.datasets.dataset import Dataset
    from kcnet_core.experiments.comparison.rows import PlannedRows
    from kcnet_core.experiments.measured_job import MeasuredJob
    from kcnet_core.experiments.run import Run
    from kcnet_core.paper.recipe import Recipe

HERE = "here"
PORT = 8786  # of a scheduler, where an address names none
SECONDS_TO_ANSWER = 1.0
# What a job does, and what it takes of this machine.
Placed = tuple[Callable[[], Steps[Any, Any]], Estimate]


def named_cluster() -> str | None:
    """The cluster that the app was told of."""
    return os.environ.get("KCNET_CLUSTER") or None


def app_cluster() -> str | None:
    """Where the app's measurements go; None: they stay in its process, also while no scheduler
    answers, if it was told to do without (KCNET_CLUSTER_GONE=here)."""
    address = named_cluster()
    if address and os.environ.get("KCNET_CLUSTER_GONE") == HERE and not _answers(address):
        return None
    return address


def _answers(address: str) -> bool:
    """Whether somebody listens there."""
    place = urlsplit(address)
    with (
        suppress(OSError, ValueError),
        closing(socket.create_connection((place.hostname, place.port or PORT), SECONDS_TO_ANSWER)),
    ):
        return True
    return False


def training(run: Run, dataset: Dataset, enough: Callable[[], bool], cost: Estimate) -> Placed:
    """A run of the Train page: on a worker if there is a cluster, else in a process of its own if
    the server has such."""
    from kcnet_core.experiments.training import train_steps

    address, processes = app_cluster(), of_server()
    if address is None and processes is not None:
        from kcnet_core.cluster.train import train_apart

        taken = replace(cost, process_bytes=PROCESS_BYTES + dataset.X.nbytes)
        return lambda: train_apart(processes, run, dataset, enough, cost.seconds), taken
    if address is None:
        return lambda: train_steps(run, dataset, enough), cost

    def there():
        from kcnet_core.cluster.train import train_there

        return train_there(address, run, dataset, enough, cost.bytes)

    return there, replace(cost, elsewhere=True)


def placed(name: str, data, args: tuple, cost: Estimate, here: Callable[[], Steps]) -> Placed:
    """What a job does: the work of this name in `cluster.works` on a worker, if there is a cluster;
    else what it does `here`."""
    address = app_cluster()
    if address is None:
        return here, cost

    def there():
        from kcnet_core.cluster import works
        from kcnet_core.cluster.steps import steps_there

        return steps_there(address, getattr(works, name), args, data, need=cost.bytes)

    return there, replace(cost, elsewhere=True)


def measured_elsewhere(job: MeasuredJob, name: str, data, args: tuple) -> MeasuredJob:
    """The same for a measurement."""
    address = app_cluster()
    if address is None:
        return job

    def measure():
        from kcnet_core.cluster import works
        from kcnet_core.cluster.steps import steps_there

        work, need = getattr(works, name), job.cost.bytes
        return steps_there(address, work, args, data, need=need, reader=works.CountedItems)

    return _elsewhere(job, measure)


def elsewhere(data_of: Callable[[Run], Dataset]) -> OtherProcesses:
    """The slots of the cluster, if there is one, and what other web processes there show; `data_of`
    loads what a run of theirs works on."""
    address = named_cluster()
    if address is None:
        return OtherProcesses()
    from kcnet_core.cluster.watching import SharedJobs

    return SharedJobs(address, data_of)


def _elsewhere(job: MeasuredJob, measure: Callable[[], Any]) -> MeasuredJob:
    """A measurement that takes no memory here."""
    pieces = [replace(piece, cost=replace(piece.cost, elsewhere=True)) for piece in job.pending]
    return replace(job, measure=measure, pending=pieces)


def comparison_elsewhere(job: MeasuredJob, planned: PlannedRows) -> MeasuredJob:
    """The comparison as a job whose rows come from the cluster, if there is one."""
    address = app_cluster()
    if address is None:
        return job

    def measure():
        from kcnet_core.cluster.rows import compare_steps

        plan, data = planned.comparison, planned.dataset
        return compare_steps(plan, address, data, done=job.known, progress=True)

    return _elsewhere(job, measure)


def recipe_elsewhere(job: MeasuredJob, recipe: Recipe) -> MeasuredJob:
    """The same for a recipe."""
    address = app_cluster()
    if address is None:
        return job

    def measure():
        from kcnet_core.cluster.rows import measured_at
        from kcnet_core.paper.engine import default_journal, saved_steps
        from kcnet_core.paper.result_file import own_results

        return saved_steps(recipe, default_journal(), own_results(), measure=measured_at(address))

    return _elsewhere(job, measure)
