"""Worker processes for RDKit that all threads of the server share, a few molecules at a time, and
the latest of their replies."""

from __future__ import annotations

import atexit
import os
import queue
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from kcnet_core.contracts import Counted, Steps, drain
from kcnet_core.limits import LOW_MEMORY, MAX_KILLED_MOLECULES, SECONDS_PER_MOLECULE
from kcnet_core.molecules.process import (
    POLL_SECONDS,
    STOPPED,
    WORKER_COMMAND,
    MoleculeProcess,
    MoleculeReply,
)

MAX_PROCESSES = 1 if LOW_MEMORY else 8
CHUNK_ITEMS = 16  # about 0.1 s of descriptors: short enough to share, long enough to be quick
RETRY_FAILURE_SECONDS = 600.0
_N_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class MoleculePool:
    """At most `size` worker processes, started when first needed and kept warm.

    By default one per core, 8 at most; a small request uses only one. `command` is how to start a
    worker, `seconds` the time limit per item.
    """

    def __init__(
        self,
        size: int | None = None,
        command: Sequence[str] = WORKER_COMMAND,
        seconds: float = SECONDS_PER_MOLECULE,
    ):
        self.size = size or min(_N_CORES, MAX_PROCESSES)
        self.seconds = seconds
        self._processes = [MoleculeProcess(command) for _ in range(self.size)]
        self._turns = _FreeProcesses(self._processes)

    def run(self, task: str, items: Sequence) -> list[MoleculeReply]:
        """One reply per item, in order."""
        return drain(Request(self, task, items).steps())

    def close(self) -> None:
        for process in self._processes:
            process.kill()


class _FreeProcesses:
    """Hands out processes in the order of asking, so that a large request cannot starve a small."""

    def __init__(self, processes: Sequence[MoleculeProcess]):
        self._free = list(processes)
        self._waiting: deque[queue.SimpleQueue] = deque()
        self._lock = threading.Lock()

    def take(self, stop: threading.Event) -> MoleculeProcess | None:
        """A process for this thread alone, or None once `stop` is set."""
        if stop.is_set():
            return None
        mine: queue.SimpleQueue = queue.SimpleQueue()
        with self._lock:
            if self._free:
                return self._free.pop()  # the last one given back is the warmest
            self._waiting.append(mine)
        while True:
            try:
                return mine.get(timeout=POLL_SECONDS)
            except queue.Empty:
                if not stop.is_set():
                    continue
            with self._lock:
                if mine in self._waiting:
                    self._waiting.remove(mine)
                    return None
            return mine.get()  # given in the very moment of giving up

    def give_back(self, process: MoleculeProcess) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().put(process)
            else:
                self._free.append(process)


class Request:
    """Items on their way through the pool: their chunks, their replies, the threads that fill them.

    `replies` holds what has arrived, also when nobody waits for the rest.
    """

    def __init__(self, pool: MoleculePool, task: str, items: Sequence):
        self._pool, self._task, self._items = pool, task, items
        self.replies: list[MoleculeReply | None] = [None] * len(items)
        starts = range(0, len(items), CHUNK_ITEMS)
        self._chunks = deque((start, min(start + CHUNK_ITEMS, len(items))) for start in starts)
        self._stop = threading.Event()
        # 1 per reply, an error, None when a thread ends
        self._events: queue.SimpleQueue[int | Exception | None] = queue.SimpleQueue()
        self._n_killed = 0

    def steps(self) -> Steps[Counted, list[MoleculeReply]]:
        """Do the work: one step per reply, in the order of arrival. Closing it stops the work."""
        n_threads = min(self._pool.size, len(self._chunks))
        for _ in range(n_threads):
            threading.Thread(target=self._work, daemon=True).start()
        done = 0
        try:
            while n_threads:
                event = self._events.get()
                if event is None:
                    n_threads -= 1
                elif isinstance(event, Exception):
                    raise event
                else:
                    done += 1
                    yield Counted(done, len(self._items))
        finally:
            self._stop.set()  # leave no thread working for nobody
        return [reply for reply in self.replies if reply is not None]

    def _work(self) -> None:
        try:
            while True:
                try:
                    start, end = self._chunks.popleft()
                except IndexError:
                    return
                self._run_chunk(start, end)
        except Exception as error:
            self._events.put(error)
        finally:
            self._events.put(None)

    def _run_chunk(self, start: int, end: int) -> None:
        position = start

        def deliver(reply: MoleculeReply) -> None:
            nonlocal position
            self.replies[position] = reply
            position += 1
            self._events.put(1)

        if self._n_killed >= MAX_KILLED_MOLECULES:
            process = None
            why = (
                f"Not computed: {MAX_KILLED_MOLECULES} molecules of this input have already taken "
                "too long or crashed RDKit."
            )
        else:
            process, why = self._pool._turns.take(self._stop), STOPPED
        if process is None:
            while position < end:
                deliver(MoleculeReply(failure=why, lasting=False))
            return
        try:
            if not process.ask(
                self._task, self._items[start:end], self._pool.seconds, self._stop, deliver
            ):
                self._n_killed += 1
        finally:
            self._pool._turns.give_back(process)
        if position < end:  # others take their turn before the rest of a chunk that hung
            self._chunks.append((position, end))


