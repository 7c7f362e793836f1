"""The hidden layer: global inhibition and ReLU over the cells, sparse tags, and the gradient.

Arrays are (B, n): cells down, rows of data across, as the projection delivers them.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from kcnet_core.network.blocked_matmul import run_pieces
from kcnet_core.network.devices import one_torch_thread
from kcnet_core.network.linear_algebra import product
from kcnet_core.network.wiring import Wiring


def kenyon_activity(
    wiring: Wiring, X: torch.Tensor, inhibition: float, out: torch.Tensor | None = None
) -> torch.Tensor:
    """H (B, n) for rows X (n, d): relu(xbar - C * mean of xbar over the cells), Eq. (1).

    Written into `out` when given: fresh memory for a large H takes as long as computing it.
    """
    H = X.new_empty(wiring.n_hidden, len(X)) if out is None else out
    inhibited_by = inhibition * wiring.mean_projection(X)
    blocks, project = wiring.projection(X, reuse=True)

    def block(rows: slice) -> None:
        with one_torch_thread():
            torch.clamp(project(rows).sub_(inhibited_by[rows]), min=0, out=H[:, rows])

    if len(blocks) == 1:  # all at once, with whatever threads torch has
        torch.clamp(project(blocks[0]).sub_(inhibited_by), min=0, out=H)
    else:
        run_pieces(partial(block, rows) for rows in blocks)
    return H


def wiring_gradient(
    dH: torch.Tensor, H: torch.Tensor, X: torch.Tensor, inhibition: float | None
) -> torch.Tensor:
    """dL/dW (B, d), W taken as real numbers, from dL/dH (B, n), H (B, n) and X (n, d).

    With xhat_j = xbar_j - C mean(xbar), the mean feeds every cell's error back to all others:
    dL/dxbar = D - C mean(D) with D = dL/dH * [H > 0]. `inhibition=None` leaves that term out, as
    the paper's appendix A does (only the factor 1 - 1/B stays, absorbed by the learning rate).
    dH is overwritten: fresh memory of its size takes longer than the arithmetic.
    """
    # What autograd does for relu: one pass over dH, without a mask of its size.
    D = torch.ops.aten.threshold_backward(dH, H, 0, grad_input=dH)
    gradient = product(D, X)
    if inhibition is not None:
        gradient -= inhibition * torch.mv(X.T, D.mean(0))  # of what is subtracted from all cells
    return gradient


def strongest_cells(H: np.ndarray, fraction: float) -> np.ndarray:
    """Tags (n, B): the most active `fraction` of cells per row of H (n, B), at least one.

    A cell that global inhibition has silenced never joins a tag, so a tag can be smaller.
    """
    k = max(1, round(fraction * H.shape[1]))
    top = np.argpartition(H, -k, axis=1)[:, -k:]
    tags = np.zeros(H.shape, bool)
    np.put_along_axis(tags, top, True, axis=1)
    return tags & (H > 0)
