"""Twelve browsers at once for minutes: no error, no cross-talk, settled memory, a fair queue.

    pytest -m slow -s tests/browser/test_soak.py

prints the figures. KCNET_SOAK_SECONDS and KCNET_SOAK_SESSIONS change the length and the crowd.
"""

from __future__ import annotations

import asyncio
import os
import re
import statistics
import threading
import time
from collections import Counter

import psutil
import pytest

from tests.browser.conftest import CHROMIUM_FLAGS, chromium_path, served
from tests.browser.test_server_killed import job_lines, process_of

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("KCNET_SOAK_SECONDS", "300"))
SESSIONS = int(os.environ.get("KCNET_SOAK_SESSIONS", "12"))
PATIENCE = 180_000  # milliseconds for one expectation: this measures, it does not race
MEMORY_GROWTH = 1.25  # second half's peak over the first half's
SMALL_FRAME = 20_000  # bytes; starts and ends of reruns are small, charts need not be parsed
ERRORS = re.compile(r"Traceback|Something went wrong|not your fault|fault of the program", re.I)
HEADINGS = {
    "Data": "Data",
    "Learn": "How a fly smells",
    "Paper": "The paper, reproduced",
    "Train": "Train a fly's nose",
}


class Wire:
    """Reruns of one browser as its websocket shows them: asked for, begun, ended."""

    def __init__(self):
        from streamlit.proto.BackMsg_pb2 import BackMsg
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        self._back, self._forward = BackMsg, ForwardMsg
        self._asked: list[float] = []
        self._served: list[float] = []
        self.reruns, self.round_trips = 0, []

    def watch(self, socket) -> None:
        socket.on("framesent", self._sent)
        socket.on("framereceived", self._received)

    def _sent(self, payload) -> None:
        if isinstance(payload, bytes):
            message = self._back.FromString(payload)
            if message.WhichOneof("type") == "rerun_script":
                self._asked.append(time.perf_counter())

    def _received(self, payload) -> None:
        if not isinstance(payload, bytes) or len(payload) > SMALL_FRAME:
            return
        kind = self._forward.FromString(payload).WhichOneof("type")
        if kind == "new_session":  # a run serves everything that was asked before it began
            self._served, self._asked = self._served + self._asked, []
        elif kind == "script_finished":
            now = time.perf_counter()
            self.reruns += 1
            self.round_trips += [now - asked for asked in self._served]
            self._served = []


class Visitor:
    """One browser that trains, smells, compares and walks about, always with its own settings."""

    def __init__(self, number: int, page):
        self.number, self.page, self.wire = number, page, Wire()
        page.set_default_timeout(PATIENCE)
        page.on("websocket", self.wire.watch)
        self.done, self.seeds = Counter(), []
        self.turn = number  # so that not everybody does the same at once

    async def stay(self, deadline: float) -> None:
        rounds = (self.train, self.smell, self.compare, self.walk)
        while time.monotonic() < deadline:
            action = rounds[self.turn % len(rounds)]
            await action()
            await self.look_for_errors(action.__name__)
            self.done[action.__name__] += 1
            self.turn += 1

    def new_seed(self) -> int:
        self.seeds.append(10_000 * (self.number + 1) + len(self.seeds))
        return self.seeds[-1]

    async def see(self, text, **options) -> None:
        from playwright.async_api import expect

        place = self.page.get_by_text(text, **options).first
        await expect(place).to_be_visible(timeout=PATIENCE)

    async def press(self, name: str) -> None:
        await self.page.get_by_role("button", name=name).first.click()

    async def train(self) -> None:
        seed, cells = self.new_seed(), 40 + 10 * self.number
        model = ("KCNet", "DOA", "ELM")[self.done["train"] % 3]
        await self.page.goto(
            f"/?dataset=digits&model={model}&n_hidden={cells}&n_epochs=5&seed={seed}"
        )
        await self.see("Nothing has been trained yet")
        await self.press("Start")
        await self.see(re.compile("Done after"))
        await self.see(re.compile(rf"one split, seed {seed}\b"))
        assert f"seed={seed}" in self.page.url and f"n_hidden={cells}" in self.page.url

    async def smell(self) -> None:
        chain = "C" * (2 + self.number + SESSIONS * (self.done["smell"] % 2))
        await self.page.goto(f"/smell?smiles={chain}OC(C)%3DO")
        await self.see(f"{chain}OC(C)=O", exact=True)
        await self.page.locator(".st-key-smell_profile").first.wait_for()

    async def compare(self) -> None:
        seed, repeats = self.new_seed(), 2 + self.number % 3
        await self.page.goto(
            f"/compare?dataset=digits&models=KCNet,ELM&hidden={20 + self.number}"
            f"&n_repeats={repeats}&seed={seed}"
        )
        await self.press("Start")
        fits = 2 * repeats
        await self.see(re.compile(rf"^Done after .* {fits} of {fits} fits$"))
        assert f"seed={seed}" in self.page.url

    async def walk(self) -> None:
        if not self.page.url.startswith("http"):
            await self.page.goto("/")
        for name, title in HEADINGS.items():
            await self.page.get_by_role("link", name=name, exact=True).first.click()
            await self.page.get_by_role("heading", name=title).first.wait_for()
            await self.look_for_errors(name)

    async def look_for_errors(self, where: str) -> None:
        shown = await self.page.locator("body").inner_text()
        found = ERRORS.search(shown)
        assert not found, f"visitor {self.number}, {where}: {shown[found.start() :][:500]}"
        assert await self.page.locator("[data-testid=stException]").count() == 0


