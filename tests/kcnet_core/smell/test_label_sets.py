"""The line from which on characters are named keeps what it promises."""

from __future__ import annotations

import numpy as np
import pytest

from kcnet_core.smell.export import named_characters
from kcnet_core.smell.label_sets import COVERAGES, covered, line_for, lines_for


def drawn(n, seed, c=12):
    """Probabilities that mean what they say, and what then came true."""
    rng = np.random.default_rng(seed)
    P = rng.beta(0.5, 2.0, (n, c))
    return P, (rng.random((n, c)) < P).astype(int)


@pytest.mark.parametrize("coverage", COVERAGES)
def test_new_molecules_have_as_many_true_characters_named_as_was_asked(coverage):
    line = line_for(*drawn(1500, 0), coverage)
    assert covered(*drawn(4000, 1), line) == pytest.approx(coverage, abs=0.02)


def test_every_molecule_counts_once_however_many_characters_it_has():
    P = np.array([[0.9, 0.2, 0.2], [0.8, 0.1, 0.1], [0.7, 0.1, 0.1], [0.6, 0.1, 0.1]])
    Y = np.array([[1, 1, 1], [1, 0, 0], [1, 0, 0], [1, 0, 0]])
    assert covered(P, Y, 0.5) == pytest.approx((1 / 3 + 3) / 4)
    assert covered(P, Y, 0.65) == pytest.approx((1 / 3 + 2) / 4)


def test_more_is_named_the_more_is_asked_for():
    lines = list(lines_for(*drawn(500, 2)).values())
    assert lines == sorted(lines, reverse=True) and lines[0] > lines[-1]


def test_few_molecules_promise_nothing_by_naming_everything():
    P, Y = drawn(3, 0)
    assert line_for(P, Y, 0.9) == 0.0


def test_no_character_is_named_beside_a_more_probable_one_that_is_not(nose, smelled):
    for text in ("CC1CC(=O)CCC1", "vanillin", "O=C1CCCCCCCCCCCCCC1"):
        answer = smelled(text)
        for coverage in COVERAGES:
            named = set(named_characters(nose, answer, coverage=coverage))
            order = [nose.characters[k] for k in np.argsort(-answer.probabilities)]
            assert set(order[: len(named)]) == named
