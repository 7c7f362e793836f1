"""`benchmark`: how long a fit takes and how much memory it needs, as ratios to what bounds them.

Every size is measured in a process of its own, so that peaks do not mix. Times compare with the
bare product H H' of the same size (nothing that forms the Gram matrix can be quicker) and with
scikit-learn's random Fourier features of the same width read out by RidgeClassifier.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import psutil

from kcnet_core.errors import KCNetError
from kcnet_core.limits import MEGABYTE

N_INPUTS, N_CLASSES, MNIST_ROWS = 784, 10, 60_000
DATA = {
    "mnist": "MNIST",
    "made": f"Made data of MNIST's shape ({N_INPUTS} inputs, {N_CLASSES} classes), not MNIST",
}
ALPHA = 13.0  # the paper's lambda for MNIST
ROWS = (10_000, 30_000, 60_000)  # at CELLS_OF_ROWS cells
CELLS_OF_ROWS = 1000
CELLS = (500, 1000, 3000)  # at MNIST_ROWS rows
PATH_ROWS, PATH_CELLS, PATH_INPUTS, PATH_LABELS = 960, 1300, 200, 20  # the odor data's sizes
REPEATS, ENOUGH_SECONDS = 3, 3.0  # the quickest of up to three runs, unless they are long
WARM_UP_ROWS = 200
MOLECULES_QUICK = 40
SAMPLING_SECONDS = 0.005
ALLOWED_REST = 300 * MEGABYTE  # chunks of activities and all else that does not grow
RIVAL_COPIES = 4  # of the activities, that scikit-learn holds at its peak


@dataclass(frozen=True)
class Size:
    """What one child process measures."""

    task: str  # "kcnet", "rival", "path" or "molecules"
    n_rows: int  # 0: all
    n_hidden: int
    data: str  # "mnist", "made" or "starter"
    device: str = "auto"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--full", action="store_true", help="also 6,500 cells, as many as the paper's largest"
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes on made data, to see that it works"
    )
    parser.add_argument(
        "--cluster", action="store_true",
        help="only what a Dask cluster of local workers costs and gains, and what it survives",
    )  # fmt: skip
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda", "mps"))


def main(args: argparse.Namespace) -> None:
    """Measure all sizes and print them with their ratios."""
    data = "made" if args.quick else _data_here()
    if args.cluster:
        from kcnet_core.cluster import benchmark

        X, y = _rows(Size("kcnet", 3000 if args.quick else MNIST_ROWS, 0, data))
        benchmark.report(DATA[data], X, y, args.quick)
        return
    rows: tuple[int, ...] = ROWS
    cells: tuple[int, ...] = (*CELLS, 6500) if args.full else CELLS
    fixed_cells, fixed_rows = CELLS_OF_ROWS, MNIST_ROWS
    if args.quick:
        rows, cells, fixed_cells, fixed_rows = (500, 1000), (50, 100), 100, 1000
    print(f"{DATA[data]}, lambda {ALPHA:g}, {os.cpu_count()} processor cores, device {args.device}")
    print(LEGEND)
    if psutil.getloadavg()[0] > (os.cpu_count() or 1) / 2:
        print("Other programs keep this machine busy: the times below are not to be trusted.")
    print()
    print("Growth with the number of rows N")
    _report([Size("kcnet", n, fixed_cells, data, args.device) for n in rows], "n_rows")
    print("\nGrowth with the number of cells B")
    _report([Size("kcnet", fixed_rows, b, data, args.device) for b in cells], "n_hidden")
    path = _in_child(Size("path", PATH_ROWS, PATH_CELLS, "made", args.device))
    print(
        f"\nLambda path, {PATH_CELLS:,} cells and {PATH_ROWS} rows: {path['first']:.2f} s for the "
        f"factorisation and {path['n_alphas']} lambdas, then {1e3 * path['new']:.1f} ms for each "
        "new lambda"
    )
    found = _in_child(Size("molecules", MOLECULES_QUICK if args.quick else 0, 0, "starter"))
    print(
        f"Molecules, {found['n']} of the starter set, workers running: "
        f"{found['n'] / found['describe']:.0f} per second described "
        f"({found['n'] / (found['check'] + found['describe']):.0f} with checking)"
    )


COLUMNS = (
    "N", "B", "fit s", "product s", "fit/product", "RBF+ridge s", "fit/RBF",
    "libs MB", "peak MB", "peak-libs", "allowed", "of data", "RBF peak MB",
)  # fmt: skip
LEGEND = """\
product: the bare H H' of the same size; RBF: scikit-learn's RBFSampler + RidgeClassifier
libs MB: held before data and model come; peak-libs: what both need, in MB and as multiple of the
data; allowed: data + 3 B^2 float64 + 300 MB"""
WIDTHS = [max(len(name), 7) for name in COLUMNS]


def _report(sizes: list[Size], growing: str) -> None:
    print(_line(COLUMNS))
    fits = []
    for size in sizes:
        mine = _in_child(size)
        fits.append(mine["fit"])
        print(_line(_cells(size, mine, _rival(size))), flush=True)
    first, last = getattr(sizes[0], growing), getattr(sizes[-1], growing)
    power = math.log(fits[-1] / fits[0]) / math.log(last / first)
    letter = "N" if growing == "n_rows" else "B"
    print(f"  from {letter} = {first:,} to {last:,} the fit grows like {letter}^{power:.2f}")


def _cells(size: Size, mine: dict, rival: dict | None) -> list[str]:
    own = mine["peak"] - mine["libraries"]
    allowed = mine["data"] + 3 * 8 * size.n_hidden**2 + ALLOWED_REST
    return [
        f"{size.n_rows:,}",
        f"{size.n_hidden:,}",
        f"{mine['fit']:.2f}",
        f"{mine['product']:.2f}",
        f"{mine['fit'] / mine['product']:.2f}",
        f"{rival['fit']:.2f}" if rival else "no room",
        f"{mine['fit'] / rival['fit']:.2f}" if rival else "",
        f"{mine['libraries'] / MEGABYTE:,.0f}",
        f"{mine['peak'] / MEGABYTE:,.0f}",
        f"{own / MEGABYTE:,.0f}",
        f"{allowed / MEGABYTE:,.0f}",
        f"{own / mine['data']:.1f}",
        f"{rival['peak'] / MEGABYTE:,.0f}" if rival else "",
    ]


def _line(cells) -> str:
    return "  ".join(cell.rjust(width) for cell, width in zip(cells, WIDTHS, strict=True))


def _rival(size: Size) -> dict | None:
    """The rival's figures, or None where its matrix of activities would not fit."""
    needed = RIVAL_COPIES * 4 * size.n_rows * size.n_hidden
    room = psutil.virtual_memory().available
    return _in_child(replace(size, task="rival")) if needed <= room else None


