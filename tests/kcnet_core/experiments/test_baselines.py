"""The baselines are the paper's, with the paper's search spaces."""

import numpy as np
import pytest
from sklearn.base import clone

from kcnet_core.errors import KCNetError
from kcnet_core.experiments.baselines import BASELINES, Dimension
from kcnet_core.experiments.models import MODELS, find_model, matched_hidden

# The paper's table "Hyperparameter Search Space", row by row.
PAPER_SPACE = {
    "AdaBoost": {"learning_rate": (0.1, 1.0), "n_estimators": (10, 100)},
    "GBM": {
        "learning_rate": (0.05, 1.0),
        "n_estimators": (10, 100),
        "max_depth": (2, 5),
        "min_samples_split": (10, 200),
        "min_samples_leaf": (30, 70),
        "max_features": (8, 159),
        "subsample": (0.6, 1.0),
    },
    "XGBoost": {
        "max_depth": (2, 5),
        "min_child_weight": (1, 6),
        "gamma": (0.1, 10),
        "subsample": (0.6, 1),
        "colsample_bytree": (0.5, 1),
        "reg_alpha": (0.1, 20),
        "reg_lambda": (0.001, 100),
        "learning_rate": (0.01, 1.0),
        "n_estimators": (10, 200),
    },
    "Random forest": {
        "criterion": {"gini", "entropy"},
        "n_estimators": (50, 100),
        "max_depth": (2, 5),
        "min_samples_split": (2, 70),
        "min_samples_leaf": (1, 50),
    },
    "KNN": {"weights": {"uniform", "distance"}, "p": {1, 2, 3}, "n_neighbors": (2, 30)},
    "SVM": {"C": (2e-3, 2e7)},
    "KCNet": {"alpha": (2e-2, 2e3)},
    "DOA": {
        "n_epochs": {5, 10, 50, 100},
        "learning_rate": (5e-7, 5e-1),
        "stop_metric": (0.80, 0.97),
    },
}
PAPER_SPACE["Ensemble DOA"] = PAPER_SPACE["DOA"]


@pytest.mark.parametrize("name", PAPER_SPACE)
def test_search_space_is_the_papers(name):
    space = {d.name: set(d.options) if d.options else (d.low, d.high) for d in MODELS[name].space}
    assert space == PAPER_SPACE[name]


def test_what_scikit_learn_no_longer_has_is_said():
    assert "SAMME.R" in BASELINES["AdaBoost"].note


@pytest.mark.parametrize("name", BASELINES)
def test_untuned_settings_lie_in_the_space(name):
    model = BASELINES[name]
    for dimension in model.space:
        value = model.defaults[dimension.name]
        assert dimension.checked(value) == value
        assert isinstance(value, int) == (dimension.integer or dimension.name == "p") or (
            isinstance(value, str)
        )


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_baseline_learns_classes_that_lie_apart_and_gives_scores(name, n_classes):
    rng = np.random.default_rng(0)
    y = np.arange(240) % n_classes
    X = (rng.normal(size=(240, 5)) + 4 * np.eye(5)[y]).astype(np.float32)
    model = BASELINES[name].build(seed=1)
    assert clone(model).fit(X[:160], y[:160]).score(X[160:], y[160:]) > 0.9
    assert hasattr(model, "predict_proba") or hasattr(model, "decision_function")


@pytest.mark.parametrize("name", BASELINES)
def test_same_seed_same_model(name):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 4)), rng.integers(0, 2, 120)
    one, two = (BASELINES[name].build(seed=3).fit(X, y).predict(X) for _ in range(2))
    assert np.array_equal(one, two)


def test_svm_scores_without_fitting_five_times():
    assert not hasattr(BASELINES["SVM"].build(), "predict_proba")


def test_wide_ranges_are_searched_on_a_log_scale():
    assert Dimension("C", 2e-3, 2e7).log and Dimension("C", 2e-3, 2e7).midpoint == 200
    assert not Dimension("n", 10, 100).log and Dimension("n", 10, 100).midpoint == 55


@pytest.mark.parametrize(
    "dimension, value, sentence",
    [
        (Dimension("n", 10, 100), 1e9, "between 10 and 100"),
        (Dimension("n", 10, 100), "many", "must be a number"),
        (Dimension("n", 10, 100), True, "must be a number"),
        (Dimension("n", 10, 100), float("nan"), "between 10 and 100"),
        (Dimension("p", options=(1, 2)), 3, "one of 1, 2"),
    ],
)
def test_values_outside_the_space_are_refused(dimension, value, sentence):
    with pytest.raises(KCNetError, match=sentence):
        dimension.checked(value)


def test_unknown_model_is_a_sentence():
    with pytest.raises(KCNetError, match="no model 'GPT'"):
        find_model("GPT")


def test_fshn_is_matched_to_the_papers_parameter_counts():
    assert matched_hidden(6500, 784, 10) == 82
    assert matched_hidden(4500, 784, 47) == 254
