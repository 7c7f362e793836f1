"""Visitors whose jobs are done by workers, as Streamlit's own messages: how long they wait.

    pytest -m slow -s tests/browser/test_cluster_load.py

prints when the first picture of a run comes, here and from a worker in turn, and how long twelve
visitors with jobs on two workers wait for a slider.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from contextlib import AsyncExitStack, contextmanager

import numpy as np
import pytest

from tests.browser.conftest import PROJECT, free_port, served
from tests.browser.test_load import move
from tests.protocol_client import Visitor

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

REPEATS = 5
VISITORS = 12
SECONDS = float(os.environ.get("KCNET_LOAD_SECONDS", "60"))
FIRST_RUN = "dataset=mnist_sample&model=DOA&n_hidden=500&n_epochs=40&pace=full+speed"
LONG_RUN = "dataset=mnist_sample&model=DOA&n_hidden=500&n_epochs=2000&pace=full+speed"
FILM, EMPTY_FILM = "bidi_component", 4_000  # bytes: with a picture in it, it has more


@contextmanager
def dask_cluster(folder):
    """A scheduler and two workers of one thread, started as the guide says; their address."""
    address = f"tcp://127.0.0.1:{free_port()}"
    settings = {**os.environ, "PYTHONPATH": str(PROJECT), "OPENBLAS_NUM_THREADS": "1"}
    dask = [sys.executable, "-m", "dask"]
    port = address.rpartition(":")[2]
    commands = [
        [*dask, "scheduler", "--host", "127.0.0.1", "--port", port, "--dashboard-address", ":0"],
        [*dask, "worker", address, "--nthreads", "1", "--nworkers", "2", "--dashboard-address",
         ":0", "--local-directory", str(folder), "--preload", "kcnet_core.cluster.preload"],
    ]  # fmt: skip
    with open(folder / "dask.txt", "w") as log:
        told = {"cwd": folder, "env": settings, "stdout": log, "stderr": subprocess.STDOUT}
        started = [subprocess.Popen(command, **told) for command in commands]
        try:
            wait_for_workers(address)
            yield address
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait(20)


def wait_for_workers(address: str) -> None:
    from distributed import Client

    host, port = address.removeprefix("tcp://").split(":")
    for _ in range(600):
        with socket.socket() as one:
            if one.connect_ex((host, int(port))) == 0:
                break
        time.sleep(0.1)
    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=120)


async def first_picture(url: str, seed: int) -> float:
    """Seconds from Start to the first frame of S and W."""
    async with Visitor(url) as visitor:
        await visitor.open(query=f"{FIRST_RUN}&seed={seed}")
        began, visitor.sizes = time.perf_counter(), {}
        starting = asyncio.create_task(visitor.change("Start", trigger_value=True))
        while visitor.sizes.get(FILM, 0) < EMPTY_FILM:
            assert time.perf_counter() - began < 60, visitor.sizes
            await asyncio.sleep(0.01)
        took = time.perf_counter() - began
        await starting
        await visitor.change("Stop", trigger_value=True)
    return took


def test_the_first_picture_comes_at_most_a_second_later_than_here(tmp_path, shared_data):
    folders = {name: tmp_path / name for name in ("here", "there", "dask")}
    for folder in folders.values():
        folder.mkdir()
    with (
        dask_cluster(folders["dask"]) as address,
        served(shared_data, folders["here"], KCNET_CACHE=str(folders["here"])) as here,
        served(shared_data, folders["there"], KCNET_CACHE=str(folders["there"]),
               KCNET_CLUSTER=address) as there,
    ):  # fmt: skip
        took: dict[str, list[float]] = {here: [], there: []}
        for seed in range(REPEATS + 1):
            for url, times in took.items():
                times.append(asyncio.run(first_picture(url, seed)))
                time.sleep(0.5)
    for name, times in zip(("here", "on a worker"), took.values(), strict=True):
        print(f"\nfirst picture {name}: {', '.join(f'{t:.2f}' for t in times)} s (first: fresh)")
    later = np.median(took[there][1:]) - np.median(took[here][1:])
    print(f"a worker's is {later:+.2f} s later (medians without the first)")
    assert later < 1.0


def test_twelve_visitors_with_jobs_on_workers_wait_less_than_a_second(tmp_path, shared_data):
    folder = tmp_path / "dask"
    folder.mkdir()
    with (
        dask_cluster(folder) as address,
        served(shared_data, tmp_path, KCNET_CACHE=str(tmp_path), KCNET_CLUSTER=address) as url,
    ):
        waits = asyncio.run(moves(url))
    p95 = np.percentile(waits, 95)
    print(
        f"\n{VISITORS} visitors with jobs on two workers, {len(waits)} moves: "
        f"{np.median(waits):.2f} s (median), {p95:.2f} s (95%)"
    )
    assert p95 < 1.0


async def moves(url: str) -> list[float]:
    async with AsyncExitStack() as stack:
        visitors = []
        for seed in range(VISITORS):
            visitors.append(await stack.enter_async_context(Visitor(url)))
            await visitors[-1].open(query=f"{LONG_RUN}&seed={seed}")
            await visitors[-1].change("Start", trigger_value=True)
        until = time.monotonic() + SECONDS
        some = await asyncio.gather(*(move(one, until, k) for k, one in enumerate(visitors)))
        assert not any("exception" in one.kinds for one in visitors)
        for one in visitors:
            await one.change("Stop", trigger_value=True)
        return [wait for waits in some for wait in waits]
