"""Outputs for molecules that ridge was not shown, each left out with all of its rows.

A molecule may have several rows (dilutions, stereoisomers). Leaving out one row alone would leave
its twin in, so a group of rows g goes out together. With the hat matrix P of a ridge solve,
yhat = P y, the residual of a group that is left out is

    (I - P_gg)^-1 (y - yhat)_g

which for a single row is the well-known (y - yhat) / (1 - P_ii).
"""

from __future__ import annotations

import numpy as np
import torch

from kcnet_core.linear_algebra import (
    cholesky,
    product,
    self_product,
    solve_lower,
    solve_lower_transposed,
)
from kcnet_core.ridge import NotPositiveDefinite

LEAST_SHARE = 1e-9  # of a row's own residual; below, the row is interpolated exactly


def solve(H, Y, groups, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Output weights (B, c) for one lambda, and the left-out outputs from the same factorisation.

    Parameters
    ----------
    H : ndarray of shape (n, B)
        Activity of the Kenyon cells.
    Y : ndarray of shape (n, c)
    groups : ndarray of shape (n,) or None
        Molecule of each row; None: every row is a molecule of its own.
    alpha : float
    """
    H, Y = _float64(H), _float64(Y)
    n, B = H.shape
    parts = _several(groups)
    dual = n <= B
    S = self_product(H if dual else H.T)
    S.diagonal().add_(alpha)
    L = cholesky(S)
    if L is None:
        raise NotPositiveDefinite("Kenyon cells repeat each other; raise lambda or use more cells.")
    if dual:  # I - P = lambda (K + lambda I)^-1, and the lambdas cancel
        G = self_product(solve_lower(L, torch.eye(n, dtype=torch.float64)).T)
        A = product(G, Y)
        out = _left_out(Y, A, G.diagonal(), parts, (G[g][:, g] for g in parts))
        return product(H.T, A).numpy(), out
    V = solve_lower(L, H.T)  # (B, n) with P = V'V
    beta = solve_lower_transposed(L, product(V, Y))
    own = 1 - V.square().sum(0)
    blocks = (torch.eye(len(g)) - V[:, g].T @ V[:, g] for g in parts)
    return beta.numpy(), _left_out(Y, Y - product(H, beta), own, parts, blocks)


def _float64(array) -> torch.Tensor:
    return torch.as_tensor(np.asarray(array, dtype=np.float64))


def _several(groups) -> list[np.ndarray]:
    """Rows of every molecule that has more than one."""
    if groups is None:
        return []
    _, group, sizes = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    parts = np.split(np.argsort(group, kind="stable"), np.cumsum(sizes)[:-1])
    return [part for part in parts if len(part) > 1]


def _left_out(Y, residual, own, parts, blocks) -> np.ndarray:
    out = residual / own.clamp(min=LEAST_SHARE * float(own.max()))[:, None]
    for rows, block in zip(parts, blocks, strict=True):
        block = block.to(Y)
        block.diagonal().add_(LEAST_SHARE * float(block.diagonal().max()))
        out[rows] = torch.linalg.solve(block, residual[rows])
    return (Y - out).numpy()
