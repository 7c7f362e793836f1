"""Closed-form outputs for molecules left out equal those of solves without them."""

from __future__ import annotations

import numpy as np
import pytest

from kcnet_core.network.regression.group_leave_one_out import solve


@pytest.mark.parametrize("n_hidden", [20, 80])  # more rows than cells, and fewer
@pytest.mark.parametrize("grouped", [True, False])
def test_left_out_outputs_are_those_of_a_solve_without_the_molecule(n_hidden, grouped):
    rng = np.random.default_rng(0)
    H = np.maximum(rng.normal(size=(50, n_hidden)), 0)
    Y = (rng.random((50, 3)) > 0.5).astype(float)
    groups = rng.integers(0, 30, 50) if grouped else None
    beta, left_out = solve(H, Y, groups, 2.0)

    def solved(rows):
        return np.linalg.solve(H[rows].T @ H[rows] + 2 * np.eye(n_hidden), H[rows].T @ Y[rows])

    np.testing.assert_allclose(beta, solved(np.ones(50, bool)), atol=1e-8)
    molecule = np.arange(50) if groups is None else groups
    for one in np.unique(molecule):
        out = molecule == one
        np.testing.assert_allclose(left_out[out], H[out] @ solved(~out), atol=1e-6)
