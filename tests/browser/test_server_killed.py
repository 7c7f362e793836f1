"""A server that is killed in the middle of training, and the one that takes its place."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager

from playwright.sync_api import expect

from tests.browser.conftest import PROJECT, free_port, wait_until_healthy

LONG = "/?dataset=digits&model=DOA&n_hidden=60&n_epochs=1000&seed=5"


@contextmanager
def server(port: int, cache):
    """The app as a process of its own, with `cache` as its cache folder."""
    with open(cache / "log.txt", "a") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port),
             "--server.address", "127.0.0.1"],
            cwd=PROJECT, stdout=log, stderr=subprocess.STDOUT,
            env={**os.environ, "KCNET_CACHE": str(cache)},
        )  # fmt: skip
        try:
            wait_until_healthy(f"http://127.0.0.1:{port}", process)
            yield process
        finally:
            process.kill()
            process.wait(10)


def outcomes(cache) -> list[str]:
    lines = (cache / "log.txt").read_text().splitlines()
    events = [
        json.loads(line.split(" kcnet.jobs ")[1]) for line in lines if " kcnet.jobs {" in line
    ]
    return [event.get("outcome", event["event"]) for event in events]


def test_after_a_kill_the_run_is_named_as_interrupted_and_starts_again(chromium, tmp_path):
    port = free_port()
    context = chromium.new_context(base_url=f"http://127.0.0.1:{port}")
    page = context.new_page()
    page.set_default_timeout(90_000)
    with server(port, tmp_path) as process:
        page.goto(LONG)
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_text(re.compile(r"epoch \d+ of 1,?000")).first).to_be_visible()
        page.wait_for_url("**job=*")
        link = page.url
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    assert outcomes(tmp_path) == ["start"]
    with server(port, tmp_path):
        page.goto(link)
        expect(page.get_by_text("interrupted when the server stopped")).to_be_visible()
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_text(re.compile(r"epoch \d+ of 1,?000")).first).to_be_visible()
        expect(page.get_by_text("interrupted when the server stopped")).to_have_count(0)
        assert "n_hidden=60" in page.url and "seed=5" in page.url
        page.get_by_role("button", name="Stop Shortcut X").click()
        expect(page.get_by_text("Stopped after").first).to_be_visible()
        context.close()
    assert outcomes(tmp_path) == ["start", "start", "cancelled"]
    hidden = [path.name for path in tmp_path.rglob("*.part")]
    assert not hidden, "nothing half written is left"