class Gauge(threading.Thread):
    """Memory of the server process, once a second."""

    def __init__(self, process: psutil.Process):
        super().__init__(daemon=True)
        self.process, self.ended = process, threading.Event()
        self.samples: list[int] = []

    def run(self) -> None:
        while not self.ended.wait(1.0):
            self.samples.append(self.process.memory_info().rss >> 20)


async def crowd(url: str, process: psutil.Process) -> tuple[list[Visitor], Gauge, float]:
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium_path(), args=CHROMIUM_FLAGS
        )
        visitors = []
        for number in range(SESSIONS):
            context = await browser.new_context(base_url=url)
            visitors.append(Visitor(number, await context.new_page()))
        # What a server does once, at its first visitor's, is not what a crowd is measured by.
        await visitors[0].smell()
        await visitors[0].train()
        visitors[0].wire.round_trips.clear()
        visitors[0].wire.reruns = 0
        gauge = Gauge(process)
        gauge.start()
        started = time.monotonic()
        try:
            async with asyncio.TaskGroup() as together:
                for visitor in visitors:
                    together.create_task(visitor.stay(started + SECONDS))
        finally:
            gauge.ended.set()
            gauge.join()
        seconds = time.monotonic() - started
        await browser.close()
    return visitors, gauge, seconds


def in_a_thread(make):
    """The coroutine's result; a thread of its own, since other journeys hold this one's loop."""
    outcome = {}

    def run():
        try:
            outcome["value"] = asyncio.run(make())
        except BaseException as error:
            outcome["error"] = error

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]


def test_a_crowd_is_served_without_errors_cross_talk_or_growing_memory(tmp_path, capsys):
    with served(tmp_path, tmp_path, KCNET_CACHE=str(tmp_path / "cache")) as url:
        process = process_of(url)
        visitors, gauge, seconds = in_a_thread(lambda: crowd(url, process))
        assert process.is_running()
    events, text = job_lines(tmp_path), (tmp_path / "log.txt").read_text()
    trips = sorted(trip for visitor in visitors for trip in visitor.wire.round_trips)
    p50, p95 = (trips[int(share * (len(trips) - 1))] for share in (0.5, 0.95))
    reruns = sum(visitor.wire.reruns for visitor in visitors)
    done = sum((visitor.done for visitor in visitors), Counter())
    half = len(gauge.samples) // 2
    first, second = max(gauge.samples[:half]), max(gauge.samples[half:])
    ends = [event for event in events if event["event"] == "end"]
    waits = [event["waited"] for event in ends if "waited" in event]
    asked = {seed for visitor in visitors for seed in visitor.seeds}
    runs = [event for event in ends if event["kind"] in ("train", "compare")]
    with capsys.disabled():
        print(
            f"\n{len(visitors)} sessions, {seconds:.0f} s, load average {os.getloadavg()[0]:.1f}: "
            f"{dict(done)}; {len(ends)} jobs, waited at most {max(waits):.1f} s\n"
            f"{reruns} reruns ({reruns / seconds:.1f} per second), round trip of {len(trips)}: "
            f"p50 {p50 * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms\n"
            f"memory of the server: peak {first} MB in the first half, {second} MB in the second\n"
            f"actions per session: {[sum(visitor.done.values()) for visitor in visitors]}"
        )

    assert "Traceback" not in text, text[text.find("Traceback") :][:2000]
    begun = Counter(event["job"] for event in events if event["event"] == "start")
    assert begun == Counter(event["job"] for event in ends), "every start has its end"
    assert {event["outcome"] for event in runs} == {"done"}
    made = [event["config"]["seed"] for event in runs]
    assert asked == set(made) and len(made) == len(asked), "every run that was asked for, once"
    assert second <= MEMORY_GROWTH * first, "memory settles"
    for visitor in visitors:
        own = [event["waited"] for event in runs if event["config"]["seed"] in visitor.seeds]
        assert own, "nobody is left out"
        assert statistics.mean(own) <= 3 * statistics.mean(waits) + 5, "owners take turns"
