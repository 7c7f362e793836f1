"""Many visitors who move a slider beside two trainings, as Streamlit's own messages.

    KCNET_LOAD_VISITORS=30,60 pytest -m slow -s tests/browser/test_load.py

prints how long they wait, and what the server takes of the processors.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
import urllib.request
from contextlib import AsyncExitStack

import numpy as np
import psutil
import pytest

from tests.browser.conftest import served
from tests.browser.test_server_killed import process_of
from tests.protocol_client import Visitor

pytestmark = pytest.mark.slow

VISITORS = [int(n) for n in os.environ.get("KCNET_LOAD_VISITORS", "30,60").split(",")]
SECONDS = float(os.environ.get("KCNET_LOAD_SECONDS", "60"))
BETWEEN = 5.0  # seconds in which a visitor looks before the next move, on average
SLIDER = "Inputs per cell Nᵢₙ"
TRAINING = "model=DOA&n_hidden=1000&n_epochs=1000&pace=full+speed"
MOST_SECONDS = 2.0  # that 95 of 100 moves may take, whoever else computes on the machine left out


def test_visitors_move_a_slider_beside_two_trainings(tmp_path, shared_data):
    with served(shared_data, tmp_path, KCNET_CACHE=str(tmp_path)) as url:
        asyncio.run(load(url, process_of(url)))


async def load(url: str, server: psutil.Process) -> None:
    async with AsyncExitStack() as stack:
        for seed in range(2):
            trainer = await stack.enter_async_context(Visitor(url))
            await trainer.open(query=f"{TRAINING}&seed={seed}")
            await trainer.change("Start", trigger_value=True)
        visitors: list[Visitor] = []
        for n in VISITORS:
            while len(visitors) < n:
                visitors.append(await stack.enter_async_context(Visitor(url)))
                await visitors[-1].open()
                assert visitors[-1].fragments[SLIDER], "the controls are drawn alone"
            before, began = sum(server.cpu_times()[:2]), time.monotonic()
            moves = (move(one, began + SECONDS, k) for k, one in enumerate(visitors))
            waits = [wait for some in await asyncio.gather(*moves) for wait in some]
            took, seconds = sum(server.cpu_times()[:2]) - before, time.monotonic() - began
            print(
                f"\n{n} visitors, {len(waits)} moves ({len(waits) / seconds:.1f} per second): "
                f"{np.median(waits):.2f} s (median), {np.percentile(waits, 95):.2f} s (95%); the "
                f"server took {took / seconds:.2f} of a processor"
            )
            assert len(waits) >= n and not any("exception" in one.kinds for one in visitors)
            assert np.percentile(waits, 95) < MOST_SECONDS
        busy = [child for child in server.children() if sum(child.cpu_times()[:2]) > SECONDS / 4]
        assert len(busy) >= 2, "each training has a process of its own"
        counts = await asyncio.to_thread(lambda: urllib.request.urlopen(f"{url}/metrics").read())
        assert b'kcnet_jobs{state="running"} 2' in counts, "the trainings have ended too early"


async def move(visitor: Visitor, until: float, seed: int) -> list[float]:
    rng, waits = random.Random(seed), []
    await asyncio.sleep(rng.random() * BETWEEN)
    while not waits or time.monotonic() < until:
        waits.append(await visitor.change(SLIDER, double_array_value=[float(rng.randint(3, 12))]))
        await asyncio.sleep(BETWEEN * (0.5 + rng.random()))
    return waits
