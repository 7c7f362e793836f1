"""The molecules that a model was taught: their names, what they are, and what they smell of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

import numpy as np

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.molecules.read import skeletons

_SPACES = re.compile(r"\s+")
# A name made of nothing else is left to SMILES: "CO" is methanol, never somebody's "Co".
SMILES_ONLY = re.compile(r"[BCNOPSFIHbcnops\[\]()=#@+\-\\/%.0-9]+|Cl|Br")
_NEAR_NAMES = 3
_NEAR_ENOUGH = 0.72  # of difflib's ratio; "limonen" finds limonene, "xyz" nothing
LONGEST_GUESS = 80  # characters; difflib is slow on long texts


@dataclass(frozen=True)
class KnownNames:
    """Names that stand for molecules.

    Parameters
    ----------
    smiles : mapping from the normal form of a name to its canonical SMILES
    spelled : mapping from the normal form to the name as the dataset writes it
    title : str
        The dataset they come from, for messages.
    """

    smiles: Mapping[str, str]
    spelled: Mapping[str, str]
    title: str

    @classmethod
    def of(cls, names: Iterable[str], smiles: Iterable[str], title: str) -> KnownNames:
        """The first molecule of a name keeps it."""
        known: dict[str, str] = {}
        spelled: dict[str, str] = {}
        for name, structure in zip(names, smiles, strict=True):
            key = normal(name)
            if key and SMILES_ONLY.fullmatch(name.strip()) is None and key not in known:
                known[key], spelled[key] = structure, _SPACES.sub(" ", name.strip())
        return cls(known, spelled, title)

    def near(self, text: str) -> list[str]:
        """Normal forms of the names that look most like `text`, best first."""
        key = normal(text)
        if not key or len(key) > LONGEST_GUESS:
            return []
        inside = [name for name in self.smiles if key in name] if len(key) > 3 else []
        close = get_close_matches(key, self.smiles, _NEAR_NAMES, _NEAR_ENOUGH)
        return list(dict.fromkeys([*sorted(inside, key=len), *close]))[:_NEAR_NAMES]


NO_NAMES = KnownNames({}, {}, "")


def normal(name: str) -> str:
    """The form in which names are compared: case and runs of spaces do not count."""
    return _SPACES.sub(" ", name.strip()).casefold()


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
