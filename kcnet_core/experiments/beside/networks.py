"""The hidden layers of the two networks, drawn once at the largest width."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from kcnet_core.network.elm import RELATIVE_ALPHA, random_units, unit_activity
from kcnet_core.network.seeds import seed_sequence
from kcnet_core.network.wiring import Wiring, allowed_fan_in

CHUNK = 512  # rows whose activities are squared at once
FLOAT_BYTES = 4  # of a weight as a model file holds it


class HiddenLayer(Protocol):
    """Random units of which the first k are the network of width k."""

    name: str

    def activity(self, X: torch.Tensor, units: slice) -> torch.Tensor:
        """Of some units for rows X (n, d), as (b, n)."""

    def alpha(self, X: torch.Tensor) -> float:
        """Lambda, the same at every width, for training rows X."""

    def weights(self, n_units: int) -> np.ndarray:
        """Of the first units, (k, d)."""

    def bytes(self, width: int, n_outputs: int) -> int:
        """Of a network of this width, with its output weights."""


@dataclass(frozen=True)
class KenyonCells:
    """KCNet's: each cell sums a few inputs, and the mean over all cells drawn inhibits it.

    A network of k cells that was drawn alone would be inhibited by the mean of its own k; here the
    mean is over all, at every width, so that a cell's activity does not depend on how many others
    are used, and one factorisation serves all widths.
    """

    wiring: Wiring
    inhibition: float
    ridge: float
    name = "KCNet"

    @classmethod
    def draw(cls, model, widest: int, n_inputs: int, seed: int) -> KenyonCells:
        """As the estimator `model` with this seed and `widest` cells draws them."""
        fan_in = allowed_fan_in(model.fan_in, n_inputs)
        model.set_params(n_hidden=widest, n_submodels=1)
        (wiring,) = model.sample_parts(n_inputs, fan_in, seed_sequence(seed))
        return cls(wiring, model.inhibition, model.alpha)

    def activity(self, X: torch.Tensor, units: slice) -> torch.Tensor:
        inhibited_by = self.inhibition * self.wiring.mean_projection(X)
        ones, offsets = self.wiring.indices, self.wiring.offsets
        ends = [*offsets.tolist(), len(ones)]
        own = slice(ends[units.start], ends[units.stop])
        counts = None if self.wiring.counts is None else self.wiring.counts[own]
        cells = Wiring(ones[own], offsets[units] - own.start, self.wiring.n_inputs, counts=counts)
        sums = torch.cat([sums for _, sums in cells.projections(X)], dim=1)
        return torch.sub(sums, inhibited_by).relu_()

    def alpha(self, X: torch.Tensor) -> float:
        return self.ridge

    def weights(self, n_units: int) -> np.ndarray:
        return self.wiring.first(n_units).matrix()

    def bytes(self, width: int, n_outputs: int) -> int:
        """The number of an input for each connection, in as few bits as name them all."""
        bits = int(self.wiring.fan_in[:width].sum()) * math.ceil(math.log2(self.wiring.n_inputs))
        return -(-bits // 8) + FLOAT_BYTES * width * n_outputs


@dataclass(frozen=True)
class SigmoidUnits:
    """ELM's: each unit weighs every input and squashes the sum."""

    A: np.ndarray  # (B, d)
    b: np.ndarray  # (B,)
    ridge: float | None  # None: as small as rounding allows
    name = "ELM"

    @classmethod
    def draw(cls, model, widest: int, n_inputs: int, seed: int) -> SigmoidUnits:
        """As `ELMClassifier` with this seed and `widest` units draws them."""
        return cls(*random_units(widest, n_inputs, seed_sequence(seed)), model.alpha)

    def activity(self, X: torch.Tensor, units: slice) -> torch.Tensor:
        return unit_activity(self.A[units], self.b[units], X)

    def alpha(self, X: torch.Tensor) -> float:
        """Moore-Penrose means lambda -> 0: so small a part of the mean sum of squares of a unit
        (of all units drawn) as in `ELMClassifier`."""
        if self.ridge is not None:
            return self.ridge
        every = slice(0, len(self.A))
        squares = sum(
            float(self.activity(part, every).double().square().sum()) for part in X.split(CHUNK)
        )
        return RELATIVE_ALPHA * squares / len(self.A)

    def weights(self, n_units: int) -> np.ndarray:
        return self.A[:n_units]

    def bytes(self, width: int, n_outputs: int) -> int:
        """A weight for every input and a bias."""
        return FLOAT_BYTES * width * (self.A.shape[1] + 1 + n_outputs)


LAYERS: dict[str, type[KenyonCells] | type[SigmoidUnits]] = {
    layer.name: layer for layer in (KenyonCells, SigmoidUnits)
}