_lock = threading.Lock()
_shared: dict[int, MoleculePool] = {}  # by process id: a forked child must not use these pipes


def shared_pool() -> MoleculePool:
    """The one pool of this process."""
    with _lock:
        if os.getpid() not in _shared:
            _shared[os.getpid()] = MoleculePool()
            atexit.register(_close_own)
        return _shared[os.getpid()]


def _close_own() -> None:
    if os.getpid() in _shared:
        _shared.pop(os.getpid()).close()


def warm_up() -> None:
    """Start a worker in the background, so that the first molecule does not wait for it."""
    threading.Thread(target=lambda: shared_pool().run("check", ["C"]), daemon=True).start()


class RememberedTask:
    """One kind of molecule work, carried out by the shared worker processes.

    A failure that may have been bad luck (time limit, crash) is remembered for ten minutes, so
    that a page which reruns with a hanging molecule does not wait for the time limit again. Of
    `capacity` replies those not used for longest go first.

    `task` is a name in `worker.__main__.load_tasks`; `decode` turns the value that a worker sent
    into the one to remember.
    """

    def __init__(self, task: str, capacity: int, decode: Callable[[Any], Any] | None = None):
        self._task, self._capacity, self._decode = task, capacity, decode
        self._replies: OrderedDict[Hashable, tuple[MoleculeReply, float]] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, items: Sequence[Hashable]) -> list[MoleculeReply]:
        return drain(self.steps(items))

    def steps(self, items: Sequence[Hashable]) -> Steps[Counted, list[MoleculeReply]]:
        """One reply per item, in order; only items not remembered are counted.

        Closing it stops the work; what has been answered by then is remembered.
        """
        recalled = {item: self._recall(item) for item in items}
        known = {item: reply for item, reply in recalled.items() if reply is not None}
        missing = [item for item in recalled if item not in known]
        if missing:
            request = Request(shared_pool(), self._task, missing)
            try:
                yield from request.steps()
            finally:
                for item, reply in zip(missing, request.replies, strict=True):
                    if reply is not None:
                        known[item] = self._remember(item, reply)
        return [known[item] for item in items]

    def _recall(self, item: Hashable) -> MoleculeReply | None:
        with self._lock:
            reply, expires = self._replies.get(item, (None, 0.0))
            if reply is not None and expires < time.monotonic():
                del self._replies[item]
                return None
            if reply is not None:
                self._replies.move_to_end(item)
            return reply

    def _remember(self, item: Hashable, reply: MoleculeReply) -> MoleculeReply:
        if reply.failure is None and self._decode is not None:
            reply = MoleculeReply(self._decode(reply.value))
        if reply.failure == STOPPED:
            return reply
        expires = float("inf") if reply.lasting else time.monotonic() + RETRY_FAILURE_SECONDS
        with self._lock:
            self._replies[item] = (reply, expires)
            while len(self._replies) > self._capacity:
                self._replies.popitem(last=False)
        return reply
