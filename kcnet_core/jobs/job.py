"""One background run: what is shown of it, and how its owner steers it."""

from __future__ import annotations

import copy
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import KW_ONLY, InitVar, dataclass, field, replace
from types import MappingProxyType
from typing import Any

from kcnet_core import limits
from kcnet_core.contracts import Steps
from kcnet_core.errors import KCNetError

ACTIONS = ("pause", "resume", "step", "finish", "stop", "slow", "keep")
FINISHED = ("done", "failed", "cancelled")
ID_PREFIX = 6  # characters of a secret id that may appear in the log
TELLING_FRACTION = 0.05  # less of a run is mostly its beginning, from which nothing follows
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
    elsewhere: bool = False  # on another machine, which plans its own memory
    process_bytes: int = 0  # what a process of its own takes besides

    @property
    def bytes_here(self) -> int:
        return 0 if self.elsewhere else self.bytes + self.process_bytes


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
    kept_until: float = 0.0  # until then it runs whether somebody looks at it or not
    left_alone: bool = False  # paused because nobody does
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


@dataclass(eq=False, repr=False)
class Job:
    """One run, which keeps what its owner asks for until `JobManager` comes to it."""

    owner: str  # secret token of whoever may steer it
    kind: str
    config: Any  # a frozen object; of a dict a read-only copy is kept
    steps: Callable[[], Steps[Any, Any]] | None  # None once it has ended
    _: KW_ONLY
    estimate: Estimate
    title: str
    submitted: InitVar[float]
    paused: InitVar[bool]
    finish: Callable[[], object] | None
    lock: InitVar[threading.RLock]  # of the queue, held when a job changes
    steered: Callable[[Job, str], None]  # told, with the lock held, what the owner has asked for
    # Unguessable: whoever has it may watch.
    id: str = field(init=False, default_factory=lambda: secrets.token_urlsafe(24))
    view: JobView = field(init=False)  # the present state; reading it takes no lock
    result: Any = field(init=False, default=None)  # what the generator returned, once "done"

    def __post_init__(self, submitted: float, paused: bool, lock: threading.RLock) -> None:
        if isinstance(self.config, dict):
            self.config = MappingProxyType(copy.deepcopy(self.config))
        self.view = JobView(submitted=submitted)
        self.seen = submitted  # when somebody last looked at it
        self._stop = False
        self._pause, self._steps_left, self._n_controls = paused, 0, 0
        self._changed = threading.Condition(lock)

    def __repr__(self) -> str:
        return f"<Job {self.id[:ID_PREFIX]} {self.kind} {self.view.state}>"

    def owned_by(self, owner: str) -> bool:
        return secrets.compare_digest(self.owner.encode(), str(owner).encode())

    def control(self, owner: str, action: str, seconds: float = 0.0) -> JobView:
        """Steer the job: "pause", "resume", "step", "finish" (early, with a result), "stop"
        (at once, without), "slow" with `seconds` per step, or "keep" (running for so many `seconds`
        although nobody looks at it).

        Takes effect between two yields of the job. Steering a finished job does nothing.
        """
        if not self.owned_by(owner):
            raise NotOwner("Only the person who started this run can steer it; you can watch it.")
        if action not in ACTIONS:
            raise ValueError(f"unknown action {action!r}; choose from {ACTIONS}")
        with self._changed:
            if not self.view.finished and (action != "finish" or self.finish):
                self._ask(action, seconds)
                self.steered(self, action)
            return self.view

    def _ask(self, action: str, seconds: float) -> None:
        self._n_controls += 1
        if action == "slow":
            self.show(slow=min(max(0.0, float(seconds)), limits.MAX_SLOW_SECONDS))
        elif action == "keep":
            until = time.time() + min(max(0.0, float(seconds)), limits.KEPT_RUNNING_SECONDS)
            self.show(kept_until=until)
        elif action == "stop":
            self._stop = True
            self.show(asked="stop")
        else:
            if action == "finish" and self.finish:
                self.finish()
            self._pause, self._steps_left = action in ("pause", "step"), int(action == "step")
            told = action == "finish" or (action == "pause" and self.view.state == "running")
            self.show(asked=action if told else None, left_alone=False)

    def seconds_left(self, now: float | None = None) -> float | None:
        """From the fraction done once it tells something, else from the estimate; None if unknown:
        how often a slow run will rest is not in its estimate."""
        view = self.view
        if view.finished:
            return 0.0
        seconds, fraction = view.seconds(now), view.fraction or 0.0
        if fraction >= TELLING_FRACTION:
            at_snapshot = view.snapshot_seconds / fraction
            return max(0.0, at_snapshot - seconds)
        known = self.estimate.seconds and not view.slow
        return max(0.0, self.estimate.seconds - seconds) if known else None

    def wait_for(self, predicate: Callable[[JobView], bool], timeout: float | None = None) -> bool:
        """Sleep until the view satisfies `predicate`; False if `timeout` seconds pass first."""
        with self._changed:
            return self._changed.wait_for(lambda: predicate(self.view), timeout)

    def wait(self, timeout: float | None = None) -> bool:
        """Sleep until the job is done, failed or cancelled."""
        return self.wait_for(lambda view: view.finished, timeout)

    def let_go(self) -> None:
        """Free what the job holds; a session may still hold the job itself."""
        self.result = None
        self.view = replace(self.view, snapshot=None)

    # For the queue, which holds the lock

    def show(self, **changes) -> None:
        """Replace the view by one with these changes, and wake whoever waits for it."""
        self.view = replace(self.view, **changes)
        self._changed.notify_all()

    def take(self, snapshot: Any, now: float, peak_bytes: int) -> bool:
        """Show what the job has yielded; whether that was a step."""
        view = self.view
        fraction = getattr(snapshot, "fraction", None)
        self.show(
            snapshot=snapshot,
            n_snapshots=view.n_snapshots + 1,
            fraction=view.fraction if fraction is None else min(1.0, max(0.0, fraction)),
            snapshot_seconds=view.seconds(now),
            peak_bytes=max(view.peak_bytes, peak_bytes),
        )
        counts = getattr(snapshot, "counts_as_step", True)
        if counts and self._steps_left:
            self._steps_left -= 1
        return counts

    def slow_down(self) -> None:
        """Rest as long as the owner wants after each step, or until they want something else."""
        if self.view.slow and not self._pause:
            seen = self._n_controls
            self._changed.wait_for(
                lambda: self._stop or self._n_controls != seen, timeout=self.view.slow
            )

    @property
    def stopping(self) -> bool:
        """Whether its owner has asked for its end."""
        return self._stop

    @property
    def pausing(self) -> bool:
        """Whether its owner wants it to rest now; a job that is to be stepped first does a step."""
        return self._pause and not self._steps_left and not self._stop

    def go_on(self) -> None:
        """Forget the owner's wish to pause."""
        self._pause, self._steps_left = False, 0
        self.show(left_alone=False)

    def leave_alone(self) -> None:
        """Pause because nobody looks."""
        self._pause, self._steps_left = True, 0
        self.show(left_alone=True)

    def unwatched(self, now: float) -> float:
        """Seconds since somebody looked at it or the time ended for which it is kept."""
        return now - max(self.seen, self.view.kept_until)

    def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Sleep until `condition` holds or the owner asks for the end; False after `seconds`."""
        return self._changed.wait_for(lambda: self._stop or condition(), seconds)

    def end(self, state: str, ended: float, result: Any, error: str | None) -> None:
        """Keep the outcome; the generator's arrays go with it."""
        self.steps, self.result = None, result
        fraction = 1.0 if state == "done" else self.view.fraction
        self.show(
            state=state, error=error, fraction=fraction, ended=ended, position=None, asked=None
        )
