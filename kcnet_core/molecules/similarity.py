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
    mine, *prints = (reply.value for reply in _fingerprint([smiles, *others]))
    similarity = np.full(len(others), np.nan)
    known = [k for k, one in enumerate(prints) if one is not None]
    if known and mine is not None:
        theirs = np.stack([prints[k] for k in known])
        shared = np.bitwise_count(theirs & mine).sum(axis=1)
        similarity[known] = shared / np.bitwise_count(theirs | mine).sum(axis=1)
    return similarity


def _from_hex(digits: str) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(digits), dtype=np.uint64)


_fingerprint = RememberedTask("fingerprint", capacity=2 * MAX_MOLECULES, decode=_from_hex)
