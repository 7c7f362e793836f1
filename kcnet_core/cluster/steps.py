"""Work that goes step by step, driven from here and made by a worker.

To whoever takes the steps it is the same generator as if the work were done here: no further step
is made than is asked for (but for a fraction of a second, while steps are taken as fast as they
come), so that pause, step, slow motion, finish and stop are those of any other job. If the worker
is lost, another makes the same steps again, and what was seen before is not shown a second time.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from secrets import token_hex
from typing import Any

from kcnet_core.cluster.connection import WORKER_SECONDS, ClusterError, spoken, versions
from kcnet_core.cluster.on_worker import Condition, Order, ready
from kcnet_core.cluster.shared import data_key, say, shared_client, wanted, workers_of
from kcnet_core.contracts import Counted, Steps
from kcnet_core.errors import KCNetError, OutOfMemory
from kcnet_core.jobs.memory import too_large
from kcnet_core.jobs.worker.work import Reply, StepsAhead, Work

SECONDS_BETWEEN_LOOKS = 0.5  # for room on a worker
MOST_LOST = 3  # workers, after which the work itself is suspected
AGAIN = "A worker was lost; another one makes the same steps again"
FULL = "Waiting for a worker with enough memory"
NOBODY = "Waiting for the cluster's first worker"


class StepsReader:
    """Makes of what a worker sends what a page shows; here, where these are the same."""

    def read(self, item: Any, offset: float) -> Any:
        """`offset` is this machine's clock minus the worker's."""
        return item

    def waiting(self, last: Any, sentence: str) -> Any:
        """What is shown while nothing comes, perhaps for a reason."""
        return last or Counted(0, None)

    def result(self, result: Any) -> Any:
        return result


def steps_there(
    address: str, work: Work, args: tuple, data: Any, *, need: int = 0,
    reader: Callable[[], StepsReader] = StepsReader, enough: Callable[[], bool] = lambda: False,
) -> Steps[Any, Any]:  # fmt: skip
    """The steps of `work(data, enough, *args)`, made by a worker of the cluster at `address`.

    `data` is sent once and kept by the worker for the next time; `need` are the bytes to plan.
    """
    shown, last = 0, None
    with spoken():
        for _ in range(MOST_LOST):
            client, reading, ahead, made = shared_client(address), reader(), StepsAhead(), 0
            offset: float | None = None
            order = Order(token_hex(16), pickle.dumps((work, args)), data_key(data), need)
            place = ""
            for place, sentence in _placed(client, order, data):
                if not place:
                    yield (last := reading.waiting(last, sentence))
            with wanted(client, place, order.id):
                for reply in _replies(client, place, order.id, ahead, enough):
                    offset = time.monotonic() - reply.clock if offset is None else offset
                    for item in reply.items:
                        view = reading.read(item, offset)
                        made += 1
                        if made > shown:
                            shown, last = made, view
                            with ahead:
                                yield view
                    if reply.error is not None:
                        raise reply.error
                    if reply.ended:
                        return reading.result(reply.result)
                    if not reply.items or made < shown:
                        last = reading.waiting(last, AGAIN if made < shown else "")
                        with ahead:
                            yield last
    raise ClusterError(
        f"{MOST_LOST} workers ended while they did this piece of work; probably their memory is "
        "too small for it. Give workers more memory, or take fewer cells or rows."
    )


def _placed(client, order: Order, data) -> Iterator[tuple[str, str]]:
    """At last the address of the worker that has begun; before, why none has."""
    from distributed.protocol import to_serialize

    until = time.monotonic() + WORKER_SECONDS
    while not client.scheduler_info()["workers"] and time.monotonic() < until:
        yield "", NOBODY
        time.sleep(SECONDS_BETWEEN_LOOKS)
    while True:
        found = conditions(client)
        most = max(worker.most for worker in found.values())
        if order.need > most:
            raise OutOfMemory(too_large(order.need, most))
        fitting = [place for place, worker in found.items() if worker.room >= order.need]
        for place in sorted(fitting, key=lambda place: (found[place].busy, -found[place].room)):
            with suppress(OSError):
                said = say(client, place, "begin", order=to_serialize(order))
                if said == "data":
                    told = {"order": to_serialize(order), "data": to_serialize([data])}
                    said = say(client, place, "begin", **told)
                if said == "begun":
                    yield place, ""
                    return
        yield "", FULL
        time.sleep(SECONDS_BETWEEN_LOOKS)


def conditions(client) -> dict[str, Condition]:
    """How each worker is; all of them understand us from now on."""
    workers_of(client)
    found = client.run(ready, versions(), on_error="return")
    for answer in found.values():
        if isinstance(answer, KCNetError | ImportError):
            raise answer
    there = {place: one for place, one in found.items() if isinstance(one, Condition)}
    if not there:
        raise ClusterError(f"No worker of the cluster answers ({next(iter(found.values()))}).")
    return there


def _replies(
    client, place: str, run_id: str, ahead: StepsAhead, enough: Callable[[], bool]
) -> Iterator[Reply]:
    """What the worker says, until it is lost."""
    while True:
        try:
            said = say(client, place, "more", id=run_id, seconds=ahead.seconds, enough=enough())
        except OSError:
            return
        if said is None:
            return
        reply = said["reply"]
        yield reply
        if ahead.taken(reply.items) and place not in workers_of(client):
            return  # it would take long to find out by asking it
