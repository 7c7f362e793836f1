"""The benchmark gives every model the same folds, goes on where it stopped, and is remembered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kcnet_core.datasets.substructures import with_substructures
from kcnet_core.experiments.comparison.search import training_part
from kcnet_core.smell import benchmark
from kcnet_core.smell.flies import SECOND, FlySettings


@pytest.fixture(scope="module")
def small(starter):
    """Every second molecule: folds of all of them take long."""
    return with_substructures(training_part(starter, np.arange(0, len(starter.y), 2)))


@pytest.fixture
def models(monkeypatch):
    tiny = FlySettings(n_flies=1, n_hidden=200, n_group_cells=100, second_alpha=None)
    few = {"flies": benchmark._flies(tiny, True), "near": benchmark._neighbours}
    monkeypatch.setattr(benchmark, "RIVALS", few)
    return few


def test_models_choose_inside_their_folds_and_are_better_than_guessing(small, models, tmp_path):
    found = benchmark.journaled(small, tmp_path / "journal", lambda text: None)
    assert {score.fold for score in found.scores} == set(range(5)) and len(found.scores) == 10
    for measured in found.auroc.values():
        assert 0.8 < measured.low < measured.mean < measured.high
    flies, near = found.scores[0].chosen, found.scores[5].chosen
    assert flies["second_alpha"] in SECOND and near["neighbours"] in benchmark.NEIGHBOURS


def test_what_the_journal_holds_is_not_measured_again(small, models, tmp_path, monkeypatch):
    journal = tmp_path / "journal"

    def known(dataset, split):
        return np.tile(dataset.y.mean(axis=0), (len(split.test), 1)), {}

    monkeypatch.setattr(benchmark, "RIVALS", {"base rates": known})
    first = benchmark.journaled(small, journal, lambda text: None)
    assert first.auroc["base rates"].mean == pytest.approx(0.5)
    monkeypatch.setattr(benchmark, "RIVALS", {"base rates": None})
    assert benchmark.journaled(small, journal, lambda text: None) == first


def test_neighbours_are_weighed_by_how_alike_they_are():
    A = np.array([[1, 1, 0], [1, 0, 0]], np.float32)
    assert benchmark.tanimoto(A, A).tolist() == [[1, 0.5], [0.5, 1]]
    votes = benchmark._voted(np.array([[1.0, 0.5, 0.0]]), np.array([[1, 0], [0, 1], [1, 1]]), 2)
    np.testing.assert_allclose(votes, [[2 / 3, 1 / 3]])


def test_kernels_choose_inside_their_fold_and_are_better_than_guessing(small):
    split = benchmark.splits(small, "unseen_molecules", n_folds=5)[0]
    taught, asked = benchmark.similarities(small, split)
    assert np.median(taught.diagonal()) == pytest.approx(1, abs=1e-2)
    assert asked.shape == (len(split.test), len(split.train)) and 0 < asked.min() < asked.max() < 1
    P, chosen = benchmark.RIVALS["Kernels instead of cells"](small, split)
    assert benchmark.auroc(small.y[split.test], P) > 0.8
    assert chosen["second_alpha"] in benchmark.KERNELS["seconds"]


def test_descriptors_alone_are_descriptors_alone(small):
    split = benchmark.splits(small, "unseen_molecules", n_folds=5)[0]
    some = replace(small, y=small.y[:, :3], target_names=small.target_names[:3])
    _, chosen = benchmark._flies(FlySettings(n_flies=1, n_hidden=100), False)(some, split)
    assert chosen["second_alpha"] is None


def test_the_trees_have_every_word_and_beat_guessing(small, monkeypatch):
    for settings in (benchmark.FOREST, benchmark.BOOSTER):
        monkeypatch.setitem(settings, "n_estimators", 5)
    monkeypatch.setitem(benchmark.BOOSTER, "colsample_bytree", 0.5)
    split = benchmark.splits(small, "unseen_molecules", n_folds=5)[0]
    some = replace(small, y=small.y[:, -4:], target_names=small.target_names[-4:])
    for name in ("Random forest", "XGBoost"):
        P, chosen = benchmark.RIVALS[name](some, split)
        assert P.shape == (len(split.test), 4) and chosen["seed"] == split.seed
        assert benchmark.auroc(some.y[split.test], P) > 0.6


def test_the_sentence_names_the_best_whoever_it_is():
    def of(ours: float, forest: float) -> dict:
        means = {"KCNet": ours, "Random forest": forest}
        return {name: benchmark.Measured(mean, mean, mean) for name, mean in means.items()}

    assert "measured here: Random forest (0.870); published" in benchmark.verdict(of(0.86, 0.87))
    assert benchmark.verdict(of(0.95, 0.87)) == "Best of those measured here: KCNet (0.950)"


def test_the_shipped_benchmark_says_who_is_best_on_the_same_folds():
    found = benchmark.remembered_benchmark()
    assert found is not None, "assets/results/gs_lf_benchmark.json is missing or damaged"
    assert set(found.auroc) <= set(benchmark.RIVALS) and len(found.auroc) >= 2
    assert found.how.endswith(benchmark.verdict(found.auroc))
    folds = {name: [s.fold for s in found.scores if s.model == name] for name in found.auroc}
    assert all(sorted(own) == list(range(benchmark.N_FOLDS)) for own in folds.values()), folds
    for name, measured in found.auroc.items():
        own = [score.auroc for score in found.scores if score.model == name]
        assert measured.mean == pytest.approx(sum(own) / len(own))
