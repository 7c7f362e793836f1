"""Kernels in place of cells: likeness of counts, rows left out, and profiles."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kcnet_core.network.regression import kernels
from kcnet_core.network.regression.group_leave_one_out import gram, solve, solve_kernel

RNG = np.random.default_rng(0)
GROUPS = np.repeat(np.arange(20), 2)
H = RNG.random((40, 60)).astype(np.float32)
Y = (H[:, :3] + 0.2 * RNG.random((40, 3)) > 0.6).astype(float)


def test_counts_are_alike_by_what_both_hold_of_what_either_holds():
    A, B = RNG.integers(0, 12, (5, 30)), RNG.integers(0, 3, (4, 30))
    a, b = (np.minimum(X, kernels.MOST) for X in (A, B))
    wanted = np.array([[np.minimum(x, y).sum() / np.maximum(x, y).sum() for y in b] for x in a])
    np.testing.assert_allclose(kernels.min_max_kernel(A, B), wanted, rtol=1e-6)
    assert kernels.min_max_kernel(0 * A, B).max() == 0  # and no division by nothing


def test_a_kernel_of_cells_is_the_ridge_of_these_cells():
    coef, without = solve(H, Y, GROUPS, 0.5)
    dual, same = solve_kernel(gram(H), Y, GROUPS, 0.5)
    np.testing.assert_allclose(without, same)
    np.testing.assert_allclose(H @ coef, (H @ H.T).astype(float) @ dual, atol=1e-5)


def test_rows_left_out_are_what_a_ridge_without_their_group_says():
    K = kernels.laplace_kernel(kernels.squared_distances(H, H), 8.0)
    _, without = solve_kernel(torch.from_numpy(K.copy()), Y, GROUPS, 0.7)
    out = GROUPS == 4
    A = np.linalg.solve(K[~out][:, ~out] + 0.7 * np.eye((~out).sum()), Y[~out])
    np.testing.assert_allclose(without[out], K[out][:, ~out] @ A, atol=1e-4)


def test_profiles_tell_labels_of_rows_that_were_never_shown():
    hidden = RNG.normal(size=(150, 3))
    labels = (hidden > 0.5).astype(float)
    rows = (hidden @ RNG.normal(size=(3, 40)) + RNG.normal(size=(150, 40))).astype(np.float32)
    K = kernels.laplace_kernel(kernels.squared_distances(rows, rows), 100.0)
    taught, asked = np.arange(100), np.arange(100, 150)
    shown = K[np.ix_(taught, taught)]
    found = kernels.profile_ridge(shown, labels[taught], None, 0.5, 0.3, (0.01, 3.0))
    Z = found.outputs(K[np.ix_(asked, taught)])
    assert kernels.auroc(labels[asked], Z) > 0.85 and found.second_alpha == 3.0
    assert kernels.auroc(labels[taught], found.left_out) > 0.85
    # A profile is what the first ridge says of a row that it was not shown.
    profile = (K[np.ix_(asked, taught)] @ found.first - found.middle) / found.spread
    squares = kernels.squared_distances(profile, found.profiles)
    likeness = np.exp(-0.3 / found.typical * squares)
    np.testing.assert_allclose(Z, likeness @ found.second, rtol=1e-3, atol=1e-5)


def test_kernels_that_repeat_rows_ask_for_a_larger_lambda():
    with pytest.raises(Exception, match="raise lambda"):
        solve_kernel(torch.ones((3, 3), dtype=torch.float64), Y[:3], None, -1.0)
