"""The wiring W and its projection."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kcnet_core.errors import DataError
from kcnet_core.network.kenyon import kenyon_activity
from kcnet_core.network.wiring import DENSE_ABOVE, FanInLowered, Wiring, allowed_fan_in
from kcnet_core.network.wiring.running_sums import RunningSums


def rng(seed=0):
    return np.random.default_rng(seed)


def project(wiring, X):
    return torch.cat([sums for _, sums in wiring.projections(X)], dim=1)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(2, 60), st.integers(1, 59), st.integers(0, 1000))
def test_every_cell_gets_exactly_its_fan_in_of_distinct_inputs(n_hidden, n_inputs, fan_in, seed):
    fan_in = min(fan_in, n_inputs - 1)
    wiring = Wiring.sample(n_hidden, n_inputs, fan_in, rng(seed))
    W = wiring.matrix()
    assert W.shape == (n_hidden, n_inputs)
    assert (W.sum(1) == fan_in).all()
    assert (wiring.fan_in == fan_in).all()
    assert wiring.density == pytest.approx(W.mean())


def test_inputs_are_drawn_evenly():
    W = Wiring.sample(20_000, 10, 3, rng()).matrix()
    share = W.mean(0)  # each input belongs to a cell with probability 3/10
    assert np.abs(share - 0.3).max() < 5 * np.sqrt(0.3 * 0.7 / 20_000)


def test_the_same_seed_gives_the_same_wiring_and_another_seed_another():
    a, b, c = (Wiring.sample(50, 30, 7, rng(seed)).matrix() for seed in (1, 1, 2))
    assert (a == b).all()
    assert (a != c).any()


@pytest.mark.parametrize("density", [DENSE_ABOVE / 4, 0.5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_sparse_and_dense_form_project_alike(density, dtype):
    W = rng().random((37, 101)) < density
    X = torch.from_numpy(rng(1).normal(size=(13, 101))).to(dtype)
    projected = project(Wiring.from_matrix(W), X)
    assert projected.dtype == dtype
    expected = W.astype(float) @ X.double().numpy().T
    np.testing.assert_allclose(projected.numpy(), expected, atol=1e-5)


def test_a_matrix_survives_the_index_form_even_with_cells_that_have_no_inputs():
    W = np.zeros((4, 5), np.uint8)
    W[1, [0, 3]] = W[3, 2] = 1
    wiring = Wiring.from_matrix(W)
    assert (wiring.matrix() == W).all()
    assert wiring.fan_in.tolist() == [0, 2, 0, 1]
    np.testing.assert_allclose(project(wiring, torch.eye(5)).numpy(), W)


def test_concatenated_wiring_holds_the_cells_of_all_parts_in_order():
    parts = [Wiring.sample(n, 9, 3, rng(n)) for n in (4, 1, 6)]
    joined = Wiring.concatenate(parts)
    assert (joined.matrix() == np.concatenate([p.matrix() for p in parts])).all()
    assert (joined.first(5).matrix() == joined.matrix()[:5]).all()
    assert (joined.first(99).matrix() == joined.matrix()).all()


def test_a_fan_in_that_is_too_large_is_lowered_and_the_warning_says_why():
    with pytest.warns(FanInLowered, match="lowered to 4: with all 5 inputs connected every cell"):
        assert allowed_fan_in(7, 5) == 4


def test_a_single_input_is_refused_with_a_reason():
    with pytest.raises(DataError, match="at least two inputs"):
        allowed_fan_in(1, 1)


def test_a_block_that_serves_again_holds_the_same_sums_to_the_last_bit():
    wiring = Wiring.sample(37, 101, 7, rng())
    X = torch.from_numpy(rng(1).normal(size=(600, 101)).astype(np.float32))
    blocks, sums_of = wiring.projection(X, reuse=True)
    again = torch.cat([sums_of(rows).clone() for rows in blocks], dim=1)
    assert torch.equal(again, project(wiring, X))


def test_running_sums_follow_a_wiring_that_changes():
    W = torch.from_numpy(rng().random((30, 50)) < 0.05)
    X = torch.from_numpy(rng(1).normal(size=(40, 50)).astype(np.float32))
    running = RunningSums(Wiring.from_matrix(W), X)
    for seed in range(5):
        changed = torch.from_numpy(rng(seed).random(W.shape) < (0.03 if seed else 0))
        W = W ^ changed
        running.rewire(changed, W)
        expected = kenyon_activity(Wiring.from_matrix(W), X, 0.7)
        torch.testing.assert_close(running.activity(0.7), expected, atol=1e-5, rtol=0)
