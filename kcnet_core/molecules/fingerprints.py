"""How often molecules hold every substructure of `fingerprint_table`, computed by the workers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kcnet_core.limits import MAX_MOLECULES
from kcnet_core.molecules.fingerprint_table import NAMES
from kcnet_core.molecules.pool import RememberedTask


def _packed(reply: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    places, counts = reply
    return np.array(places, np.uint16), np.array(counts, np.uint8)


_count = RememberedTask("substructures", capacity=MAX_MOLECULES, decode=_packed)


def substructure_counts(smiles: Sequence[str]) -> np.ndarray:
    """Counts (n, len(NAMES)) as small integers; all zero where RDKit fails."""
    counts = np.zeros((len(smiles), len(NAMES)), np.uint8)
    for row, reply in enumerate(_count(list(smiles))):
        if reply.failure is None:
            places, values = reply.value
            counts[row, places] = values
    return counts
