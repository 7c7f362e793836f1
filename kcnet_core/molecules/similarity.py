"""How alike two molecules are by structure: Tanimoto similarity of Morgan fingerprints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kcnet_core.limits import MAX_MOLECULES
from kcnet_core.molecules.pool import RememberedTask


def morgan_similarity(smiles: str, others: Sequence[str]) -> np.ndarray:
    """Tanimoto similarity of one molecule to each of the others, (len(others),).

    0 (nothing in common) to 1 (the same environments); NaN where there is no fingerprint.
    """
    prints = [reply.value for reply in _fingerprint([smiles, *others])]
    if prints[0] is None:
        return np.full(len(others), np.nan)
    known = np.array([print_ is not None for print_ in prints[1:]], dtype=bool)
    similarity = np.full(len(others), np.nan)
    if known.any():
        theirs = np.stack([print_ for print_ in prints[1:] if print_ is not None])
        shared = np.bitwise_count(theirs & prints[0]).sum(axis=1)
        either = np.bitwise_count(theirs | prints[0]).sum(axis=1)
        similarity[known] = shared / either
    return similarity


def _from_hex(digits: str) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(digits), dtype=np.uint64)


_fingerprint = RememberedTask("fingerprint", capacity=2 * MAX_MOLECULES, decode=_from_hex)
