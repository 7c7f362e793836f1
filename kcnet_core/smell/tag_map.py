"""A map of all known molecules by smell: two dimensions in which like tags lie together.

Kernel principal components of the tags' similarity (the share of cells that two tags have in common
of those that either has, averaged over the flies), in closed form: with S the similarity among n
molecules, centred to C = (I - 11'/n) S (I - 11'/n) = V diag(l) V', the first two axes are
V sqrt(l), and a molecule with similarities s to them lies at the centred s'V / sqrt(l). The sign of
an axis is that which makes its largest part positive, so the same nose always draws the same map.
Beyond `MOST` molecules the axes are those of evenly chosen ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from kcnet_core.smell.answers import Answer
from kcnet_core.smell.neighbours import TAG_SHARE, known_tags
from kcnet_core.smell.nose import Nose

MOST = 2_000


@dataclass(frozen=True)
class TagMap:
    """Where every known molecule lies; `place` finds the place of any other."""

    rows: np.ndarray  # (n,) among the nose's known molecules
    places: np.ndarray  # (n, 2)
    share: float  # of what tells tags apart, that the two axes hold
    _nose: Nose
    _axes_rows: np.ndarray  # (m,) the molecules that the axes come from
    _directions: np.ndarray  # (m, 2): V / sqrt(l)
    _means: np.ndarray  # (m,) mean similarity of each of them to the others

    def place(self, answer: Answer) -> np.ndarray:
        """(2,) where a molecule lies that was asked about."""
        inputs = self._nose.inputs(answer.features[None])
        own = [fly.tags(inputs, TAG_SHARE) for fly in self._nose.circuits]
        axes = [tags[self._axes_rows] for tags in known_tags(self._nose)]
        return _projected(_similarity(own, axes), self._directions, self._means)[0]


def tag_map(nose: Nose) -> TagMap | None:
    """The map of a nose, made once; None without known molecules or Kenyon cells."""
    if nose.known is None or not nose.circuits or len(nose.known.molecules) < 3:
        return None
    if "map" not in nose.shelf:
        nose.shelf["map"] = _made(nose, nose.known.molecules)
    return nose.shelf["map"]


def _made(nose: Nose, rows: np.ndarray) -> TagMap:
    chosen = rows[np.linspace(0, len(rows) - 1, min(len(rows), MOST)).astype(int)]
    tags = known_tags(nose)
    axes = [of_fly[chosen] for of_fly in tags]
    S = _similarity(axes, axes)
    means = S.mean(axis=0)
    C = S - means - means[:, None] + means.mean()
    n = len(C)
    values, V = eigh(C, subset_by_index=[n - 2, n - 1])
    values, V = np.maximum(values[::-1], 1e-12), V[:, ::-1]
    V = V * np.sign(V[np.abs(V).argmax(axis=0), [0, 1]])
    directions = V / np.sqrt(values)
    every = _similarity([of_fly[rows] for of_fly in tags], axes)
    return TagMap(
        rows, _projected(every, directions, means), float(values.sum() / np.trace(C)),
        nose, chosen, directions, means,
    )  # fmt: skip


def _projected(S: np.ndarray, directions: np.ndarray, means: np.ndarray) -> np.ndarray:
    """(k, 2) from similarities (k, m) to the molecules of the axes."""
    return (S - S.mean(axis=1, keepdims=True) - means + means.mean()) @ directions


def _similarity(first: list[np.ndarray], second: list[np.ndarray]) -> np.ndarray:
    """(n, m) Jaccard similarity of tags, (n, B) and (m, B) of each fly, averaged over the flies."""
    total = np.zeros((len(first[0]), len(second[0])))
    for one, other in zip(first, second, strict=True):
        A, B = one.astype(np.float32), other.astype(np.float32)
        both = A @ B.T
        total += both / np.maximum(A.sum(axis=1)[:, None] + B.sum(axis=1) - both, 1)
    return total / len(first)
