"""Patterns whose elements a molecule lacks cannot match it, which is quicker to see than to search.

An odorant is mostly carbon, hydrogen and oxygen, while most structural alerts and fragments want
nitrogen, sulfur, phosphorus or a halogen: searching for those is left out, with the same result.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from rdkit import Chem

AROMATIC = 1000  # RDKit's atom types: the atomic number, and this much more when aromatic
MAX_REMEMBERED = 1000  # sets of elements


class ScreenedPatterns:
    """Substructure patterns, each searched for only where its elements are."""

    def __init__(self, patterns: Iterable[Chem.Mol]):
        self._patterns = tuple(patterns)
        self._wanted = tuple(_wanted(pattern) for pattern in self._patterns)
        self.possible = lru_cache(MAX_REMEMBERED)(self._possible)

    def _possible(self, elements: frozenset[int]) -> tuple[int, ...]:
        """Numbers of the patterns that a molecule made of these elements may match."""
        return tuple(
            k
            for k, wanted in enumerate(self._wanted)
            if all(not one_of.isdisjoint(elements) for one_of in wanted)
        )

    def n_found(self, mol: Chem.Mol) -> int:
        """How many of the patterns occur in a molecule."""
        return sum(
            mol.HasSubstructMatch(self._patterns[k]) for k in self.possible(elements_in(mol))
        )

    def counts(self, mol: Chem.Mol) -> list[int]:
        """How often each pattern occurs in a molecule."""
        counts = [0] * len(self._patterns)
        for k in self.possible(elements_in(mol)):
            counts[k] = len(mol.GetSubstructMatches(self._patterns[k]))
        return counts


def _wanted(pattern: Chem.Mol) -> tuple[frozenset[int], ...]:
    """A molecule that matches has an atom of each of these sets."""
    allowed = {elements_of(atom.DescribeQuery()) for atom in pattern.GetAtoms()}
    return tuple(elements for elements in allowed if elements is not None)


def elements_in(mol: Chem.Mol) -> frozenset[int]:
    """The atomic numbers of a molecule's atoms."""
    return frozenset([atom.GetAtomicNum() for atom in mol.GetAtoms()])


def elements_of(query: str) -> frozenset[int] | None:
    """The atomic numbers that a query, in RDKit's description, allows; None: perhaps any."""
    lines = query.splitlines()
    head, depth = lines[0].split(), _depth(lines[0])
    if head[0] in ("AtomAtomicNum", "AtomType") and head[2:] == ["=", "val"]:
        return frozenset({int(head[1]) % AROMATIC})
    if head[0] not in ("AtomAnd", "AtomOr"):
        return None
    starts = [k for k, line in enumerate(lines) if _depth(line) == depth + 1]
    ends = [*starts[1:], len(lines)]
    parts = [elements_of("\n".join(lines[a:b])) for a, b in zip(starts, ends, strict=True)]
    known = [part for part in parts if part is not None]
    if head[0] == "AtomAnd":
        return frozenset.intersection(*known) if known else None
    return frozenset.union(*known) if known and len(known) == len(parts) else None


def _depth(line: str) -> int:
    return (len(line) - len(line.lstrip(" "))) // 2
