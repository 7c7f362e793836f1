"""Jobs whose steps a worker makes: steered, shown and ended as if they were made here."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from contextlib import closing, nullcontext
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import distributed
import numpy as np
import pytest

from kcnet_core import datasets
from kcnet_core.cluster import ClusterError, board, on_worker, shared, steps, train, watching
from kcnet_core.cluster.jobs import (
    app_cluster,
    elsewhere,
    measured_elsewhere,
    placed,
    training,
)
from kcnet_core.contracts import Counted, drain
from kcnet_core.errors import KCNetError, OutOfMemory
from kcnet_core.experiments.beside.plan import Beside
from kcnet_core.experiments.beside.steps import beside_job
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.comparison.search import SearchPlan, search_job, training_part
from kcnet_core.experiments.run import Run
from kcnet_core.jobs import Estimate, JobManager, NotOwner
from kcnet_core.jobs.worker.work import RESTING_SECONDS
from kcnet_core.molecules.text import split_lines
from tests.conftest import run_aside

RUN = Run("digits", rows=400, model="DOA", n_hidden=60, n_epochs=8)
SECONDS = 60  # after which a test fails


class Rows:
    """Some data."""

    content = tuple(range(5))


ROWS = Rows()


def counting(rows, enough, n, note=None, deadly=None):
    """Counts to n, or until it is enough; notes every step, and kills its first worker once."""
    done = 0
    for done in range(1, n + 1):
        if note:
            with Path(note).open("a") as file:
                file.write(f"{done}\n")
        if deadly and done == 3 and not Path(deadly).exists():
            Path(deadly).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield Counted(done, n)
        if enough():
            break
    return done, type(rows).__name__


def failing(rows, enough, error):
    yield Counted(0, 1)
    raise error


def at(client, work=counting, args=(5,), data=ROWS, **options):
    return steps.steps_there(client.scheduler.address, work, args, data, **options)


def taken(generator):
    """All that it yields, and what it returns."""
    found = []
    while True:
        try:
            found.append(next(generator))
        except StopIteration as end:
            return found, end.value


def counted(views):
    """Without signs of life."""
    return [view.done for k, view in enumerate(views) if not k or view != views[k - 1]]


def test_the_same_steps_and_the_same_result(client):
    views, result = taken(at(client))
    assert counted(views) == [1, 2, 3, 4, 5] and result == (5, "Rows")


def test_a_worker_goes_no_further_than_it_is_asked(client, tmp_path):
    note = tmp_path / "note"
    with closing(at(client, args=(500, str(note)))) as there:
        next(there)
        Event().wait(0.5)
        assert note.read_text().split() == ["1"]
    drain_runs(client)


def drain_runs(client):
    """Wait until no worker holds a run any more."""
    for _ in range(SECONDS * 10):
        if all(not runs for runs in client.run(_held).values()):
            return
        Event().wait(0.1)
    raise AssertionError("a worker still holds a run that nobody wants")


def _held(dask_worker):
    runs = getattr(dask_worker, "kcnet_runs", None)
    return list(runs._runs) if runs else []


def slow(rows, enough, note):
    for done in range(1, 100):
        Event().wait(0.4)  # longer than an answer waits for it
        with Path(note).open("a") as file:
            file.write(f"{done}\n")
        yield Counted(done, 100)


def test_a_step_that_comes_late_is_the_next_answer_and_no_reason_for_another(tmp_path):
    note, ended = tmp_path / "note", Event()
    order = on_worker.Order("id", pickle.dumps((slow, (str(note),))), "key", 0)
    run = on_worker.WorkerRun(order, ROWS, lambda _: ended.set())

    def asked():
        return run_aside(run.more(0.0, False)).items

    assert asked() == []
    Event().wait(0.6)
    assert asked() == [Counted(1, 100)]  # and that the first one's event loop is closed harms none
    Event().wait(0.6)
    assert note.read_text().split() == ["1"]
    run.end()
    assert ended.wait(SECONDS)


def test_whoever_has_enough_gets_a_result_early(client):
    enough = Event()
    there = at(client, args=(10_000,), enough=enough.is_set)
    next(there)
    enough.set()
    _, (done, _) = taken(there)
    assert 1 <= done < 10_000


def test_errors_are_those_of_the_work(client):
    with pytest.raises(KCNetError, match="Row 3 is empty"):
        drain(at(client, failing, (KCNetError("Row 3 is empty."),)))
    drain_runs(client)


def test_what_nobody_asks_for_any_more_is_given_up(client, monkeypatch):
    """As when the web process that wanted it was killed: no word comes, not even an end."""
    client.wait_for_workers(2)  # one that another test killed comes back with patience
    client.run(_be_impatient, 0.5)
    monkeypatch.setattr(steps, "wanted", lambda *_: nullcontext())
    try:
        left, ended = at(client, args=(500,)), at(client, args=(1,))
        next(left), next(ended)
        drain_runs(client)
    finally:
        client.run(_be_impatient, on_worker.LEASE_SECONDS)
    assert counted(taken(left)[0])[-1] == 500  # if somebody does, it is made again


def _be_impatient(seconds):
    on_worker.LEASE_SECONDS = seconds


def test_a_killed_worker_has_its_steps_made_again_and_nothing_is_shown_twice(client, tmp_path):
    note, deadly = tmp_path / "note", tmp_path / "deadly"
    views, result = taken(at(client, args=(6, str(note), str(deadly))))
    assert counted(views) == [1, 2, 3, 4, 5, 6] and result == (6, "Rows")
    assert note.read_text().split() == ["1", "2", "3", "1", "2", "3", "4", "5", "6"]


def test_data_travel_once(client, monkeypatch):
    sent, data, say = [], Rows(), shared.say
    monkeypatch.setattr(steps, "say", lambda *a, **told: sent.append(told) or say(*a, **told))
    for _ in range(4):
        drain(at(client, data=data))
    assert sum("data" in told for told in sent) <= 2  # workers


def test_memory_is_planned_where_the_work_is(client):
    with pytest.raises(OutOfMemory, match="This run needs about"):
        drain(at(client, need=10**15))
    client.wait_for_workers(2)  # one that another test killed comes back
    most = min(one.most for one in steps.conditions(client).values())
    large = [at(client, args=(3,), need=int(0.7 * most)) for _ in range(3)]
    first = [next(one) for one in large]
    assert first[:2] == [Counted(1, 3)] * 2
    assert first[2] == Counted(0, None)  # it waits: there are two workers
    assert taken(large[0])[1] and taken(large[2])[1] == (3, "Rows")
    large[1].close()
    drain_runs(client)


@pytest.fixture
def app(client, monkeypatch):
    """The app's jobs go to the cluster."""
    monkeypatch.setenv("KCNET_CLUSTER", client.scheduler.address)
    return JobManager()


