"""On a worker: work that goes step by step, each in a thread of its own, no further than asked.

A page's run must answer at once, while Dask's own tasks wait for a free thread, so these runs stand
beside them: a worker answers messages about them, whatever its tasks do. Whoever asks is told what
was made since the last time. Memory is planned here, where it is needed, also for several who ask.
"""

from __future__ import annotations

import asyncio
import pickle
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

from kcnet_core.cluster.connection import refuse_others, versions
from kcnet_core.jobs.job import Estimate
from kcnet_core.jobs.memory import Memory, Room, measure_memory
from kcnet_core.jobs.policies import step_aside
from kcnet_core.jobs.worker.work import MOMENT, Reply, is_step, that_travels

OP = "kcnet_steps"  # the messages' name
LEASE_SECONDS = 120.0  # without a word from whoever wants it, a run ends
DATASETS_KEPT = 2  # the latest, for the next run


@dataclass(frozen=True)
class Order:
    """A run that a worker shall make."""

    id: str
    work: bytes  # a pickled `Work` and its further arguments; to load them may take seconds
    data_key: str
    need: int  # bytes


@dataclass(frozen=True)
class Condition:
    """How a worker is."""

    busy: int  # runs and tasks at work
    room: int  # bytes that a new run may plan
    most: int  # the same if there were no other runs


class WorkerRun:
    """One order, in its thread."""

    def __init__(self, order: Order, data: Any, ended: Callable[[str], None]):
        self.order, self.data, self._ended = order, data, ended
        self.estimate = Estimate(bytes=order.need)
        self.enough = threading.Event()
        self.working = False
        self._changed = threading.Condition()
        self._until = self._heard = time.monotonic()
        self._asked = self._over = False
        self._tell: Callable[[], object] = lambda: None
        self._items: list = []
        self._outcome: dict | None = None
        threading.Thread(target=self._run, name=f"run-{order.id[:6]}", daemon=True).start()

    async def more(self, seconds: float, enough: bool) -> Reply:
        """Work for so many seconds, at least until a step that counts or for a moment, and say
        what came of it."""
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        if enough:
            self.enough.set()
        with self._changed:
            self._heard = time.monotonic()
            self._until = self._heard + seconds
            self._tell = lambda: _soon(loop, ready.set)
            if self._outcome is not None or any(map(is_step, self._items)):
                ready.set()  # a step that was late for the last answer is this one
            else:
                self._asked = True
            self._changed.notify_all()
        with suppress(TimeoutError):
            await asyncio.wait_for(ready.wait(), seconds + MOMENT)
        with self._changed:
            items, self._items = self._items, []
            if self._outcome is None:
                return Reply(items)
            self._over = True
            self._changed.notify_all()
            return Reply(items, True, **self._outcome)

    def heard(self) -> None:
        """Somebody still wants it."""
        self._heard = time.monotonic()

    def end(self) -> None:
        """Give it up after the step in hand."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _run(self) -> None:
        step_aside()
        try:
            outcome: dict[str, Any] = {"result": self._steps_made()}
        except _GivenUp:
            outcome = {"error": None}
        except BaseException as error:  # a run may end nothing but itself
            outcome = {"error": that_travels(error)}
        with self._changed:
            self._outcome, self.data = outcome, None
            self._tell()
            self._asked = False
            self._wait_for_a_word()
        self._ended(self.order.id)

    def _steps_made(self) -> Any:
        work, args = pickle.loads(self.order.work)
        with closing(work(self.data, self.enough.is_set, *args)) as steps:
            while True:
                self._wait()
                self.working = True
                try:
                    item = next(steps)
                except StopIteration as end:
                    return end.value
                finally:
                    self.working = False
                with self._changed:
                    self._items.append(item)
                    now, counts = time.monotonic(), is_step(item)
                    if now >= self._until + (0.0 if counts else MOMENT):
                        self._asked = False
                        self._tell()

    def _wait(self) -> None:
        """Until somebody asks for more; if nobody did for long, or never will, leave."""
        with self._changed:
            self._wait_for_a_word()
            if self._over:
                raise _GivenUp

    def _wait_for_a_word(self) -> None:
        while not self._asked and not self._over:
            self._changed.wait(LEASE_SECONDS)
            if time.monotonic() - self._heard > LEASE_SECONDS:
                self._over = True


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[[], object]) -> None:
    with suppress(RuntimeError):  # the worker has ended meanwhile: nobody listens
        loop.call_soon_threadsafe(call)


class _GivenUp(Exception):
    """Nobody wants the result."""


class Runs:
    """All runs of a worker."""

    def __init__(self, worker):
        self._worker = worker
        self._runs: dict[str, WorkerRun] = {}
        self._data: OrderedDict[str, Any] = OrderedDict()
        self._room = Room(self._memory)

    def condition(self) -> Condition:
        runs = list(self._runs.values())
        busy = sum(run.working for run in runs) + self._worker.state.executing_count
        return Condition(busy, self._room.beside(runs, runs), self._room.beside((), runs))

    async def answer(self, action: str, **told) -> Any:
        """What a worker says to a message; None where it does not know what that is about."""
        if action == "begin":
            return self._begin(**told)
        if action == "heard":
            for run_id in told["ids"]:
                if run_id in self._runs:
                    self._runs[run_id].heard()
            return True
        run = self._runs.get(told.pop("id"))
        if run is None:
            return None
        if action == "more":
            from distributed.protocol import to_serialize

            return {"reply": to_serialize(await run.more(**told))}
        run.end()
        return True

    def _begin(self, order: Order, data: Any = None) -> str:
        """Begin it, unless its memory ("full") or its data ("data") are not here."""
        if data is not None:
            self._data[order.data_key] = data[0]
        if order.data_key not in self._data:
            return "data"
        self._data.move_to_end(order.data_key)
        if not self._runs:
            self._room.begin()
        elif order.need > self.condition().room:
            return "full"
        self._runs[order.id] = WorkerRun(order, self._data[order.data_key], self._forget)
        while len(self._data) > DATASETS_KEPT:  # runs hold theirs
            self._data.popitem(last=False)
        return "begun"

    def _forget(self, run_id: str) -> None:
        self._runs.pop(run_id, None)

    def _memory(self) -> Memory:
        """Of the machine, or less where Dask was told how much a worker may use."""
        memory, most = measure_memory(), self._worker.memory_manager.memory_limit
        free = memory.available if not most else min(memory.available, most - memory.used)
        return Memory(max(0, free), memory.used)


def ready(asked: dict[str, str], dask_worker) -> Condition:
    """Let this worker understand the messages, if its versions are those of who asks."""
    refuse_others(asked, versions(), dask_worker.address)
    if OP not in dask_worker.handlers:
        runs = dask_worker.kcnet_runs = Runs(dask_worker)
        dask_worker.handlers[OP] = runs.answer
    return dask_worker.kcnet_runs.condition()
