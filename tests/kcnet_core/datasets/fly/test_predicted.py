"""Guessed responses come from odorants that are alike, and their error is measured."""

from __future__ import annotations

import numpy as np
import pytest

from kcnet_core import datasets
from kcnet_core.datasets.fly.door import measured
from kcnet_core.datasets.fly.predicted import guess, leave_one_out


@pytest.fixture
def door(real_data):
    return datasets.load("door")


def test_a_guess_is_like_the_nearest_odorant_and_names_it(door):
    found = guess("CCCCCC(=O)OCCC", door)  # propyl hexanoate, which nobody tested
    assert found.nearest in door.row_names and 0.5 < found.similarity < 1
    assert found.rates.shape == (48,) and 0 <= found.rates.min() <= found.rates.max() <= 1
    assert found.nearest == "hexyl hexanoate"
    row = door.row_names.index("ethyl hexanoate")
    known = measured(door)
    means = np.array(
        [column[there].mean() for column, there in zip(door.X.T, known.T, strict=True)]
    )
    own = guess(door.smiles[row], door)
    assert own.nearest == "ethyl hexanoate" and own.similarity == 1
    off = [np.abs(rates - door.X[row])[known[row]].mean() for rates in (own.rates, means)]
    assert off[0] < 0.9 * off[1]


def test_guesses_are_better_than_means_and_the_error_says_by_how_much(door):
    error = leave_one_out(door)
    assert error.guessed == pytest.approx(0.0876, abs=5e-4)
    assert error.of_mean == pytest.approx(0.1003, abs=5e-4)
    assert error.n == 3357
