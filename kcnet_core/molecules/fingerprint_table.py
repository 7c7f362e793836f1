"""Count fingerprints by name: six kinds of substructures, hashed to a fixed number of places.

Several substructures may share a place, so a name says which kind it is and no more.
"""

from __future__ import annotations

from dataclasses import dataclass

RADIUS = 2  # bonds around an atom
LONGEST_PAIR = 8  # bonds between two atoms
LONGEST_PATH = 5  # bonds


@dataclass(frozen=True)
class SubstructureKind:
    """One kind of substructure; its places are `start` to `start + size`."""

    start: int
    size: int
    meaning: str


KINDS = {
    "environment": SubstructureKind(
        0, 2048, f"an atom with all that is up to {RADIUS} bonds away (Morgan)"
    ),
    "pair": SubstructureKind(2048, 2048, f"two atoms up to {LONGEST_PAIR} bonds apart (atom pair)"),
    "torsion": SubstructureKind(4096, 2048, "four atoms in a row (topological torsion)"),
    "key": SubstructureKind(6144, 167, "one of 166 patterns that chemists search by (MACCS key)"),
    "role": SubstructureKind(
        6311,
        2048,
        f"atoms that give or take hydrogen bonds, charge or rings, {RADIUS} bonds around",
    ),
    "path": SubstructureKind(
        8359, 2048, f"up to {LONGEST_PATH} bonds that hang together (RDKit path)"
    ),
}
FOUR = ("environment", "pair", "torsion", "key")  # without roles and paths, which came later
NAMES = tuple(f"{name} {k}" for name, kind in KINDS.items() for k in range(kind.size))
PLACES = {name: place for place, name in enumerate(NAMES)}


def kind_of(name: str) -> str | None:
    """The kind that an input belongs to; None for one that is no substructure."""
    return name.partition(" ")[0] if name in PLACES else None


def meaning(name: str) -> str:
    return f"How often it holds {KINDS[name.partition(' ')[0]].meaning}, at place {name.split()[1]}"
