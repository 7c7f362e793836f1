"""Tuning looks at training rows only, tries what was asked, and says what it found."""

from dataclasses import replace

import numpy as np
import pytest

from kcnet_core.errors import KCNetError
from kcnet_core.experiments.comparison.search import (
    Trial,
    best_trial,
    inner_splits,
    search_steps,
    training_part,
)
from kcnet_core.experiments.models import MODELS
from kcnet_core.experiments.protocols import splits
from tests.kcnet_core.experiments.made_data import blobs, labelled, made_dataset


def split_of(dataset):
    return splits(dataset, "unseen_molecules", test_fraction=0.25)[0]


def trials_of(dataset, rows, model="KNN", **options):
    options = {"n_trials": 4, "seed": 3, "n_folds": 3} | options
    return list(search_steps(model, dataset, rows, **options))


def without_seconds(trials):
    return [replace(trial, seconds=0.0) for trial in trials]


def test_one_record_per_trial_beginning_with_the_untuned_setting():
    dataset = blobs()
    trials = trials_of(dataset, split_of(dataset).train)
    assert [trial.number for trial in trials] == [0, 1, 2, 3]
    assert dict(trials[0].params) == dict(MODELS["KNN"].defaults)
    assert all(0 <= trial.value <= 1 and trial.seconds > 0 for trial in trials)
    assert all(trial.metric == "weighted F1" for trial in trials)


@pytest.mark.parametrize("name", ["AdaBoost", "GBM", "XGBoost", "Random forest", "KNN", "SVM"])
def test_every_trial_lies_in_the_papers_space(name):
    dataset = blobs(n=140)
    for trial in trials_of(dataset, np.arange(140), name, n_trials=3, n_folds=2):
        assert trial.error is None
        for dimension in MODELS[name].space:
            dimension.checked(trial.params[dimension.name])


def test_an_interrupted_search_goes_on_as_if_it_had_never_stopped():
    dataset = blobs()
    rows = split_of(dataset).train
    whole = trials_of(dataset, rows, n_trials=14)
    resumed = trials_of(dataset, rows, n_trials=14, done=whole[:12])
    assert resumed[:12] == whole[:12]  # with their seconds: they were not tried again
    assert without_seconds(resumed) == without_seconds(whole)


def test_same_seed_same_trials_and_another_seed_others():
    dataset = blobs()
    rows = split_of(dataset).train
    first, again = (without_seconds(trials_of(dataset, rows)) for _ in range(2))
    assert first == again
    assert first[1:] != without_seconds(trials_of(dataset, rows, seed=4))[1:]


def test_tuning_never_sees_the_test_rows():
    dataset = blobs()
    split = split_of(dataset)
    clean = without_seconds(trials_of(dataset, split.train))
    X, y = dataset.X.copy(), dataset.y.copy()
    X[split.test], y[split.test] = np.nan, 1 - y[split.test]
    assert without_seconds(trials_of(replace(dataset, X=X, y=y), split.train)) == clean


def test_inner_folds_keep_molecules_together():
    dataset = blobs()
    part = training_part(dataset, split_of(dataset).train)
    for inner in inner_splits(part):
        assert not set(part.groups[inner.train]) & set(part.groups[inner.test])


def test_many_rows_are_validated_on_one_part_as_in_the_paper():
    dataset = made_dataset(np.zeros((6000, 1)), np.arange(6000) % 2)
    (inner,) = inner_splits(dataset)
    assert len(inner.test) == pytest.approx(1000, abs=2)


def test_tuning_finds_the_better_neighbourhood():
    """Two thin interleaved classes: far neighbours mislead, near ones do not."""
    place = np.arange(200)
    dataset = made_dataset(place[:, None], place // 8 % 2)
    trials = trials_of(dataset, np.arange(200), n_trials=12)
    assert best_trial(trials).params["n_neighbors"] < 10
    assert best_trial(trials).value > trials[0].value


def test_fixed_settings_are_not_searched():
    dataset = blobs()
    trials = trials_of(dataset, np.arange(120), settings={"p": 1, "weights": "distance"})
    assert all(set(trial.params) == {"n_neighbors"} for trial in trials)


def test_labels_and_oversampling_are_tuned_too():
    many = labelled()
    assert trials_of(many, np.arange(120), n_trials=2)[1].metric == "AUROC"
    rare = replace(blobs(), y=(np.arange(120) // 2 % 5 == 0).astype(int))
    assert trials_of(rare, np.arange(120), n_trials=2, oversampling=True)[1].value is not None


def test_a_setting_that_fails_is_a_record_with_a_sentence_and_the_search_goes_on():
    dataset = blobs(n=20)  # folds of 10 rows: 11 or more neighbours cannot be found
    trials = trials_of(dataset, np.arange(20), n_trials=8, n_folds=2)
    assert any(trial.error and trial.value is None for trial in trials)
    assert trials[-1].number == 7


def test_a_metric_that_the_model_lacks_is_said():
    dataset = blobs()
    (trial,) = trials_of(dataset, np.arange(120), "SVM", n_trials=1, metric="calibration error")
    assert trial.error == "SVM gives no calibration error."


def test_lower_calibration_error_is_better():
    values = [Trial(k, {}, v, 0.1, "calibration error") for k, v in enumerate([0.3, 0.1, None])]
    assert best_trial(values).number == 1
    assert best_trial([]) is None


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"n_trials": 0}, "limit is 1 to"),
        ({"n_trials": 10**6}, "limit is 1 to"),
        ({"metric": "luck"}, "no metric 'luck'"),
        ({"model": "Oracle"}, "no model 'Oracle'"),
    ],
)
def test_what_cannot_be_searched_is_refused(options, sentence):
    with pytest.raises(KCNetError, match=sentence):
        trials_of(blobs(), np.arange(120), **options)


def test_optuna_is_silent(capfd):
    trials_of(blobs(), np.arange(120), n_trials=2)
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""
