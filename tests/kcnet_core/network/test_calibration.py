"""Probabilities mean what they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax
from sklearn.datasets import make_classification, make_multilabel_classification

from kcnet_core import ELMClassifier, KCNetClassifier
from kcnet_core.network.calibration import SHARPEST, SMALLEST_SLOPE, Calibration, CalibrationRows


def draw(n=400, c=3, slope=4.0, seed=0):
    """Scores whose true probabilities are softmax(slope * z)."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, c))
    P = softmax(slope * Z, axis=1)
    y = (P.cumsum(1) > rng.random((n, 1))).argmax(1)
    return Z, np.eye(c)[y]


def calibration_error(P, y, bins=10):
    """Mean gap between confidence and accuracy, over bins of confidence."""
    confidence, right = P.max(1), P.argmax(1) == y
    bin_of = np.minimum((confidence * bins).astype(int), bins - 1)
    return sum(
        abs(confidence[bin_of == b].mean() - right[bin_of == b].mean()) * (bin_of == b).mean()
        for b in np.unique(bin_of)
    )


def test_temperature_minimises_the_log_loss():
    Z, Y = draw()
    w = np.random.default_rng(1).random(len(Z))

    def loss(slope):
        return -(w @ (log_softmax(slope[0] * Z, axis=1) * Y).sum(1))

    found = Calibration.fit(Z, Y, w, "multiclass").slope[0]
    assert found == pytest.approx(minimize(loss, [1.0]).x[0], rel=1e-4)
    assert found == pytest.approx(4.0, rel=0.3)


def test_platt_minimises_the_log_loss_of_smoothed_targets_per_label():
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(300, 2))
    Y = (rng.random(Z.shape) < expit(3 * Z - 1)).astype(float)
    fitted = Calibration.fit(Z, Y, np.ones(300), "multilabel")
    for k in range(2):
        positive = Y[:, k].sum()
        smooth = np.where(Y[:, k] > 0, (positive + 1) / (positive + 2), 1 / (300 - positive + 2))

        def loss(theta, z=Z[:, k], t=smooth):
            score = theta[0] * z + theta[1]
            return (np.logaddexp(0, score) - t * score).sum()

        best = minimize(loss, [1.0, 0.0]).x
        np.testing.assert_allclose([fitted.slope[k], fitted.bias[k]], best, rtol=1e-3)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 30), st.integers(1, 4), st.sampled_from(["multiclass", "multilabel"]), st.data()
)
def test_probabilities_stay_between_zero_and_one_whatever_the_scores(n, c, kind, data):
    numbers = st.floats(-50, 50, allow_nan=False)
    Z = np.array(data.draw(st.lists(numbers, min_size=n * c, max_size=n * c))).reshape(n, c)
    y = np.array(data.draw(st.lists(st.integers(0, c - 1), min_size=n, max_size=n)))
    P = Calibration.fit(Z, np.eye(c)[y], np.ones(n), kind).probabilities(Z)
    assert np.isfinite(P).all()
    assert ((P >= 0) & (P <= 1)).all()
    if kind == "multiclass":
        np.testing.assert_allclose(P.sum(1), 1)


def test_a_perfectly_told_label_gets_a_finite_slope_and_an_unlearnable_one_its_base_rate():
    Z, Y = np.eye(2)[[0, 1] * 20], np.eye(2)[[0, 1] * 20]
    assert Calibration.fit(Z, Y, np.ones(40), "binary").slope[0] == SHARPEST
    constant = Calibration.fit(
        np.ones((40, 1)),
        np.ones((40, 1)) * (np.arange(40) < 10)[:, None],
        np.ones(40),
        "multilabel",
    )
    assert constant.slope[0] == SMALLEST_SLOPE
    assert constant.probabilities(np.ones((1, 1)))[0, 0] == pytest.approx(11 / 42)


@pytest.mark.parametrize("model", [KCNetClassifier, ELMClassifier])
def test_predicted_probabilities_are_calibrated_on_new_rows(model):
    X, y = make_classification(
        4000, 30, n_informative=8, n_classes=3, flip_y=0.15, class_sep=0.7, random_state=0
    )
    net = model(n_hidden=300, random_state=0).fit(X[:2000], y[:2000])
    P = net.predict_proba(X[2000:])
    raw = softmax(net.class_scores(X[2000:]), axis=1)
    assert calibration_error(P, y[2000:]) < 0.05
    assert calibration_error(raw, y[2000:]) > 0.1  # what calibration was needed for


def test_leave_one_out_keeps_an_overfitted_network_honest():
    X, y = make_classification(2300, 40, n_informative=5, flip_y=0.3, class_sep=0.5, random_state=1)
    # 2,000 cells on 300 rows: the training outputs reproduce the labels almost exactly.
    net = KCNetClassifier(n_hidden=2000, alpha=0.1, random_state=0).fit(X[:300], y[:300])
    assert net.score(X[:300], y[:300]) == 1
    assert calibration_error(net.predict_proba(X[300:]), y[300:]) < 0.08


def test_multilabel_probabilities_are_calibrated_and_decide_at_one_half():
    X, Y = make_multilabel_classification(3000, 20, n_classes=5, random_state=0)
    net = KCNetClassifier(n_hidden=200, random_state=0).fit(X[:1500], Y[:1500])
    P = net.predict_proba(X[1500:])
    assert (net.predict(X[1500:]) == (P >= 0.5)).all()
    for k in range(5):
        pair = np.c_[1 - P[:, k], P[:, k]]
        assert calibration_error(pair, Y[1500:, k]) < 0.08


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 200), st.integers(1, 50), st.integers(1, 70), st.randoms())
def test_the_calibration_sample_does_not_depend_on_order_and_chunking(n, capacity, chunk, random):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5)).astype(np.float32)
    Y, w = rng.random((n, 2)), rng.random(n)
    order = list(range(n))
    random.shuffle(order)
    once = CalibrationRows(capacity, 5, np.random.default_rng(3))
    once.add(X, Y, w)
    parts = CalibrationRows(capacity, 5, np.random.default_rng(3))
    for k in range(0, n, chunk):
        part = order[k : k + chunk]
        parts.add(X[part], Y[part], w[part])
    assert len(once.X) == min(n, capacity)

    def rows(sample):
        table = np.c_[sample.X, sample.Y, sample.w]
        return table[np.lexsort(table.T)]

    np.testing.assert_array_equal(rows(once), rows(parts))


def test_the_calibration_sample_is_spread_over_all_rows():
    X = np.arange(10_000, dtype=np.float32)[:, None]
    sample = CalibrationRows(1000, 1, np.random.default_rng(0))
    sample.add(X, X, X[:, 0])
    share = np.histogram(sample.X, bins=10, range=(0, 10_000))[0] / 1000
    assert np.abs(share - 0.1).max() < 0.04
    singly = CalibrationRows(1000, 1, np.random.default_rng(0))
    for rows in np.array_split(np.arange(10_000), 97):  # each too few to be shared among cores
        singly.add(X[rows], X[rows], X[rows, 0])
    np.testing.assert_array_equal(np.sort(sample.X, axis=0), np.sort(singly.X, axis=0))
