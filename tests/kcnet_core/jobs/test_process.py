"""Runs in a process of their own: made, steered and ended as if they were made here."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from threading import Event

import numpy as np
import psutil
import pytest

from kcnet_core import datasets, limits
from kcnet_core.cluster.jobs import training
from kcnet_core.contracts import Counted, drain
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.run import Run
from kcnet_core.experiments.training import train_steps
from kcnet_core.jobs import Estimate, JobManager, measure_memory, process
from kcnet_core.jobs.process import WorkerLost, WorkerProcesses
from kcnet_core.jobs.worker.work import RESTING_SECONDS, StepsAhead
from tests.kcnet_core.jobs.made_work import counting, dying, failing, niceness, unreadable

SECONDS = 60  # after which a test fails
DATA = np.arange(300_000.0)  # large enough to be mapped
SERVER = """
import sys
from kcnet_core.contracts import drain
from kcnet_core.jobs.process import WorkerProcesses
from tests.kcnet_core.jobs.made_work import long_step
from tests.kcnet_core.jobs.test_process import apart
drain(apart(WorkerProcesses(), long_step, (sys.argv[1],)))
"""


class Reader:
    def read(self, item, offset):
        return item

    def result(self, result):
        return result


@pytest.fixture(scope="module")
def processes():
    made = WorkerProcesses()
    yield made
    made.close()


def apart(processes, work=counting, args=(5,), data=DATA, enough=lambda: False):
    loaded(processes)
    return processes.steps(work, args, data, Reader(), enough, here=refused)


def loaded(processes):
    """As on a server that was started some time ago."""
    processes.warm(needed=True)
    assert processes._idle[0].ready_within(SECONDS)


def refused():
    raise AssertionError("a process is ready")


def taken(steps):
    found = []
    while True:
        try:
            found.append(next(steps))
        except StopIteration as end:
            return found, end.value


def test_the_same_steps_and_result_and_the_process_is_used_again(processes):
    views, (done, pid, twice) = taken(apart(processes))
    assert views == [Counted(k, 5) for k in range(1, 6)] and done == 5
    assert np.array_equal(twice, 2 * DATA) and pid != os.getpid()
    twice[0] = 7  # whoever has a result may change it
    assert taken(apart(processes))[1][1] == pid


def test_no_further_step_is_made_than_is_asked_for(processes, tmp_path):
    note = tmp_path / "note"
    with closing(apart(processes, args=(500, str(note)))) as steps:
        next(steps)
        time.sleep(0.3)
        assert note.read_text().split() == ["1"]
        started = time.monotonic()
    assert time.monotonic() - started < SECONDS / 2, "a run that is given up ends at once"


def test_whoever_has_enough_gets_a_result_early(processes):
    enough = Event()
    steps = apart(processes, args=(100_000,), enough=enough.is_set)
    next(steps)
    enough.set()
    assert 1 <= taken(steps)[1][0] < 100_000


def test_an_error_is_that_of_the_work_and_the_process_stays(processes):
    pid = taken(apart(processes))[1][1]
    with pytest.raises(KCNetError, match="Row 3 is empty"):
        drain(apart(processes, failing, ("Row 3 is empty.",)))
    assert taken(apart(processes))[1][1] == pid


def test_a_killed_process_costs_its_run_a_sentence_and_the_next_run_nothing(processes):
    with pytest.raises(WorkerLost, match="no memory left"):
        drain(apart(processes, dying, ()))
    assert taken(apart(processes))[1][0] == 5


def test_after_half_a_message_a_process_is_not_used_again(processes):
    pid = taken(apart(processes))[1][1]
    with pytest.raises(TypeError):
        drain(apart(processes, unreadable, ()))
    assert taken(apart(processes))[1][:2] != (5, pid)


def test_a_signal_to_all_processes_leaves_it_to_the_server_how_runs_end(processes):
    steps = apart(processes)
    next(steps)
    (pid,) = [one.pid for one in processes._busy]
    os.kill(pid, signal.SIGTERM)
    assert taken(steps)[1][:2] == (5, pid)


def test_in_the_midst_of_a_long_step_a_process_ends_with_a_killed_server(tmp_path):
    note = tmp_path / "note"
    server = subprocess.Popen([sys.executable, "-c", SERVER, str(note)])
    until = time.monotonic() + SECONDS
    while not (note.exists() and note.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    pid = int(note.read_text())
    server.kill()
    server.wait()
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < until, "it goes on without anybody who wants it"
        time.sleep(0.1)


def test_one_that_waits_is_enough():
    made = WorkerProcesses()
    with closing(apart(made)) as one:
        next(one)
        with closing(apart(made)) as other:
            next(other)
    pids = [worker.pid for worker in made._idle]
    assert len(pids) == limits.MAX_RUNNING_JOBS
    made.trim()
    assert [worker.pid for worker in made._idle] == pids[:1]
    assert not any(map(psutil.pid_exists, pids[1:]))
    made.close()


def test_pages_go_first_and_a_full_machine_ends_runs_before_the_server(processes):
    there = taken(apart(processes, niceness, ()))[1]
    assert there > os.getpriority(os.PRIO_PROCESS, 0)
    pid = taken(apart(processes))[1][1]
    with open(f"/proc/{pid}/oom_score_adj") as told:
        assert int(told.read()) > 0


def test_memory_of_runs_counts_as_ours(processes, monkeypatch):
    drain(apart(processes))
    alone = measure_memory().used
    monkeypatch.setattr(process, "_of_server", processes)
    assert measure_memory().used > alone + 5 * limits.MEGABYTE


def test_processes_end_with_their_server():
    made = WorkerProcesses()
    pid = taken(apart(made))[1][1]
    made.close()
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_run_begins_at_once_here_while_no_process_has_loaded(monkeypatch):
    made = WorkerProcesses()
    views, (done, pid, _) = taken(
        made.steps(counting, (3,), DATA, Reader(), lambda: False, lambda: counting(DATA, no, 3))
    )
    assert len(views) == done == 3 and pid == os.getpid()
    assert taken(apart(made))[1][1] != pid  # the next has a process: it was begun meanwhile
    monkeypatch.setattr(process, "PATIENCE_SECONDS", SECONDS)
    with closing(apart(made)) as first:
        next(first)
        second = made.steps(counting, (3,), DATA, Reader(), no, refused)
        assert taken(second)[1][1] != pid  # beside a run it is waited for
    made.close()


def test_a_run_of_minutes_waits_until_its_process_has_loaded(monkeypatch):
    monkeypatch.setattr(process, "LONG_PATIENCE_SECONDS", SECONDS)
    made, expected = WorkerProcesses(), 2 * process.LONG_RUN_SECONDS
    steps = made.steps(counting, (3,), DATA, Reader(), no, refused, expected)
    assert taken(steps)[1][1] != os.getpid()
    made.close()


def no():
    return False


def test_a_training_is_bit_for_bit_the_same_and_can_be_paused_stepped_and_stopped(
    processes, monkeypatch
):
    monkeypatch.setattr(process, "_of_server", processes)
    loaded(processes)
    run = Run("digits", rows=400, model="DOA", n_hidden=60, n_epochs=8)
    dataset = datasets.load("digits")
    here = drain_views(train_steps(run, dataset))
    jobs = JobManager()
    steps, plan = training(run, dataset, lambda: False, Estimate(1.0, 2**20))
    assert plan.bytes == 2**20 and plan.bytes_here > process.PROCESS_BYTES
    job = jobs.submit("me", "train", run, steps, estimate=plan, paused=True)
    for n in (1, 2):
        job.control("me", "step")
        assert job.wait_for(lambda view, n=n: steps_in(view) == n and view.state == "paused", 60)
    job.control("me", "resume")
    assert job.wait(SECONDS) and job.view.state == "done", job.view.error
    there, film = job.result, job.view.snapshot
    assert there.scores == here.scores and there.dataset is dataset
    assert np.array_equal(there.probabilities, here.probabilities)
    assert np.array_equal(there.model.weights_, here.model.weights_)
    assert np.array_equal(there.model.coef_, here.model.coef_)
    assert [frame.epoch for frame in there.frames] == [frame.epoch for frame in here.frames]
    assert film.recent and film.recent[-1].made <= time.monotonic()
    steps, plan = training(run, dataset, lambda: False, Estimate())
    stopped = jobs.submit("me", "train", Run("digits", model="DOA"), steps, estimate=plan)
    assert stopped.wait_for(lambda view: view.snapshot is not None, SECONDS)
    stopped.control("me", "stop")
    assert stopped.wait(SECONDS) and stopped.view.state in ("cancelled", "done")


def steps_in(view):
    return view.snapshot.n_records if view.snapshot else 0


def drain_views(steps):
    return taken(steps)[1]


class Piece:
    def __init__(self, counts_as_step):
        self.counts_as_step = counts_as_step


def test_a_pause_after_many_pieces_is_a_rest():
    """Else the worker goes on while a person steps from epoch to epoch."""
    ahead, first = StepsAhead(), [Piece(False)] * 6 + [Piece(True)]
    for piece in first:
        with ahead:
            if piece.counts_as_step:
                time.sleep(1.5 * RESTING_SECONDS)
    assert ahead.taken(first) and ahead.seconds == 0
    for _ in first:
        with ahead:
            pass
    assert not ahead.taken(first) and ahead.seconds > 0
