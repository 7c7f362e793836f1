"""Work on molecules, with the latest replies remembered."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from kcnet_core.contracts import Counted, Steps, drain
from kcnet_core.molecules.pool import shared_pool
from kcnet_core.molecules.process import STOPPED, Reply

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
        How many replies are remembered; those not used for longest go first.
    decode : callable, optional
        Turns the value a worker sent into the value to remember.
    """

    def __init__(self, task: str, capacity: int, decode: Callable[[Any], Any] | None = None):
        self._task, self._capacity, self._decode = task, capacity, decode
        self._replies: OrderedDict[Hashable, tuple[Reply, float]] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, items: Sequence[Hashable]) -> list[Reply]:
        return drain(self.steps(items))

    def steps(self, items: Sequence[Hashable]) -> Steps[Counted, list[Reply]]:
        """One reply per item, in order; only items not remembered are counted.

        Closing it stops the work; what has been answered by then is remembered.
        """
        recalled = {item: self._recall(item) for item in items}
        known = {item: reply for item, reply in recalled.items() if reply is not None}
        missing = [item for item in recalled if item not in known]
        if missing:
            request = shared_pool().ask(self._task, missing)
            try:
                yield from request.steps()
            finally:
                for item, reply in zip(missing, request.replies, strict=True):
                    if reply is not None:
                        known[item] = self._remember(item, reply)
        return [known[item] for item in items]

    def _recall(self, item: Hashable) -> Reply | None:
        with self._lock:
            reply, expires = self._replies.get(item, (None, 0.0))
            if reply is not None and expires < time.monotonic():
                del self._replies[item]
                return None
            if reply is not None:
                self._replies.move_to_end(item)
            return reply

    def _remember(self, item: Hashable, reply: Reply) -> Reply:
        if reply.failure is None and self._decode is not None:
            reply = Reply(self._decode(reply.value))
        if reply.failure == STOPPED:
            return reply
        expires = float("inf") if reply.lasting else time.monotonic() + RETRY_FAILURE_SECONDS
        with self._lock:
            self._replies[item] = (reply, expires)
            while len(self._replies) > self._capacity:
                self._replies.popitem(last=False)
        return reply
