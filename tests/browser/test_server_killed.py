"""A server or a browser that dies in the middle of training."""

from __future__ import annotations

import json
import re
from pathlib import Path

import psutil
from playwright.sync_api import expect

from tests.browser.conftest import served

LONG = "/?dataset=digits&model=DOA&n_hidden=60&n_epochs=1000&seed=5"


def process_of(url: str) -> psutil.Process:
    """The server behind `url`, which this process started."""
    port = url.rsplit(":", 1)[1]
    return next(child for child in psutil.Process().children() if port in child.cmdline())


def job_lines(folder: Path) -> list[dict]:
    """What the server's log says of its jobs."""
    lines = [line.split(" kcnet.jobs ") for line in (folder / "log.txt").read_text().splitlines()]
    return [json.loads(parts[1]) for parts in lines if len(parts) == 2]


def test_after_a_kill_the_run_is_named_as_interrupted_and_starts_again(chromium, tmp_path):
    first, second, cache = (tmp_path / name for name in ("first", "second", "cache"))
    first.mkdir()
    second.mkdir()
    page = chromium.new_page()
    page.set_default_timeout(90_000)
    interrupted = page.get_by_text("interrupted when the server stopped")
    with served(tmp_path, first, KCNET_CACHE=str(cache)) as url:
        page.goto(url + LONG)
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_text(re.compile(r"epoch \d+ of 1,?000")).first).to_be_visible()
        page.wait_for_url("**job=*")
        link = page.url.removeprefix(url)
        process_of(url).kill()
    assert [line["event"] for line in job_lines(first)] == ["start"]
    with served(tmp_path, second, KCNET_CACHE=str(cache)) as url:
        page.goto(url + link)
        expect(interrupted).to_be_visible()
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("button", name="Pause")).to_be_enabled()
        expect(interrupted).to_have_count(0)
        page.close()
    assert job_lines(second)[0]["config"] == job_lines(first)[0]["config"]
    assert not list(cache.rglob("*.part")), "nothing half written is left"


def test_a_run_goes_on_and_ends_although_its_browser_died(new_page):
    owner = new_page("/?dataset=digits&model=DOA&n_hidden=60&n_epochs=5&seed=6&pace=slow")
    owner.get_by_role("button", name="Start").click()
    owner.wait_for_url("**job=*")
    link = owner.url
    owner.context.close()
    watcher = new_page(link)
    expect(watcher.get_by_text(re.compile("Done after")).first).to_be_visible()
    expect(watcher.get_by_text(re.compile(r"one split, seed 6\b"))).to_be_visible()
