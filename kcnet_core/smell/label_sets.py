"""Which characters are named: all from one probability on, chosen so that enough true ones are in.

Conformal label sets. The score of a molecule is the probability of one of its true characters,
drawn at random; the line for a coverage of 70% is the probability that 70% of the scores reach.
Take a new molecule and one of its true characters at random: as long as it is like the molecules
that the line was drawn from, that character is named with at least this probability, whatever the
model. One line serves all characters, so that none is named beside a more probable one that is not.
"""

from __future__ import annotations

import numpy as np

COVERAGES = (0.5, 0.6, 0.7, 0.8, 0.9)  # that a visitor may choose from
USUAL = 0.6
NAMED_FROM = 0.5  # where nothing is known of molecules that were left out


def line_for(P: np.ndarray, Y: np.ndarray, coverage: float) -> float:
    """The probability from which on a true character is named with this coverage.

    P and Y (n, c) are probabilities and true labels of molecules that the model was not taught;
    0 (everything is named) where these are too few to promise so much.
    """
    Y = np.asarray(Y) > 0
    counts = Y.sum(axis=1)
    shares = np.broadcast_to(1 / np.maximum(counts, 1)[:, None], Y.shape)[Y]
    scores = np.asarray(P, dtype=float)[Y]
    order = np.argsort(scores, kind="stable")
    # The new molecule counts as one more, with the lowest score of all.
    missed = (1 + np.cumsum(shares[order]) - shares[order]) / ((counts > 0).sum() + 1)
    allowed = np.flatnonzero(missed <= 1 - coverage + 1e-12)
    return float(scores[order[allowed[-1]]]) if len(allowed) else 0.0


def lines_for(P: np.ndarray, Y: np.ndarray) -> dict[float, float]:
    return {coverage: line_for(P, Y, coverage) for coverage in COVERAGES}


def covered(P: np.ndarray, Y: np.ndarray, line: float) -> float:
    """Share of a molecule's true characters that are named, averaged over those that have any."""
    Y = np.asarray(Y) > 0
    there = Y.any(axis=1)
    if not there.any():
        return float("nan")
    named = (np.asarray(P) >= line) & Y
    return float((named.sum(axis=1)[there] / Y.sum(axis=1)[there]).mean())
