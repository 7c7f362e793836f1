"""Ridge sums, solves, the lambda path and leave-one-out against independent references."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kcnet_core.network.ridge import (
    JitterAdded,
    NotPositiveDefinite,
    RidgeSums,
    Rows,
    bare_product_seconds,
    factor,
)
from kcnet_core.network.ridge_path import RidgePath

CPU = torch.device("cpu")


def make(n, B, c=3, seed=0, weights=None):
    rng = np.random.default_rng(seed)
    H = np.maximum(rng.normal(size=(n, B)), 0)
    Y = np.eye(c)[rng.integers(c, size=n)]
    w = np.ones(n) if weights is None else np.asarray(weights, float)
    return H, Y, w


def paper_beta(H, Y, alpha, w=None):
    """Eq. (6): beta = (H'H + lambda I)^-1 H'Y."""
    w = np.ones(len(H)) if w is None else w
    return np.linalg.inv((H.T * w) @ H + alpha * np.eye(H.shape[1])) @ (H.T * w) @ Y


def sums_of(H, Y, w, chunk=None):
    sums = RidgeSums(H.shape[1], Y.shape[1], CPU)
    for k in range(0, len(H), chunk or len(H)):
        part = slice(k, k + (chunk or len(H)))
        sums.add(*map(torch.from_numpy, (np.ascontiguousarray(H[part].T), Y[part], w[part])))
    return sums


def probe_of(H, Y, w):
    return Rows(*map(torch.from_numpy, (np.ascontiguousarray(H.T), Y, w)))


def brute_force(H, Y, w, alpha):
    """Refit without one copy of each row (without the row, where its weight is below one)."""
    out = np.empty_like(Y)
    for i in range(len(H)):
        less = w.copy()
        less[i] -= min(1.0, w[i])
        out[i] = H[i] @ paper_beta(H, Y, alpha, less)
    return out


SHAPES = pytest.mark.parametrize(("n", "B"), [(60, 12), (15, 40), (30, 30)])
WEIGHTS = pytest.mark.parametrize("weighted", [False, True])


def weights_for(n, weighted):
    return np.random.default_rng(5).choice([0.3, 1.0, 2.0, 3.5], n) if weighted else np.ones(n)


@SHAPES
@WEIGHTS
@pytest.mark.parametrize("alpha", [0.01, 3.0])
def test_output_weights_follow_the_papers_equation(n, B, weighted, alpha):
    H, Y, w = make(n, B, weights=weights_for(n, weighted))
    sums = sums_of(H, Y, w)
    assert sums.dual == (n < B)
    np.testing.assert_allclose(sums.coef(alpha).numpy(), paper_beta(H, Y, alpha, w), atol=1e-9)


@SHAPES
@WEIGHTS
@pytest.mark.parametrize("alpha", [0.01, 3.0])
def test_leave_one_out_equals_refitting_without_each_row(n, B, weighted, alpha):
    H, Y, w = make(n, B, weights=weights_for(n, weighted))
    expected = brute_force(H, Y, w, alpha)
    beta, loo = sums_of(H, Y, w).solve(alpha, probe_of(H, Y, w))
    np.testing.assert_allclose(loo.outputs.numpy(), expected, atol=1e-8)
    np.testing.assert_allclose(beta.numpy(), paper_beta(H, Y, alpha, w), atol=1e-9)
    error = np.average(((expected - Y) ** 2).sum(1), weights=w)
    assert loo.error == pytest.approx(error, rel=1e-8)


@SHAPES
@WEIGHTS
def test_the_path_gives_every_lambda_what_its_own_solve_would_give(n, B, weighted):
    H, Y, w = make(n, B, weights=weights_for(n, weighted))
    sums, probe = sums_of(H, Y, w), probe_of(H, Y, w)
    alphas = [0.01, 0.5, 20.0]
    path = RidgePath(sums, probe, alphas, "accuracy", "multiclass")
    test_rows = make(7, B, seed=9)[0]
    projected = path.project(test_rows)
    for k, alpha in enumerate(alphas):
        beta = paper_beta(H, Y, alpha, w)
        loo = brute_force(H, Y, w, alpha)
        np.testing.assert_allclose(path.coef(alpha), beta, atol=1e-8)
        np.testing.assert_allclose(path.decision(projected, alpha), test_rows @ beta, atol=1e-8)
        np.testing.assert_allclose(path.leave_one_out(alpha).outputs, loo, atol=1e-7)
        assert path.loo_error[k] == pytest.approx(
            np.average(((loo - Y) ** 2).sum(1), weights=w), rel=1e-6
        )
        assert path.loo_score[k] == pytest.approx((loo.argmax(1) == Y.argmax(1)).mean())
    other = path.at([0.5, 7.0])
    assert other.loo_error[0] == pytest.approx(path.loo_error[1])
    assert other.best_alpha == other.alphas[np.argmin(other.loo_error)]


def test_the_path_at_lambda_zero_is_the_pseudo_inverse_even_when_cells_repeat():
    H, Y, w = make(40, 6)
    H = np.concatenate([H, H[:, :2]], 1)
    path = RidgePath(sums_of(H, Y, w), probe_of(H, Y, w), [0.0], "accuracy", "multiclass")
    np.testing.assert_allclose(path.coef(0.0), np.linalg.pinv(H) @ Y, atol=1e-7)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 50), st.integers(1, 30), st.integers(1, 50), st.randoms())
def test_sums_do_not_depend_on_order_and_chunking(n, B, chunk, random):
    H, Y, w = make(n, B)
    order = list(range(n))
    random.shuffle(order)
    one, many = sums_of(H, Y, w), sums_of(H[order], Y[order], w[order], chunk)
    np.testing.assert_allclose(many.coef(0.5).numpy(), one.coef(0.5).numpy(), atol=1e-9)


@pytest.mark.parametrize("B", [5, 50])
def test_a_weight_counts_like_repeated_rows(B):
    H, Y, _ = make(20, B)
    w = np.random.default_rng(2).integers(1, 4, 20).astype(float)
    copies = np.repeat(np.arange(20), w.astype(int))
    weighted, one = sums_of(H, Y, w), np.ones(len(copies))
    repeated = sums_of(H[copies], Y[copies], one)
    np.testing.assert_allclose(weighted.coef(0.3).numpy(), repeated.coef(0.3).numpy(), atol=1e-9)
    loo = weighted.solve(0.3, probe_of(H, Y, w))[1].outputs.numpy()
    again = repeated.solve(0.3, probe_of(H[copies], Y[copies], one))[1].outputs.numpy()
    np.testing.assert_allclose(again, loo[copies], atol=1e-8)


def test_a_singular_matrix_is_solved_with_jitter_and_the_warning_names_it():
    A = torch.ones(6, 6, dtype=torch.float64)
    with pytest.warns(JitterAdded, match="Raise alpha"):
        L = factor(A, 0.0)
    np.testing.assert_allclose((L.tril() @ L.tril().T).numpy(), 1.0, atol=1e-5)
    assert (A == 1).all()


@pytest.mark.parametrize(("value", "advice"), [(-1.0, "raise alpha"), (np.nan, "extreme values")])
def test_a_hopeless_matrix_is_a_named_error_with_advice(value, advice):
    A = torch.eye(4, dtype=torch.float64)
    A[2, 2] = value
    with pytest.raises(NotPositiveDefinite, match=advice):
        factor(A, 0.0)


def test_the_bare_product_takes_a_measurable_time():
    assert 0 < bare_product_seconds(50, 1000) < 10
