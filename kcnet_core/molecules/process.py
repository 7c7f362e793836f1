"""The parent's side of one molecule worker: start it, ask it, kill it when it takes too long."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kcnet_core.errors import KCNetError
from kcnet_core.molecules.worker.messages import read_message, write_message

# -P: the folder the server was started in has no say in what is imported.
WORKER_COMMAND = (sys.executable, "-P", "-m", "kcnet_core.molecules.worker")
START_SECONDS = 60.0
POLL_SECONDS = 0.05
STOP_GRACE_SECONDS = 0.5  # a chunk nearly done is awaited, so that its worker stays warm

log = logging.getLogger("kcnet.molecules")

STOPPED = "Not computed: the work was stopped before this row."
CRASHED = "RDKit crashed on this molecule, so it was left out."


@dataclass(frozen=True)
class MoleculeReply:
    """What came of one item: a value, or a failure in words.

    `lasting` is False where another try could end differently (time limit, crash, stop).
    """

    value: Any = None
    failure: str | None = None
    lasting: bool = True


class MoleculeProcess:
    """One child process, started at the first request and again after each death.

    It is a plain subprocess: forking is unsafe in a threaded server, and `multiprocessing` would
    run the app's main module again. One thread at a time may ask.
    """

    def __init__(self, command: Sequence[str] = WORKER_COMMAND):
        self._command = list(command)
        self._process: subprocess.Popen | None = None
        self._replies: queue.SimpleQueue = queue.SimpleQueue()

    def ask(
        self,
        task: str,
        items: Sequence,
        seconds: float,
        stop: threading.Event,
        deliver: Callable[[MoleculeReply], None],
    ) -> bool:
        """Call `deliver` once per item, in order, until all are done or the process has died.

        Says whether all were answered; if not, the last reply is of the item that ended it.
        """
        self._send({"task": task, "items": list(items), "seconds": seconds})
        stop_by = None
        for _ in items:
            item_by = time.monotonic() + seconds
            while True:
                if stop_by is None and stop.is_set():
                    stop_by = time.monotonic() + STOP_GRACE_SECONDS
                now = time.monotonic()
                if now > item_by or (stop_by is not None and now > stop_by):
                    late = f"The computation took longer than {seconds:g} seconds and was ended."
                    return self._end(deliver, late if now > item_by else STOPPED)
                try:
                    reply = self._replies.get(timeout=POLL_SECONDS)
                    break
                except queue.Empty:
                    continue
            if reply is None:
                return self._end(deliver, CRASHED)
            deliver(MoleculeReply(value=reply.get("value"), failure=reply.get("failure")))
        return True

    def _end(self, deliver: Callable[[MoleculeReply], None], why: str) -> bool:
        self.kill()
        deliver(MoleculeReply(failure=why, lasting=False))
        return False

    def _send(self, request: dict) -> None:
        for _ in range(2):
            try:
                write_message(self._started().stdin, request)
                return
            except OSError:  # it died while idle, which is no molecule's fault
                self.kill()
        raise KCNetError("The molecule worker keeps ending; check that memory is left.")

    def _started(self) -> subprocess.Popen:
        if self._process is not None and self._process.poll() is None:
            return self._process
        # Ended from outside before its first word, it is started once more; what it says itself
        # would be the same again.
        hello = self._start() or self._start()
        if self._process is None or not (hello and hello.get("ready")):
            self.kill()
            # What went wrong may name paths of the server, so it is for the log only.
            log.error("worker not started: %s", (hello or {}).get("why", "it did not answer"))
            raise KCNetError(
                "The molecule worker could not be started; check that RDKit is installed and that "
                "memory is left. The server's log says more."
            )
        return self._process

    def _start(self) -> dict | None:
        """Start it and return its first word: that it is ready, or why not."""
        self.kill()
        root = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        # One thread each: the processes are the parallelism.
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        process = self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **threads, "PYTHONPATH": path},
        )
        self._replies = queue.SimpleQueue()
        threading.Thread(target=_pump, args=(process.stdout, self._replies), daemon=True).start()
        try:
            return self._replies.get(timeout=START_SECONDS)
        except queue.Empty:
            return {"why": "it did not answer"}

    def kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()


def _pump(stream, replies: queue.SimpleQueue) -> None:
    """Move replies from a pipe to a queue, which (unlike a pipe) can be awaited with a timeout."""
    with stream, contextlib.suppress(OSError, ValueError):
        while (message := read_message(stream)) is not None:
            replies.put(message)
    replies.put(None)
