"""The queue and the slots: which job runs, and what happens between two of its steps."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import KW_ONLY, InitVar, dataclass
from typing import Any

from kcnet_core import limits
from kcnet_core.contracts import Steps
from kcnet_core.errors import LimitError, OutOfMemory
from kcnet_core.jobs import policies
from kcnet_core.jobs.interruptions import SECONDS_BETWEEN_NOTES, Interruption, JobJournal
from kcnet_core.jobs.job import FINISHED, ID_PREFIX, Estimate, Job
from kcnet_core.jobs.log import failure_sentence, log_line
from kcnet_core.jobs.memory import Memory, Room, Status, measure_memory, planned, too_large
from kcnet_core.jobs.other_processes import NOWHERE, OtherProcesses
from kcnet_core.jobs.policies import Turns, overdue, sent_twice, should_step_back
from kcnet_core.jobs.retention import lighten_unwatched, over_budget, surplus

SECONDS_BETWEEN_MEASURES = 0.2  # of memory: it costs as much as a very small epoch
SECONDS_TO_SHUT_DOWN = 2.0
SECONDS_BETWEEN_WEIGHINGS = 20.0  # of finished results: pages add to them what visitors ask for


class _Stopped(Exception):
    """Leaves a job's loop because its owner pressed stop, or because of what the sentence says."""


