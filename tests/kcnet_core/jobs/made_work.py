"""Work for a process of its own."""

from __future__ import annotations

import os
import signal
import time

import numpy as np

from kcnet_core.contracts import Counted
from kcnet_core.errors import KCNetError


def counting(data, enough, n, note=None):
    """Counts to n, or until it is enough; notes every step; returns twice its data."""
    done = 0
    for done in range(1, n + 1):
        if note:
            with open(note, "a") as file:
                file.write(f"{done}\n")
        yield Counted(done, n)
        if enough():
            break
    return done, os.getpid(), np.asarray(data) * 2


def failing(data, enough, sentence):
    yield Counted(0, 1)
    raise KCNetError(sentence)


def dying(data, enough):
    yield Counted(0, 1)
    os.kill(os.getpid(), signal.SIGKILL)
    yield Counted(1, 1)


def niceness(data, enough):
    yield Counted(0, 1)
    return os.getpriority(os.PRIO_PROCESS, 0)


def long_step(data, enough, note):
    yield Counted(0, 1)
    with open(note, "w") as file:
        file.write(str(os.getpid()))
    time.sleep(600)


class Unreadable:
    """Cannot be read where it is sent to."""

    def __reduce__(self):
        return ord, ("two",)


def unreadable(data, enough):
    yield Unreadable()
