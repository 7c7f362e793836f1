"""Work that is made step by step by one who is asked for it, in portions that end on time."""

from __future__ import annotations

import pickle
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from kcnet_core.contracts import Steps

MOMENT = 0.25  # seconds beyond the time asked for, after which a step inside an epoch is an answer
AHEAD_SECONDS = 0.25  # that a worker may go on before its steps are taken
RESTING_SECONDS = 0.05  # at a step: whoever takes them so slowly gets them one by one

# Called with the data, with what says whether it is enough, and with the rest.
Work = Callable[..., Steps[Any, Any]]


@dataclass(frozen=True)
class Reply:
    """What came of the work since the last time."""

    items: list
    ended: bool = False
    result: Any = None
    error: BaseException | None = None
    clock: float = field(default_factory=time.monotonic)  # of the machine that works


def is_step(item: Any) -> bool:
    return getattr(item, "counts_as_step", True)


class StepsAhead:
    """How long a worker may go on by itself: whoever takes its steps at once is sent many of them
    together, and whoever rests at one of them none that were not asked for.

    `with ahead:` stands around each step that is handed out.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._given, self._rested = 0.0, False

    def __enter__(self) -> None:
        self._given = time.monotonic()

    def __exit__(self, *_: object) -> None:
        # Each by itself: a pause after many steps would be short as a mean over all of them.
        self._rested |= time.monotonic() - self._given > RESTING_SECONDS

    def taken(self, items: list) -> bool:
        """All of them were taken; whether that took a rest."""
        rested, self._rested = self._rested, False
        if rested:  # paused, or in slow motion
            self.seconds = 0.0
        elif any(map(is_step, items)):
            self.seconds = min(AHEAD_SECONDS, 2 * self.seconds + 0.02)
        return rested


def that_travels(error: BaseException) -> BaseException:
    """The error with its traceback as a note; another with its text where it cannot be sent."""
    told = traceback.format_exc()
    error.__traceback__ = error.__cause__ = error.__context__ = None
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.add_note(told)
    return error


class Portions:
    """The steps of some work, as many at a time as are made in the seconds asked for."""

    def __init__(self, work: Work, data: Any, args: tuple):
        self._enough = False
        self._steps = work(data, lambda: self._enough, *args)

    def more(self, seconds: float, enough: bool) -> Reply:
        self._enough = self._enough or enough
        items: list = []
        until = time.monotonic() + seconds
        while True:
            try:
                items.append(item := next(self._steps))
            except StopIteration as end:
                return Reply(items, True, end.value)
            except BaseException as error:  # the work may end nothing but itself
                return Reply(items, True, error=that_travels(error))
            if time.monotonic() >= until + (0.0 if is_step(item) else MOMENT):
                return Reply(items)

    def close(self) -> None:
        with suppress(Exception):  # nobody wants to know any more
            self._steps.close()
