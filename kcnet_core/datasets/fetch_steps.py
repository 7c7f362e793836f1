"""A download as a generator, so that the same job loop that trains can show and stop it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass


@dataclass(frozen=True)
class DownloadView:
    """How far a download has come."""

    done: int
    total: int | None

    @property
    def fraction(self) -> float | None:
        return self.done / self.total if self.total else None


def fetch_steps(fetch: Callable, name: str) -> Generator[DownloadView, None, None]:
    """Drive `fetch(name, progress=, should_stop=)`; closing the generator stops the download."""
    news: queue.Queue = queue.Queue()
    stop = threading.Event()

    def work() -> None:
        try:
            fetch(
                name,
                progress=lambda done, total: news.put(DownloadView(done, total)),
                should_stop=stop.is_set,
            )
        except BaseException as error:
            news.put(error)
        else:
            news.put(None)

    thread = threading.Thread(target=work, name=f"fetch-{name}", daemon=True)
    thread.start()
    try:
        while (item := news.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stop.set()
        thread.join()