def _data_here() -> str:
    from kcnet_core import datasets

    status = {info.name: info.status for info in datasets.available()}
    return "mnist" if status["mnist"] == "present" else "made"


@cache  # one size stands in both tables
def _in_child(size: Size) -> dict:
    command = [sys.executable, "-m", "kcnet_core.commands.benchmark", json.dumps(asdict(size))]
    package = Path(__file__).resolve().parents[2]
    paths = os.pathsep.join(filter(None, [str(package), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": paths}
    ended = subprocess.run(command, capture_output=True, text=True, env=environment)
    if ended.returncode:
        last = (ended.stderr.strip().splitlines() or ["it was ended from outside"])[-1]
        raise KCNetError(
            f"Measuring {size.n_rows:,} rows with {size.n_hidden:,} cells failed: {last}. "
            "If memory ran out, close other programs or leave --full away."
        )
    return json.loads(ended.stdout.splitlines()[-1])


# -- in the child process ----------------------------------------------------------------------


def measure(size: Size) -> dict:
    """Seconds and bytes of one size."""
    tasks = {
        "kcnet": _measure_kcnet,
        "rival": _measure_rival,
        "path": _measure_path,
        "molecules": _measure_molecules,
    }
    return tasks[size.task](size)


def _measure_kcnet(size: Size) -> dict:
    from kcnet_core import KCNetClassifier
    from kcnet_core.network.devices import choose_device
    from kcnet_core.network.ridge import bare_product_seconds

    device = choose_device(size.device)
    net = KCNetClassifier(size.n_hidden, alpha=ALPHA, device=size.device, random_state=0)
    libraries = _warmed_up(net)
    X, y = _rows(size)
    with PeakMemory() as memory:
        fit, product = _quickest(
            lambda: net.fit(X, y),
            # In turn with the fit: a machine that is busy for a while then slows both.
            lambda: bare_product_seconds(size.n_hidden, size.n_rows, device),
            memory,
        )
    seconds = {"fit": fit, "product": product}
    return {**seconds, "libraries": libraries, "peak": memory.peak, "data": X.nbytes}


def _warmed_up(model) -> int:
    """Start threads and load what is loaded late; returns the memory held then."""
    from sklearn.base import clone

    X, y = _made_rows(WARM_UP_ROWS)
    clone(model).fit(X, y)
    return psutil.Process().memory_info().rss


def _quickest(fit, product, memory) -> tuple[float, float]:
    fits: list[float] = []
    products: list[float] = []
    while len(fits) < REPEATS and sum(fits) < ENOUGH_SECONDS:
        started = time.perf_counter()
        fit()
        fits.append(time.perf_counter() - started)
        memory.stop()  # the peak is that of the first fit alone
        products.append(product())
    return min(fits), min(products)


def _measure_rival(size: Size) -> dict:
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline

    sampler = RBFSampler(gamma=1 / N_INPUTS, n_components=size.n_hidden, random_state=0)
    rival = make_pipeline(sampler, RidgeClassifier(alpha=ALPHA))
    _warmed_up(rival)
    X, y = _rows(size)
    with PeakMemory() as memory:
        fit, _ = _quickest(lambda: rival.fit(X, y), lambda: 0.0, memory)
    return {"fit": fit, "peak": memory.peak, "data": X.nbytes}


def _measure_path(size: Size) -> dict:
    from kcnet_core import KCNetClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(size.n_rows, PATH_INPUTS)).astype(np.float32)
    Y = (X[:, :PATH_LABELS] + rng.normal(size=(size.n_rows, PATH_LABELS)) > 1).astype(int)
    net = KCNetClassifier(size.n_hidden, device=size.device, random_state=0).fit(X, Y)
    grid = np.logspace(-3, 5, 33)
    started = time.perf_counter()
    net.ridge_path(grid)
    first = time.perf_counter() - started
    new = []
    for alpha in np.logspace(-2, 4, 15) * 1.234:
        started = time.perf_counter()
        path = net.ridge_path([alpha])
        path.coef(alpha)
        new.append(time.perf_counter() - started)
    return {"first": first, "new": float(np.median(new)), "n_alphas": len(grid)}


def _measure_molecules(size: Size) -> dict:
    import pandas as pd

    from kcnet_core.datasets import starter
    from kcnet_core.molecules.read import describe, read_frame, read_smiles

    table = pd.read_csv(starter.PATH, nrows=size.n_rows or None)
    # Every worker starts, on molecules that are in no list of odorants.
    describe(read_smiles("\n".join("C" * n + "NC(=S)C" for n in range(1, 100))))
    started = time.perf_counter()
    rows = read_frame(table, "smiles")
    checked = time.perf_counter()
    _, X = describe(rows)
    return {"n": len(X), "check": checked - started, "describe": time.perf_counter() - checked}


class PeakMemory:
    """The most memory that this process held while it was watched, by sampling."""

    def __enter__(self):
        self._process = psutil.Process()
        self.peak = self._process.memory_info().rss
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self):
        while not self._done.wait(SAMPLING_SECONDS):
            self.peak = max(self.peak, self._process.memory_info().rss)

    def stop(self, *_):
        self._done.set()
        self._thread.join()

    __exit__ = stop


def _rows(size: Size) -> tuple[np.ndarray, np.ndarray]:
    if size.data == "mnist":
        from kcnet_core import datasets

        dataset = datasets.load("mnist")
        return dataset.X[: size.n_rows].copy(), dataset.y[: size.n_rows].copy()
    return _made_rows(size.n_rows)


def _made_rows(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, N_CLASSES, n_rows)
    X = rng.standard_normal((n_rows, N_INPUTS), dtype=np.float32)
    X += rng.standard_normal((N_CLASSES, N_INPUTS), dtype=np.float32)[y]
    return X, y


if __name__ == "__main__":
    print(json.dumps(measure(Size(**json.loads(sys.argv[1])))))
