"""Ratings become odor characters by counting who used a descriptor, with a stated tie rule."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kcnet_core.datasets.keller_labels import descriptor_use, n_ties, odor_characters, pooled


def ratings(*rows):
    return pd.DataFrame(rows, columns=["Stimulus", "Subject", "MeasurementValue", "Value"])


def test_a_descriptor_counts_when_its_rating_is_above_zero():
    use = descriptor_use(
        ratings(
            (1, "a", "SWEET", "10"),
            (1, "b", "SWEET", "0"),
            (1, "c", "SWEET", None),
            (1, "a", "MUSKY", "1"),
            (1, "b", "MUSKY", "2"),
        )
    )
    assert use.descriptors == ("SWEET", "MUSKY")
    assert use.counts.tolist() == [[1, 2]]
    assert use.sums.tolist() == [[10, 3]]
    assert use.n_subjects == 3


def test_a_subject_who_rated_twice_counts_once_with_the_higher_rating():
    use = descriptor_use(
        ratings((7, "a", "SWEET", "0"), (7, "a", "SWEET", "30"), (7, "a", "SWEET", "20"))
    )
    assert use.counts.tolist() == [[1]]
    assert use.sums.tolist() == [[30]]
    assert use.n_rated_twice == 1


def test_other_questions_and_words_for_numbers_are_ignored():
    use = descriptor_use(
        ratings(
            (1, "a", "HOW STRONG IS THE SMELL?", "90"),
            (1, "a", "CAN OR CAN'T SMELL", "I smell something"),
            (1, "a", "THE SMELL IS:", "sweet, like a rose"),
            (1, "a", "Sweet ", "5"),
            (1, "a", "FISH", "a bit"),
        )
    )
    assert dict(zip(use.descriptors, use.counts[0], strict=True)) == {"SWEET": 1, "FISH": 0}


def test_descriptors_stand_in_the_order_of_the_questionnaire():
    use = descriptor_use(
        ratings((1, "a", "CHEMICAL", "5"), (1, "a", "EDIBLE", "5"), (2, "a", "MUSKY", "5"))
    )
    assert use.descriptors == ("EDIBLE", "MUSKY", "CHEMICAL")
    assert use.stimuli.tolist() == [1, 2]
    assert use.counts.tolist() == [[1, 0, 1], [0, 1, 0]]


def test_no_ratings_at_all_give_empty_tables():
    use = descriptor_use(ratings())
    assert use.counts.shape == (0, 0)


@pytest.mark.parametrize(
    "counts, sums, expected",
    [
        ([5, 4, 3, 2], [1, 1, 1, 1], [1, 1, 1, 0]),
        ([5, 3, 3, 3], [1, 10, 30, 20], [1, 0, 1, 1]),  # tied: the higher sum of ratings
        ([5, 3, 3, 3], [1, 20, 20, 20], [1, 1, 1, 0]),  # still tied: the questionnaire's order
        ([5, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]),  # what nobody used is no character
    ],
)
def test_the_three_most_used_are_the_characters(counts, sums, expected):
    chosen = odor_characters(np.array([counts]), np.array([sums]), top_k=3)
    assert chosen.astype(int).tolist() == [expected]


def test_ties_at_the_last_place_are_counted():
    counts = np.array([[5, 4, 3, 3], [5, 4, 3, 2], [4, 4, 4, 1], [1, 0, 0, 0]])
    assert n_ties(counts, 3) == 1
    assert n_ties(counts, 4) == 0


def test_pooling_gives_every_row_the_sum_of_its_group():
    rows = np.array([[1, 2], [10, 20], [3, 4]])
    assert pooled(rows, np.array([0, 1, 0])).tolist() == [[4, 6], [10, 20], [4, 6]]
