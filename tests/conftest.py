"""Fixtures that every test may use."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from kcnet_core.storage.folders import cache_folder

# A busy machine must not fail a test: none of them measures time.
settings.register_profile("kcnet", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kcnet")

PROJECT = Path(__file__).resolve().parents[1]

# Files whose tests share what takes long to make are run by one process: flies taught by one
# server, in one process of pages, and for the core; and the workers of one cluster.
TOGETHER = (
    re.compile(r"tests/browser/test_(ask|draw|smell)_journey"),
    re.compile(r"tests/pages/(test_(reload|security|smell)|ui/api/test_api)"),
    re.compile(r"tests/kcnet_core/smell/"),
    re.compile(r"tests/kcnet_core/cluster/"),
)


@pytest.hookimpl(optionalhook=True)  # tests also run where pytest-xdist is not installed
def pytest_xdist_make_scheduler(config, log):
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class InProcesses(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            shared = (group.pattern for group in TOGETHER if group.match(nodeid))
            return next(shared, super()._split_scope(nodeid))

    return InProcesses(config, log)


def run_aside(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """`asyncio.run` in a thread: a browser that an earlier test opened has this one's loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def share_descriptors(cache: Path) -> None:
    """Molecules' descriptors, which never change, are computed once for all tests and servers."""
    shared = cache_folder() / "descriptors"
    shared.mkdir(parents=True, exist_ok=True)
    (cache / "descriptors").symlink_to(shared)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real datasets: in KCNET_TEST_DATA, or in `../shared/data` beside the project."""
    folder = Path(os.environ.get("KCNET_TEST_DATA", PROJECT.parent / "shared" / "data"))
    if not (folder / "keller_2016").is_dir() or not (folder / "images").is_dir():
        pytest.skip("the real datasets are not beside the project (see README, Tests)")
    return folder
