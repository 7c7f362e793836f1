"""Evaluation gives every model the same chance, and no model a look at the test rows."""

import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from kcnet_core.errors import KCNetError
from kcnet_core.experiments.baselines import BASELINES
from kcnet_core.experiments.evaluate import (
    COLUMNS,
    error_sentence,
    evaluate_steps,
    pairwise,
    results_table,
    summary,
)
from kcnet_core.experiments.fitting import fit, prepare
from kcnet_core.experiments.metrics import METRICS, mean_interval
from kcnet_core.experiments.protocols import splits
from tests.kcnet_core.experiments.made_data import blobs, labelled, made_dataset


def logistic(seed):
    return LogisticRegression()


def forest(seed):
    return RandomForestClassifier(20, random_state=seed)


class Failing(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise KCNetError("This model wants more rows.")


class Broken(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("singular\nsecond line")


def test_one_row_per_model_and_split_with_the_same_splits_and_seeds():
    dataset = blobs()
    made = splits(dataset, "unseen_molecules", n_repeats=3, seed=4, test_fraction=0.2)
    seeds = {"a": [], "b": []}

    def factory(name):
        def make(seed):
            seeds[name].append(seed)
            return LogisticRegression()

        return make

    rows = list(evaluate_steps({"a": factory("a"), "b": factory("b")}, dataset, made))
    assert [(r["model"], r["repeat"]) for r in rows] == [(m, k) for k in range(3) for m in "ab"]
    assert seeds["a"] == seeds["b"] == [4, 5, 6]
    for row in rows:
        assert set(row) == set(COLUMNS)
        assert row["error"] is None and row["accuracy"] > 0.8
        assert row["n_train"] + row["n_test"] == 120
        assert row["seconds"] >= row["fit_seconds"] > 0
        assert row["protocol"] == "unseen_molecules"


def test_rows_come_as_soon_as_they_are_done():
    dataset = blobs()
    steps = evaluate_steps(
        {"good": logistic, "broken": lambda seed: 1 / 0}, dataset, splits(dataset, "paper_split")
    )
    assert next(steps)["model"] == "good"


def test_a_model_that_fails_gives_a_sentence_and_the_others_go_on():
    dataset = blobs()
    models = {"failing": lambda s: Failing(), "broken": lambda s: Broken(), "good": logistic}
    rows = list(evaluate_steps(models, dataset, splits(dataset, "paper_split")))
    assert rows[0]["error"] == "This model wants more rows." and rows[0]["accuracy"] is None
    assert "could not be trained here (RuntimeError, reference " in rows[1]["error"]
    assert rows[2]["error"] is None


def test_a_failed_row_names_no_path_of_the_server(caplog):
    sentence = error_sentence(PermissionError(13, "Permission denied", "/srv/secret/x"))
    assert "/srv" not in sentence
    assert re.search(r"reference (\w+)", sentence)[1] in caplog.text
    assert "/srv/secret/x" in caplog.text


def test_a_split_that_cannot_be_scaled_is_an_error_row_too():
    dataset = made_dataset(np.ones((20, 2)), np.arange(20) % 2)
    (row,) = evaluate_steps({"any": logistic}, dataset, splits(dataset, "paper_split"))
    assert "None of the 2 columns" in row["error"]


@pytest.mark.parametrize("oversampling", [False, True])
@pytest.mark.parametrize("poison", [1e12, -7.0])
def test_test_rows_never_touch_scaling_oversampling_or_fitting(oversampling, poison):
    dataset = blobs(n=160)
    dataset = replace(dataset, y=(np.arange(160) // 2 % 4 == 0).astype(int))
    (split,) = splits(dataset, "unseen_molecules", test_fraction=0.25)
    X, y = dataset.X.copy(), dataset.y.copy()
    X[split.test] = poison
    y[split.test] = 1 - y[split.test]
    poisoned = replace(dataset, X=X, y=y)

    clean_fold = prepare(dataset, split, oversampling=oversampling)
    fold = prepare(poisoned, split, oversampling=oversampling)
    assert np.array_equal(fold.X_train, clean_fold.X_train)
    assert np.array_equal(fold.y_train, clean_fold.y_train)
    assert (fold.n_added > 0) == oversampling
    probe = np.random.default_rng(0).normal(size=(30, fold.X_train.shape[1]))
    for make in (logistic, forest):
        before, after = (fit(make, f, seed=0).scores(probe)[0] for f in (clean_fold, fold))
        assert np.array_equal(before, after)


def test_a_column_that_is_nan_only_in_test_rows_still_trains():
    dataset = blobs()
    (split,) = splits(dataset, "paper_split", test_fraction=0.2)
    X = dataset.X.copy()
    X[split.test[0], 3] = np.nan
    (row,) = evaluate_steps({"any": logistic}, replace(dataset, X=X), [split])
    assert "not finite in x3" in row["error"]


@pytest.mark.parametrize(
    "make",
    [
        logistic,
        forest,
        lambda s: KNeighborsClassifier(3),
        lambda s: SVC(),
        lambda s: BASELINES["XGBoost"].build(seed=s),
        lambda s: BASELINES["GBM"].build({"min_samples_leaf": 30}, s),
    ],
    ids=["logistic", "forest", "neighbours", "svm", "xgboost", "gbm"],
)
def test_single_label_models_learn_several_labels(make):
    dataset = labelled(n=240)
    (row,) = evaluate_steps(
        {"m": make}, dataset, splits(dataset, "unseen_molecules", test_fraction=0.25)
    )
    assert row["error"] is None
    assert row["AUROC"] > 0.8


def test_a_label_with_one_side_in_training_is_survived_and_in_testing_is_named():
    dataset = labelled(n=80)
    y = dataset.y.copy()
    y[:, 1] = 0
    for make in (logistic, forest):
        (row,) = evaluate_steps(
            {"m": make},
            replace(dataset, y=y),
            splits(replace(dataset, y=y), "paper_split", test_fraction=0.3),
        )
        assert row["error"] is None and row["AUROC"] > 0.7
        assert "leaves out t1" in row["note"]


def test_a_class_unknown_in_training_gets_no_probability():
    X = np.random.default_rng(0).normal(size=(40, 3)) + np.arange(40)[:, None] % 2 * 5
    y = np.arange(40) % 2 * 2  # classes 0 and 2 of three
    y[39] = 1
    dataset = made_dataset(X, y, n_train=30)
    (split,) = splits(dataset, "benchmark")
    for make in (logistic, lambda s: BASELINES["XGBoost"].build(seed=s), lambda s: SVC()):
        fold = prepare(dataset, split)
        fitted = fit(make, fold, 0)
        assert set(fitted.predict(fold.X_test)) <= {0, 2}
        scores, probabilities = fitted.scores(fold.X_test)
        assert scores.shape == (10, 3)
        if probabilities:
            assert (scores[:, 1] == 0).all()


def test_svm_has_auroc_but_no_calibration_error():
    dataset = blobs()
    (row,) = evaluate_steps({"svm": lambda s: SVC()}, dataset, splits(dataset, "paper_split"))
    assert row["AUROC"] > 0.9 and row["calibration error"] is None


def test_known_rows_are_skipped():
    dataset = blobs()
    made = splits(dataset, "paper_split", n_repeats=3)
    rows = list(evaluate_steps({"m": logistic}, dataset, made, skip={("m", 0, 0), ("m", 1, 0)}))
    assert [row["repeat"] for row in rows] == [2]


def table_of(scores, protocol="paper_split"):
    """A results table with the given accuracies per variant and repeat."""
    return results_table(
        dict.fromkeys(COLUMNS)
        | {
            "dataset": "made",
            "protocol": protocol,
            "variant": variant,
            "model": variant,
            "repeat": repeat,
            "fold": 0,
            "n_train": 90,
            "n_test": 10,
            "accuracy": value,
            "seconds": 1.0,
        }
        for variant, values in scores.items()
        for repeat, value in enumerate(values)
    )


def test_summary_has_mean_and_corrected_interval_per_metric():
    values = [0.7, 0.8, 0.9]
    lines = summary(table_of({"m": values}))
    line = lines[lines["metric"] == "accuracy"].iloc[0]
    expected = mean_interval(values, n_train=90, n_test=10)
    assert (line["mean"], line["low"], line["n"]) == (
        pytest.approx(0.8),
        pytest.approx(expected.low),
        3,
    )
    assert "corrected" in line["method"]
    assert set(lines["metric"]) == {"accuracy", "seconds"}


def test_summary_of_a_benchmark_does_not_correct_for_overlap():
    lines = summary(table_of({"m": [0.7, 0.8, 0.9]}, protocol="benchmark"))
    assert lines["low"].iloc[0] == pytest.approx(mean_interval([0.7, 0.8, 0.9]).low)


def test_pairwise_calls_a_steady_difference_clear_and_noise_not():
    rng = np.random.default_rng(0)
    base = rng.uniform(0.6, 0.9, 12)
    steady, noisy = base + 0.05 + rng.normal(0, 0.01, 12), base + rng.normal(0, 0.05, 12)
    pairs = pairwise(table_of({"base": base, "steady": steady, "noisy": noisy}), "accuracy")
    pairs = pairs.set_index(["first", "second"])
    assert pairs.loc[("base", "steady"), "better"] == "steady"
    assert pairs.loc[("base", "steady"), "difference"] == pytest.approx((base - steady).mean())
    assert pairs.loc[("base", "steady"), "p_permutation"] == pytest.approx(2 / 2**12)
    assert pairs.loc[("base", "noisy"), "better"] == ""
    low, high = pairs.loc[("base", "noisy"), ["low", "high"]]
    assert low < 0 < high


def test_pairwise_uses_only_splits_that_both_models_have():
    table = table_of({"a": [0.5, 0.6, None], "b": [0.4, None, 0.9]})
    (line,) = pairwise(table, "accuracy").to_dict("records")
    assert line["n"] == 1 and line["difference"] == pytest.approx(0.1)
    assert np.isnan(line["low"]) and line["better"] == ""


def test_lower_is_better_for_seconds_and_calibration():
    table = table_of({"fast": [1.0] * 6, "slow": [1.0] * 6})
    table["seconds"] = [1.0, 1.1, 1.0, 1.05, 1.0, 1.1, 5, 5.2, 5, 5.1, 5, 5]
    assert pairwise(table, "seconds")["better"].tolist() == ["fast"]


def test_an_empty_table_has_columns_and_no_lines():
    table = results_table([])
    assert list(table.columns) == list(COLUMNS)
    assert summary(table).empty and pairwise(table, "accuracy").empty
    assert set(METRICS) <= set(table.columns)


def test_the_twin_leaks_through_random_rows_and_not_through_grouped_ones():
    """Labels per molecule, two rows each: random rows let a forest recognise the twin."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(100, 20)), 2, axis=0)
    X[:, 0] += np.tile([0.0, 1.0], 100)  # dilution
    dataset = made_dataset(X, np.repeat(rng.integers(0, 2, 100), 2), groups=np.arange(200) // 2)
    scores = {}
    for protocol in ("paper_split", "unseen_molecules"):
        made = splits(dataset, protocol, n_repeats=4, test_fraction=0.2)
        rows = evaluate_steps({"forest": forest}, dataset, made)
        scores[protocol] = np.mean([row["weighted F1"] for row in rows])
    assert scores["paper_split"] > 0.8  # although the labels are pure chance
    assert scores["unseen_molecules"] < 0.65
