"""How much memory a job may plan, on a machine or in a container."""

from __future__ import annotations

import contextlib
import ctypes
import gc
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psutil

from kcnet_core import limits
from kcnet_core.jobs.job import Estimate
from kcnet_core.jobs.process import of_server

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # of GNU's malloc.h
ARENAS, LARGE_BYTES = 2, limits.MEGABYTE // 4
CGROUP = Path("/sys/fs/cgroup")
LOWER = "Lower the number of Kenyon cells, submodels or rows, and start it again."


class Planned(Protocol):
    """A job, or what a worker does for one."""

    estimate: Estimate


@dataclass(frozen=True)
class Memory:
    """Bytes free for new work, and bytes that this process and those of its runs hold."""

    available: int
    used: int


@dataclass(frozen=True)
class Status:
    """The line in the sidebar."""

    running: int
    queued: int
    paused: int
    finished: int
    memory: Memory
    planned_bytes: int


def measure_memory() -> Memory:
    """Free memory of the machine, or of the container when that has less."""
    available = psutil.virtual_memory().available
    try:
        most = (CGROUP / "memory.max").read_text().strip()
        if most != "max":
            held = int((CGROUP / "memory.current").read_text())
            stat = dict(line.split() for line in (CGROUP / "memory.stat").read_text().splitlines())
            file_cache = int(stat["inactive_file"])  # given back when needed
            available = min(available, int(most) - held + file_cache)
    except (OSError, ValueError, KeyError):
        pass  # no control group with a limit here
    runs = processes.own_bytes() if (processes := of_server()) is not None else 0
    return Memory(max(0, available), psutil.Process().memory_info().rss + runs)


def give_back() -> None:
    """Return to the system what this process has freed; C's library keeps it otherwise."""
    gc.collect()
    with contextlib.suppress(AttributeError, OSError):  # only GNU's has this
        ctypes.CDLL(None).malloc_trim(0)


def hold_little(low: bool = limits.LOW_MEMORY) -> None:
    """Tell C's library, before there are threads, not to keep what they free for later.

    Two arenas for all threads, which wait for each other in Python anyway; on small machines every
    large array is given back when it is freed, which costs the time to get the next one.
    """
    told = {M_ARENA_MAX: ARENAS}
    if low:
        told |= {M_MMAP_THRESHOLD: LARGE_BYTES, M_TRIM_THRESHOLD: LARGE_BYTES}
    with contextlib.suppress(AttributeError, OSError):  # only GNU's has this
        for option, value in told.items():
            ctypes.CDLL(None).mallopt(option, value)


class Room:
    """How much a new job may plan beside those that have begun."""

    def __init__(self, measure: Callable[[], Memory]):
        self.measure = measure
        self._used_when_idle = 0

    def begin(self) -> None:
        """Nothing of ours has begun yet: what the process holds now is not the jobs'."""
        self._used_when_idle = self.measure().used

    def beside(self, holders: Iterable[Planned], started: Iterable[Planned]) -> int:
        """Bytes for a new job while `holders`, all or some of those `started`, keep their plans."""
        memory = self.measure()
        taken = min(planned(started), max(0, memory.used - self._used_when_idle))
        return int(limits.MEMORY_SHARE * (memory.available + taken)) - planned(holders)


def planned(jobs: Iterable[Planned]) -> int:
    return sum(job.estimate.bytes_here for job in jobs)


def gigabytes(n_bytes: float) -> str:
    return f"{max(0.0, n_bytes) / 2**30:.1f} GB"


def too_large(need: int, room: int) -> str:
    return (
        f"This run needs about {gigabytes(need)} of memory, and at most {gigabytes(room)} may be "
        f"planned ({limits.MEMORY_SHARE:.0%} of the memory that is free). {LOWER}"
    )
