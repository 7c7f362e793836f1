"""The benchmark measures what it says it measures, and prints it so that growth is visible."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest

from kcnet_core import __main__
from kcnet_core.commands import benchmark
from kcnet_core.commands.benchmark import PeakMemory, Size, measure
from kcnet_core.errors import KCNetError


def test_a_child_process_measures_time_and_memory_of_a_fit():
    found = benchmark._in_child(Size("kcnet", 400, 30, "made", "cpu"))
    assert found["data"] == 400 * 784 * 4
    assert found["fit"] > 0 and found["product"] > 0
    assert found["peak"] >= found["libraries"] > 50e6


def test_a_child_that_fails_is_explained():
    with pytest.raises(KCNetError, match="Measuring 10 rows with 20 cells failed: KeyError"):
        benchmark._in_child(Size("no such task", 10, 20, "made", "cpu"))


def test_peak_memory_notices_what_was_freed_again():
    with PeakMemory() as memory:
        before = memory.peak
        block = np.ones(12_500_000)  # 100 MB
        time.sleep(10 * benchmark.SAMPLING_SECONDS)
        del block
    assert memory.peak - before > 90e6


def test_the_lambda_path_is_timed_per_new_lambda():
    found = measure(Size("path", 120, 150, "made", "cpu"))
    assert found["new"] > 0 and found["first"] > 0 and found["n_alphas"] > 10


def test_molecules_are_timed_apart_from_checking_them():
    found = measure(Size("molecules", 12, 0, "starter"))
    assert found["n"] == 12 and found["check"] > 0 and found["describe"] > 0


def test_quick_run_prints_ratios_and_growth(monkeypatch, capsys):
    def pretend(size):
        if size.task == "path":
            return {"first": 0.5, "new": 0.004, "n_alphas": 33}
        if size.task == "molecules":
            return {"n": 40, "check": 0.02, "describe": 0.08}
        seconds = size.n_rows * size.n_hidden * 1e-5
        memory = {"libraries": 300e6, "peak": 400e6, "data": 50e6}
        fit = seconds if size.task == "kcnet" else 4 * seconds
        return {"fit": fit, "product": seconds / 2, **memory}

    monkeypatch.setattr(benchmark, "_in_child", pretend)
    assert __main__.main(["benchmark", "--quick"]) == 0
    printed = capsys.readouterr().out
    assert "Made data" in printed
    assert "the fit grows like N^1.00" in printed and "the fit grows like B^1.00" in printed
    line = re.search(r"^ +1,000 +100 .*$", printed, re.M)[0].split()
    columns = dict(zip(benchmark.COLUMNS, line, strict=True))
    assert (columns["fit/product"], columns["fit/RBF"]) == ("2.00", "0.25")
    assert (columns["peak-libs"], columns["of data"]) == ("95", "2.0")
    assert "4.0 ms for each new lambda" in printed
    assert "500 per second described (400 with checking)" in printed


def test_a_rival_that_would_not_fit_into_memory_is_left_out(monkeypatch):
    called = []
    monkeypatch.setattr(benchmark, "_in_child", called.append)
    assert benchmark._rival(Size("kcnet", 10**9, 10**4, "made")) is None
    assert not called


def test_real_mnist_is_used_when_it_is_there(shared_data, monkeypatch):
    monkeypatch.setenv("KCNET_DATA", str(shared_data))
    assert benchmark._data_here() == "mnist"
    X, y = benchmark._rows(Size("kcnet", 1000, 10, "mnist"))
    assert X.shape == (1000, 784) and X.dtype == np.float32 and set(y) == set(range(10))
    assert X.base is None, "a view would keep all of MNIST in memory"


@pytest.mark.slow
def test_the_cluster_is_measured_and_survives_a_kill(capsys):
    assert __main__.main(["benchmark", "--cluster", "--quick"]) == 0
    printed = capsys.readouterr().out
    assert "1 right results" in printed and "one worker takes" in printed