@dataclass(eq=False)
class JobManager:
    """The process's one queue and its slots."""

    max_running: int = limits.MAX_RUNNING_JOBS  # jobs in slots
    _: KW_ONLY
    elsewhere: OtherProcesses = NOWHERE  # as many may run if its slots are more
    max_queued: int = limits.MAX_QUEUED_JOBS
    max_paused: int = limits.MAX_PAUSED_JOBS
    max_per_owner: int = limits.MAX_JOBS_PER_OWNER  # unfinished ones
    max_finished: int = limits.MAX_FINISHED_JOBS  # that are kept, besides their age limit
    max_finished_bytes: int = limits.MAX_FINISHED_BYTES  # of the arrays of all of them
    alone: bool = True  # whether jobs go on that nobody looks at
    journal: JobJournal | None = None  # by which a later process knows which were interrupted
    memory: InitVar[Callable[[], Memory] | None] = None
    clock: Callable[[], float] = time.time  # seconds since the epoch

    def __post_init__(self, memory: Callable[[], Memory] | None) -> None:
        self._memory = Room(memory or measure_memory)
        self._lock = threading.RLock()  # held for microseconds, never while a job computes
        self._jobs: dict[str, Job] = {}
        self._queue: list[Job] = []
        self._running: list[Job] = []  # in the order in which they got their slots
        self._started: set[Job] = set()  # have a thread and hold memory: running, paused, requeued
        self._turns, self._weighed = Turns(), 0.0

    def submit(
        self,
        owner: str,
        kind: str,
        config: Any,
        steps: Callable[[], Steps[Any, Any]],
        *,
        estimate: Estimate | None = None,
        title: str = "",
        paused: bool = False,
        finish: Callable[[], object] | None = None,
    ) -> Job:
        """Queue a run, or raise the sentence that says why it cannot be taken.

        A frozen configuration that its owner submitted a moment ago gives the job that is there:
        a button may be pressed twice, and on a busy server one press may arrive twice.

        Parameters
        ----------
        owner : str
            Secret token of the session that may steer the job.
        config : frozen dataclass or dict
            What the run is; written to the log.
        steps : callable returning a generator
            Each yield is an immutable snapshot and a place where the job can be paused or stopped;
            the return value becomes `job.result`. A snapshot may have the attributes `fraction`
            (of the work done) and `counts_as_step` (False for progress inside an epoch, which
            "step" and slow motion run through).
        paused : bool
            Wait for "resume" or "step" instead of starting; so a run can be stepped from its very
            first epoch.
        finish : callable, optional
            Called when the owner asks for "finish": `steps` should then come to a result early.
        """
        with self._lock:
            self._sweep()
            unfinished = [job for job in self._jobs.values() if not job.view.finished]
            if job := sent_twice(unfinished, owner, kind, config, self.clock()):
                return job
            if sum(job.owned_by(owner) for job in unfinished) >= self.max_per_owner:
                raise LimitError(
                    f"You already have {self.max_per_owner} unfinished runs, the most for one "
                    "visitor. Stop one or wait until it is done."
                )
            if len(self._queue) >= self.max_queued:
                raise LimitError(
                    f"The queue is full ({self.max_queued} runs). Try again in a few minutes."
                )
            estimate = estimate or Estimate()
            if estimate.bytes_here > (room := self._room(())):
                raise OutOfMemory(too_large(estimate.bytes_here, room))
            job = Job(
                owner, kind, config, steps, estimate=estimate, title=title, paused=paused,
                finish=finish, submitted=self.clock(), lock=self._lock, steered=self._steered,
            )  # fmt: skip
            self._jobs[job.id] = job
            self.elsewhere.show(job)
            self._note(job)
            (self._rest if paused else self._enqueue)(job)
            return job

    def get(self, job_id: str) -> Job | None:
        """The job with this id, for its owner and for whoever watches; None if it is `GONE`."""
        with self._lock:
            self._sweep()
        return self._jobs.get(job_id) or self.elsewhere.find(job_id)

    def attend(self, owner: str, job_ids: Iterable[str] = ()) -> None:
        """Somebody is here: `owner`, who looks at these jobs; what was left alone goes on."""
        with self._lock:
            for job in self._jobs.values():
                if job.id in job_ids or job.owned_by(owner):
                    job.seen = self.clock()
                    if job.view.left_alone and not job.view.finished:
                        job.go_on()
                        if job.view.state == "paused":
                            self._enqueue(job)

    def interrupted(self, job_id: str) -> Interruption | None:
        """What is known of a job that was under way when another server process ended."""
        return self.journal.interrupted(job_id) if self.journal else None

    def owned_by(self, owner: str) -> list[Job]:
        """An owner's jobs, oldest first."""
        with self._lock:
            return [job for job in self._jobs.values() if job.owned_by(owner)]

    def status(self) -> Status:
        with self._lock:
            self._sweep()
            states = Counter(job.view.state for job in self._jobs.values())
            return Status(
                states["running"],
                states["queued"],
                states["paused"],
                sum(states[state] for state in FINISHED),
                self._memory.measure(),
                planned(self._started),
            )

    def shut_down(self, seconds: float = SECONDS_TO_SHUT_DOWN) -> None:
        """Leave all jobs, which a later process then knows as interrupted; the server ends."""
        with self._lock:
            if self.journal:
                self.journal.flush()
            self.journal = None  # whatever becomes of them now is no end that they came to
            for job in [job for job in self._jobs.values() if not job.view.finished]:
                job.control(job.owner, "stop")
            left = list(self._started)
        until = time.monotonic() + seconds
        for job in left:  # what is inside a long step goes with the process
            job.wait(max(0.0, until - time.monotonic()))

    # The queue

    def _steered(self, job: Job, action: str) -> None:
        """What a wish of its owner means for a job's place; its own loop reads the rest."""
        if action == "stop" and job not in self._started:
            self._finish(job, "cancelled")
        elif action == "pause" and job in self._queue:
            self._queue.remove(job)
            self._rest(job)
        elif action in ("resume", "step", "finish") and job.view.state == "paused":
            self._enqueue(job)

    def _enqueue(self, job: Job, first: bool = False) -> None:
        """Let the job wait, behind or before its owner's others."""
        own = [place for place, other in enumerate(self._queue) if other.owner == job.owner]
        self._queue.insert(own[0] if first and own else len(self._queue), job)
        self._turns.arrive(job.owner)
        job.show(state="queued", paused_since=None)
        self._dispatch()

    def _dispatch(self) -> None:
        """Fill free slots, then tell those who wait their position."""
        slots = max(self.max_running, self.elsewhere.slots())
        while len(self._running) < slots and (job := self._next_job()):
            self._give_slot(job)
            if job not in self._started:
                self._start(job)
        order = self._turns.order(self._queue, self._running)
        for position, job in enumerate(order, start=1):
            if job.view.position != position:
                job.show(position=position)

    def _next_job(self) -> Job | None:
        for job in self._turns.order(self._queue, self._running):
            need = job.estimate.bytes_here
            if job in self._started or not need or need <= self._room(self._started):
                return job
            if not self._started:  # nothing of ours will free memory: do not wait for ever
                self._queue.remove(job)
                self._close(job, "failed", error=too_large(need, self._room(())))
            elif need <= self._room(self._started.difference(self._running)):
                return None
        return None

    def _room(self, holders: Iterable[Job]) -> int:
        return self._memory.beside(holders, self._started)

    def _give_slot(self, job: Job) -> None:
        self._queue.remove(job)
        self._turns.note(job.owner)
        self._running.append(job)
        now = self.clock()
        started = job.view.started or now
        job.show(state="running", position=None, started=started, running_since=now)

    def _leave_slot(self, job: Job) -> None:
        if job in self._running:
            self._running.remove(job)
            self._turns.note(job.owner)
        job.show(worked=job.view.seconds(self.clock()), running_since=None)

    def _rest(self, job: Job) -> None:
        job.show(state="paused", asked=None, position=None, paused_since=self.clock())
        self._end_pauses()
        self._dispatch()

    # A job's life; `_run` and what it calls are on the job's own thread

    def _start(self, job: Job) -> None:
        if not self._started:
            self._memory.begin()
        self._started.add(job)
        log_line("start", job, self._memory.measure().used)
        self._note(job)
        name = f"job-{job.id[:ID_PREFIX]}"
        try:
            threading.Thread(target=self._run, args=(job,), name=name, daemon=True).start()
        except RuntimeError:  # the system has no more threads
            self._close(job, "failed", error="The server is too busy to start this run; try later.")

    def _run(self, job: Job) -> None:
        policies.step_aside()
        try:
            outcome: dict[str, Any] = {"state": "done", "result": self._drive(job)}
        except _Stopped as why:
            outcome = {"state": "cancelled", "error": str(why) or None}
        except BaseException as error:  # nothing a job does may end anything but the job
            outcome = {"state": "cancelled"}
            if not job.stopping:  # whoever stopped a run does not care how it would have failed
                outcome = {"state": "failed", "error": failure_sentence(error, job)}
        # Here the error and the arrays in its frames are gone, so the next job finds their memory.
        self._finish(job, **outcome)

    def _drive(self, job: Job) -> Any:
        measured, noted = 0.0, time.monotonic()
        assert job.steps is not None, "it has not ended"
        with closing(job.steps()) as steps:
            while True:
                try:
                    snapshot = next(steps)
                except StopIteration as end:
                    return end.value
                now, used = time.monotonic(), 0
                if now - measured > SECONDS_BETWEEN_MEASURES:
                    measured, used = now, self._memory.measure().used
                with self._lock:
                    is_step = job.take(snapshot, self.clock(), used)
                    if now - noted > SECONDS_BETWEEN_NOTES:
                        noted = now
                        self._note(job)
                        self._end_or_rest(job)
                    if is_step:
                        job.slow_down()
                    self._between_steps(job)

    def _between_steps(self, job: Job) -> None:
        """Let go of the slot if the owner or others want it, and wait for the next turn."""
        if job.pausing:
            self._leave_slot(job)
            self._rest(job)
        elif not job.stopping and should_step_back(job, self._running, self._queue, self._next_job):
            self._leave_slot(job)
            self._enqueue(job, first=True)
        while not job.wait_until(lambda: job in self._running, SECONDS_BETWEEN_NOTES):
            self._end_or_rest(job)
        if job.stopping:
            raise _Stopped

    def _end_or_rest(self, job: Job) -> None:
        """What nobody looks at rests and then ends; so does what the server's operator ends."""
        told = self.journal is not None and self.journal.told_to_end(job)
        idle = 0.0 if self.alone else job.unwatched(self.clock())
        if told or idle > limits.UNWATCHED_END_SECONDS:
            raise _Stopped(policies.ENDED_HERE if told else policies.LEFT_ALONE)
        if idle > limits.UNWATCHED_PAUSE_SECONDS and not job.pausing:
            job.leave_alone()

    def _finish(self, job: Job, state: str, **outcome: Any) -> None:
        with self._lock:
            self._close(job, state, **outcome)
            self._weighed = 0.0
            self._sweep()
            self._dispatch()

    def _close(self, job: Job, state: str, result: Any = None, error: str | None = None) -> None:
        self._leave_slot(job)
        self._started.discard(job)
        if job in self._queue:
            self._queue.remove(job)
        job.end(state, self.clock(), result, error)
        log_line("end", job, self._memory.measure().used)
        self._note(job)

    def _note(self, job: Job) -> None:
        if self.journal:
            self.journal.note(job)

    def _sweep(self) -> None:
        """Let old finished jobs go, and end pauses that lasted too long."""
        now = self.clock()
        finished = [job for job in self._jobs.values() if job.view.finished]
        finished.sort(key=lambda job: job.view.ended or now)
        gone = surplus(finished, now, self.max_finished)
        if time.monotonic() - self._weighed > SECONDS_BETWEEN_WEIGHINGS:
            rest = [job for job in finished if job not in gone]
            gone += over_budget(rest, self.max_finished_bytes)
            if not self.alone:
                lighten_unwatched(rest, now)
            self._weighed = time.monotonic()
        for job in gone:
            del self._jobs[job.id]
            job.let_go()
        self._end_pauses()

    def _end_pauses(self) -> None:
        for job in overdue(self._jobs.values(), self.clock(), self.max_paused):
            job.go_on()
            self._enqueue(job)
