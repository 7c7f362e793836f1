"""The molecules that a model was taught: their names, what they are, and what they smell of.

Whatever can be a SMILES is read as one. Any other line that is asked is looked up among the names,
whatever its case; a word that is neither gets the names that come nearest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property

import numpy as np

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.molecules.read import Row, skeletons
from kcnet_core.molecules.text import Line

_SPACES = re.compile(r"\s+")
# A name made of nothing else is left to SMILES: "CO" is methanol, never somebody's "Co".
_SMILES_ONLY = re.compile(r"[BCNOPSFIHbcnops\[\]()=#@+\-\\/%.0-9]+|Cl|Br")
_NEAR_NAMES = 3
_NEAR_ENOUGH = 0.72  # of difflib's ratio; "limonen" finds limonene, "xyz" nothing
_LONGEST_GUESS = 80  # characters; difflib is slow on long texts
_MOST_GUESSES = 100  # rows of one request
_WORD = re.compile(r"[a-zA-Z]{3}")  # three letters in a row: a word rather than a structure
_NAME = re.compile(r"[\w\s,'’()+.-]+")  # no bonds, brackets or markup


@dataclass(frozen=True)
class KnownNames:
    """Names that stand for molecules, by the form in which they are compared (`normal`)."""

    smiles: Mapping[str, str]  # canonical
    spelled: Mapping[str, str]  # as the dataset writes them
    title: str  # the dataset they come from, for messages

    @classmethod
    def of(cls, names: Iterable[str], smiles: Iterable[str], title: str) -> KnownNames:
        """The first molecule of a name keeps it."""
        known: dict[str, str] = {}
        spelled: dict[str, str] = {}
        for name, structure in zip(names, smiles, strict=True):
            key = normal(name)
            if key and _SMILES_ONLY.fullmatch(name.strip()) is None and key not in known:
                known[key], spelled[key] = structure, _SPACES.sub(" ", name.strip())
        return cls(known, spelled, title)

    def look_up(self, line: Line) -> Line:
        """The molecule of a line that is a name; a name in a column of its own stays."""
        key = normal(line.text)
        if key not in self.smiles:
            return line
        given = line.name if line.smiles == line.text else ""
        return Line(line.number, line.text, self.smiles[key], given or self.spelled[key])

    def suggest(self, rows: Iterable[Row]) -> list[Row]:
        """Rows whose errors, where the line looks like a word, say which names come near."""
        rows, guesses = list(rows), 0
        for k, row in enumerate(rows):
            if not row.ok and not row.suggestion and guesses < _MOST_GUESSES and _is_word(row.text):
                rows[k], guesses = self._suggested(row), guesses + 1
        return rows

    def _suggested(self, row: Row) -> Row:
        near = self._near(row.text)
        error = f"Neither a SMILES nor the name of a molecule{self.title and f' in {self.title}'}."
        if not near:
            return replace(row, error=error)
        *others, last = [self.spelled[key] for key in near]
        error += f" Is it {' or '.join(filter(None, (', '.join(others), last)))}?"
        return replace(row, error=error, suggestion=self.smiles[near[0]])

    def _near(self, text: str) -> list[str]:
        """Normal forms of the names that look most like `text`, best first."""
        key = normal(text)
        inside = [name for name in self.smiles if key in name] if len(key) > 3 else []
        close = get_close_matches(key, self.smiles, _NEAR_NAMES, _NEAR_ENOUGH)
        return list(dict.fromkeys([*sorted(inside, key=len), *close]))[:_NEAR_NAMES]


NO_NAMES = KnownNames({}, {}, "")


def normal(name: str) -> str:
    """The form in which names are compared: case and runs of spaces do not count."""
    return _SPACES.sub(" ", name.strip()).casefold()


def _is_word(text: str) -> bool:
    """Whether a line that is no molecule looks like a name.

    What consists of SMILES characters alone is a broken SMILES, and RDKit's reason says more.
    """
    return (
        len(text) <= _LONGEST_GUESS
        and _WORD.search(text) is not None
        and _SMILES_ONLY.fullmatch(text.split()[0]) is None
        and _NAME.fullmatch(text) is not None
    )


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
