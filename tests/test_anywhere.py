"""The server where people put servers: in a folder of a host behind a proxy, in a path with spaces
and letters of all kinds, with `LANG=C` and without a home."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.browser.conftest import free_port, wait_until_healthy
from tests.conftest import run_aside
from tests.protocol_client import Visitor

PROJECT = Path(__file__).resolve().parents[1]
NEEDED = (".streamlit", "app.py", "assets", "kcnet_core", "pages", "README.md")  # as the container
PUBLIC = "https://lab.example.org/lab"
FORGOTTEN = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "PYTHONUTF8", "KCNET_CACHE", "XDG_CACHE_HOME")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Its own address, behind the proxy that calls it `PUBLIC`."""
    here = tmp_path_factory.mktemp("anywhere") / "Ein Ort für 蠅, der Leerstellen hat"
    here.mkdir()
    for name in NEEDED:
        copy = shutil.copytree if (PROJECT / name).is_dir() else shutil.copy
        ignored = (
            {"ignore": shutil.ignore_patterns("__pycache__")} if copy is shutil.copytree else {}
        )
        copy(PROJECT / name, here / name, **ignored)
    port = free_port()
    env = {name: value for name, value in os.environ.items() if name not in FORGOTTEN}
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port),
         "--server.address", "127.0.0.1", "--server.baseUrlPath", "lab"],
        cwd=here, env={**env, "LANG": "C", "LC_ALL": "C", "TMPDIR": str(here)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_healthy(f"{url}/lab", process, 120)
        yield url
    finally:
        process.kill()
        process.wait()


def asked(server: str, path: str) -> tuple[str, str]:
    """What the proxy hands on, and gets: the text and the cookie."""
    headers = {"Host": "lab.example.org", "X-Forwarded-Proto": "https", "Accept": "text/html"}
    request = urllib.request.Request(f"{server}/lab{path}", headers=headers)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return answer.read().decode(), answer.headers.get("Set-Cookie", "")


def test_the_api_lies_in_the_folder_and_the_cookie_travels_over_tls_only(server):
    assert asked(server, "/healthz")[0] == '{"status":"ok"}'
    assert '"/lab"' in asked(server, "/api/openapi.json")[0]
    page, cookie = asked(server, "/")
    assert "<title>" in page and "Secure" in cookie and "HttpOnly" in cookie


@pytest.mark.parametrize(("page", "there"), [("", "Start"), ("data", "Classes")])
def test_pages_are_drawn_for_whoever_comes_through_the_proxy(server, page, there):
    async def visit() -> set[str]:
        async with Visitor(server, PUBLIC) as visitor:
            await visitor.open(page)
            return {*visitor.widgets, *visitor.kinds}

    found = run_aside(visit())
    assert there in found and "exception" not in found, found
