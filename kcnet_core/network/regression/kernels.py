"""Kernels in place of Kenyon cells: what ridge makes of how alike rows are, cells left aside.

Cells drawn at random are a sample of a kernel, and a ridge with more of them than rows depends on
their products alone. A kernel that suits the data can stand in their place. Labels inform each
other in a second one: `left out` are the outputs of the first ridge for rows it was not shown, a
row's profile; rows with like profiles have like labels, whatever the first kernel says of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from kcnet_core.network.blocked_matmul import matmul
from kcnet_core.network.regression.group_leave_one_out import solve_kernel
from kcnet_core.network.scores import auroc

MOST = 8  # counts beyond it are taken for it


def min_max_kernel(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Tanimoto similarity of counts (n, d) and (m, d): what both hold of what either holds.

    The smaller of two counts is the number of thresholds that both reach.
    """
    both = np.zeros((len(A), len(B)), np.float32)
    for count in range(1, MOST + 1):
        a, b = ((count <= X).astype(np.float32) for X in (A, B))
        at = a.any(axis=0) & b.any(axis=0)
        if not at.any():
            break
        both += matmul(a[:, at], b[:, at].T)
    a, b = (np.minimum(X, MOST).sum(axis=1, dtype=np.float32) for X in (A, B))
    return both / np.maximum(a[:, None] + b - both, 1)


def squared_distances(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """(n, m) between rows of A (n, d) and of B (m, d)."""
    squares = [np.square(X, dtype=np.float32).sum(axis=1) for X in (A, B)]
    return np.maximum(squares[0][:, None] - 2 * matmul(A, B.T) + squares[1], 0)


def laplace_kernel(squares: np.ndarray, typical: float) -> np.ndarray:
    """exp(-distance), distances in units of the `typical` one, all given squared."""
    return np.exp(-np.sqrt(squares / np.float32(typical)))


@dataclass(frozen=True)
class ProfileRidge:
    """Two kernel ridges, the second from the profiles that the first one gives."""

    first: np.ndarray  # (n, c) dual weights
    middle: np.ndarray  # (c,) of the left-out outputs, and their spread
    spread: np.ndarray
    profiles: np.ndarray  # (n, c) standardised left-out outputs
    typical: float  # median squared distance between profiles
    reach: float
    second: np.ndarray  # (n, c) dual weights
    second_alpha: float
    left_out: np.ndarray  # (n, c) outputs for rows that neither ridge was shown

    def outputs(self, K: np.ndarray) -> np.ndarray:
        """Scores (m, c) of rows with the similarities K (m, n) to those that were taught."""
        profiles = (matmul(K, self.first) - self.middle) / self.spread
        squares = squared_distances(profiles, self.profiles)
        return matmul(_gaussian(squares, self.typical, self.reach), self.second)


def _gaussian(squares: np.ndarray, typical: float, reach: float) -> np.ndarray:
    return np.exp(-np.float32(reach / typical) * squares)


def profile_ridge(
    K: np.ndarray, Y: np.ndarray, groups, alpha: float, reach: float, seconds: Sequence[float]
) -> ProfileRidge:
    """Teach labels Y (n, c) 0/1 to rows with the similarities K (n, n).

    `alpha` is the first ridge's lambda, `seconds` are those to choose the second one's from, by
    AUROC on rows left out; `reach` is how fast likeness of profiles fades: exp(-reach) is left of
    it at their median squared distance. `groups` (n,) are left out together.
    """
    Y = np.asarray(Y, np.float32)
    targets = Y - Y.mean(axis=0)
    first, without = solve_kernel(torch.from_numpy(K.astype(np.float32)), targets, groups, alpha)
    middle, spread = without.mean(axis=0), np.maximum(without.std(axis=0), 1e-12)
    profiles = (without - middle) / spread
    squares = squared_distances(profiles, profiles)
    typical = float(np.median(squares)) or 1.0
    likeness = torch.from_numpy(_gaussian(squares, typical, reach))
    found = {second: solve_kernel(likeness.clone(), targets, groups, second) for second in seconds}
    best = max(found, key=lambda second: auroc(Y, found[second][1]))
    return ProfileRidge(first, middle, spread, profiles, typical, reach, found[best][0], best,
                        found[best][1])  # fmt: skip
