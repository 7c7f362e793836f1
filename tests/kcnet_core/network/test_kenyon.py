"""The hidden layer against the paper's equations."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kcnet_core.network.blocked_matmul import on_one_core
from kcnet_core.network.kenyon import kenyon_activity, strongest_cells, wiring_gradient
from kcnet_core.network.wiring import Wiring


def paper_hidden(W, X, C=1.0):
    """Eqs. (1) to (3) of the paper, row by row."""
    H = np.zeros((len(X), len(W)))
    for i, x in enumerate(X):
        xbar = W @ x
        mu = xbar.mean()
        H[i] = np.maximum(xbar - C * mu, 0)
    return H


@pytest.mark.parametrize("C", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("fan_in", [3, 18])
def test_activity_follows_the_papers_equations(C, fan_in):
    rng = np.random.default_rng(0)
    wiring, X = Wiring.sample(25, 20, fan_in, rng), rng.normal(size=(11, 20))
    H = kenyon_activity(wiring, torch.from_numpy(X), C).numpy().T
    np.testing.assert_allclose(H, paper_hidden(wiring.matrix().astype(float), X, C), atol=1e-12)


def test_with_full_inhibition_equal_cells_fall_silent():
    W = np.tile([1, 1, 0], (5, 1))
    H = kenyon_activity(Wiring.from_matrix(W), torch.rand(4, 3, dtype=torch.float64), 1.0)
    assert H.abs().max() < 1e-12


@pytest.mark.parametrize("C", [0.0, 1.0])
def test_gradient_equals_finite_differences_through_inhibition(C):
    rng = np.random.default_rng(1)
    W, X = rng.normal(size=(6, 5)), rng.normal(size=(9, 5))
    G = rng.normal(size=(6, 9))  # L = sum(G * H), so dL/dH = G

    def loss(W):
        return (G * paper_hidden(W, X, C).T).sum()

    H = torch.from_numpy(paper_hidden(W, X, C).T.copy())
    found = wiring_gradient(torch.from_numpy(G.copy()), H, torch.from_numpy(X), C).numpy()
    expected = np.zeros_like(W)
    for index in np.ndindex(*W.shape):
        step = np.zeros_like(W)
        step[index] = 1e-6
        expected[index] = (loss(W + step) - loss(W - step)) / 2e-6
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_tag_holds_the_most_active_cells_and_no_silent_one():
    H = np.array([[0.0, 3.0, 1.0, 2.0], [0.0, 0.0, 0.0, 5.0], [0.0, 0.0, 0.0, 0.0]])
    tags = strongest_cells(H, 0.5)
    assert tags.tolist() == [
        [False, True, False, True],
        [False, False, False, True],
        [False, False, False, False],
    ]
    assert strongest_cells(H, 0.01).sum(1).tolist() == [1, 1, 0]


def test_rows_shared_out_among_cores_have_the_same_activity_to_the_last_bit():
    rng = np.random.default_rng(0)
    wiring = Wiring.sample(40, 60, 7, rng)
    X = torch.from_numpy(rng.normal(size=(1100, 60)).astype(np.float32))
    shared = kenyon_activity(wiring, X, 0.7)
    with on_one_core():
        alone = kenyon_activity(wiring, X, 0.7)
    assert torch.equal(shared, alone)
    sums = torch.from_numpy(wiring.matrix()).float() @ X.T
    torch.testing.assert_close(shared, (sums - 0.7 * sums.mean(0)).relu(), atol=1e-4, rtol=0)
