"""Seeds and streams."""

from __future__ import annotations

import numpy as np
import pytest

from kcnet_core.network.seeds import generator, seed_sequence


def test_the_same_seed_and_purpose_give_the_same_numbers_and_others_differ():
    seed = seed_sequence(3)
    first = generator(seed, 0, 1).random(4)
    assert (generator(seed_sequence(3), 0, 1).random(4) == first).all()
    assert (generator(seed, 0, 2).random(4) != first).any()
    assert (generator(seed_sequence(4), 0, 1).random(4) != first).any()


def test_numpys_global_generator_is_neither_read_nor_moved():
    np.random.seed(0)
    before = np.random.get_state()[1].copy()
    a, b = (generator(seed_sequence(None)).random() for _ in range(2))
    assert a != b
    assert (np.random.get_state()[1] == before).all()


@pytest.mark.parametrize("source", [np.random.RandomState, np.random.default_rng])
def test_a_generator_is_advanced_so_that_two_fits_differ(source):
    state = source(0)
    a, b = seed_sequence(state).entropy, seed_sequence(state).entropy
    assert a != b
    assert a == seed_sequence(source(0)).entropy


def test_nonsense_is_refused():
    with pytest.raises(ValueError, match="random_state must be"):
        seed_sequence("seven")
