"""How glomeruli would answer to a molecule that nobody tested: a guess from those that are alike.

Each glomerulus answers with the mean over the odorants it was measured with, weighted by a power of
their Tanimoto similarity to the molecule. How wrong that is was measured in the same way, leaving
out each odorant and its mirror images in turn; the power is the best of five by that measure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.datasets.fly.door import measured
from kcnet_core.errors import DataError
from kcnet_core.molecules.similarity import morgan_similarity

POWER = 3  # of the similarity; errors with 1, 2, 3, 4, 6: 0.096, 0.091, 0.088, 0.088, 0.092
LEAST = 1e-3  # weight of an odorant that is nothing like it, so that a mean always exists


@dataclass(frozen=True)
class Guess:
    """Responses (d,) that were not measured, and what they were guessed from."""

    rates: np.ndarray
    nearest: str
    similarity: float


@dataclass(frozen=True)
class Error:
    """Mean absolute error of guessed responses, and of each glomerulus's own mean instead."""

    guessed: float
    of_mean: float
    n: int  # measured responses that were guessed


def guess(smiles: str, dataset: Dataset) -> Guess:
    """Responses to a molecule of this canonical SMILES, from those of a loaded DoOR dataset."""
    alike = morgan_similarity(smiles, dataset.smiles or ())
    if np.isnan(alike).all():
        raise DataError("This molecule has no fingerprint, so nothing can be guessed from it.")
    alike = np.nan_to_num(alike)
    best = int(alike.argmax())
    names = dataset.row_names or ()
    rates = _weighted(alike, dataset.X, measured(dataset))
    return Guess(rates.astype(np.float32), names[best], float(alike[best]))


def leave_one_out(dataset: Dataset, power: float = POWER) -> Error:
    """What guesses are worth: every odorant from those that are not its mirror images."""
    known, texts, groups = measured(dataset), dataset.smiles or (), np.asarray(dataset.groups)
    wrong, plain = list[float](), list[float]()
    for row, text in enumerate(texts):
        others = groups != groups[row]
        alike = np.nan_to_num(morgan_similarity(text, texts))[others]
        X, there = dataset.X[others], known[others]
        own = known[row]
        for rates, found in ((_weighted(alike, X, there, power), wrong),
                             (_weighted(np.ones(len(X)), X, there), plain)):  # fmt: skip
            found.extend(np.abs(rates - dataset.X[row])[own])
    return Error(float(np.mean(wrong)), float(np.mean(plain)), len(wrong))


def _weighted(alike, X, known, power: float = POWER) -> np.ndarray:
    weights = (np.asarray(alike) ** power + LEAST)[:, None] * known
    return (weights * X).sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-12)
