"""Work on molecules, with the latest answers remembered."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from kcnet_core.molecules.pool import shared_pool
from kcnet_core.molecules.process import STOPPED, Answer

RETRY_FAILURE_SECONDS = 600.0


class RememberedTask:
    """One kind of molecule work, carried out by the shared worker processes.

    A failure that may have been bad luck (time limit, crash) is remembered for ten minutes, so
    that a page which reruns with a hanging molecule does not wait for the time limit again.

    Parameters
    ----------
    task : str
        A name in `kcnet_core.molecules.worker.__main__.load_tasks`.
    capacity : int
        How many answers are remembered; those not used for longest go first.
    decode : callable, optional
        Turns the value a worker sent into the value to remember.
    """

    def __init__(self, task: str, capacity: int, decode: Callable[[Any], Any] | None = None):
        self._task, self._capacity, self._decode = task, capacity, decode
        self._answers: OrderedDict[Hashable, tuple[Answer, float]] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, items: Sequence[Hashable], progress=None, should_stop=None) -> list[Answer]:
        """One answer per item, in order; only items not remembered count for `progress`."""
        known = {item: self._recall(item) for item in items}
        missing = [item for item, answer in known.items() if answer is None]
        if missing:
            answers = shared_pool().run(self._task, missing, progress, should_stop)
            for item, answer in zip(missing, answers, strict=True):
                known[item] = self._remember(item, answer)
        return [known[item] for item in items]

    def forget(self) -> None:
        with self._lock:
            self._answers.clear()

    def _recall(self, item: Hashable) -> Answer | None:
        with self._lock:
            answer, expires = self._answers.get(item, (None, 0.0))
            if answer is not None and expires < time.monotonic():
                del self._answers[item]
                return None
            if answer is not None:
                self._answers.move_to_end(item)
            return answer

    def _remember(self, item: Hashable, answer: Answer) -> Answer:
        if answer.failure is None and self._decode is not None:
            answer = Answer(self._decode(answer.value))
        if answer.failure == STOPPED:
            return answer
        expires = float("inf") if answer.lasting else time.monotonic() + RETRY_FAILURE_SECONDS
        with self._lock:
            self._answers[item] = (answer, expires)
            while len(self._answers) > self._capacity:
                self._answers.popitem(last=False)
        return answer
