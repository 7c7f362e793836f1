"""Runs in processes of their own, so that pages and runs never wait for each other inside Python.

To whoever takes the steps it is the same generator as if the work were done here: no further step
is made than is asked for, but for a fraction of a second while steps are taken as fast as they
come. So pause, step, slow motion, finish and stop are those of any other job.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Protocol

import psutil

from kcnet_core import limits
from kcnet_core.contracts import Steps
from kcnet_core.errors import KCNetError
from kcnet_core.jobs.worker.messages import receive, send
from kcnet_core.jobs.worker.work import StepsAhead, Work

PROCESS_BYTES = 240 * limits.MEGABYTE  # of a worker that has loaded all it needs, its own alone
# For a process that still loads, while other runs are under way: a run that is made here instead
# would slow down all pages, and be slowed down by them.
PATIENCE_SECONDS = 4.0
# A run of minutes rather begins later than that it holds up all pages until it ends.
LONG_RUN_SECONDS, LONG_PATIENCE_SECONDS = 60.0, 15.0
LOST = (
    "The process that made this run was ended from outside, probably because the machine had no "
    "memory left. Lower the number of Kenyon cells, submodels or rows, or start it again later."
)


class Reader(Protocol):
    """Makes of what a worker sends what a page shows."""

    def read(self, item: Any, offset: float) -> Any: ...

    def result(self, result: Any) -> Any: ...


class WorkerProcess:
    """One child. It is a plain subprocess: forking is unsafe in a threaded server, and
    `multiprocessing` would run the app's main module again."""

    def __init__(self, modules: Sequence[str]):
        self._channel, theirs = socket.socketpair()
        root = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        # -P: the folder the server was started in has no say in what is imported.
        command = [sys.executable, "-P", "-m", "kcnet_core.jobs.worker", str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(
                [*command, *modules],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # what it has to say goes to the log
                env={**os.environ, "PYTHONPATH": path},
            )
        self.pid = self._process.pid
        self._ready = self._midway = False

    def ready_within(self, seconds: float) -> bool:
        """Its first word comes when all is loaded; WorkerLost if it ended before."""
        if not self._ready and wait([self._channel], seconds):
            self._hear()
            self._ready = True
        return self._ready

    def ask(self, action: str, *told: Any) -> Any:
        self._say((action, *told))
        return self._hear()

    def rest(self) -> None:
        """Forget the work; WorkerLost if what was said last was not heard to its end."""
        if self._midway:
            raise WorkerLost(LOST)
        self.ask("end")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._channel.close()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def own_bytes(self) -> int:
        """Memory that it alone holds; 0 when it has ended."""
        with contextlib.suppress(psutil.Error):
            memory = psutil.Process(self.pid).memory_info()
            return memory.rss - getattr(memory, "shared", 0)
        return 0

    def _say(self, message: Any) -> None:
        with self._whole():
            send(self._channel, message)

    def _hear(self) -> Any:
        with self._whole():
            return receive(self._channel)

    @contextlib.contextmanager
    def _whole(self) -> Iterator[None]:
        """After half a message nothing more can be said or heard."""
        self._midway = True
        try:
            yield
        except (OSError, EOFError) as error:
            raise WorkerLost(LOST) from error
        self._midway = False


class WorkerLost(KCNetError):
    """A process ended before its work did."""


class WorkerProcesses:
    """The server's worker processes; each makes one run at a time and is used again."""

    def __init__(self, modules: Sequence[str] = (), most_idle: int = limits.MAX_RUNNING_JOBS):
        self._modules, self._most_idle = tuple(modules), most_idle
        self._lock = threading.Lock()
        self._idle: list[WorkerProcess] = []
        self._busy: set[WorkerProcess] = set()

    def warm(self, needed: bool = False) -> None:
        """Have one that waits for work, unless as many have some as may run at once."""
        with self._lock:
            self._idle = [one for one in self._idle if one.alive]
            if not self._idle and (needed or len(self._busy) < self._most_idle):
                with contextlib.suppress(OSError):  # it is tried again when it is needed
                    self._idle.append(WorkerProcess(self._modules))

    def own_bytes(self) -> int:
        """Memory that these processes hold besides the server."""
        with self._lock:
            return sum(one.own_bytes for one in (*self._idle, *self._busy))

    def trim(self) -> None:
        """Of those that wait for work one is enough for the next run to begin at once."""
        with self._lock:
            surplus, self._idle = self._idle[1:], self._idle[:1]
        for one in surplus:
            one.kill()

    def close(self) -> None:
        with self._lock:
            for one in (*self._idle, *self._busy):
                one.kill()
            self._idle.clear()

    def steps(
        self,
        work: Work,
        args: tuple,
        data: Any,
        reader: Reader,
        enough: Callable[[], bool],
        here: Callable[[], Steps[Any, Any]],
        expected: float = 0.0,
    ) -> Steps[Any, Any]:
        """The steps of `work(data, enough, *args)`, made by one of these processes; those of `here`
        if none is there in time, which is later for what is expected to take long (seconds)."""
        worker, ahead = self._take(expected > LONG_RUN_SECONDS), StepsAhead()
        if worker is None:
            return (yield from here())
        try:
            reply = worker.ask("begin", work, data, args)
            while True:
                for item in reply.items:
                    view = reader.read(item, 0.0)
                    with ahead:
                        yield view
                if reply.error is not None:
                    raise reply.error
                if reply.ended:
                    return reader.result(reply.result)
                ahead.taken(reply.items)
                reply = worker.ask("more", ahead.seconds, enough())
        finally:
            reply = None
            self._give_back(worker)

    def _take(self, long: bool) -> WorkerProcess | None:
        """One that has loaded all it needs; it is waited for beside others, and by long runs."""
        self.warm(needed=True)
        with self._lock:
            patience = PATIENCE_SECONDS if self._busy else 0.0
            patience = LONG_PATIENCE_SECONDS if long else patience
            worker = self._idle.pop(0) if self._idle else None
            if worker is not None:
                self._busy.add(worker)
        if worker is None:
            return None
        try:
            ready = worker.ready_within(patience)
        except WorkerLost:
            ready = False
        if not ready:
            self._put_back(worker)
            return None
        self.warm()
        return worker

    def _give_back(self, worker: WorkerProcess) -> None:
        """Between two steps it can be told to forget its work, and waits for the next."""
        try:
            worker.rest()
        except WorkerLost:
            worker.kill()
        self._put_back(worker)

    def _put_back(self, worker: WorkerProcess) -> None:
        with self._lock:
            self._busy.discard(worker)
            if worker.alive and len(self._idle) < self._most_idle:
                self._idle.insert(0, worker)  # before those that still load
                return
        worker.kill()


_of_server: WorkerProcesses | None = None


def of_server() -> WorkerProcesses | None:
    """Those that the server has opened; None where runs share the process that asks for them."""
    return _of_server


def open_processes(modules: Sequence[str]) -> WorkerProcesses | None:
    """Let runs have processes of their own from now on, where the system and its memory allow."""
    global _of_server
    if limits.LOW_MEMORY or not hasattr(socket, "send_fds"):
        return None
    _of_server = WorkerProcesses(modules)
    return _of_server


def close_processes() -> None:
    global _of_server
    processes, _of_server = _of_server, None
    if processes is not None:
        processes.close()
