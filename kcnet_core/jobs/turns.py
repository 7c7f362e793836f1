"""Whose turn it is: owners are served in turn, and each owner's jobs in the order they came."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence

from kcnet_core.jobs.job import Job

OWNERS_REMEMBERED = 1_000


class Turns:
    """Remembers who had a slot when, so that nobody gains by submitting again and again.

    An owner without a slot comes before one who has some; among equals, the one whose last turn is
    longest ago. Newcomers begin with the present turn: while an owner waits without a slot, every
    other one passes at most once.
    """

    def __init__(self):
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
            waiting.setdefault(job._owner, []).append(job)
        last = {owner: self._last.get(owner, 0) for owner in waiting}
        slots = Counter(job._owner for job in running)
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
    job: Job,
    running: Sequence[Job],
    queue: Sequence[Job],
    next_job: Callable[[], Job | None],
) -> bool:
    """Whether an owner without a slot can begin if `job`, the latest of its owner's, gives its own.

    `running` is in the order in which the jobs got their slots. `next_job` says who would follow,
    which may cost a look at the memory, so it is asked last.
    """
    slots = Counter(other._owner for other in running)
    if slots[job._owner] < 2 or all(slots[other._owner] for other in queue):
        return False
    latest = [other for other in running if other._owner == job._owner][-1]
    if job is not latest:
        return False
    following = next_job()
    return following is not None and not slots[following._owner]
