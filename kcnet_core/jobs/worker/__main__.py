"""A process that makes the steps of runs: `python -m kcnet_core.jobs.worker SOCKET MODULE ...`.

It shares no lock with the pages and lets them go first on the processors. It ends when its parent
is gone, and is the first to be ended where a machine runs out of memory.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import sys
import threading
import time
from importlib import import_module
from pathlib import Path

from kcnet_core.jobs.memory import give_back
from kcnet_core.jobs.worker.messages import receive, send
from kcnet_core.jobs.worker.work import Portions, Reply

# More than the server's, as that of its job threads. With 10, other work on the machine leaves so
# little that a run takes many times as long to begin.
NICENESS = 5
EASILY_ENDED = "500"  # of 1,000
SECONDS_BETWEEN_LOOKS = 2.0  # at whether the parent is still there


def serve(channel: socket.socket) -> None:
    """Answer until the parent is gone."""
    portions: Portions | None = None
    send(channel, "ready")
    while True:
        action, *told = receive(channel)
        if action == "begin":
            portions = Portions(*told)
            send(channel, Reply([]))
        elif action == "more" and portions is not None:
            send(channel, portions.more(*told))
        else:
            if portions is not None:
                portions.close()
            portions = told = None  # and their arrays
            give_back()
            send(channel, "idle")


def step_aside() -> None:
    for told in (signal.SIGINT, signal.SIGTERM):  # where all processes are told, it is the parent
        signal.signal(told, signal.SIG_IGN)  # who says how its runs end
    with contextlib.suppress(AttributeError, OSError):
        os.nice(NICENESS)
    with contextlib.suppress(OSError):  # only Linux has this
        Path("/proc/self/oom_score_adj").write_text(EASILY_ENDED)


def end_with(parent: int) -> None:
    """In the midst of a long step too, when the parent was killed."""
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def main() -> None:
    step_aside()
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    channel = socket.socket(fileno=int(sys.argv[1]))
    for name in sys.argv[2:]:
        import_module(name)
    gc.freeze()  # libraries stay for good: collections need not go through them each time
    with contextlib.suppress(EOFError, OSError):
        serve(channel)


if __name__ == "__main__":
    main()
