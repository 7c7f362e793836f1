"""Ridge outputs of a network at every width, from one factorisation that grows with it.

With the activities H (B, n) of the training rows, one column each, and G = H H' + lambda I = L L',
the leading k x k block of L factors the leading k x k block of G. One forward substitution then
serves every width: with V = L^-1 H Y and T = L^-1 H_test the outputs of the first k units are

    Z_k = H_test[:k]' (G[:k, :k])^-1 H[:k] Y = T[:k]' V[:k],

so each further unit adds an outer product. L is made from the top in blocks of rows: what a narrow
network says is known long before the wide one is finished, and nothing is computed twice.
"""

from __future__ import annotations

import time

import torch

from kcnet_core.network.devices import computing
from kcnet_core.network.linear_algebra import product, self_product, solve_lower
from kcnet_core.network.ridge import factor


class Clock:
    """Seconds that were spent inside it."""

    def __init__(self):
        self.seconds = 0.0

    def __enter__(self) -> Clock:
        self._started = time.perf_counter()
        return self

    def __exit__(self, *_) -> None:
        self.seconds += time.perf_counter() - self._started


class Growth:
    """The outputs (m, c) of some rows while hidden units are added to a ridge readout.

    `widest` units at most, targets Y (n, c) of the training rows, lambda `alpha` (the same at every
    width), and m rows whose outputs are followed.
    """

    def __init__(self, widest: int, Y: torch.Tensor, n_followed: int, alpha: float):
        self.Y, self.alpha, self.width = Y.double(), alpha, 0
        n, c = Y.shape
        self.outputs = self.Y.new_zeros(n_followed, c)
        self.clock = Clock()  # of training; following the other rows is not part of it
        self._H = self.Y.new_empty(widest, n)
        self._L = self.Y.new_zeros(widest, widest)
        self._V = self.Y.new_empty(widest, c)
        self._T = self.Y.new_empty(widest, n_followed)

    def add(self, H: torch.Tensor, followed: torch.Tensor) -> None:
        """Add units with activities H (b, n) of the training rows and (b, m) of those followed."""
        old, new = slice(0, self.width), slice(self.width, self.width + len(H))
        with computing(new.stop, "cpu", len(self.Y)):
            with self.clock:
                self._teach(H, old, new)
            rest = followed.double() - product(self._L[new, old], self._T[old])
            self._T[new] = solve_lower(self._L[new, new], rest)
            self.outputs += product(self._T[new].T, self._V[new])
        self.width = new.stop

    def _teach(self, H: torch.Tensor, old: slice, new: slice) -> None:
        """The new rows of L and V."""
        self._H[new] = H
        H, border = self._H[new], self._L[new, old]  # (b, n), (b, k)
        if self.width:
            border[:] = solve_lower(self._L[old, old], product(self._H[old], H.T)).T
        block = self_product(H) - self_product(border)  # (b, b)
        corner = factor(block, self.alpha).tril_()
        self._L[new, new] = corner
        rest = product(H, self.Y) - product(border, self._V[old])
        self._V[new] = solve_lower(corner, rest)
