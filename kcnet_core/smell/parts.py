"""Where the inputs of the flies lie in a molecule, and which of its parts that is.

An input that counts a substructure lies on the atoms of all its occurrences, the same on each;
what it adds to a score is dealt out to them, so that atoms and parts add up exactly to what such
inputs add. Properties of the whole molecule (mass, fat-loving or not) lie nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kcnet_core.molecules.pool import RememberedTask


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of one molecule; every heavy atom belongs to one of them."""

    atoms_of: dict[str, tuple[int, ...]]  # by what chemists call them
    times: dict[str, int]  # how often each is there
    places: dict[str, tuple[list[int], list[float]]]  # of inputs: atoms and their weights

    @property
    def n_atoms(self) -> int:
        return sum(map(len, self.atoms_of.values()))

    def lie(self, names: Sequence[str]) -> np.ndarray:
        """(len(names), n_atoms) which share of each input lies on each atom; rows that lie
        nowhere are zero, the others add up to one."""
        weights = np.zeros((len(names), self.n_atoms))
        for k, name in enumerate(names):
            if name in self.places:
                atoms, mine = self.places[name]
                weights[k, atoms] = mine
        total = weights.sum(axis=1, keepdims=True)
        return np.divide(weights, total, out=weights, where=total > 0)

    def called(self, word: str) -> str:
        """A part by its name, with how often it is there."""
        return word if self.times.get(word, 1) == 1 else f"{word} × {self.times[word]}"


def _decoded(reply: dict) -> Parts:
    atoms: dict[str, tuple[int, ...]] = {}
    times: dict[str, int] = {}
    for word, mine in reply["parts"]:
        atoms[word] = (*atoms.get(word, ()), *mine)
        times[word] = times.get(word, 0) + 1
    return Parts(atoms, times, reply["places"])


_parts = RememberedTask("parts", capacity=256, decode=_decoded)


def parts_of(smiles: str) -> Parts | None:
    """The parts of a canonical SMILES; None where RDKit fails."""
    (reply,) = _parts([smiles])
    return None if reply.failure else reply.value
