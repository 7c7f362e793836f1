"""Groups of glomeruli: descriptors and kinds of substructures, each with Kenyon cells of its own.

A cell listens to one group alone, and global inhibition works within the group: a sum of seven
rates and a sum of seven counts, most of them zero, cannot be compared. All cells are read out by
one ridge. Each group alone is a KCNet, so scores are still exact sums of one share per input.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.utils import check_array

from kcnet_core.molecules.fingerprint_table import KINDS, kind_of
from kcnet_core.network.explain import contributions
from kcnet_core.network.kenyon import strongest_cells
from kcnet_core.network.scaling import RateScaler

FEWEST = 2  # training rows that hold a substructure, for it to be an input


def groups_of(names: Sequence[str]) -> list[np.ndarray]:
    """Columns of every group that is there: what is no substructure first, then kind by kind."""
    kinds = [kind_of(name) for name in names]
    places = [np.flatnonzero([kind == one for kind in kinds]) for one in (None, *KINDS)]
    return [columns for columns in places if len(columns)]


class GlomeruliScaler:
    """Descriptors become rates by rank (`RateScaler`), counts of substructures log(1 + count)."""

    def __init__(self, names: Sequence[str]):
        self.substructures = np.array([kind_of(name) is not None for name in names])

    def fit(self, X: np.ndarray) -> GlomeruliScaler:
        self.rates = RateScaler().fit(X[:, ~self.substructures])
        self.kept_ = np.zeros(X.shape[1], bool)
        self.kept_[~self.substructures] = self.rates.kept_
        held = (X[:, self.substructures] > 0).sum(axis=0)
        self.kept_[self.substructures] = (held >= FEWEST) & (held < len(X))
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        X = np.asarray(X)
        out = np.zeros((len(X), int(self.kept_.sum())), np.float32)
        of = self.substructures[self.kept_]
        out[:, ~of] = self.rates.transform(X[:, ~self.substructures])
        out[:, of] = np.log1p(X[:, self.substructures & self.kept_])
        return out


class GroupedFly:
    """Several KCNets side by side, one for each group of glomeruli, read out together.

    `parts` are the KCNets, `columns` their inputs, `gains` what brings their activities to one
    scale; `coef_` (B, c) is set by whoever solves.
    """

    def __init__(self, parts, columns: list[np.ndarray], gains: list[float]):
        self.parts, self.columns, self.gains = parts, columns, gains
        self._coef: np.ndarray | None = None

    @property
    def n_hidden(self) -> int:
        return sum(part.n_hidden for part in self.parts)

    @property
    def coef_(self) -> np.ndarray | None:
        return self._coef

    @coef_.setter
    def coef_(self, coef: np.ndarray) -> None:
        self._coef, start = coef, 0
        for part, gain in zip(self.parts, self.gains, strict=True):
            part.coef_ = gain * coef[start : start + part.n_hidden]
            start += part.n_hidden

    def hidden(self, X: np.ndarray) -> np.ndarray:
        """Activity (n, B) of all cells."""
        X = check_array(X, dtype=np.float32)
        found = zip(self.parts, self.columns, self.gains, strict=True)
        return np.hstack([gain * part.hidden_of_sound(X[:, at]) for part, at, gain in found])

    def class_scores(self, X: np.ndarray) -> np.ndarray:
        """Raw outputs (n, c)."""
        return self.hidden(X) @ self.coef_

    def forget_rows(self) -> GroupedFly:
        for part in self.parts:
            part.forget_rows()
        return self

    def tags(self, X: np.ndarray, fraction: float = 0.05) -> np.ndarray:
        """The most active cells of each row, (n, B)."""
        return strongest_cells(self.hidden(X), fraction)

    def contributions(self, X: np.ndarray, column: int | None = None) -> np.ndarray:
        """Exact share (n, d, c) of every input in every raw score, or (n, d, 1) in one of them."""
        assert self.coef_ is not None
        shares = np.zeros((*X.shape, self.coef_.shape[1] if column is None else 1))
        for part, at in zip(self.parts, self.columns, strict=True):
            shares[:, at] = contributions(part, X[:, at], column)
        return shares
