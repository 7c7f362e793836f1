"""What every cell sums of some fixed rows, kept up to date while DOA changes the wiring.

An epoch changes a few connections in a thousand: adding and taking away just these costs a small
part of projecting the rows anew.
"""

from __future__ import annotations

import torch
from torch.nn.functional import embedding_bag

from kcnet_core.network.wiring.matrix import Wiring


class RunningSums:
    """W X' (B, n) of rows X (n, d) on the processor, for a wiring that changes."""

    def __init__(self, wiring: Wiring, X: torch.Tensor):
        self._inputs = X.T.contiguous()  # (d, n)
        self._sums = torch.cat([sums for _, sums in wiring.projections(X)], dim=1)
        self._activity = torch.empty_like(self._sums)

    def rewire(self, changed: torch.Tensor, after: torch.Tensor) -> None:
        """Follow the wiring to `after` (B, d), which is another one where `changed`."""
        cells, inputs = changed.nonzero(as_tuple=True)
        if not len(cells):
            return
        signs = after[cells, inputs].to(self._sums) * 2 - 1
        moved, counts = torch.unique_consecutive(cells, return_counts=True)
        starts = counts.cumsum(0) - counts
        by = embedding_bag(inputs, self._inputs, starts, mode="sum", per_sample_weights=signs)
        self._sums.index_add_(0, moved, by)

    def activity(self, inhibition: float) -> torch.Tensor:
        """H (B, n) of these rows, valid until asked again; see `kenyon.kenyon_activity`."""
        inhibited_by = inhibition * self._sums.mean(0)
        return torch.sub(self._sums, inhibited_by, out=self._activity).relu_()
