"""What a cluster costs and gains, measured with local workers of one thread each.

Processor seconds stand beside those of the clock: on a machine that is busy with other things only
their ratios mean something. Speed-up by processor seconds is what the one worker needed, divided by
what the busier of two needed.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import psutil
from sklearn.base import clone

from kcnet_core import KCNetClassifier
from kcnet_core.cluster.connection import local_workers
from kcnet_core.cluster.fits import fit
from kcnet_core.limits import MEGABYTE

CHUNK_ROWS = 8192
ALPHA = 13.0
IDLE_SECONDS = 5.0


@contextmanager
def workers(n: int):
    """A client of n fresh workers that have loaded all they need."""
    from distributed import Client

    with local_workers(n) as cluster, Client(cluster) as client:
        fit(KCNetClassifier(50, random_state=0), made_chunks(2 * n, 300), client=client)
        yield client


def made_rows(seed: int, n_rows: int, n_inputs: int = 784) -> tuple[np.ndarray, np.ndarray]:
    """Rows of ten classes, the same for the same seed."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 10
    X = rng.standard_normal((n_rows, n_inputs), dtype=np.float32)
    X[:, :10] += 2 * np.eye(10, dtype=np.float32)[y]
    return X, y


def made_chunks(n_chunks: int, n_rows: int = CHUNK_ROWS) -> list:
    return [partial(made_rows, seed, n_rows) for seed in range(n_chunks)]


def measure(n_cells: int, n_chunks: int) -> dict[str, float]:
    """Seconds of the same fit here, on one worker and on two, and how their results differ."""
    net, rows = KCNetClassifier(n_cells, alpha=ALPHA, random_state=0), made_chunks(n_chunks)
    whole = [np.concatenate(part) for part in zip(*(chunk() for chunk in rows), strict=True)]
    found: dict[str, float] = {}
    KCNetClassifier(50, random_state=0).fit(whole[0][:500], whole[1][:500])
    clock, worked = time.perf_counter(), time.process_time()
    net.fit(*whole)
    found["here"], found["here_worked"] = _since(clock, worked)
    with TemporaryDirectory() as folder:
        files = [str(Path(folder) / f"{name}.npy") for name in "Xy"]
        for file, part in zip(files, whole, strict=True):
            np.save(file, part)
        for n in (1, 2):
            found |= _on_workers(n, clone(net), files, net.coef_)
    return found


def _on_workers(n: int, net: KCNetClassifier, files: list[str], coef: np.ndarray) -> dict:
    found: dict[str, float] = {}
    with workers(n) as client:
        before = client.run(time.process_time)
        clock, worked = time.perf_counter(), time.process_time()
        fit(net, *files, client=client)
        found[f"on_{n}"], found[f"client_{n}"] = _since(clock, worked)
        spent = [t - before[w] for w, t in client.run(time.process_time).items()]
        found[f"idle_{n}"] = _idle(client) * found[f"on_{n}"]
    found[f"workers_{n}"], found[f"busiest_{n}"] = sum(spent), max(spent)
    found[f"gram_{n}"] = net.timings_["gram"]
    found[f"difference_{n}"] = float(np.abs(net.coef_ - coef).max())
    return found


def _idle(client) -> float:
    """Processor seconds that client, scheduler and workers spend in a second without work."""
    before, worked = sum(client.run(time.process_time).values()), time.process_time()
    time.sleep(IDLE_SECONDS)
    after = sum(client.run(time.process_time).values())
    return (after - before + time.process_time() - worked) / IDLE_SECONDS


def _since(clock: float, worked: float) -> tuple[float, float]:
    return time.perf_counter() - clock, time.process_time() - worked


def memory_of_workers(n_cells: int, n_chunks: int, n_workers: int = 2) -> dict[str, float]:
    """MB at the peak of a worker, beyond what it held before, while it makes and adds rows."""
    with workers(n_workers) as client:
        before = client.run(_held_now)
        clock = time.perf_counter()
        fit(KCNetClassifier(n_cells, random_state=0), made_chunks(n_chunks), client=client)
        after = client.run(_peak)
    grown = max(after[address] - before[address] for address in after)
    return {"grown": grown / MEGABYTE, "seconds": time.perf_counter() - clock}


def _held_now() -> int:
    return psutil.Process().memory_info().rss


def _peak() -> int:
    """The most that this process ever held, where the system tells; else what it holds."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return _held_now()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def kills(n_fits: int, n_cells: int, n_chunks: int, seed: int = 0) -> dict[str, float]:
    """Fits in each of which a random worker is killed at a random moment; how many were right."""
    rng, right, same, killed = random.Random(seed), 0, 0, 0
    rows = made_chunks(n_chunks, 1000)
    make = partial(KCNetClassifier, n_cells, random_state=0)
    for _ in range(n_fits):
        with workers(2) as client:  # new ones: a nanny does not always restart what was killed
            clock = time.perf_counter()
            whole = fit(make(), rows, client=client)
            wait = (time.perf_counter() - clock) * rng.uniform(0.1, 0.9)
            pid = rng.choice(sorted(client.run(os.getpid).values()))
            kill = threading.Timer(wait, partial(os.kill, pid, signal.SIGKILL))
            kill.start()
            net = fit(make(), rows, client=client)
            killed += kill.finished.is_set()
            kill.join()
            right += bool(np.allclose(net.coef_, whole.coef_, rtol=1e-3, atol=1e-6))
            same += bool(np.array_equal(net.coef_, whole.coef_))
    return {"fits": n_fits, "killed_before_the_end": killed, "right": right, "same_bits": same}


def report(quick: bool) -> None:
    """Measure all of it and print it."""
    cells, chunks = (300, 4) if quick else (3000, 8)
    found = measure(cells, chunks)
    print(f"\nDask cluster, {cells:,} cells, {chunks * CHUNK_ROWS:,} rows (clock, processor)")
    print(f"  here        {found['here']:8.2f} s {found['here_worked']:8.2f} s")
    for n in (1, 2):
        worked = found[f"workers_{n}"] + found[f"client_{n}"]
        print(f"  {n} worker{'s' * (n > 1):1}    {found[f'on_{n}']:8.2f} s {worked:8.2f} s")
    spent, idle = found["workers_1"] + found["client_1"], found["idle_1"]
    print(
        f"  one worker costs {spent / found['here_worked'] - 1:+.0%} processor time "
        f"({(spent - idle) / found['here_worked'] - 1:+.0%} without the {idle:.2f} s that waiting "
        f"costs in that time; {found['on_1'] / found['here'] - 1:+.0%} by the clock); two add up "
        "sums "
        f"{found['busiest_1'] / found['busiest_2']:.2f} times as fast by processor time "
        f"({found['gram_1'] / found['gram_2']:.2f} by the clock)"
    )
    print(f"  largest difference of an output weight {found['difference_2']:.1e}")
    for n in (4, 8) if quick else (25, 245):
        peak = memory_of_workers(cells if quick else 500, n)
        print(
            f"  {n * CHUNK_ROWS:,} rows made by workers: at most {peak['grown']:,.0f} MB more in "
            f"each, {peak['seconds']:.0f} s"
        )
    fits = kills(1 if quick else 20, 200, 20)
    print(
        f"  a worker killed in each of {fits['fits']:.0f} fits ({fits['killed_before_the_end']:.0f}"
        f" of them before its end): {fits['right']:.0f} right results, {fits['same_bits']:.0f} of "
        "them to the last bit"
    )
