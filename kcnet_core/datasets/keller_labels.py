"""From people's ratings to odor characters: which descriptors were used most for a stimulus.

A descriptor counts as used when its rating is above 0. A subject who rated a stimulus twice counts
once, with the higher rating. The `top_k` descriptors that most subjects used are the stimulus'
odor characters; between descriptors used equally often the one with the higher sum of ratings goes
first, and then the one that comes first in the questionnaire.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

QUESTIONNAIRE = (
    *("EDIBLE", "BAKERY", "SWEET", "FRUIT", "FISH", "GARLIC", "SPICES", "COLD", "SOUR", "BURNT"),
    *("ACID", "WARM", "MUSKY", "SWEATY", "AMMONIA/URINOUS", "DECAYED", "WOOD", "GRASS", "FLOWER"),
    "CHEMICAL",
)


@dataclass(frozen=True)
class DescriptorUse:
    """How a crowd described stimuli; arrays are stimuli x descriptors."""

    stimuli: np.ndarray  # (n,) stimulus numbers, ascending
    descriptors: tuple[str, ...]  # in the questionnaire's order
    counts: np.ndarray  # subjects who used the descriptor
    sums: np.ndarray  # sum of their ratings
    n_subjects: int
    n_rated_twice: int  # pairs of subject and stimulus with more than one rating


def descriptor_use(ratings) -> DescriptorUse:
    """Count descriptor use in a table of one rating per row.

    Measurements outside the questionnaire and values that are no number are ignored.
    """
    import pandas as pd

    # Few distinct words stand in a million rows: judge the words, not the rows.
    question, names = coded(ratings["MeasurementValue"])
    place = {name: k for k, name in enumerate(QUESTIONNAIRE)}
    descriptor = np.array([place.get(str(name).strip().upper(), -1) for name in names] + [-1])
    descriptor = descriptor[question]
    known = descriptor >= 0
    answer, words = coded(ratings["Value"][known])
    number = pd.to_numeric(pd.Series(words, dtype=object), errors="coerce").fillna(0)
    value = np.append(number.to_numpy(dtype=float), 0.0)[answer]
    stimuli, stimulus = np.unique(ratings["Stimulus"].to_numpy()[known], return_inverse=True)
    subject, subjects = coded(ratings["Subject"][known])
    present, descriptor = np.unique(descriptor[known], return_inverse=True)

    # One number per stimulus, subject and descriptor; a repeated one was rated again.
    subject = np.where(subject < 0, len(subjects), subject)
    shape = (len(stimuli), len(subjects) + 1, len(present))
    cell = np.ravel_multi_index((stimulus, subject, descriptor), shape)
    cells, rated, times = np.unique(cell, return_inverse=True, return_counts=True)
    highest = np.zeros(len(cells))
    np.maximum.at(highest, rated, value)
    stimulus, subject, descriptor = np.unravel_index(cells, shape)
    counts = np.zeros((len(stimuli), len(present)), dtype=np.int64)
    sums = np.zeros(counts.shape)
    np.add.at(counts, (stimulus, descriptor), highest > 0)
    np.add.at(sums, (stimulus, descriptor), highest)
    return DescriptorUse(
        stimuli=stimuli,
        descriptors=tuple(QUESTIONNAIRE[k] for k in present),
        counts=counts,
        sums=sums,
        n_subjects=len(np.unique(subject)),
        n_rated_twice=len(np.unique(cells[times > 1] // max(1, len(present)))),
    )


def coded(column) -> tuple[np.ndarray, list]:
    """A column as small numbers and what they stand for; -1 (the last) is a missing value."""
    category = column.astype("category").cat
    return category.codes.to_numpy(dtype=np.int64), category.categories.tolist()


def odor_characters(counts: np.ndarray, sums: np.ndarray, top_k: int) -> np.ndarray:
    """The `top_k` most used descriptors of every row, as a 0/1 mask of the same shape.

    Ties go by the sum of ratings, then by column order; a descriptor nobody used is never one.
    """
    columns = np.broadcast_to(np.arange(counts.shape[1]), counts.shape)
    order = np.lexsort((columns, -sums, -counts), axis=1)
    chosen = np.zeros(counts.shape, dtype=bool)
    np.put_along_axis(chosen, order[:, :top_k], True, axis=1)
    return chosen & (counts > 0)


def n_ties(counts: np.ndarray, top_k: int) -> int:
    """Rows where counting alone does not decide which descriptors are the `top_k`."""
    if top_k >= counts.shape[1]:
        return 0
    ordered = -np.sort(-counts, axis=1)
    return int(((ordered[:, top_k - 1] == ordered[:, top_k]) & (ordered[:, top_k] > 0)).sum())


def pooled(array: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Every row replaced by the sum over its group."""
    totals = np.zeros((group.max() + 1, array.shape[1]), dtype=array.dtype)
    np.add.at(totals, group, array)
    return totals[group]
