"""Explanations are exact: every score is accounted for to float tolerance."""

from __future__ import annotations

import numpy as np
import pytest

from kcnet_core import ELMClassifier, FSHNClassifier, KCNetClassifier
from kcnet_core.errors import KCNetError
from kcnet_core.network.explain import contributions
from kcnet_core.network.wiring import Wiring


def rows(n=120, d=20, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


def labels(kind, n=120, seed=1):
    rng = np.random.default_rng(seed)
    return {
        "binary": rng.integers(0, 2, n),
        "multiclass": rng.integers(0, 4, n),
        "multilabel": rng.integers(0, 2, (n, 5)),
    }[kind]


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
@pytest.mark.parametrize("inhibition", [0.0, 0.6, 1.0, 2.5])
def test_contributions_add_up_to_the_raw_scores_for_any_inhibition(kind, inhibition):
    X = rows()
    model = KCNetClassifier(60, inhibition=inhibition, random_state=0).fit(X, labels(kind))
    shares = contributions(model, X)
    scores = model.class_scores(X)
    assert shares.shape == (*X.shape, scores.shape[1])
    np.testing.assert_allclose(shares.sum(1), scores, rtol=1e-5, atol=1e-5)
    alone = contributions(model, X, scores.shape[1] - 1)
    np.testing.assert_allclose(alone, shares[:, :, -1:], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("settings", [{"n_submodels": 1}, {"n_submodels": 3}])
def test_contributions_add_up_after_doa(settings):
    settings = {"n_epochs": 4, "restore_best": False, "random_state": 0, **settings}
    X, y = rows(), labels("multiclass")
    model = KCNetClassifier(60, **settings).fit(X, y)
    assert len(np.unique(model.weights_.sum(1))) > 1, "DOA should have changed the fan-in"
    np.testing.assert_allclose(
        contributions(model, X).sum(1), model.class_scores(X), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("n_rows", [1, 30])
@pytest.mark.parametrize("density", [0.02, 0.5])
def test_contributions_match_the_formula_written_out(density, n_rows):
    X, y = rows(d=40), labels("multiclass")
    model = KCNetClassifier(50, inhibition=0.8, random_state=0).fit(X, y)
    W = (np.random.default_rng(2).random((50, 40)) < density).astype(float)
    model.wiring_ = Wiring.from_matrix(W)
    X = X[:n_rows]
    H = np.maximum(X @ W.T - 0.8 * (X @ W.T).mean(1, keepdims=True), 0)
    expected = np.zeros((n_rows, 40, 4))
    for n in range(n_rows):
        for k in range(4):
            for j in range(50):
                if H[n, j] > 1e-6:
                    expected[n, :, k] += X[n] * model.coef_[j, k] * (W[j] - 0.8 * W.mean(0))
    np.testing.assert_allclose(contributions(model, X), expected, rtol=1e-5, atol=1e-5)


def test_rows_in_several_batches_are_explained_like_single_rows(monkeypatch):
    X, y = rows(), labels("multiclass")
    model = KCNetClassifier(60, random_state=0).fit(X, y)
    together = contributions(model, X)
    monkeypatch.setattr("kcnet_core.network.explain.BATCH_BYTES", 7 * 8 * model.coef_.size)
    np.testing.assert_allclose(contributions(model, X), together, atol=1e-12)
    apart = np.concatenate([contributions(model, x[None]) for x in X])
    np.testing.assert_allclose(apart, together, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
def test_fshn_scores_are_contributions_plus_bias(kind):
    X = rows()
    model = FSHNClassifier(16, n_epochs=3, random_state=0).fit(X, labels(kind))
    shares, active = contributions(model, X), model.hidden(X) > 0
    rest = model.intercept_ + active @ (model.biases_[:, None] * model.coef_)
    assert np.abs(rest).min() > 0
    np.testing.assert_allclose(shares.sum(1) + rest, model.class_scores(X), rtol=1e-5, atol=1e-6)


def test_an_elm_is_refused_with_the_reason():
    X, y = rows(), labels("multiclass")
    model = ELMClassifier(30, random_state=0).fit(X, y)
    with pytest.raises(KCNetError, match="sigmoid bends everywhere"):
        contributions(model, X)


def test_a_foreign_model_and_a_single_row_without_table_are_refused():
    X, y = rows(), labels("multiclass")
    with pytest.raises(KCNetError, match="Only KCNet and FSHN"):
        contributions(object(), X)
    model = KCNetClassifier(30, random_state=0).fit(X, y)
    with pytest.raises(KCNetError, match="must be a table"):
        contributions(model, X[0])
