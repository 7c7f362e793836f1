"""What a class measures on flies is what it claims to be."""

from __future__ import annotations

import numpy as np
import pytest

from kcnet_core.datasets import load
from kcnet_core.lessons.circuit import CircuitSettings, Glomeruli, train_fly
from kcnet_core.lessons.experiments import (
    active_cells,
    alike,
    cell_sums,
    compare_flies,
    fly_answers,
    identical_cells,
    inhibition_sweep,
    input_similarity,
    nearest_and_farthest,
    next_fly,
    opinions,
    tag_distance,
    tag_pairs,
    wiring_overlap,
)


@pytest.fixture(scope="module")
def digits():
    return Glomeruli(load("digits"))


@pytest.fixture(scope="module")
def fly(digits):
    return train_fly(digits, CircuitSettings(cells=300))


def test_active_cells_are_those_the_network_leaves_above_zero(digits, fly):
    rates = digits.rates[:30]
    np.testing.assert_array_equal(active_cells(cell_sums(fly, rates), 1.0), fly.hidden(rates) > 0)


def test_tag_distance_is_jaccards():
    a = np.array([1, 1, 1, 0, 0], bool)
    b = np.array([0, 1, 1, 1, 0], bool)
    assert tag_distance(a, b) == pytest.approx(1 - 2 / 4)
    assert tag_distance(a, a) == 0
    assert tag_distance(a, ~a) == 1
    assert tag_distance(np.zeros(5, bool), np.zeros(5, bool)) == 0


def test_inhibition_silences_cells_and_moves_kinds_apart(digits, fly):
    a, b = digits.rates[digits.test[:2]]
    sweep = inhibition_sweep(fly, digits, a, b, [0, 0.5, 1, 1.5, 2])
    assert np.all(np.diff(sweep.share_mean) < 0)
    assert np.all(np.diff(sweep.share_a) <= 0)
    assert np.all(np.diff(sweep.distance_different) > 0)
    assert np.all(sweep.distance_different > sweep.distance_same)
    assert np.all(sweep.share_low <= sweep.share_high)


def test_a_sweeps_pair_matches_a_direct_computation(digits, fly):
    a, b = digits.rates[digits.test[:2]]
    sweep = inhibition_sweep(fly, digits, a, b, [1.0])
    active = fly.hidden(np.stack([a, b])) > 0
    assert sweep.share_a[0] == active[0].mean()
    assert sweep.distance[0] == pytest.approx(float(tag_distance(active[0], active[1])))


def test_alike_odors_share_half_of_their_characters():
    y = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1]])
    assert alike(y, np.array([0, 0]), np.array([1, 2])).tolist() == [True, False]
    assert alike(np.array([3, 3, 4]), np.array([0, 0]), np.array([1, 2])).tolist() == [True, False]


def test_similar_inputs_share_more_of_their_tag(digits, fly):
    pairs = tag_pairs(fly, digits)
    assert np.corrcoef(pairs.similarity, pairs.overlap)[0, 1] > 0.7
    assert pairs.overlap[pairs.same].mean() > 1.5 * pairs.overlap[~pairs.same].mean()
    assert pairs.tag_size == 15
    assert pairs.chance == pytest.approx(0.05)


def test_tag_pairs_are_held_out_and_mostly_balanced(digits, fly):
    pairs = tag_pairs(fly, digits, n_pairs=400)
    assert set(pairs.first) | set(pairs.second) <= set(digits.test)
    assert 100 < pairs.same.sum() <= 200
    i = 7
    similarity = input_similarity(digits.rates[[pairs.first[i], pairs.second[i]]])[0, 1]
    assert pairs.similarity[i] == pytest.approx(similarity)
    one, other = fly.tags(digits.rates[[pairs.first[i], pairs.second[i]]])
    assert pairs.overlap[i] == pytest.approx((one & other).sum() / 15)


def test_the_nearest_sample_is_never_the_sample_itself(digits):
    row = int(digits.test[4])
    near, far = nearest_and_farthest(digits, digits.rates[row])
    similarity = input_similarity(digits.rates)[row]
    assert near != row
    assert similarity[near] == pytest.approx(np.delete(similarity, row).max())
    assert similarity[far] == pytest.approx(similarity.min())


def test_wiring_overlap_counts_connections_in_the_same_place():
    one = np.array([[1, 1, 0, 0], [0, 0, 1, 1]], bool)
    other = np.array([[0, 0, 1, 1], [0, 0, 1, 1]], bool)
    assert wiring_overlap(one, other) == 0.5
    assert identical_cells(one, other) == 1
    assert identical_cells(one, one) == 2


def test_flies_agree_while_their_wirings_do_not(digits):
    first = CircuitSettings(cells=300)
    swarm = [fly_answers(digits, next_fly(first, number)) for number in range(4)]
    comparison = compare_flies(swarm)
    pairs = np.triu_indices(4, k=1)
    assert comparison.overlap[pairs].mean() == pytest.approx(comparison.chance_overlap, abs=0.03)
    assert comparison.agreement[pairs].min() > 0.85
    assert comparison.chance_agreement == pytest.approx(0.1, abs=0.02)
    assert comparison.n_pairs == 6
    assert comparison.n_connections == 300 * 7
    views = opinions(swarm, digits.rates[digits.test[0]])
    assert views.shape == (4, 10)
    np.testing.assert_allclose(views.sum(axis=1), 1, atol=1e-6)


def test_the_next_fly_after_the_last_number_is_the_first():
    assert next_fly(CircuitSettings(wiring=9999)).wiring == 1
    assert next_fly(CircuitSettings(wiring=5), 3).wiring == 8