def loaded(run):
    return datasets.load(run.dataset, **run.data_options())


def submitted(manager, owner="me", paused=False):
    enough, dataset = Event(), datasets.load("digits")
    made, cost = training(RUN, dataset, enough.is_set, Estimate(1.0, 10**7))
    return manager.submit(
        owner, "train", RUN, made, estimate=cost, finish=enough.set, paused=paused
    )


def test_a_run_on_a_worker_is_the_run_here(client, app, monkeypatch):
    job = submitted(app)
    assert job.wait(SECONDS) and job.view.state == "done", job.view.error
    there = job.result
    monkeypatch.setenv("KCNET_CLUSTER", "")
    job = submitted(app)
    assert job.wait(SECONDS)
    here = job.result
    np.testing.assert_allclose(there.model.coef_, here.model.coef_, atol=1e-5)
    np.testing.assert_array_equal(there.model.weights_, here.model.weights_)
    assert there.dataset is here.dataset or there.dataset.title == here.dataset.title
    assert [f.epoch for f in there.frames] == [f.epoch for f in here.frames]
    np.testing.assert_array_equal(there.frames[0].W, here.frames[0].W)
    assert len(there.records) == len(here.records) and there.has_sums


def test_there_is_a_slot_for_every_thread_of_a_worker(client, app, monkeypatch):
    drain(at(client))
    assert elsewhere(loaded).slots() == sum(client.nthreads().values())
    monkeypatch.setenv("KCNET_CLUSTER", "")
    assert elsewhere(loaded).slots() == 0


def test_the_app_goes_on_here_while_no_scheduler_answers_if_it_was_told_to(client, monkeypatch):
    there, nowhere = client.scheduler.address, "tcp://127.0.0.1:9"
    monkeypatch.setenv("KCNET_CLUSTER", nowhere)
    assert app_cluster() == nowhere
    monkeypatch.setenv("KCNET_CLUSTER_GONE", "here")
    assert app_cluster() is None
    job = submitted(JobManager(elsewhere=elsewhere(loaded)))
    assert job.wait(SECONDS) and job.view.state == "done", job.view.error
    monkeypatch.setenv("KCNET_CLUSTER", there)
    assert app_cluster() == there


