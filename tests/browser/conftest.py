"""The running app and a real Chromium for journeys through it."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import share_descriptors

PROJECT = Path(__file__).resolve().parents[2]
SCREENSHOTS = PROJECT / "tests" / "screenshots"
FAILED = pytest.StashKey[bool]()
LIGHT_INK = re.compile(r"rgb\(((1[2-9]|2\d)\d(, )?){3}\)")  # of a chart on dark paper
SLOWER = float(os.environ.get("KCNET_TEST_SLOWER", "1"))  # browser by so much: finds races
CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def pytest_collection_modifyitems(items):
    for item in items:
        if "browser" in Path(item.fspath).parts:
            item.add_marker(pytest.mark.browser)


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_until_healthy(url: str, process: subprocess.Popen, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the app ended with code {process.returncode}")
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"the app did not answer within {seconds:.0f} s")


def chromium_path() -> str | None:
    """Debian's Chromium or another that is installed; None: the one that Playwright brought."""
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


@contextmanager
def served(data: Path, folder: Path, **settings: str):
    """The app on a free port of its own; its log goes to `folder`."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with open(folder / "log.txt", "w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port),
             "--server.address", "127.0.0.1", "--server.headless", "true"],
            cwd=PROJECT, stdout=log, stderr=subprocess.STDOUT,
            env={**os.environ, "KCNET_DATA": str(data), **settings},
        )  # fmt: skip
        try:
            wait_until_healthy(url, process)
            yield url
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture(scope="session")
def app_url(tmp_path_factory):
    """The app for the whole session, with the real data where it exists."""
    shared = Path(os.environ.get("KCNET_TEST_DATA", PROJECT.parent / "shared" / "data"))
    folder = shared if shared.is_dir() else tmp_path_factory.mktemp("data")
    own = tmp_path_factory.mktemp("app")
    share_descriptors(own)
    with served(folder, own, KCNET_CACHE=str(own)) as url:
        yield url


@pytest.fixture(scope="session")
def chromium():
    """One browser for the session; Debian's package, or the one Playwright brought."""
    from playwright.sync_api import Error, expect, sync_playwright

    expect.set_options(timeout=60_000)  # conditions, not speed, are what journeys test
    path = chromium_path()
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        except Error as error:
            pytest.skip(f"no Chromium to drive: {str(error).splitlines()[0]}")
        yield browser
        browser.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture
def new_page(request, chromium, app_url):
    """Make a page in a browser of its own: `new_page("/train?seed=3", width=400, dark=True)`,
    perhaps with a finger (`touch`) for a mouse.

    Journeys on which nothing is seen to move go without `motion`, as for whoever prefers less of
    it: drawing it takes a fifth of the browser's work.

    What the pages showed when a test failed is kept as `failed-*.png` among the screenshots.
    """
    contexts = []

    def make(path: str = "/", *, width=1280, height=900, dark=False, touch=False, motion=True):
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="no-preference" if motion else "reduce",
            has_touch=touch,
            is_mobile=touch,
            base_url=app_url,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(90_000)
        if SLOWER > 1:
            client = context.new_cdp_session(page)
            client.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        page.goto(path)
        return page

    yield make
    for k, context in enumerate(contexts):
        if request.node.stash.get(FAILED, False) and context.pages:
            SCREENSHOTS.mkdir(exist_ok=True)
            name = request.node.name.replace("/", "-")[:80]
            context.pages[0].screenshot(path=SCREENSHOTS / f"failed-{name}-{k}.png")
        context.close()


@pytest.fixture
def screenshot():
    """Save a picture for people to look at: `screenshot(page, "train-dark")`."""
    SCREENSHOTS.mkdir(exist_ok=True)

    def save(page, name: str) -> None:
        page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=False)

    return save


def wait_for(page, words: str, seconds: float = 120) -> None:
    """Until some text on the page matches the regular expression `words`."""
    from playwright.sync_api import expect

    expect(page.get_by_text(re.compile(words)).first).to_be_visible(timeout=1000 * seconds)
