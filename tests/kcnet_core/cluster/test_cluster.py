"""A cluster of two worker processes: the results of one machine, also when a worker is killed."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import distributed
import numpy as np
import pytest
from sklearn.base import clone

from kcnet_core import ELMClassifier, KCNetClassifier, datasets
from kcnet_core.__main__ import main
from kcnet_core.cluster import (
    ClusterError,
    compare_steps,
    connection,
    fit,
    reproduce_steps,
    search_steps,
    spread,
    spreading,
)
from kcnet_core.cluster import rows as rows_there
from kcnet_core.cluster.connection import submit, worker_addresses
from kcnet_core.cluster.fits import _dealt
from kcnet_core.cluster.jobs import comparison_elsewhere, recipe_elsewhere
from kcnet_core.cluster.sources import FileRows, Source, source
from kcnet_core.cluster.spread import as_they_finish
from kcnet_core.cluster.steps import steps_there
from kcnet_core.contracts import drain
from kcnet_core.errors import DataError, KCNetError
from kcnet_core.experiments.comparison import rows as here
from kcnet_core.experiments.comparison import search
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.network.regression.chunks import _symmetric, _triangle
from kcnet_core.paper import engine
from kcnet_core.paper.dataset_cache import DatasetCache
from kcnet_core.paper.recipe import Recipe, RecipeLine, Tuning
from kcnet_core.paper.unit import identity, unit_steps
from kcnet_core.storage.journal import Journal

UNIT = rows_there._unit
RNG = np.random.default_rng(0)
X = RNG.normal(size=(900, 24)).astype(np.float32)
SCORES = X @ RNG.normal(size=(24, 5)) + RNG.normal(size=(900, 5))
Y = SCORES.argmax(1) + 10
W = RNG.integers(1, 4, 900).astype(float)
SECONDS = 60  # at most
NET = KCNetClassifier(120, alpha=3.0, random_state=0)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    for name, array in (("X", X), ("y", Y), ("w", W)):
        np.save(folder / f"{name}.npy", array)
    return [str(folder / f"{name}.npy") for name in "Xyw"]


def same(net, whole):
    np.testing.assert_array_equal(net.weights_, whole.weights_)
    np.testing.assert_allclose(net.coef_, whole.coef_, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(net.predict_proba(X), whole.predict_proba(X), atol=1e-4)
    np.testing.assert_array_equal(net.classes_, whole.classes_)


@pytest.mark.parametrize(
    ("net", "chunk_rows"),
    [(NET, 100), (NET, 900), (ELMClassifier(90, alpha=0.1, random_state=2), 333)],
)
def test_a_cluster_gives_the_network_of_one_machine(client, net, chunk_rows):
    whole = clone(net).fit(X, Y, W)
    same(fit(clone(net), X, Y, W, client=client, chunk_rows=chunk_rows), whole)
    same(fit(clone(net), X, Y, W, chunk_rows=chunk_rows), whole)


def test_fewer_rows_than_cells_are_no_exception(client):
    net = KCNetClassifier(1200, random_state=0)
    same(fit(clone(net), X, Y, client=client, chunk_rows=300), clone(net).fit(X, Y))


def test_files_and_memory_maps_are_read_where_the_work_is(client, files):
    whole = clone(NET).fit(X, Y, W)
    mapped = [np.load(name, mmap_mode="r") for name in files]
    same(fit(clone(NET), *files, client=client, chunk_rows=300), whole)
    same(fit(clone(NET), *mapped, chunk_rows=300), whole)
    for rows in (files, mapped):
        parts = source(*rows, chunk_rows=200).chunks
        assert all(isinstance(part, FileRows) for chunk in parts for part in chunk)


@pytest.mark.parametrize(("n_rows", "n_lanes"), [(60_000, 2), (60_000, 3), (5, 2), (1, 4)])
def test_every_worker_gets_as_many_rows_where_no_chunk_size_is_asked_for(n_rows, n_lanes):
    X = np.zeros((n_rows, 1))
    rows = source(X, X[:, 0], chunk_rows=8192, n_lanes=n_lanes)
    sizes = rows.n_rows
    assert sum(sizes) == n_rows and max(sizes) <= 8192 and len(set(sizes[:-1])) <= 1
    lanes = [sum(sizes[k] for k in lane) for lane in _dealt(rows, n_lanes)]
    assert max(lanes) - min(lanes) <= len(sizes)


def test_dask_arrays_however_they_are_cut(client):
    da = pytest.importorskip("dask.array")
    whole = clone(NET).fit(X, Y)
    lazy = da.from_array(X - 1, chunks=(300, 10)) + 1
    same(fit(clone(NET), lazy, da.from_array(Y, chunks=400), client=client), whole)
    same(fit(clone(NET), lazy, Y), whole)
    same(fit(clone(NET), client.persist(lazy), Y, client=client), whole)
    with pytest.raises(KCNetError, match="compute_chunk_sizes"):
        fit(clone(NET), lazy[lazy[:, 0] > 0], Y, client=client)


def generated(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(100, 8)).astype(np.float32)
    return rows, rows.argmax(1)


def test_functions_make_their_rows_on_the_workers(client):
    parts = [partial(generated, seed) for seed in range(7)]
    rows, labels = map(np.concatenate, zip(*(part() for part in parts), strict=True))
    net = KCNetClassifier(60, random_state=0)
    found = fit(clone(net), parts, client=client)
    np.testing.assert_allclose(found.coef_, clone(net).fit(rows, labels).coef_, atol=1e-5)


def test_doa_searches_on_a_sample_and_reads_out_all_rows(client):
    net = KCNetClassifier(20, n_epochs=3, random_state=0)
    whole = clone(net).fit(X, Y)
    same(fit(clone(net), X, Y, client=client, chunk_rows=250), whole)


@pytest.mark.parametrize("n", [1, 5, 8, 50])
def test_of_a_sum_one_triangle_travels(n):
    A = RNG.normal(size=(n, n))
    A += A.T
    bands = _triangle(A)
    assert sum(map(np.size, bands)) <= n * n * (1 + 1 / min(n, 8)) / 2 + n
    np.testing.assert_array_equal(_symmetric(bands), A)


def test_what_travels_is_one_sum_for_each_worker(client):
    """Tasks by worker: a lane that changed its worker would show as a transfer of its sums."""
    before = {a: n["transfers"] for a, n in client.run(_transferred).items()}
    fit(clone(NET), X, Y, client=client, chunk_rows=30)  # 30 chunks
    sums = 8 * NET.n_hidden**2
    moved = sum(n["transfers"] - before[a] for a, n in client.run(_transferred).items())
    workers = len(worker_addresses(client))
    assert moved <= 4 * workers * sums  # a copy of the start, a merge; 30 chunks would be 30 sums


def _transferred(dask_worker):
    log = dask_worker.transfer_incoming_log
    return {"transfers": sum(entry["total"] for entry in log)}


def test_lanes_have_equal_shares_of_the_rows():
    lanes = _dealt(Source([()] * 6, [100, 100, 100, 100, 100, 300]), 2)
    assert lanes == [[0, 1, 2, 3], [4, 5]]
    assert _dealt(Source([()] * 2, None), 5) == [[0], [1]]


def test_mistakes_are_sentences_that_name_the_rows(client):
    bad = X.copy()
    bad[612, 3] = np.inf
    with pytest.raises(DataError, match=r"rows 600 to 799: Row 12, column 3 of X is infinity"):
        fit(clone(NET), bad, Y, client=client, chunk_rows=200)
    with pytest.raises(DataError, match="X has 900 rows, but y has 10"):
        fit(clone(NET), X, Y[:10], client=client)
    with pytest.raises(DataError, match="only once"):
        fit(clone(NET), iter([(X, Y)]), client=client)
    with pytest.raises(DataError, match="no file"):
        fit(clone(NET), "nowhere.npy", Y, client=client)
    with pytest.raises(DataError, match="has not met"):
        fit(clone(NET), [lambda: (X[:50], Y[:50] * 0), lambda: (X, Y)], client=client)


def test_a_cluster_that_is_not_there_is_a_sentence(monkeypatch):
    monkeypatch.setattr(connection, "CONNECT_SECONDS", 0.5)
    with pytest.raises(KCNetError, match=r"No scheduler answers at tcp://127\.0\.0\.1:9"):
        fit(clone(NET), X, Y, client="tcp://127.0.0.1:9")
    with pytest.raises(KCNetError, match="asks for certificates"):
        fit(clone(NET), X, Y, client="tls://127.0.0.1:9")


def test_without_dask_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(KCNetError, match="pip install dask distributed"):
        fit(clone(NET), X, Y, client="local")
    with pytest.raises(KCNetError, match="pip install dask distributed"):
        drain(steps_there("tcp://127.0.0.1:9", len, (), NET))  # a job of the app
    fit(clone(NET), X, Y)  # here it is not needed


TIMES = {"seconds", "configure_seconds", "fit_seconds", "evaluate_seconds", "search_seconds"}
MEASURED = TIMES | {"load", "threads", "time"}
CELLS = {"n_hidden": 30, "alpha": 1.0}
RECIPE = Recipe(
    name="tried", title="", where="", question="", group="tables",
    lines=(
        RecipeLine("KCNet", "KCNet", "digits", CELLS),
        RecipeLine("tuned", "ELM", "digits", {"n_hidden": 20}, tuning=Tuning(2, n_folds=2)),
    ),
    repeats=2,
)  # fmt: skip


def untimed(row):
    """What must be the same; the last digits depend on how many threads torch has."""
    same = {key: value for key, value in row.items() if key not in MEASURED}
    return {key: round(v, 6) if isinstance(v, float) else v for key, v in same.items()}


def rows_of(journal):
    return {row["id"]: untimed(row) for row in journal.having("line")}


def test_a_recipe_has_the_same_rows_in_the_same_journal(client, tmp_path, monkeypatch):
    monkeypatch.setattr(rows_there, "MOST_CLAIMED", 1)  # so that the rest is claimed on the way
    one, two = Journal(tmp_path / "one.jsonl"), Journal(tmp_path / "two.jsonl")
    drain(engine.reproduce_steps(RECIPE, one))
    result = drain(reproduce_steps(RECIPE, two, client))
    assert result.complete and len(rows_of(two)) == 4
    assert rows_of(one) == rows_of(two)
    trials = {entry["id"]: entry["trial"]["value"] for entry in one.having("trial")}
    written = Journal(two.path).having("trial")  # they came one by one, not with their row
    assert {entry["id"]: entry["trial"]["value"] for entry in written} == trials


def test_nobody_waits_for_the_slowest_row(client):
    """It ends after the last of the others, which are sent while it goes on."""
    last = distributed.Event("the last of the others", client=client)
    rest, come = list("abc"), []

    def more():
        names, rest[:] = rest[:1], rest[1:]
        return {client.submit(str, name, pure=False): name for name in names}

    slow = {client.submit(_waits, last, pure=False): "slow"}
    for came in as_they_finish(client, slow | more(), more=more):
        come += [came[0]] if came else []
        if came and came[0] == "c":
            last.set()
    assert come == ["a", "b", "c", "slow"]


def _waits(event):
    assert event.wait(SECONDS)


def test_two_runs_at_once_measure_nothing_twice(client, tmp_path, monkeypatch):
    """The first has claimed a row when the second, whose journal is another object, comes to it."""
    path, sent = tmp_path / "journal.jsonl", []
    counted = lambda *a: sent.append(a[2:4]) or submit(*a)  # noqa: E731
    monkeypatch.setattr(rows_there, "submit", lambda *a: (counted if a[1] is UNIT else submit)(*a))
    line = RECIPE.lines[0]
    one = Journal(path)
    alone = replace(RECIPE, lines=(line,))
    fingerprint = DatasetCache(datasets.load).fingerprint(line)
    with one.claimed(identity(line, 0, fingerprint)):
        steps = reproduce_steps(alone, Journal(path), client)
        waits = next(view for view in steps if "another process" in view.stage)
        assert waits.done == 1 and [repeat for _, repeat in sent] == [1]
        *_, row = unit_steps(line, 0, DatasetCache(datasets.load), one)
        one.append(row)
    assert drain(steps).complete and len(sent) == 1


def test_an_interrupted_recipe_goes_on(client, tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    with closing(reproduce_steps(RECIPE, journal, client)) as steps:
        next(view for view in steps if view.done == 1)
    (kept,) = journal.having("line")
    again = Journal(journal.path)
    result = drain(engine.reproduce_steps(RECIPE, again))  # here, as if the cluster were gone
    assert result.complete and again.get(kept["id"]) == kept


def test_a_comparison_has_the_same_rows_and_leaves_out_what_is_known(client):
    dataset = datasets.load("digits")
    plan = Comparison("digits", models=("KCNet", "ELM"), hidden=(20, 30), n_repeats=2)
    alone = {row["id"]: untimed(row) for row in here.compare_steps(plan, dataset)}
    known = [{"id": row_id} for row_id in list(alone)[:5]]
    rows = {row["id"]: untimed(row) for row in compare_steps(plan, client, dataset, done=known)}
    assert rows == {row_id: alone[row_id] for row_id in list(alone)[5:]}


def test_a_long_comparison_leaves_workers_to_others(client, monkeypatch):
    """They wait for the rows in hand, not for all of them."""
    dataset, sent = datasets.load("digits"), []
    monkeypatch.setattr(rows_there, "submit", lambda *a: sent.append(a[1]) or submit(*a))
    long = Comparison("digits", models=("KCNet",), hidden=(10, 20), n_repeats=20)
    with closing(compare_steps(long, client, dataset)) as steps:
        next(steps)
        rows = sent.count(rows_there._rows)
        assert rows == rows_there.IN_HAND_OF_A_THREAD * sum(client.nthreads().values()) < 40
        assert len(list(steps)) == 39


def test_the_app_sends_comparisons_and_recipes_where_it_is_told_to(client, monkeypatch, cache):
    dataset, places = datasets.load("digits"), []
    plan = Comparison("digits", models=("KCNet",), hidden=(20, 30), n_repeats=1)
    planned, took = here.PlannedRows(plan, dataset), {}
    monkeypatch.setattr(rows_there, "submit", lambda *a: places.append(a[1]) or submit(*a))
    for address in ("", client.scheduler.address):
        monkeypatch.setenv("KCNET_CLUSTER", address)
        *_, view = comparison_elsewhere(planned.job(), planned).steps()
        took[address] = {row["id"]: untimed(row) for row in view.items}
        assert bool(places) == bool(address) and view.fraction == 1
    assert took[""] == took[address]
    *_, view = recipe_elsewhere(engine.reproduction_job(RECIPE, {}), RECIPE).steps()
    assert view.result.complete and rows_there._unit in places


def test_a_search_tries_the_same_settings(client):
    dataset, rows = datasets.load("digits"), np.arange(300)
    options = {"n_trials": 3, "n_folds": 2, "settings": {"n_hidden": 20}}
    alone = list(search.search_steps("ELM", dataset, rows, **options))
    there = list(search_steps("ELM", dataset, rows, client, **options))
    assert [(t.params, t.value) for t in alone] == [(t.params, t.value) for t in there]


def test_submodels_and_flies_are_made_by_workers(client, monkeypatch):
    from kcnet_core.smell.flies import FlySettings, teach

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12)).astype(np.float32)
    Y = (X[:, :3] + rng.normal(size=(300, 3)) > 0).astype(int)
    net = {"n_hidden": 30, "n_epochs": 3, "n_submodels": 3, "random_state": 0}
    settings = FlySettings(n_flies=3, n_hidden=40)
    alone, taught = KCNetClassifier(**net).fit(X, Y), teach(X, Y, None, settings)
    sent = []

    def counted(client, function, *args):
        sent.append(function.__name__)
        return submit(client, function, *args)

    monkeypatch.setattr(spread, "submit", counted)
    with spreading(client):
        there, flies = KCNetClassifier(**net).fit(X, Y), teach(X, Y, None, settings)
    assert sent.count("_piece") == 3 + 2  # three submodels; the first fly chooses lambda here
    np.testing.assert_array_equal(there.weights_, alone.weights_)
    np.testing.assert_allclose(there.coef_, alone.coef_, atol=1e-5)
    np.testing.assert_allclose(flies.left_out, taught.left_out, atol=1e-5)
    for fly, other in zip(flies.flies, taught.flies, strict=True):
        np.testing.assert_array_equal(fly.weights_, other.weights_)
        np.testing.assert_allclose(fly.coef_, other.coef_, atol=1e-5)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path))
    return tmp_path


def test_the_commands_take_the_address_of_a_cluster(client, cache, monkeypatch, capsys):
    from kcnet_core.paper.recipes import RECIPES

    monkeypatch.setitem(RECIPES, "tried", RECIPE)
    address = client.scheduler.address
    assert main(["reproduce", "tried", "--cluster", address]) == 0
    capsys.readouterr()
    assert len(Journal(cache / "reproduce" / "journal.jsonl").having("line")) == 4
    flags = ["--dataset", "digits", "--models", "KCNet", "--hidden", "20,30", "--n-repeats", "1"]
    assert main(["compare", *flags, "--cluster", address]) == 0
    printed = capsys.readouterr()
    assert "KCNet 20" in printed.out and "2 of 2" in printed.err
    assert main(["compare", *flags, "--save", str(cache / "rows.csv")]) == 0
    again = capsys.readouterr()
    assert "2 of 2 rows are known already" in again.err
    assert printed.out in again.out and (cache / "rows.csv").read_text().count("KCNet 20") == 1


def test_rows_that_are_finished_stay_when_the_scheduler_is_gone(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
    ) as cluster:
        steps = reproduce_steps(RECIPE, journal, cluster.scheduler_address)
        next(view for view in steps if view.done == 1)
        cluster.close()
        with pytest.raises(ClusterError, match="What was finished is kept"):
            drain(steps)
    assert len(Journal(journal.path).having("line")) >= 1
    assert drain(engine.reproduce_steps(RECIPE, journal)).complete


def _pretend(numpy_version):
    """A worker that says that it has another numpy."""
    real = connection.versions
    connection.versions = lambda: {**real(), "numpy": numpy_version}
    return real()["numpy"]


def _be_honest():
    importlib.reload(connection)


def test_a_worker_with_other_versions_is_refused_and_both_are_named(client):
    address = worker_addresses(client)[0]
    ours = client.run(_pretend, "1.26.4", workers=[address])[address]
    with pytest.raises(KCNetError, match=rf"{address} has numpy 1.26.4 instead of {ours}"):
        fit(clone(NET), X, Y, client=client)
    late = client.submit(connection.on_worker, connection.versions(), len, (), workers=[address])
    with pytest.raises(KCNetError, match=f"numpy 1.26.4 instead of {ours}"):
        late.result()  # also one that joins when the others have been asked
    client.run(_be_honest, workers=[address])
    fit(clone(NET), X, Y, client=client)


def deadly(marks, seed):
    """A chunk whose first reader is killed."""
    mark = Path(marks) / str(seed)
    if seed == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return generated(seed)


def test_a_worker_that_is_killed_has_its_work_done_again(client, tmp_path):
    net = KCNetClassifier(60, random_state=0)
    alone = fit(clone(net), [partial(generated, seed) for seed in range(7)], client=client)
    killed = fit(clone(net), [partial(deadly, tmp_path, s) for s in range(7)], client=client)
    assert len(list(tmp_path.iterdir())) == 1
    np.testing.assert_allclose(killed.coef_, alone.coef_, atol=1e-6)
    assert killed._sums.n_rows == 700
