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

from kcnet_core.network.linear_algebra import (
    cholesky,
    product,
    self_product,
    solve_lower,
    solve_lower_transposed,
)
from kcnet_core.network.ridge import NotPositiveDefinite

LEAST_SHARE = 1e-9  # of a row's own residual; below, the row is interpolated exactly


def gram(H) -> torch.Tensor:
    """What `solve` spends most of its time on, for those who try several lambdas: HH' or H'H,
    whichever is smaller."""
    H = torch.as_tensor(np.asarray(H, dtype=np.float64))
    return self_product(H if H.shape[0] <= H.shape[1] else H.T)


def solve(
    H, Y, groups, alpha: float, products: torch.Tensor | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Output weights (B, c) for one lambda, and the left-out outputs from the same factorisation.

    H (n, B) is the activity of the Kenyon cells, Y (n, c) the targets, `groups` (n,) the molecule
    of each row; without groups every row is a molecule of its own. `products` is `gram(H)`, where
    that is at hand.
    """
    S = gram(H) if products is None else products.clone()
    H, Y = (torch.as_tensor(np.asarray(array, dtype=np.float64)) for array in (H, Y))
    n, B = H.shape
    if n <= B:
        A, without = solve_kernel(S, Y, groups, alpha)
        return product(H.T, torch.from_numpy(A)).numpy(), without
    parts = _several(groups)
    L = _factor(S, alpha)
    V = solve_lower(L, H.T)  # (B, n) with P = V'V
    beta = solve_lower_transposed(L, product(V, Y))
    own = 1 - V.square().sum(0)
    blocks = []
    for rows in parts:
        v = V.T[rows]  # (molecules, m, B)
        blocks.append(torch.eye(rows.shape[1], dtype=V.dtype) - v @ v.transpose(1, 2))
    return beta.numpy(), _left_out(Y, Y - product(H, beta), own, parts, blocks)


def solve_kernel(S: torch.Tensor, Y, groups, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Dual weights A (n, c) and left-out outputs, from the rows' products S (n, n), overwritten.

    Other rows with the products k (m, n) have the outputs k A.
    """
    Y, parts = torch.as_tensor(Y, dtype=S.dtype), _several(groups)
    L = _factor(S, alpha)
    # I - P = lambda (S + lambda I)^-1, and the lambdas cancel.
    G = self_product(solve_lower(L, torch.eye(len(S), dtype=S.dtype)).T)
    A = product(G, Y)
    blocks = [G[rows[:, :, None], rows[:, None, :]] for rows in parts]
    return A.numpy(), _left_out(Y, A, G.diagonal(), parts, blocks)


def _factor(S: torch.Tensor, alpha: float) -> torch.Tensor:
    S.diagonal().add_(alpha)
    L = cholesky(S)
    if L is None:
        raise NotPositiveDefinite("Kenyon cells repeat each other; raise lambda or use more cells.")
    return L


def _several(groups) -> list[np.ndarray]:
    """Rows of the molecules that have more than one: (molecules, m) for every number m of rows."""
    if groups is None:
        return []
    _, group, sizes = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    order, starts = np.argsort(group, kind="stable"), np.cumsum(sizes) - sizes
    return [order[starts[sizes == m][:, None] + np.arange(m)] for m in np.unique(sizes) if m > 1]


def _left_out(Y, residual, own, parts, blocks) -> np.ndarray:
    out = residual / own.clamp(min=LEAST_SHARE * float(own.max()))[:, None]
    for rows, block in zip(parts, blocks, strict=True):
        diagonal = block.diagonal(dim1=1, dim2=2)
        diagonal += LEAST_SHARE * diagonal.max()
        out[rows] = torch.linalg.solve(block, residual[rows])
    return (Y - out).numpy()
