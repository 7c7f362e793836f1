"""Which finished jobs stay for their owners, and with how much of what they hold in memory."""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType, ModuleType

import numpy as np

from kcnet_core import limits
from kcnet_core.jobs.job import Job

PLAIN = frozenset(
    {str, bytes, int, float, bool, complex, type(None), type, ModuleType, FunctionType}
)


def surplus(finished: list[Job], now: float, most: int) -> list[Job]:
    """The jobs to let go because they are old or too many; `finished` is oldest first."""
    return [
        job
        for place, job in enumerate(finished)
        if place < len(finished) - most
        or (job.view.ended or now) + limits.FINISHED_JOB_SECONDS < now
    ]


def lighten_unwatched(finished: Iterable[Job], now: float) -> None:
    """What nobody has looked at for a while forgets what only the lambda slider needs."""
    for job in finished:
        if job.unwatched(now) > limits.UNWATCHED_LIGHTEN_SECONDS and hasattr(
            job.result, "forget_sums"
        ):
            job.result.forget_sums()


def over_budget(finished: list[Job], most_bytes: int) -> list[Job]:
    """Lighten the oldest jobs until all fit into `most_bytes`; those to let go although light.

    The newest job always stays. An array that two jobs share counts for the newer one.
    """
    seen: set[int] = set()
    held, drop = 0, []
    for place, job in enumerate(reversed(finished)):
        before = set(seen)
        size = held_bytes([job.result, job.view.snapshot], seen)
        if place and held + size > most_bytes and hasattr(job.result, "forget_sums"):
            job.result.forget_sums()
            seen = before
            size = held_bytes([job.result, job.view.snapshot], seen)
        if place and held + size > most_bytes:
            drop.append(job)
        else:
            held += size
    return drop


def held_bytes(things: Iterable, seen: set[int]) -> int:
    """Bytes of all arrays and tensors that can be reached from `things` and are not in `seen`."""
    total, todo = 0, list(things)
    while todo:
        one = todo.pop()
        if type(one) in PLAIN or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            if isinstance(one.base, np.ndarray):  # a view keeps the whole array alive
                todo.append(one.base)
            else:
                total += one.nbytes
        elif hasattr(one, "untyped_storage"):  # a tensor, without importing torch
            storage = one.untyped_storage()
            if storage.data_ptr() not in seen:
                seen.add(storage.data_ptr())
                total += storage.nbytes()
        else:
            todo.extend(_parts(one))
    return total


def _parts(thing: object) -> Iterable:
    if isinstance(thing, dict):
        return thing.values()
    if isinstance(thing, list | tuple | set | frozenset):
        return thing
    return getattr(thing, "__dict__", {}).values()
