"""Which pauses end by themselves, because a paused job holds memory that others may wait for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kcnet_core import limits
from kcnet_core.jobs.job import Job


def overdue(jobs: Iterable[Job], now: float, most: int) -> list[Job]:
    """The paused jobs that have to go on: after too long, and beyond `most` in all.

    When there are too many, the longest pause of whoever has the most of them ends first.
    """
    paused = [job for job in jobs if job.view.state == "paused"]
    ends = [job for job in paused if job.view.paused_since + limits.MAX_PAUSED_SECONDS < now]
    paused = [job for job in paused if job not in ends]
    each = Counter(job._owner for job in paused)
    while len(paused) > most:
        job = max(paused, key=lambda job: (each[job._owner], -job.view.paused_since))
        paused.remove(job)
        each[job._owner] -= 1
        ends.append(job)
    return ends
