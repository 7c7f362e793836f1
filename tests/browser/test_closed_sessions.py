"""Two hundred visitors who come, look at every page, train, and go: their memory goes after them.

    pytest -m slow -s tests/browser/test_closed_sessions.py

prints what the server and its processes hold before, at most, and in each minute afterwards.
"""

from __future__ import annotations

import asyncio
import os
import time
import urllib.request

import psutil
import pytest

from tests.browser.conftest import served
from tests.browser.test_server_killed import process_of
from tests.protocol_client import Visitor

pytestmark = pytest.mark.slow

N_SESSIONS, N_RUNS, AT_ONCE = 200, 17, 10
MINUTES = int(os.environ.get("KCNET_CLOSED_MINUTES", "10"))
SECONDS_TO_TIDY_UP = 7 * 60  # sessions, and results that nobody looks at
MOST_MORE = 1.15  # of what was held before the visitors came
PAGES = ("", "data", "learn", "smell", "compare", "paper")
TRAINING = "model=DOA&n_hidden=650&n_epochs=5&pace=full+speed"


def held(server: psutil.Process) -> tuple[float, float, int]:
    """Megabytes of the server, and of its processes without what they share; open files."""
    mb, own = server.memory_info().rss / 2**20, 0.0
    for child in server.children(recursive=True):
        try:
            own += child.memory_full_info().uss / 2**20
        except psutil.Error:  # it has just ended
            continue
    return mb, own, server.num_fds()


def told(when: str, server: psutil.Process) -> float:
    mb, own, files = held(server)
    n = len(server.children(recursive=True))
    print(f"{when}: server {mb:.0f} MB, its {n} processes {own:.0f} MB; {files} files", flush=True)
    return mb + own


async def runs_ended(url: str) -> None:
    def unfinished() -> bool:
        counts = urllib.request.urlopen(f"{url}/metrics").read().decode()
        return any(f'{{state="{state}"}} 0' not in counts for state in ("running", "queued"))

    while await asyncio.to_thread(unfinished):
        await asyncio.sleep(2)


async def visit(url: str, number: int, train: bool) -> None:
    async with Visitor(url) as visitor:
        await visitor.open(query=f"{TRAINING}&seed={number}" if train else "")
        if train:
            await visitor.change("Start", trigger_value=True)
            await runs_ended(url)
            await visitor.open()  # the result, in full
        await visitor.open(PAGES[number % len(PAGES)])
        assert "exception" not in visitor.kinds


async def crowd(url: str, server: psutil.Process) -> tuple[float, float]:
    told("started", server)
    for number in range(len(PAGES)):  # libraries, the nose and its tables are loaded
        await visit(url, number, train=number < 2)
    await asyncio.sleep(
        SECONDS_TO_TIDY_UP
    )  # or what these few have left would be forgiven the rest
    before = told("before", server)
    places, most = asyncio.Semaphore(AT_ONCE), 0.0

    async def one(number: int) -> None:
        nonlocal most
        async with places:
            await visit(url, number, train=number % (N_SESSIONS // N_RUNS) == 0 and number < 187)
            most = max(most, sum(held(server)[:2]))

    await asyncio.gather(*map(one, range(N_SESSIONS)))
    print(f"at most {most:.0f} MB together")
    told("all have gone", server)
    for minute in range(MINUTES):
        began = time.monotonic()
        await asyncio.to_thread(lambda: urllib.request.urlopen(f"{url}/healthz").read())
        await asyncio.sleep(max(0.0, 60 - (time.monotonic() - began)))
        after = told(f"{minute + 1} minutes later", server)
    return before, after


def test_memory_comes_back_when_two_hundred_visitors_have_gone(tmp_path, shared_data):
    with served(shared_data, tmp_path, KCNET_CACHE=str(tmp_path)) as url:
        before, after = asyncio.run(crowd(url, process_of(url)))
    print(f"{before:.0f} MB before, {after:.0f} MB after: {after / before - 1:+.0%}")
    assert after <= MOST_MORE * before
