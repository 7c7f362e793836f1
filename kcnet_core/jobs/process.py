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
from pathlib import Path
from typing import Any, Protocol

import psutil

from kcnet_core import limits
from kcnet_core.contracts import Steps
from kcnet_core.errors import KCNetError
from kcnet_core.jobs.worker.messages import receive, send
from kcnet_core.jobs.worker.work import Pace, Work

PROCESS_BYTES = 240 * limits.MEGABYTE  # of a worker that has loaded all it needs, its own alone
START_SECONDS = 120.0  # on a machine that is very busy
LOST = (
    "The process that made this run was ended from outside, probably because the machine had no "
    "memory left. Lower the number of Kenyon cells, submodels or rows, or start it again later."
)
NOT_STARTED = "The server is too busy to start this run; try later."


class Reader(Protocol):
    """Makes of what a worker sends what a page shows."""

    def read(self, item: Any, offset: float) -> Any: ...

    def result(self, result: Any) -> Any: ...


class WorkerProcess:
    """One child. It is a plain subprocess: forking is unsafe in a threaded server, and
    `multiprocessing` would run the app's main module again."""

    def __init__(self, modules: Sequence[str]):
        self._channel, theirs = socket.socketpair()
        self._channel.settimeout(START_SECONDS)
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

    def wait_until_ready(self) -> None:
        """Its first word comes when all is loaded."""
        if not self._ready:
            self._hear()
            self._channel.settimeout(None)  # a step takes as long as it takes
            self._ready = True

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

    def warm(self) -> None:
        """Have one that waits for work, unless as many are there as may run at once."""
        with self._lock:
            if len(self._idle) + len(self._busy) < self._most_idle:
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
        self, work: Work, args: tuple, data: Any, reader: Reader, enough: Callable[[], bool]
    ) -> Steps[Any, Any]:
        """The steps of `work(data, enough, *args)`, made by one of these processes."""
        worker, pace = self._take(), Pace()
        try:
            worker.wait_until_ready()
            reply = worker.ask("begin", work, data, args)
            while True:
                for item in reply.items:
                    view = reader.read(item, 0.0)
                    with pace:
                        yield view
                if reply.error is not None:
                    raise reply.error
                if reply.ended:
                    return reader.result(reply.result)
                pace.taken(reply.items)
                reply = worker.ask("more", pace.seconds, enough())
        finally:
            reply = None
            self._give_back(worker)

    def _take(self) -> WorkerProcess:
        with self._lock:
            alive = [one for one in self._idle if one.alive]
            try:
                worker = alive.pop(0) if alive else WorkerProcess(self._modules)
            except OSError as error:  # the system has no more processes
                raise KCNetError(NOT_STARTED) from error
            self._idle = alive
            self._busy.add(worker)
        self.warm()
        return worker

    def _give_back(self, worker: WorkerProcess) -> None:
        """Between two steps it can be told to forget its work, and waits for the next."""
        try:
            worker.rest()
        except WorkerLost:
            worker.kill()
        with self._lock:
            self._busy.discard(worker)
            if worker.alive and len(self._idle) < self._most_idle:
                self._idle.insert(0, worker)  # it has loaded all it needs
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
