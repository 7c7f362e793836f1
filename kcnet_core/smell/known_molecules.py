"""The molecules that a model was taught: what they are, what they smell of, and who is near."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.datasets.odor import skeletons
from kcnet_core.smell.question import KnownNames


@dataclass(frozen=True)
class Known:
    """Molecules with their odor characters.

    Parameters
    ----------
    title : str
        The dataset.
    smiles, names : tuple of str, one per row
    X : ndarray of shape (n, d)
        Raw features, as the model's `feature_names` list them.
    characters : tuple of tuples of str
        True characters of each row.
    groups : ndarray of shape (n,) or None
    taught : ndarray of shape (n,), bool
        Rows that the model was trained on; the others it has never met.
    """

    title: str
    smiles: tuple[str, ...]
    names: tuple[str, ...]
    X: np.ndarray
    characters: tuple[tuple[str, ...], ...]
    groups: np.ndarray | None
    taught: np.ndarray

    @classmethod
    def of(cls, dataset: Dataset, train_rows: np.ndarray | None = None) -> Known | None:
        """All molecules of a dataset; None when it does not say which molecules they are."""
        if dataset.smiles is None:
            return None
        taught = np.ones(len(dataset.X), bool)
        if train_rows is not None:
            taught[:] = False
            taught[train_rows] = True
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
    def _flat(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for row, flat in enumerate(skeletons(self.smiles)):
            found.setdefault(flat, row)
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

    def stereoisomer(self, smiles: str) -> int | None:
        """A row whose molecule differs from this one by its stereo marks alone."""
        return self._flat.get(skeletons([smiles])[0])


@dataclass(frozen=True)
class Neighbour:
    row: int
    similarity: float


def nearest(similarity: np.ndarray, rows: Sequence[int], count: int) -> list[Neighbour]:
    """The most similar rows, best first; NaN counts as unlike."""
    values = np.nan_to_num(np.asarray(similarity, dtype=float), nan=-1.0)
    order = np.argsort(-values, kind="stable")[:count]
    return [Neighbour(int(rows[k]), float(values[k])) for k in order if values[k] >= 0]
