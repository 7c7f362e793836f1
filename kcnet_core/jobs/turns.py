"""Whose turn it is: owners are served in turn, and each owner's jobs in the order they came."""

from __future__ import annotations

from collections import OrderedDict

from kcnet_core.jobs.job import Job

OWNERS_REMEMBERED = 1_000


class Turns:
    """Remembers who was served when, so that nobody gains by submitting again and again."""

    def __init__(self):
        self._served: OrderedDict[str, int] = OrderedDict()  # owner -> turn of the last service
        self._turn = 0

    def note(self, owner: str):
        """A job of this owner got a slot."""
        self._turn += 1
        self._served[owner] = self._turn
        self._served.move_to_end(owner)
        if len(self._served) > OWNERS_REMEMBERED:
            self._served.popitem(last=False)

    def order(self, queue: list[Job]) -> list[Job]:
        """The queued jobs in the order in which they will be served."""
        waiting: dict[str, list[Job]] = {}
        for job in queue:
            waiting.setdefault(job._owner, []).append(job)
        served = {owner: self._served.get(owner, 0) for owner in waiting}  # 0: never, so soon
        order: list[Job] = []
        while waiting:
            owner = min(waiting, key=served.__getitem__)
            order.append(waiting[owner].pop(0))
            served[owner] = self._turn + len(order)
            if not waiting[owner]:
                del waiting[owner]
        return order
