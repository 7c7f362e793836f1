"""Bytes of a stored network, counted by hand, and what rounding does to it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from kcnet_core import ELMClassifier, FSHNClassifier, KCNetClassifier
from kcnet_core.experiments.comparison.rows import Comparison, compare_steps
from kcnet_core.experiments.stored_size import rounded, stored_size, wiring_bits

DIGITS = load_digits()
X, y = (DIGITS.data / 16).astype(np.float32), DIGITS.target


def test_a_wiring_is_counted_bit_by_bit():
    W = np.zeros((2, 4, 8), np.uint8)
    W[0, 1, 2] = W[0, 3, 4] = 1  # a rectangle of 3 x 3
    W[1, 0, 7] = 1  # of one pixel
    assert wiring_bits(W.reshape(2, 32), (4, 8)) == {
        "bits": 2 * 32,
        "indices": 2 * 16 + 3 * 5,
        "rectangles": 2 * (2 * 2 + 2 * 3) + 9 + 1,
    }


def test_a_cell_without_inputs_takes_no_rectangle():
    assert wiring_bits(np.zeros((3, 16), np.uint8), (4, 4))["rectangles"] == 3 * 8


@pytest.mark.parametrize("wiring", ["random", "local"])
def test_a_kcnet_is_its_smallest_wiring_and_its_output_weights(wiring):
    net = KCNetClassifier(50, fan_in=4, wiring=wiring, min_field=3, max_field=4, random_state=0)
    size = stored_size(net.fit(X, y), (8, 8))
    bits = wiring_bits(net.weights_, (8, 8))
    assert size.hidden == -(-min(bits.values()) // 8)
    assert bits[size.hidden_form] == min(bits.values())
    assert size.output == 4 * 50 * 10
    assert size.output_8bit == 50 * 10 + 50
    assert size.total_8bit == size.hidden + size.output_8bit


def test_other_networks_store_every_weight_and_baselines_are_not_counted():
    elm = stored_size(ELMClassifier(20, random_state=0).fit(X, y))
    assert elm.hidden == 4 * (20 * 64 + 20)
    fshn = stored_size(FSHNClassifier(20, n_epochs=1, random_state=0).fit(X, y))
    assert fshn.total == 4 * (20 * 64 + 20 + 20 * 10 + 10)
    assert stored_size(KNeighborsClassifier().fit(X, y)) is None


@pytest.mark.parametrize("make", [KCNetClassifier, ELMClassifier, FSHNClassifier])
def test_rounding_leaves_the_network_alone_and_few_levels_in_its_copy(make):
    net = make(60, random_state=0).fit(X, y)
    before, coef = net.predict(X), net.coef_.copy()
    small = rounded(net)
    largest = np.abs(coef).max(1, keepdims=True)
    assert (small.coef_ != coef).any()
    assert (np.abs(small.coef_ - coef) <= largest / 127 * 1.001).all()
    assert (np.abs(small.coef_).max(1, keepdims=True) <= largest * 1.01).all()
    assert np.mean(small.predict(X) == before) > 0.95
    assert (net.coef_ == coef).all()
    assert (net.predict(X) == before).all()


def test_a_comparison_tells_bytes_and_accuracy_in_8_bits():
    few = Comparison("digits", models=("KCNet", "FSHN"), hidden=(40,), n_repeats=1)
    for row in compare_steps(few):
        assert row["stored_bytes"] > row["stored_bytes_8bit"] > 400
        assert abs(row["accuracy_8bit"] - row["accuracy"]) < 0.05
