"""Worker processes: what hangs or crashes costs its own row, and nothing outlives the server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import OrderedDict

import psutil
import pytest

from kcnet_core.contracts import drain
from kcnet_core.errors import KCNetError
from kcnet_core.molecules import pool as molecule_pool
from kcnet_core.molecules import read as description
from kcnet_core.molecules.pool import CHUNK_ITEMS, MoleculePool, Request
from kcnet_core.molecules.read import DESCRIPTOR_NAMES, describe, describe_steps, read_smiles

# Its descriptors hang (in C, holding Python's lock), crash or raise for chosen molecules.
FAULTY_WORKER = """
import ctypes, os
from kcnet_core.molecules.worker import __main__ as worker

def load():
    tasks = worker.load_tasks()
    real = tasks["describe"]
    def describe(smiles):
        if "Br" in smiles:
            ctypes.PyDLL(None).sleep(60)
        if "Cl" in smiles:
            os._exit(3)
        if "I" in smiles:
            raise RuntimeError("no iodine today")
        return real(smiles)
    return {**tasks, "describe": describe}

worker.main(load)
"""


@pytest.fixture
def faulty_command(tmp_path):
    script = tmp_path / "faulty_worker.py"
    script.write_text(FAULTY_WORKER)
    return (sys.executable, "-P", str(script))


@pytest.fixture
def faulty_pool(faulty_command, monkeypatch):
    pool = MoleculePool(size=2, command=faulty_command, seconds=1.0)
    monkeypatch.setattr(molecule_pool, "shared_pool", lambda: pool)
    monkeypatch.setattr(description._describe, "_replies", OrderedDict())
    yield pool
    pool.close()


def test_a_hanging_molecule_is_killed_at_the_limit_and_only_its_row_is_lost(faulty_pool):
    rows, X = describe(read_smiles("CCO\nCCBr\nCCC\nCCCC"))
    assert [row.ok for row in rows] == [True, False, True, True]
    assert "longer than 1 seconds" in rows[1].error
    assert len(X) == 3


def test_a_crashing_molecule_only_costs_its_row(faulty_pool):
    rows, X = describe(read_smiles("CCO\nCCCl\nCCC\nCCI\nCCCCl"))
    assert [row.ok for row in rows] == [True, False, True, False, False]
    assert "crashed" in rows[1].error
    assert "no iodine today" in rows[3].error
    assert len(X) == 2


def test_a_hanging_molecule_is_not_tried_again_at_once(faulty_pool, monkeypatch):
    rows = read_smiles("CCBr")
    describe(rows)
    monkeypatch.setattr(molecule_pool, "Request", lambda *_: pytest.fail("it was tried again"))
    again, _ = describe(rows)
    assert "longer than" in again[0].error


def test_after_several_hanging_molecules_the_rest_is_left_undone(faulty_pool, monkeypatch):
    monkeypatch.setattr(molecule_pool, "MAX_KILLED_MOLECULES", 3)
    faulty_pool.seconds = 0.2
    chains = ["C" * n for n in range(1, 8)]
    rows, X = describe(read_smiles("\n".join(f"{chain}Br" for chain in chains)))
    late = [row for row in rows if "longer than" in row.error]
    undone = [row for row in rows if "Not computed" in row.error]
    assert len(X) == 0 and len(late) == 3 and len(undone) == 4


def test_closing_the_steps_ends_a_hanging_computation_and_keeps_what_was_computed(
    faulty_pool, monkeypatch
):
    faulty_pool.seconds = 60.0
    rows = read_smiles("\n".join(["CCO", "CCBr"] + ["C" * n for n in range(2, 60)]))
    steps = describe_steps(rows)
    assert next(steps).total == len(rows)
    steps.close()
    (computed, *_) = description._describe._replies
    others = read_smiles("\n".join("N" + "C" * n for n in range(1, 40)))
    assert len(describe(others)[1]) == len(others)  # so both workers are free again
    rows = [row for row in rows if row.molecule.smiles == computed]
    monkeypatch.setattr(molecule_pool, "Request", lambda *_: pytest.fail("it was forgotten"))
    assert len(describe(rows)[1]) == 1


def test_progress_counts_every_molecule_once_in_the_callers_thread(faulty_pool):
    rows = read_smiles("\n".join("C" * n for n in range(1, 51)))
    seen = []
    drain(describe_steps(rows), lambda n, total: seen.append((n, total, threading.get_ident())))
    assert seen == [(n, 50, threading.get_ident()) for n in range(1, 51)]


def test_a_progress_callback_that_raises_leaves_the_pool_usable(faulty_pool):
    rows = read_smiles("\n".join("C" * n for n in range(1, 51)))

    def fail(done, total):
        raise RuntimeError("the page was left")

    with pytest.raises(RuntimeError, match="the page was left"):
        drain(describe_steps(rows), fail)
    assert len(describe(rows)[1]) == 50


def test_two_threads_get_their_own_answers(faulty_pool):
    texts = {
        "a": "\n".join("C" * n for n in range(1, 60)),
        "b": "\n".join("N" + "C" * n for n in range(1, 60)),
    }
    found = {}

    def work(key):
        rows, X = describe(read_smiles(texts[key]))
        weights = [row.molecule.weight for row in rows]
        found[key] = (weights, X[:, DESCRIPTOR_NAMES.index("MolWt")])

    threads = [threading.Thread(target=work, args=(key,)) for key in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    for weights, column in found.values():
        assert weights == pytest.approx(list(column), rel=1e-5)
    assert len(found) == 2


def test_a_small_request_gets_its_turn_before_a_large_one_is_through(faulty_command):
    pool = MoleculePool(size=1, command=faulty_command, seconds=5.0)
    large = ["C" * n for n in range(1, 21)] * 10
    order = []
    pool.run("check", ["C"])

    def small():
        pool.run("describe", ["CCO"])
        order.append("small")

    started = threading.Event()
    thread = threading.Thread(target=lambda: (started.wait(10), small()))
    thread.start()
    drain(Request(pool, "describe", large).steps(), lambda done, total: started.set())
    order.append("large")
    thread.join(timeout=30)
    pool.close()
    assert order == ["small", "large"]


def test_a_small_request_starts_one_process_only(faulty_command):
    pool = MoleculePool(size=2, command=faulty_command)
    before = {child.pid for child in psutil.Process().children()}
    pool.run("check", ["C"] * CHUNK_ITEMS)
    assert len({child.pid for child in psutil.Process().children()} - before) == 1
    pool.close()
    assert {child.pid for child in psutil.Process().children()} <= before


def test_a_worker_that_died_while_idle_is_replaced_without_blame(faulty_command):
    pool = MoleculePool(size=1, command=faulty_command)
    before = {child.pid for child in psutil.Process().children()}
    pool.run("check", ["C"])
    (worker,) = [child for child in psutil.Process().children() if child.pid not in before]
    worker.kill()
    worker.wait(10)
    assert pool.run("check", ["CC"])[0].failure is None
    pool.close()


def test_a_worker_killed_while_it_starts_is_started_once_more(tmp_path):
    script = tmp_path / "worker.py"
    first = tmp_path / "first"
    script.write_text(
        f"import os, pathlib, signal\nfirst = pathlib.Path({str(first)!r})\n"
        "if not first.exists():\n    first.touch()\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        + FAULTY_WORKER
    )
    pool = MoleculePool(size=1, command=(sys.executable, "-P", str(script)))
    assert pool.run("check", ["CC"])[0].failure is None
    assert first.exists()
    pool.close()


def test_a_worker_that_cannot_start_says_why():
    pool = MoleculePool(size=1, command=(sys.executable, "-c", "raise SystemExit(1)"))
    with pytest.raises(KCNetError, match="could not be started"):
        pool.run("check", ["C"])


def test_why_a_worker_cannot_start_is_for_the_log_only(caplog):
    code = (
        "from kcnet_core.molecules.worker.__main__ import main\n"
        "def load(): raise OSError('/srv/secret/rdkit.so')\n"
        "main(load)"
    )
    pool = MoleculePool(size=1, command=(sys.executable, "-c", code))
    with pytest.raises(KCNetError) as caught:
        pool.run("check", ["C"])
    assert "/srv" not in str(caught.value) and "/srv/secret/rdkit.so" in caplog.text


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "hanging"])
def test_workers_end_when_the_server_is_killed(faulty_command, busy):
    code = (
        "import sys, threading\n"
        "from kcnet_core.molecules.pool import MoleculePool\n"
        f"pool = MoleculePool(size=1, command={faulty_command!r}, seconds=1.0)\n"
        "pool.run('check', ['C'])\n"
        "print(pool._processes[0]._process.pid, flush=True)\n"
        + ("pool.seconds = 3.0; pool.run('describe', ['CBr'])\n" if busy else "sys.stdin.read()\n")
    )
    server = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    worker = psutil.Process(int(server.stdout.readline()))
    time.sleep(0.5 if busy else 0.0)  # long enough to be inside the hanging call
    os.kill(server.pid, signal.SIGKILL)
    server.wait(10)
    server.stdin.close()
    server.stdout.close()
    deadline = time.monotonic() + 20
    while _alive(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(worker)


def _alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
