"""Where the arithmetic runs, and what is said when it does not fit."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from kcnet_core import KCNetClassifier
from kcnet_core.errors import KCNetError, OutOfMemory
from kcnet_core.network.devices import as_tensor, choose_device, computing, float64_device


def test_auto_takes_the_best_device_there_is():
    best = "cuda" if torch.cuda.is_available() else "cpu"
    if not torch.backends.mps.is_available():
        assert choose_device("auto").type == best


@pytest.mark.parametrize("name", ["cuda", "mps"])
def test_a_missing_device_is_refused_with_a_way_out(name, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(KCNetError, match='device="auto" or device="cpu"'):
        choose_device(name)


def test_an_unknown_device_is_named():
    with pytest.raises(KCNetError, match="tpu"):
        choose_device("tpu")


def test_float64_work_leaves_mps_for_the_processor():
    assert float64_device(torch.device("mps")).type == "cpu"
    assert float64_device(torch.device("cuda")).type == "cuda"


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB"),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes"),
        MemoryError("Unable to allocate 9 GiB"),
    ],
)
def test_running_out_of_memory_says_what_to_lower(error, monkeypatch):
    def fail(*_):
        raise error

    monkeypatch.setattr("kcnet_core.network.circuit.kenyon_activity", fail)
    with pytest.raises(OutOfMemory, match=r"2,000 hidden units.*Lower n_hidden.*device=\"cpu\""):
        KCNetClassifier().fit(torch.rand(20, 9).numpy(), [0, 1] * 10)


def test_other_errors_pass_and_torchs_threads_are_put_back():
    before = torch.get_num_threads()
    with pytest.raises(RuntimeError, match="shapes"), computing(10, "cpu"):
        assert torch.get_num_threads() == 1
        raise RuntimeError("shapes do not match")
    assert torch.get_num_threads() == before


FORKED_FIT = """
import os, signal
import numpy as np
from kcnet_core import KCNetClassifier
X = np.random.default_rng(0).normal(size=(1000, 100)).astype("float32")
y = np.arange(1000) % 3
fit = lambda: KCNetClassifier(n_hidden=100, random_state=0).fit(X, y).coef_
before = fit()
child = os.fork()
if child == 0:
    signal.alarm(60)
    os._exit(0 if np.array_equal(fit(), before) else 1)
raise SystemExit(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_fit_in_a_forked_child_ends_with_the_same_result():
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "2")
    ended = subprocess.run([sys.executable, "-c", FORKED_FIT], env={**os.environ, **threads})
    assert ended.returncode == 0


def test_rows_that_must_not_be_written_to_are_read_where_they_lie():
    rows = np.arange(12, dtype=np.float32).reshape(3, 4)
    rows.flags.writeable = False
    tensor = as_tensor(rows)
    assert tensor.data_ptr() == rows.ctypes.data
    assert not rows.flags.writeable
    del rows  # the tensor alone keeps the memory
    gc.collect()
    assert tensor.sum() == 66
    assert as_tensor(np.broadcast_to(np.float32(2), (2, 3))).sum() == 12
