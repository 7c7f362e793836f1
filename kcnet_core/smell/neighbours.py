"""The known odorants nearest to a molecule: as the flies see it, and as a chemist's computer does.

By KC tag: each fly marks a molecule with its most active twentieth of Kenyon cells, a
locality-sensitive hash; the similarity of two molecules is the share of cells that both tags hold
of those that either holds (Jaccard), averaged over the flies. By structure: the Tanimoto
similarity (the same ratio) of their Morgan fingerprints.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kcnet_core.molecules.similarity import morgan_similarity
from kcnet_core.smell.known_molecules import Known
from kcnet_core.smell.nose import Nose

TAG_SHARE = 0.05


@dataclass(frozen=True)
class Neighbour:
    """A row of the known molecules, and how alike it is."""

    row: int
    similarity: float


def tag_neighbours(nose: Nose, inputs: np.ndarray, smiles: str, count: int = 4) -> list[Neighbour]:
    """Known molecules other than `smiles` whose tags share most with that of `inputs` (d,)."""
    known = nose.known
    if known is None or not nose.circuits:
        return []
    rows = _others(known, smiles)
    similarity = np.zeros(len(rows))
    for fly, tags in zip(nose.circuits, known_tags(nose), strict=True):
        mine, theirs = fly.tags(inputs[None], TAG_SHARE)[0], tags[rows]
        both = (theirs & mine).sum(axis=1)
        similarity += both / np.maximum((theirs | mine).sum(axis=1), 1)
    return _nearest(similarity / len(nose.flies), rows, count)


def known_tags(nose: Nose) -> list[np.ndarray]:
    """The tags (n, B) of all that a nose knows, of each fly; made once."""
    if "tags" not in nose.shelf:
        assert nose.known is not None
        every = nose.inputs(nose.known.X)
        nose.shelf["tags"] = [fly.tags(every, TAG_SHARE) for fly in nose.circuits]
    return nose.shelf["tags"]


def structure_neighbours(nose: Nose, smiles: str, count: int = 4) -> list[Neighbour]:
    """Known molecules other than `smiles` with the most similar Morgan fingerprint."""
    if nose.known is None:
        return []
    rows = _others(nose.known, smiles)
    similarity = morgan_similarity(smiles, [nose.known.smiles[row] for row in rows])
    return _nearest(similarity, rows, count)


def _others(known: Known, smiles: str) -> np.ndarray:
    return np.array([row for row in known.molecules if known.smiles[row] != smiles], dtype=int)


def _nearest(similarity: np.ndarray, rows: np.ndarray, count: int) -> list[Neighbour]:
    """The most similar rows, best first; NaN counts as unlike."""
    values = np.nan_to_num(np.asarray(similarity, dtype=float), nan=-1.0)
    order = np.argsort(-values, kind="stable")[:count]
    return [Neighbour(int(rows[k]), float(values[k])) for k in order if values[k] >= 0]
