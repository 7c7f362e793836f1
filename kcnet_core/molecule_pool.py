"""Worker processes for RDKit, with a time limit per molecule that really kills.

The processes are started when first needed, as plain subprocesses (never forked, which is unsafe
in a threaded server, and never through `multiprocessing`, which would run the app's main module
again), and stay warm afterwards. Calls from several threads share them, a few molecules at a time.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import subprocess
import sys
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kcnet_core.errors import KCNetError
from kcnet_core.limits import SECONDS_PER_MOLECULE
from kcnet_core.molecule_worker import read_message, write_message

MAX_WORKERS = 8
CHUNK_ITEMS = 16  # about 0.1 s of descriptors: short enough to share, long enough to be quick
START_SECONDS = 60.0
POLL_SECONDS = 0.05
STOP_GRACE_SECONDS = 0.5
RETRY_FAILURE_SECONDS = 600.0

_WORKER_COMMAND = (sys.executable, "-P", "-m", "kcnet_core.molecule_worker")
_STOPPED = "Not computed: the work was stopped before this row."
_CRASHED = "RDKit crashed on this molecule, so it was left out."


@dataclass(frozen=True)
class Answer:
    """What came of one item: a value, or a failure in words.

    `lasting` is False where another try could end differently (time limit, crash, stop).
    """

    value: Any = None
    failure: str | None = None
    lasting: bool = True


class _Worker:
    """One child process, started at the first request and again after each death."""

    def __init__(self, command: Sequence[str]):
        self._command = list(command)
        self._process: subprocess.Popen | None = None
        self._replies: queue.SimpleQueue = queue.SimpleQueue()

    def ask(self, task: str, items: Sequence, seconds: float, stop: threading.Event, deliver):
        """Call `deliver(Answer)` once per item, in order."""
        remaining = deque(items)
        while remaining:
            self._start()
            try:
                write_message(
                    self._process.stdin,
                    {"task": task, "items": list(remaining), "seconds": seconds},
                )
            except OSError:  # died while idle: nobody's fault, start another
                self.kill()
                continue
            while remaining:
                reply, why = self._next_reply(seconds, stop)
                if reply is None:
                    self.kill()
                    deliver(Answer(failure=why, lasting=False))
                    remaining.popleft()
                    break
                deliver(Answer(value=reply.get("value"), failure=reply.get("failure")))
                remaining.popleft()
            if stop.is_set():
                while remaining:
                    remaining.popleft()
                    deliver(Answer(failure=_STOPPED, lasting=False))

    def _next_reply(self, seconds: float, stop: threading.Event):
        deadline = time.monotonic() + seconds
        stopping = False
        while True:
            if stop.is_set() and not stopping:
                stopping = True
                deadline = min(deadline, time.monotonic() + STOP_GRACE_SECONDS)
            left = deadline - time.monotonic()
            if left <= 0:
                late = f"The computation took longer than {seconds:g} seconds and was ended."
                return None, _STOPPED if stopping else late
            try:
                reply = self._replies.get(timeout=min(left, POLL_SECONDS))
            except queue.Empty:
                continue
            return reply, _CRASHED

    def _start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self.kill()
        root = str(Path(__file__).resolve().parents[1])
        path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
        # One thread each: the processes are the parallelism.
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **threads, "PYTHONPATH": path},
        )
        self._replies = queue.SimpleQueue()
        threading.Thread(
            target=_pump, args=(self._process.stdout, self._replies), daemon=True
        ).start()
        try:
            hello = self._replies.get(timeout=START_SECONDS)
        except queue.Empty:
            hello = None
        if not (hello and hello.get("ready")):
            self.kill()
            why = hello.get("why") if hello else "it ended or did not answer"
            raise KCNetError(
                f"The molecule worker could not be started ({why}); "
                "check that RDKit is installed and that memory is left."
            )

    def kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError, ValueError):
                stream.close()


def _pump(stream, replies: queue.SimpleQueue) -> None:
    """Move replies from a pipe to a queue, which (unlike a pipe) can be awaited with a timeout."""
    try:
        while (message := read_message(stream)) is not None:
            replies.put(message)
    except (OSError, ValueError):  # closed under us, or not a message
        pass
    replies.put(None)


class MoleculePool:
    """A bounded set of workers that any number of threads may use at once.

    Parameters
    ----------
    size : int
        Processes at most; a small request starts only one.
    command : sequence of str
        How to start a worker.
    seconds : float
        Time limit per item.
    """

    def __init__(
        self,
        size: int | None = None,
        command: Sequence[str] = _WORKER_COMMAND,
        seconds: float = SECONDS_PER_MOLECULE,
    ):
        self.size = size or min(_n_cores(), MAX_WORKERS)
        self.seconds = seconds
        self._workers = [_Worker(command) for _ in range(self.size)]
        # Last in, first out: a warm worker is taken before one that would have to be started.
        self._free: queue.LifoQueue = queue.LifoQueue()
        for worker in self._workers:
            self._free.put(worker)

    def run(
        self,
        task: str,
        items: Sequence,
        progress: Callable[[int, int], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> list[Answer]:
        """One answer per item, in order; `progress` and `should_stop` run in this thread."""
        answers: list[Answer | None] = [None] * len(items)
        share = -(-len(items) // self.size)
        step = max(1, min(CHUNK_ITEMS, share))
        chunks = deque(range(0, len(items), step))
        stop = threading.Event()
        done: queue.SimpleQueue = queue.SimpleQueue()  # 1 per answer; an exception; None at the end

        def work():
            try:
                while True:
                    try:
                        first = chunks.popleft()
                    except IndexError:
                        return
                    self._run_chunk(task, items[first : first + step], first, answers, stop, done)
            except Exception as error:
                done.put(error)
            finally:
                done.put(None)

        n_threads = min(self.size, len(chunks))
        for _ in range(n_threads):
            threading.Thread(target=work, daemon=True).start()
        self._watch(n_threads, len(items), done, stop, progress, should_stop)
        return answers

    def _run_chunk(self, task, items, first, answers, stop, done):
        position = first

        def deliver(answer):
            nonlocal position
            answers[position] = answer
            position += 1
            done.put(1)

        worker = None
        while worker is None and not stop.is_set():
            try:
                worker = self._free.get(timeout=POLL_SECONDS)
            except queue.Empty:
                continue
        if worker is None:
            for _ in items:
                deliver(Answer(failure=_STOPPED, lasting=False))
            return
        try:
            worker.ask(task, items, self.seconds, stop, deliver)
        finally:
            self._free.put(worker)

    @staticmethod
    def _watch(n_threads, total, done, stop, progress, should_stop):
        finished, error = 0, None
        try:
            while n_threads:
                if should_stop is not None and not stop.is_set() and should_stop():
                    stop.set()
                try:
                    event = done.get(timeout=POLL_SECONDS)
                except queue.Empty:
                    continue
                if event is None:
                    n_threads -= 1
                elif isinstance(event, Exception):
                    error = event
                    stop.set()
                else:
                    finished += 1
                    if progress is not None:
                        progress(finished, total)
        finally:
            stop.set()  # also when `progress` raised: leave no thread working for nobody
        if error is not None:
            raise error

    def close(self) -> None:
        for worker in self._workers:
            worker.kill()


def _n_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_lock = threading.Lock()
_shared: tuple[int, MoleculePool] | None = None


def shared_pool() -> MoleculePool:
    """The one pool of this process (a forked child gets its own)."""
    global _shared
    with _lock:
        if _shared is None or _shared[0] != os.getpid():
            _shared = (os.getpid(), MoleculePool())
            atexit.register(_shared[1].close)
        return _shared[1]


class RememberedTask:
    """One kind of molecule work, with its latest answers remembered.

    A failure that may have been bad luck is remembered only for a while, so that a page which
    reruns with a hanging molecule does not wait for the time limit each time.
    """

    def __init__(
        self, task: str, capacity: int, decode: Callable[[Any], Any] = lambda value: value
    ):
        self.task = task
        self.capacity = capacity
        self._decode = decode
        self._answers: OrderedDict[Hashable, tuple[Answer, float]] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, items: Sequence[Hashable], progress=None, should_stop=None) -> list[Answer]:
        known = {item: self._recall(item) for item in items}
        missing = [item for item, answer in known.items() if answer is None]
        if missing:
            answers = shared_pool().run(self.task, missing, progress, should_stop)
            for item, answer in zip(missing, answers, strict=True):
                known[item] = self._remember(item, answer)
        return [known[item] for item in items]

    def _recall(self, item) -> Answer | None:
        with self._lock:
            answer, expires = self._answers.get(item, (None, 0.0))
            if answer is None:
                return None
            if expires < time.monotonic():
                del self._answers[item]
                return None
            self._answers.move_to_end(item)
            return answer

    def _remember(self, item, answer: Answer) -> Answer:
        if answer.failure is None:
            answer = Answer(self._decode(answer.value))
        if answer.failure == _STOPPED:
            return answer
        expires = float("inf") if answer.lasting else time.monotonic() + RETRY_FAILURE_SECONDS
        with self._lock:
            self._answers[item] = (answer, expires)
            while len(self._answers) > self.capacity:
                self._answers.popitem(last=False)
        return answer

    def forget(self) -> None:
        with self._lock:
            self._answers.clear()
