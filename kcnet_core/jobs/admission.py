"""Which runs are taken: not one press twice, nor more than an owner or the queue may have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import is_dataclass
from typing import Any

from kcnet_core.errors import LimitError
from kcnet_core.jobs.job import Job

DOUBLE_PRESS_SECONDS = 2.0  # in which the same run of the same owner is one wish, sent twice


def sent_twice(
    unfinished: Iterable[Job], owner: str, kind: str, config: Any, now: float
) -> Job | None:
    """The very run that is being submitted, if a press that came twice began it already."""
    for job in unfinished:
        recent = now - job.view.submitted < DOUBLE_PRESS_SECONDS
        same = is_dataclass(config) and (job.kind, job.config) == (kind, config)
        if recent and same and not job._stop and job.owned_by(owner):
            return job
    return None


def check_room_in_queue(n_own: int, max_own: int, n_queued: int, max_queued: int) -> None:
    """Raise the sentence that says why one more run cannot wait."""
    if n_own >= max_own:
        raise LimitError(
            f"You already have {max_own} unfinished runs, the most for one visitor. Stop one or "
            "wait until it is done."
        )
    if n_queued >= max_queued:
        raise LimitError(f"The queue is full ({max_queued} runs). Try again in a few minutes.")
