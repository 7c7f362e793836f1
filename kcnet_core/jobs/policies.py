"""Whose turn it is, who steps back, and which pauses end by themselves."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import is_dataclass
from typing import Any

from kcnet_core import limits
from kcnet_core.jobs.job import Job

DOUBLE_PRESS_SECONDS = 2.0  # in which the same run of the same owner is one wish, sent twice
OWNERS_REMEMBERED = 1_000
JOB_NICENESS = 5  # more than that of the server; 19 at most
ENDED_HERE = "Whoever runs this server has ended this run."
LEFT_ALONE = (
    f"Nobody has looked at this run for {limits.UNWATCHED_END_SECONDS // 60} minutes, so it was "
    "ended. Start it again, and choose to keep it running if you leave."
)


def step_aside() -> None:
    """Let threads that answer visitors go before this one, which computes, where it can be said.

    Linux weighs each thread by itself, and those that a job starts for its sums are like it.
    """
    with contextlib.suppress(AttributeError, OSError):
        own = os.getpriority(os.PRIO_PROCESS, os.getpid())
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), own + JOB_NICENESS)


def sent_twice(
    unfinished: Iterable[Job], owner: str, kind: str, config: Any, now: float
) -> Job | None:
    """The very run that is being submitted, if a press that came twice began it already."""
    for job in unfinished:
        recent = now - job.view.submitted < DOUBLE_PRESS_SECONDS
        same = is_dataclass(config) and (job.kind, job.config) == (kind, config)
        if recent and same and not job.stopping and job.owned_by(owner):
            return job
    return None


class Turns:
    """Remembers who had a slot when, so that nobody gains by submitting again and again.

    An owner without a slot comes before one who has some; among equals, the one whose last turn is
    longest ago. Newcomers begin with the present turn: while an owner waits without a slot, every
    other one passes at most once.
    """

    def __init__(self) -> None:
        self._last: OrderedDict[str, int] = OrderedDict()  # owner -> last turn
        self._turn = 0

    def arrive(self, owner: str) -> None:
        """A job of this owner begins to wait."""
        self._last.setdefault(owner, self._turn)
        if len(self._last) > OWNERS_REMEMBERED:
            self._last.popitem(last=False)

    def note(self, owner: str) -> None:
        """A job of this owner got a slot, or gave it back."""
        self._turn += 1
        self._last[owner] = self._turn
        self._last.move_to_end(owner)

    def order(self, queue: Sequence[Job], running: Sequence[Job]) -> list[Job]:
        """The queued jobs in the order in which they will be served."""
        waiting: dict[str, list[Job]] = {}
        for job in queue:
            waiting.setdefault(job.owner, []).append(job)
        last = {owner: self._last.get(owner, 0) for owner in waiting}
        slots = Counter(job.owner for job in running)
        order: list[Job] = []
        while waiting:
            owner = min(waiting, key=lambda name: (slots[name], last[name]))
            order.append(waiting[owner].pop(0))
            last[owner] = self._turn + len(order)
            slots[owner] += 1
            if not waiting[owner]:
                del waiting[owner]
        return order


def should_step_back(
    job: Job, running: Sequence[Job], queue: Sequence[Job], next_job: Callable[[], Job | None]
) -> bool:
    """Whether an owner without a slot can begin if `job`, the latest of its owner's, gives its own.

    `running` is in the order in which the jobs got their slots. `next_job` says who would follow,
    which may cost a look at the memory, so it is asked last.
    """
    slots = Counter(other.owner for other in running)
    if slots[job.owner] < 2 or all(slots[other.owner] for other in queue):
        return False
    latest = [other for other in running if other.owner == job.owner][-1]
    if job is not latest:
        return False
    following = next_job()
    return following is not None and not slots[following.owner]


def overdue(jobs: Iterable[Job], now: float, most: int) -> list[Job]:
    """The paused jobs that have to go on, because they hold memory that others may wait for.

    Those paused for too long, and those beyond `most` in all: then the longest pause of whoever
    has the most of them ends first.
    """
    since = {
        job: job.view.paused_since or now
        for job in jobs
        if job.view.state == "paused" and not job.view.left_alone  # those end in another way
    }
    ends = [job for job in since if since[job] + limits.MAX_PAUSED_SECONDS < now]
    paused = [job for job in since if job not in ends]
    each = Counter(job.owner for job in paused)
    while len(paused) > most:
        job = max(paused, key=lambda job: (each[job.owner], -since[job]))
        paused.remove(job)
        each[job.owner] -= 1
        ends.append(job)
    return ends