def test_a_run_on_a_worker_is_steered_like_any_other(app):
    job = submitted(app, paused=True)
    for n in (1, 2, 3):
        job.control("me", "step")
        assert job.wait_for(lambda view, n=n: made(view) == n and view.state == "paused", SECONDS)
        Event().wait(2 * RESTING_SECONDS)  # a person's hand
        assert made(job.view) == n
        film = job.view.snapshot.recent
        assert film and all(frame.S is None and frame.W is None for frame in film)
    with pytest.raises(NotOwner):
        job.control("somebody", "stop")
    job.control("me", "finish")
    assert job.wait(SECONDS) and job.result.run.n_epochs < RUN.n_epochs
    job = submitted(app)
    assert job.wait_for(lambda view: view.n_snapshots > 0, SECONDS)
    job.control("me", "stop")
    assert job.wait(SECONDS) and job.view.state in ("cancelled", "done")


def made(view):
    return view.snapshot.n_records if view.snapshot else 0


def test_what_a_worker_sends_is_no_more_than_a_picture():
    """Of a network whose matrices have 20 times as many entries."""
    large = Run("digits", rows=400, model="DOA", n_hidden=5_000, n_epochs=3)
    work = train._train(datasets.load("digits"), lambda: False, large)
    sizes = [len(pickle.dumps(item)) for item, _ in zip(work, range(12), strict=False)]
    matrices = 5_000 * 64 * 5  # bytes of S and W
    assert max(sizes) < matrices / 4, sizes
    assert sum(sizes[-3:]) < 3 * max(sizes)


def test_two_web_processes_share_a_cluster_and_nobody_steers_the_others_jobs(client, app):
    """Each has a queue and a client of its own."""
    other, address = JobManager(), client.scheduler.address
    mine = submitted(app, "me")
    assert mine.wait_for(lambda view: view.n_snapshots > 0, SECONDS)
    first = shared._clients.pop(address)  # as another process would not have it
    try:
        theirs = submitted(other, "they")
        assert mine.wait(SECONDS) and theirs.wait(SECONDS)
        assert shared._clients[address] is not first
    finally:
        shared._clients.pop(address).close()
        shared._clients[address] = first
    assert mine.view.state == theirs.view.state == "done", (mine.view.error, theirs.view.error)
    assert app.get(theirs.id) is None and not app.owned_by("they")
    assert other.get(theirs.id) is theirs and other.owned_by("they") == [theirs]
    with pytest.raises(NotOwner):
        theirs.control("me", "stop")


