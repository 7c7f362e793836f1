"""The extreme learning machine against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from kcnet_core import ELMClassifier
from kcnet_core.network.elm import RELATIVE_ALPHA


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:900] / 16, y[:900], X[900:] / 16, y[900:]


def test_hidden_units_are_sigmoids_with_the_papers_random_weights(digits):
    X, y, *_ = digits
    model = ELMClassifier(n_hidden=500, random_state=0).fit(X, y)
    A, b = model.weights_, model.biases_
    assert -1 <= A.min() < -0.99
    assert 0.99 < A.max() <= 1
    assert 0 <= b.min() < 0.02
    assert 0.98 < b.max() <= 1
    np.testing.assert_allclose(model.hidden(X), 1 / (1 + np.exp(-(X @ A.T + b))), atol=1e-6)


@pytest.mark.parametrize("n_hidden", [100, 1200])
def test_output_weights_are_least_squares_with_the_stated_regulariser(digits, n_hidden):
    X, y, X_test, y_test = digits
    model = ELMClassifier(n_hidden=n_hidden, random_state=0).fit(X, y)
    H, Y = model.hidden(X), np.eye(10)[y]
    assert model.alpha_ == pytest.approx(RELATIVE_ALPHA * (H**2).sum() / n_hidden, rel=1e-6)
    if n_hidden == 100:
        exact = model.hidden(X_test) @ (np.linalg.pinv(H) @ Y)
        np.testing.assert_allclose(model.class_scores(X_test), exact, atol=0.02)
    assert model.score(X_test, y_test) > 0.85


def test_a_lambda_of_ones_own_or_by_leave_one_out(digits):
    X, y, *_ = digits
    assert ELMClassifier(n_hidden=50, alpha=3.0, random_state=0).fit(X, y).alpha_ == 3.0
    chosen = ELMClassifier(n_hidden=50, alpha="loo", random_state=0).fit(X, y)
    assert chosen.alpha_ == chosen.ridge_path(np.logspace(-3, 5, 33)).best_alpha


def test_one_record_reports_the_fit(digits):
    X, y, *_ = digits
    model = ELMClassifier(n_hidden=50, random_state=0)
    (record,) = model.fit_steps(X, y)
    assert model.history_ == [record]
    assert record.validation_metric == model.loo_score_
    assert model.n_trained_parameters_ == 500
