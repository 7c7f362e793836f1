"""The molecules that a model was taught: what they are, and what they smell of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.molecules.read import skeletons
from kcnet_core.smell.names.known_names import KnownNames


@dataclass(frozen=True)
class Known:
    """Molecules with their odor characters, one per row."""

    title: str  # the dataset
    smiles: tuple[str, ...]
    names: tuple[str, ...]
    X: np.ndarray  # (n, d) raw features, as the model's `feature_names` list them
    characters: tuple[tuple[str, ...], ...]  # the true ones
    groups: np.ndarray | None  # (n,)
    taught: np.ndarray  # (n,) bool: the other rows the model has never met

    @classmethod
    def of(cls, dataset: Dataset, train_rows: np.ndarray | None = None) -> Known | None:
        """All molecules of a dataset; None when it does not say which molecules they are."""
        if dataset.smiles is None:
            return None
        taught = np.zeros(len(dataset.X), bool)
        taught[slice(None) if train_rows is None else train_rows] = True
        names = dataset.target_names
        if dataset.multilabel:
            true = [tuple(n for n, on in zip(names, row, strict=True) if on) for row in dataset.y]
        else:
            true = [(names[int(k)],) for k in dataset.y]
        return cls(
            dataset.title,
            tuple(dataset.smiles),
            tuple(dataset.row_names or dataset.smiles),
            dataset.X,
            tuple(true),
            dataset.groups,
            taught,
        )

    @cached_property
    def spoken(self) -> KnownNames:
        """Names that a visitor may type."""
        return KnownNames.of(self.names, self.smiles, self.title)

    @cached_property
    def _rows_of(self) -> dict[str, list[int]]:
        rows: dict[str, list[int]] = {}
        for row, smiles in enumerate(self.smiles):
            rows.setdefault(smiles, []).append(row)
        return rows

    @cached_property
    def _flat(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for row, flat in enumerate(skeletons(self.smiles)):
            found.setdefault(flat, []).append(row)
        return found

    @cached_property
    def molecules(self) -> np.ndarray:
        """The first row of every molecule."""
        return np.array([rows[0] for rows in self._rows_of.values()])

    def find(self, smiles: str, features: np.ndarray | None = None) -> int | None:
        """The row of a molecule; of several (dilutions) the one with the nearest features."""
        rows = self._rows_of.get(smiles)
        if not rows:
            return None
        if features is None or len(rows) == 1:
            return rows[0]
        return rows[int(np.abs(self.X[rows] - features).sum(axis=1).argmin())]

    def stereoisomer(self, skeleton: str) -> int | None:
        """A row whose molecule has this skeleton, whatever its stereo marks."""
        return next(iter(self._flat.get(skeleton, ())), None)

    def stereoisomers(self, skeleton: str) -> list[int]:
        """The first row of every molecule that has this skeleton."""
        rows = self._flat.get(skeleton, ())
        return [row for row in rows if row == self._rows_of[self.smiles[row]][0]]
