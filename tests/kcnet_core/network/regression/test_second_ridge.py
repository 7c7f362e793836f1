"""A second ridge lets labels inform each other, and stays one matrix."""

from __future__ import annotations

import numpy as np
import pytest

from kcnet_core.network.regression.second_ridge import second_ridge
from kcnet_core.network.scores import auroc_by_label


@pytest.fixture
def outputs():
    """Label 1 follows label 0, but its own output hears only noise; label 2 is by itself."""
    rng = np.random.default_rng(0)
    Y = (rng.random((400, 3)) < 0.3).astype(float)
    Y[:, 1] = Y[:, 0]
    Z = Y + rng.normal(size=Y.shape)
    Z[:, 1] = rng.normal(size=400)
    return Z, Y


def test_a_label_learns_from_one_that_goes_along_with_it(outputs):
    Z, Y = outputs
    before, after = auroc_by_label(Y, Z), auroc_by_label(Y, second_ridge(Z, Y, alpha=1.0).left_out)
    assert before[1] < 0.6 and after[1] > 0.7
    assert after[2] > before[2] - 0.02


def test_left_out_scores_are_those_of_a_ridge_that_was_not_shown_the_row(outputs):
    Z, Y = outputs
    alpha, rows = 2.0, np.arange(1, len(Z))
    found = second_ridge(Z, Y, alpha=alpha)
    middle, spread = Z.mean(axis=0), Z.std(axis=0)
    S, T = (Z - middle) / spread, Y - Y.mean(axis=0)
    gram = S[rows].T @ S[rows] + alpha * len(Z) * np.eye(3)
    by_hand = S[0] @ np.linalg.solve(gram, S[rows].T @ T[rows]) + middle @ found.matrix
    np.testing.assert_allclose(found.left_out[0], by_hand, atol=1e-9)


def test_scores_through_the_matrix_are_on_the_scale_of_those_left_out(outputs):
    Z, Y = outputs
    found = second_ridge(Z, Y)
    np.testing.assert_allclose((Z @ found.matrix).mean(0), found.left_out.mean(0), atol=1e-3)
