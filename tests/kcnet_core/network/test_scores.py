"""Scores agree with their definitions and with scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as reference

from kcnet_core.network import scores
from kcnet_core.network.scores import score_outputs

RNG = np.random.default_rng(0)


def outputs(n=80, c=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(c, size=n)
    Z = np.eye(c)[y] + rng.normal(size=(n, c))
    return Z, np.eye(c)[y], y


def test_metrics_agree_with_scikit_learn():
    Z, Y, y = outputs()
    assert score_outputs("accuracy", Z, Y, "multiclass") == reference.accuracy_score(y, Z.argmax(1))
    assert score_outputs("weighted_f1", Z, Y, "multiclass") == pytest.approx(
        reference.f1_score(y, Z.argmax(1), average="weighted")
    )
    assert score_outputs("auroc", Z, Y, "multiclass") == pytest.approx(
        np.mean([reference.roc_auc_score(Y[:, k], Z[:, k]) for k in range(4)])
    )


def test_multilabel_metrics_agree_with_scikit_learn():
    rng = np.random.default_rng(1)
    Y = (rng.random((60, 5)) < 0.4).astype(float)
    Z = np.round(Y + rng.normal(size=Y.shape), 1)  # rounding makes ties
    given = Z >= 0.5
    assert score_outputs("accuracy", Z, Y, "multilabel") == pytest.approx((given == Y).mean())
    assert score_outputs("weighted_f1", Z, Y, "multilabel") == pytest.approx(
        reference.f1_score(Y, given, average="weighted")
    )
    assert score_outputs("auroc", Z, Y, "multilabel") == pytest.approx(
        reference.roc_auc_score(Y, Z)
    )


def test_auroc_leaves_out_labels_that_never_vary():
    Z, Y, _ = outputs(c=2)
    Z3, Y3 = np.c_[Z, Z[:, 0]], np.c_[Y, np.zeros(len(Y))]
    assert score_outputs("auroc", Z3, Y3, "multilabel") == score_outputs(
        "auroc", Z, Y, "multilabel"
    )
    assert np.isnan(score_outputs("auroc", Z, np.ones_like(Y), "multilabel"))


def test_weighted_f1_takes_the_truth_first():
    truth, guess = np.array([0, 0, 0, 1]), np.array([0, 1, 1, 1])
    expected = 0.75 * (2 / 4) + 0.25 * (2 / 4)
    assert scores.weighted_f1(truth, guess) == pytest.approx(expected)
    unbalanced = np.array([0, 0, 0, 0])
    assert scores.weighted_f1(truth, unbalanced) != scores.weighted_f1(unbalanced, truth)
    assert scores.weighted_f1(truth, unbalanced) == pytest.approx(0.75 * 6 / 7)


def test_accuracy_of_labels_counts_single_answers():
    assert scores.accuracy([[1, 0], [1, 1]], [[1, 1], [1, 1]]) == 0.75
    assert scores.accuracy([0, 1, 2, 2], [0, 1, 2, 1]) == 0.75


def test_auroc_of_two_classes_takes_either_form_of_scores():
    y, p = RNG.integers(0, 2, 80), np.round(RNG.random(80), 1)
    expected = reference.roc_auc_score(y, p)
    assert scores.auroc(y, p) == pytest.approx(expected)
    assert scores.auroc(y, np.column_stack([1 - p, p])) == pytest.approx(expected)


def test_auroc_of_many_classes_is_the_macro_mean():
    y, p = RNG.integers(0, 4, 200), RNG.dirichlet(np.ones(4), 200)
    expected = reference.roc_auc_score(y, p, multi_class="ovr", average="macro")
    assert scores.auroc(y, p) == pytest.approx(expected)


def test_auroc_of_labels_leaves_out_those_with_one_side():
    y = np.array([[1, 0, 1], [0, 0, 1], [1, 0, 0]])
    outputs = np.array([[0.9, 0.1, 0.2], [0.1, 0.3, 0.3], [0.8, 0.2, 0.1]])
    assert np.isnan(scores.auroc_by_label(y, outputs)[1])
    assert scores.auroc(y, outputs) == 1.0
    assert np.isnan(scores.auroc(np.ones(4, dtype=int), RNG.random(4)))


def test_auroc_of_all_labels_at_once_is_that_of_each():
    rng = np.random.default_rng(1)
    truth, P = rng.integers(0, 2, (40, 5)), rng.random((40, 5)).round(1)
    truth[:, 4] = 0  # one-sided
    each = [reference.roc_auc_score(truth[:, k], P[:, k]) for k in range(4)]
    np.testing.assert_allclose(scores.auroc_by_label(truth, P), [*each, np.nan])


def test_calibration_error_is_small_for_honest_and_large_for_boasting_probabilities():
    p = RNG.random(20_000)
    y = (RNG.random(20_000) < p).astype(int)
    assert scores.calibration_error(y, p) < 0.015
    boast = np.where(p > 0.5, 0.99, 0.01)
    assert scores.calibration_error(y, boast) == pytest.approx(0.24, abs=0.02)


def test_calibration_error_by_hand():
    p = np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.4, 0.6]])
    y = np.array([0, 1, 1, 1])
    assert scores.calibration_error(y, p, n_bins=10) == pytest.approx(0.5 * 0.4 + 0.5 * 0.4)
    labels, stated = np.array([[1, 0]]), np.array([[0.8, 0.3]])
    assert scores.calibration_error(labels, stated, 10) == pytest.approx(0.5 * 0.2 + 0.5 * 0.3)


@given(st.integers(2, 5), st.integers(1, 40), st.integers(0, 10**6))
@settings(deadline=None, max_examples=40)
def test_reliability_points_account_for_every_row(c, n, seed):
    rng = np.random.default_rng(seed)
    p, y = rng.dirichlet(np.ones(c), n), rng.integers(0, c, n)
    points = scores.reliability(y, p)
    assert points.count.sum() == n
    assert np.average(points.confidence, weights=points.count) == pytest.approx(p.max(1).mean())
    assert np.average(points.correct, weights=points.count) == pytest.approx(
        (p.argmax(1) == y).mean()
    )


@given(st.integers(2, 60), st.integers(1, 120), st.integers(0, 10**6))
@settings(deadline=None, max_examples=60)
def test_weighted_f1_is_scikit_learns_to_the_last_bit(c, n, seed):
    rng = np.random.default_rng(seed)
    truth, guess = rng.integers(0, c, n), rng.integers(0, c, n)
    labels, named = rng.integers(0, 2, (n, c)), rng.integers(0, 2, (n, c))
    for y, p in ((truth, guess), (labels, named)):
        expected = reference.f1_score(y, p, average="weighted", zero_division=0.0)
        assert scores.weighted_f1(y, p) == expected
    by_label = reference.f1_score(labels, named, average=None, zero_division=0.0)
    assert np.array_equal(scores.f1_by_label(labels, named), by_label)
