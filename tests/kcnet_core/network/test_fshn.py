"""The fully trained network against torch's own layers and gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from kcnet_core import FSHNClassifier
from kcnet_core.errors import KCNetError
from kcnet_core.network.devices import computing


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    return X[:900], y[:900], X[900:], y[900:]


@pytest.mark.parametrize("kind", ["multiclass", "multilabel"])
def test_one_pass_equals_gradient_descent_by_torchs_autograd(digits, kind):
    X, y, *_ = digits
    targets = np.eye(10)[y] if kind == "multiclass" else np.c_[y < 5, y % 2, y > 7].astype(float)
    model = FSHNClassifier(n_hidden=12, batch_rows=50, n_epochs=1, random_state=0)
    model.fit(X, y if kind == "multiclass" else targets.astype(int))  # sets device and kind
    order = np.random.default_rng(0).permutation(len(X))
    layers = model._draw_layers(64, targets.shape[1], torch.float32, np.random.default_rng(1))
    first, second = torch.nn.Linear(64, 12), torch.nn.Linear(12, targets.shape[1])
    with torch.no_grad():
        first.weight.copy_(layers[0].T)
        first.bias.copy_(layers[1])
        second.weight.copy_(layers[2].T)
        second.bias.copy_(layers[3])
    w = torch.from_numpy(np.random.default_rng(2).random(len(X)).astype(np.float32))
    rows, Y = torch.from_numpy(X), torch.from_numpy(targets.astype(np.float32))
    model._descend(layers, rows, Y, w, order)

    reference = torch.nn.Sequential(first, torch.nn.ReLU(), second)
    losses = {
        "multiclass": torch.nn.CrossEntropyLoss(reduction="none"),
        "multilabel": lambda z, t: torch.nn.BCEWithLogitsLoss(reduction="none")(z, t).sum(1),
    }
    with computing(12, "cpu"):
        for start in range(0, len(X), 50):
            chosen = torch.from_numpy(order[start : start + 50])
            reference.zero_grad()
            (losses[kind](reference(rows[chosen]), Y[chosen]) * w[chosen]).mean().backward()
            with torch.no_grad():
                for parameter in reference.parameters():
                    parameter -= 0.1 * parameter.grad
    torch.testing.assert_close(layers[0], first.weight.T.detach(), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(layers[1], first.bias.detach(), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(layers[2], second.weight.T.detach(), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(layers[3], second.bias.detach(), atol=1e-5, rtol=1e-4)


def test_layers_begin_in_the_range_of_torchs_linear_layers(digits):
    X, y, *_ = digits
    model = FSHNClassifier(n_hidden=40, learning_rate=1e-12, n_epochs=1, random_state=0).fit(X, y)
    assert 0.95 / 8 < np.abs(model.weights_).max() <= 1 / 8
    assert 0.9 / np.sqrt(40) < np.abs(model.coef_).max() <= 1 / np.sqrt(40)


def test_it_learns_and_reports_every_epoch(digits):
    X, y, X_test, y_test = digits
    model = FSHNClassifier(n_epochs=25, validation_fraction=0.2, random_state=0)
    records = list(model.fit_steps(X, y))
    assert [r.epoch for r in records] == list(range(1, 26))
    assert records[-1].validation_metric > records[0].validation_metric
    assert model.history_ == records
    assert model.score(X_test, y_test) > 0.88
    assert model.n_trained_parameters_ == 82 * 64 + 82 + 82 * 10 + 10


def test_scores_come_from_the_reported_layers(digits):
    X, y, X_test, _ = digits
    model = FSHNClassifier(random_state=0).fit(X, y)
    H = np.maximum(X_test @ model.weights_.T + model.biases_, 0)
    np.testing.assert_allclose(model.hidden(X_test), H, atol=1e-5)
    Z = H @ model.coef_ + model.intercept_
    np.testing.assert_allclose(model.class_scores(X_test), Z, atol=1e-4)
    P = np.exp(Z) / np.exp(Z).sum(1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X_test), P, atol=1e-4)


def test_a_row_without_weight_leaves_no_trace(digits):
    X, y, *_ = digits
    w = (np.arange(len(X)) % 3 > 0).astype(float)
    weighted = FSHNClassifier(random_state=0).fit(X, y, sample_weight=w)
    removed = FSHNClassifier(random_state=0).fit(X[w > 0], y[w > 0])
    np.testing.assert_array_equal(weighted.coef_, removed.coef_)


@pytest.mark.parametrize("rate", [1e6, 1e30])
def test_steps_that_are_too_large_are_named_and_leave_no_model(rate):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 20)).astype(np.float32), rng.integers(0, 2, 200)
    model = FSHNClassifier(learning_rate=rate, random_state=0)
    with pytest.raises(KCNetError, match=r"learning rate of 1e\+\d+ is too large"):
        model.fit(X, y)
    assert not hasattr(model, "coef_")


def test_a_bad_setting_is_refused(digits):
    X, y, *_ = digits
    with pytest.raises(KCNetError, match="learning_rate must be a number above 0; got 0"):
        FSHNClassifier(learning_rate=0).fit(X, y)
