"""One background run: what is shown of it, and how its owner steers it."""

from __future__ import annotations

import copy
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from kcnet_core import limits
from kcnet_core.errors import KCNetError

FINISHED = ("done", "failed", "cancelled")
ID_PREFIX = 6  # characters of a secret id that may appear in the log
GONE = (
    "This run is not on the server any more: finished runs are kept for up to "
    f"{limits.FINISHED_JOB_SECONDS // 3600} hours, less when newer ones need the memory, and a "
    "restart of the server ends them all. What settings the link holds are on the left: press "
    "Start to train it again."
)


class NotOwner(KCNetError):
    """Only the person who started a job may steer it."""


@dataclass(frozen=True)
class Estimate:
    """What a job will probably take; zero means unknown."""

    seconds: float = 0.0
    bytes: int = 0


@dataclass(frozen=True)
class JobView:
    """Everything a page may show of a job at one moment; replaced as a whole, never changed."""

    state: str = "queued"  # queued, running, paused, done, failed, cancelled
    snapshot: Any = None  # what the job yielded last
    n_snapshots: int = 0  # changes exactly when the snapshot does
    fraction: float | None = None  # of the work, 0 to 1
    position: int | None = None  # 1 is next; None when not queued
    error: str | None = None  # a sentence, when failed
    asked: str | None = None  # "pause", "stop" or "finish", until it is done
    slow: float = 0.0  # seconds of rest after each step
    submitted: float = 0.0
    started: float | None = None
    ended: float | None = None
    paused_since: float | None = None
    running_since: float | None = None
    worked: float = 0.0  # seconds in slots before `running_since`
    snapshot_seconds: float = 0.0  # of work when the snapshot came
    peak_bytes: int = 0  # of the whole process, seen between steps

    @property
    def finished(self) -> bool:
        return self.state in FINISHED

    def seconds(self, now: float | None = None) -> float:
        """Seconds of work so far, without queueing and pauses."""
        if self.running_since is None:
            return self.worked
        return self.worked + max(0.0, (time.time() if now is None else now) - self.running_since)


class Job:
    """One run; made by `JobManager.submit`.

    Attributes
    ----------
    id : str
        Unguessable; whoever has it may watch.
    kind, title : str
    config : frozen object or read-only mapping
    estimate : Estimate
    view : JobView
        The present state. Reading it takes no lock.
    result : object or None
        What the generator returned, once the state is "done".
    """

    def __init__(self, manager, owner, kind, config, steps, estimate, title, submitted):
        self.id = secrets.token_urlsafe(24)
        self.kind, self.title, self.estimate = kind, title, estimate
        if isinstance(config, dict):
            config = MappingProxyType(copy.deepcopy(config))
        self.config = config
        self.view = JobView(submitted=submitted)
        self.result: Any = None
        self._manager, self._owner, self._steps = manager, owner, steps
        self._changed = threading.Condition(manager._lock)
        self._thread: threading.Thread | None = None
        self._stop = self._pause = False
        self._finish: Callable[[], object] | None = None
        self._steps_left = self._n_controls = 0
        self._measured = self._noted = 0.0

    def __repr__(self):
        return f"<Job {self.id[:ID_PREFIX]} {self.kind} {self.view.state}>"

    def owned_by(self, owner: str) -> bool:
        return secrets.compare_digest(self._owner.encode(), str(owner).encode())

    def control(self, owner: str, action: str, seconds: float = 0.0) -> JobView:
        """Steer the job: "pause", "resume", "step", "finish" (early, with a result), "stop"
        (at once, without), or "slow" with `seconds` per step.

        Takes effect between two yields of the job. Steering a finished job does nothing.
        """
        return self._manager._control(self, owner, action, seconds)

    def seconds_left(self, now: float | None = None) -> float | None:
        """From the fraction done where there is one, else from the estimate; None if unknown."""
        view = self.view
        if view.finished:
            return 0.0
        seconds = view.seconds(now)
        if view.fraction:
            at_snapshot = view.snapshot_seconds / view.fraction
            return max(0.0, at_snapshot - seconds)
        return max(0.0, self.estimate.seconds - seconds) if self.estimate.seconds else None

    def wait_for(self, predicate: Callable[[JobView], bool], timeout: float | None = None) -> bool:
        """Sleep until the view satisfies `predicate`; False if `timeout` seconds pass first."""
        with self._changed:
            return self._changed.wait_for(lambda: predicate(self.view), timeout)

    def wait(self, timeout: float | None = None) -> bool:
        """Sleep until the job is done, failed or cancelled."""
        return self.wait_for(lambda view: view.finished, timeout)
