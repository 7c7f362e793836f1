"""Labels that inform each other: a second ridge from the outputs of all labels to each label.

With Z (n, c) the outputs of the first ridge for rows that it was not shown, standardised, and Y the
labels less their means, M = (Z'Z + lambda I)^-1 Z'Y is solved once for all labels. It needs no
intercept, and since it is linear it can be multiplied into the output weights: a network with a
second ridge is the same network with other weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kcnet_core.network.regression.group_leave_one_out import solve

ALPHA = 10.0  # lambda, relative to the number of rows: strong, so that labels only lean on others


@dataclass(frozen=True)
class SecondRidge:
    """`matrix` (c, c) takes outputs of the first ridge to better ones; `left_out` (n, c) are these
    for rows that neither ridge was shown."""

    matrix: np.ndarray
    left_out: np.ndarray


def second_ridge(Z: np.ndarray, Y: np.ndarray, groups=None, alpha: float = ALPHA) -> SecondRidge:
    """Z (n, c) are the first ridge's outputs for rows left out, Y (n, c) labels 0/1, `groups` (n,)
    rows that are left out together."""
    middle, spread = Z.mean(axis=0), np.maximum(Z.std(axis=0), 1e-12)
    standard = (Z - middle) / spread
    matrix, left_out = solve(standard, Y - Y.mean(axis=0), groups, alpha * len(Z))
    matrix = matrix / spread[:, None]
    return SecondRidge(matrix, left_out + middle @ matrix)  # as Z @ matrix comes out
