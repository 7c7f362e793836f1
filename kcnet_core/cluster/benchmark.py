"""What a cluster costs and gains by the clock, measured with local workers of one thread each.

One thread is compared with one thread: the fit in memory on one core, and one worker; sums of one
worker and of two. Each is repeated in turn, so that a machine that is slower for a while slows all
of them, and the middle of the repeats counts.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import psutil
import torch
from threadpoolctl import threadpool_limits

from kcnet_core import KCNetClassifier
from kcnet_core.cluster.connection import local_workers
from kcnet_core.cluster.fits import fit
from kcnet_core.limits import MEGABYTE

CHUNK_ROWS = 8192
ALPHA = 13.0
REPEATS = 3


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


@contextmanager
def on_cores(n: int):
    """What is computed here takes so many."""
    threads = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        with threadpool_limits(n, user_api="blas"):
            yield
    finally:
        torch.set_num_threads(threads)


def measure(n_cells: int, X: np.ndarray, y: np.ndarray, repeats: int) -> dict[str, float]:
    """Seconds of the same fit in memory on one core and on all, on one worker and on two (which
    read files), of their sums alone, and how far their output weights are apart."""
    make = partial(KCNetClassifier, n_cells, alpha=ALPHA, random_state=0)
    times: dict[str, list[float]] = {}
    with TemporaryDirectory() as folder, workers(1) as one, workers(2) as two:
        files = [str(Path(folder) / f"{name}.npy") for name in "Xy"]
        for file, part in zip(files, (X, y), strict=True):
            np.save(file, part)
        ways = {
            "one core": (1, lambda net: net.fit(X, y)),
            "all cores": (os.cpu_count() or 1, lambda net: net.fit(X, y)),
            "1 worker": (1, lambda net: fit(net, *files, client=one)),
            "2 workers": (1, lambda net: fit(net, *files, client=two)),
        }
        nets = {}
        for _ in range(repeats):
            for name, (n_cores, fitted) in ways.items():
                with on_cores(n_cores):
                    clock = time.perf_counter()
                    nets[name] = fitted(make())
                    times.setdefault(name, []).append(time.perf_counter() - clock)
                sums = nets[name].timings_["gram"]
                times.setdefault(f"sums, {name}", []).append(sums)
    found = {name: median(some) for name, some in times.items()}
    coef = nets["one core"].coef_
    found["difference"] = max(float(np.abs(net.coef_ - coef).max()) for net in nets.values())
    return found


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


@dataclass(frozen=True)
class Kill:
    """A fit whose worker `pid` was killed so many seconds after its begin."""

    pid: int
    seconds: float
    in_time: bool  # before the fit had ended
    right: bool  # the output weights of a fit in memory


def kills(n_fits: int, n_cells: int, n_chunks: int, seed: int = 0) -> Iterator[Kill]:
    """Fits in each of which a random worker is killed at a random moment, until that was so often
    before the end."""
    rng, rows = random.Random(seed), made_chunks(n_chunks, 1000)
    make = partial(KCNetClassifier, n_cells, random_state=0)
    whole = make().fit(*map(np.concatenate, zip(*(chunk() for chunk in rows), strict=True)))
    while n_fits:
        with workers(2) as client:  # new ones: a nanny does not always restart what was killed
            clock = time.perf_counter()
            fit(make(), rows, client=client)
            moment, took = rng.uniform(0.1, 0.9), time.perf_counter() - clock
            pid = rng.choice(sorted(client.run(os.getpid).values()))
            kill = threading.Timer(moment * took, partial(os.kill, pid, signal.SIGKILL))
            kill.start()
            net = fit(make(), rows, client=client)
            in_time = kill.finished.is_set()
            kill.join()
        n_fits -= in_time
        right = np.allclose(net.coef_, whole.coef_, rtol=1e-3, atol=1e-6)
        yield Kill(pid, moment * took, in_time, bool(right))


def report(title: str, X: np.ndarray, y: np.ndarray, quick: bool) -> None:
    """Measure all of it, the fits with these rows, and print it."""
    cells, repeats = (300, 1) if quick else (3000, REPEATS)
    found = measure(cells, X, y, repeats)
    print(f"\n{title}, {len(X):,} rows, {cells:,} cells: seconds, the middle of {repeats}")
    for name in ("one core", "all cores", "1 worker", "2 workers"):
        print(f"  {name:10} {found[name]:7.2f}, of which sums {found[f'sums, {name}']:7.2f}")
    print(
        f"  one worker takes {found['1 worker'] / found['one core'] - 1:+.0%} of one core's time; "
        f"two add up sums {found['sums, 1 worker'] / found['sums, 2 workers']:.2f} times as fast "
        f"as one\n  largest difference of an output weight {found['difference']:.1e}"
    )
    for n in (4, 8) if quick else (25, 245):
        peak = memory_of_workers(cells if quick else 500, n)
        print(
            f"  {n * CHUNK_ROWS:,} rows made by workers: at most {peak['grown']:,.0f} MB more in "
            f"each, {peak['seconds']:.0f} s"
        )
    made = []
    for kill in kills(1 if quick else 20, 200, 60):
        made.append(kill)
        when = f"after {kill.seconds:.2f} s{'' if kill.in_time else ', too late'}"
        print(
            f"  worker {kill.pid} killed {when}: {'right' if kill.right else 'WRONG'}", flush=True
        )
    print(
        f"  a worker killed in each of {len(made)} fits ({sum(k.in_time for k in made)} of them "
        f"before its end): {sum(k.right for k in made)} right results"
    )
