"""Work that reports through callbacks, as a generator that a job can show, pause and stop."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator
from typing import Any

from kcnet_core.contracts import Counted


def callback_steps(work: Callable[..., Any]) -> Generator[Counted, None, Any]:
    """Run `work(progress=, should_stop=)`; yields its progress and returns its result.

    Closing the generator asks the work to stop and waits for it. Progress that nobody has taken
    yet is overtaken by newer progress, so that a slow viewer never slows the work.
    """
    news: queue.Queue = queue.Queue()
    stop = threading.Event()
    latest: list[Counted] = []

    def progress(done: int, total: int | None) -> None:
        latest[:] = [Counted(done, total)]
        if news.empty():
            news.put(None)

    def run() -> None:
        try:
            news.put((work(progress=progress, should_stop=stop.is_set), None))
        except BaseException as error:
            news.put((None, error))

    thread = threading.Thread(target=run, name="callback-steps", daemon=True)
    thread.start()
    try:
        while (ended := news.get()) is None:
            yield latest[0]
    finally:
        stop.set()
        thread.join()
    result, error = ended
    if error is not None:
        raise error
    return result
