"""On the scheduler: what web processes show each other of their jobs.

Of a job that nobody looks at only its name is here. Who looks finds its latest state, a head that
names its parts (pictures, the result), each of which travels once. This module imports nothing of
the project and is sent to the scheduler as it is, which needs no installation for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

OP = "kcnet_board"  # the messages' name
LEASE_SECONDS = 20.0  # without a word from its process, a job is not there any more
WATCHED_SECONDS = 10.0  # since the last look


@dataclass
class Posting:
    """One job."""

    heard: float
    looked: float = 0.0
    version: int = 0  # 0: nobody has looked, so that nothing was told
    head: bytes = b""
    parts: dict[str, bytes] = field(default_factory=dict)
    wishes: list = field(default_factory=list)  # of owners who came to another process


class Board:
    """All jobs, by names from which their ids cannot be guessed."""

    def __init__(self, clock=time.monotonic, lease: float = LEASE_SECONDS):
        self._postings: dict[str, Posting] = {}
        self._clock, self.lease = clock, lease

    async def answer(self, action: str, **told) -> Any:
        answers: dict[str, Callable[..., Any]] = {
            "post": self.post, "tell": self.tell, "look": self.look, "wish": self.wish,
        }  # fmt: skip
        return answers[action](**told)

    def post(self, names: list[str]) -> dict[str, list]:
        """These jobs are under way or can be seen; of those that somebody looks at, how much is
        known here and what is wished."""
        now = self._clock()
        for name in names:
            self._postings.setdefault(name, Posting(now)).heard = now
        self._postings = {
            name: one for name, one in self._postings.items() if now - one.heard < self.lease
        }
        found = {}
        for name in names:
            one = self._postings[name]
            if now - one.looked < WATCHED_SECONDS:
                wishes, one.wishes = one.wishes, []
                found[name] = [one.version, list(one.parts), wishes]
            elif one.version:
                one.version, one.head, one.parts = 0, b"", {}
        return found

    def tell(self, name: str, head: bytes, parts: dict[str, bytes], needed: list[str]) -> None:
        """The state of a job, with the parts that are new."""
        one = self._postings.get(name)
        if one is not None:
            known = {**one.parts, **parts}
            one.parts = {key: known[key] for key in needed if key in known}
            one.head, one.version = head, one.version + 1

    def look(self, name: str, version: int, have: list[str]) -> list | None:
        """What has changed since this version: its number, the head, and parts that are not yet
        had. None: there is no such job."""
        one = self._postings.get(name)
        if one is None or self._clock() - one.heard >= self.lease:
            return None
        one.looked = self._clock()
        if one.version == version:
            return [version, b"", {}]
        return [one.version, one.head, {k: v for k, v in one.parts.items() if k not in set(have)}]

    def wish(self, name: str, wish: list) -> bool:
        """Leave word for whoever has the job."""
        one = self._postings.get(name)
        if one is not None:
            one.looked = self._clock()
            one.wishes.append(wish)
        return one is not None


def install(dask_scheduler) -> None:
    """Let the scheduler understand the messages."""
    if OP not in dask_scheduler.handlers:
        dask_scheduler.handlers[OP] = Board().answer