OTHER_PROCESS = """
import sys
from threading import Event
from types import SimpleNamespace
from kcnet_core import datasets
from kcnet_core.cluster.jobs import elsewhere, training
from kcnet_core.experiments.run import Run
from kcnet_core.jobs import Estimate, JobManager
manager = JobManager(elsewhere=elsewhere(None))
for n_epochs in (8, 9):
    run = Run("digits", rows=400, model="DOA", n_hidden=60, n_epochs=n_epochs)
    steps, cost = training(run, datasets.load("digits"), lambda: False, Estimate(1.0, 10**7))
    job = manager.submit("they", "train", run, steps, estimate=cost, title="theirs", paused=True)
    print(job.id, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other_process(app):
    """Another web process at the same cluster, with two runs that wait; their ids, and itself."""
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", OTHER_PROCESS], **options) as process:
        ids = [process.stdout.readline().strip() for _ in range(2)]
        yield *ids, process
        process.kill()


def found(manager, job_id):
    """The job of another process, as soon as that has told of it."""
    for _ in range(SECONDS * 10):
        if (job := manager.get(job_id)) is not None:
            return job
        Event().wait(0.1)
    raise AssertionError("the other process does not show its job")


def drawn_until(seen, manager, job_id):
    """As a page does, which asks for the job again and again."""
    for _ in range(SECONDS * 10):
        if seen(manager.get(job_id)):
            return
        Event().wait(0.1)
    raise AssertionError(manager.get(job_id).view)


def test_a_job_is_watched_and_steered_by_its_owner_from_another_web_process(
    other_process, client, monkeypatch
):
    job_id = other_process[0]
    manager = JobManager(elsewhere=elsewhere(loaded))
    job = found(manager, job_id)
    assert (job.view.state, job.title) == ("paused", "theirs")
    assert manager.get("x" + job_id[1:]) is None and not manager.owned_by("they")
    with pytest.raises(NotOwner):
        job.control("me", "resume")
    job.control("they", "step")
    drawn_until(lambda job: job.view.snapshot and job.view.snapshot.n_records == 1, manager, job_id)
    drawn_until(lambda job: job.view.state == "paused", manager, job_id)
    assert job.view.snapshot.recent[-1].W_small.shape
    job.control("they", "resume")
    drawn_until(lambda job: job.view.finished and job.result, manager, job_id)
    assert job.view.state == "done", job.view.error
    ends_with_a_sentence_when_its_process_is_gone(manager, *other_process[1:], client)
    monkeypatch.setenv("KCNET_CLUSTER", "")
    here = drain(training(RUN, datasets.load("digits"), lambda: False, Estimate())[0]())
    assert job.result.scores == here.scores and not job.result.has_sums
    assert len(job.result.dataset.X) == len(here.dataset.X)
    np.testing.assert_array_equal(job.result.model.weights_, here.model.weights_)


def ends_with_a_sentence_when_its_process_is_gone(manager, job_id, process, client):
    job = found(manager, job_id)
    process.kill()
    client.run_on_scheduler(_no_patience)
    try:
        assert job.wait(SECONDS) and job.view.error == watching.LEFT
        assert manager.get(job_id) is None
    finally:
        client.run_on_scheduler(_no_patience, board.LEASE_SECONDS)


def _no_patience(seconds=0.5, *, dask_scheduler):
    dask_scheduler.handlers[board.OP].__self__.lease = seconds


def test_a_scheduler_that_was_started_anew_is_given_a_board_again(monkeypatch):
    installed, connection = [], type("Connection", (), {})
    client = SimpleNamespace(
        scheduler_comm=connection(), run_on_scheduler=installed.append,
        sync=lambda *_, **__: "told", scheduler=SimpleNamespace(kcnet_board=None),
    )  # fmt: skip
    monkeypatch.setattr(watching, "shared_client", lambda _: client)
    shared_jobs = watching.SharedJobs("tcp://127.0.0.1:9", loaded)
    for n_boards in (1, 1, 2):
        if n_boards == 2:
            client.scheduler_comm = connection()  # Dask connects the same client again
        assert shared_jobs._say("post", names=[]) == "told"
        assert installed == [board.install] * n_boards


def test_a_search_and_a_growth_on_a_worker_are_those_here(app, monkeypatch):
    dataset = datasets.load("digits")
    plan = SearchPlan(Comparison("digits", rows=300, models=("ELM",)), "ELM", 20, 2, "accuracy", 2)
    pair = Beside(Comparison("digits", rows=200), 200, 1)
    jobs = {
        "search": (search_job(plan, dataset), (plan, ())),
        "beside": (beside_job(pair, dataset), (pair, ())),
    }
    for name, (job, args) in jobs.items():
        sent = measured_elsewhere(job, name, dataset, args)
        assert sent.cost.elsewhere and sent.cost.bytes == job.cost.bytes and sent is not job
        *_, here = job.steps()
        *_, there = sent.steps()
        assert len(here.items) == len(there.items) >= 2
        for one, other in zip(here.items, there.items, strict=True):
            if name == "search":
                assert (one.params, one.value) == (other.params, other.value)
            else:
                np.testing.assert_allclose(one.scores, other.scores, atol=1e-6)
    monkeypatch.setenv("KCNET_CLUSTER", "")
    assert measured_elsewhere(job, name, dataset, args) is job


def test_molecules_are_smelled_and_a_nose_is_measured_on_a_worker(app):
    from kcnet_core.smell.answers import smell_steps
    from kcnet_core.smell.flies import FlySettings
    from kcnet_core.smell.nose import train_nose

    starter = datasets.load("starter")
    few, settings = training_part(starter, np.arange(90)), FlySettings(n_flies=2, n_hidden=30)
    nose, lines = train_nose(few, settings), split_lines("CCO\nvanillin\nnothing")
    made, cost = placed("smell", nose, (lines, None), Estimate(1.0, 10), lambda: iter(()))
    there, here = drain(made()), drain(smell_steps(nose, lines))
    assert cost.elsewhere and [row.ok for row in there.rows] == [row.ok for row in here.rows]
    for one, other in zip(there.answers, here.answers, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_allclose(one.probabilities, other.probabilities, atol=1e-6)
    made, _ = placed("quality", few, (settings,), Estimate(), lambda: iter(()))
    steps = made()
    assert next(steps).total
    steps.close()


def test_a_job_ends_with_a_sentence_when_the_scheduler_is_gone():
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
    ) as cluster:
        there = steps.steps_there(cluster.scheduler_address, counting, (500,), ROWS)
        next(there)
        cluster.close()
        with pytest.raises(ClusterError, match="scheduler is gone"):
            drain(there)
