"""Made-up rows of the rarer classes (ADASYN), for training rows only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ADASYN_NEIGHBOURS = 5


@dataclass(frozen=True)
class Oversampled:
    """Training rows after oversampling, and a sentence on what was done or why not."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray | None
    n_added: int
    note: str


def oversample(X: np.ndarray, y: np.ndarray, seed: int, groups=None) -> Oversampled:
    """Add made-up rows of the rarer classes (ADASYN) to training rows, and only to those.

    The original rows come first and unchanged. A made-up row joins the molecule of the nearest
    original row of its class, so that inner validation does not meet close copies. When ADASYN
    cannot run, the rows come back as they are and `note` says why.
    """

    def unchanged(reason):
        return Oversampled(X, y, groups, 0, f"No rows were added: {reason}.")

    if y.ndim == 2:
        return unchanged("ADASYN needs one class per row")
    sizes = np.unique_counts(y).counts
    if sizes.min() < 2:
        return unchanged("a class has one row, and ADASYN needs two")
    from imblearn.over_sampling import ADASYN

    neighbours = min(ADASYN_NEIGHBOURS, int(sizes.min()) - 1)
    try:
        more_X, more_y = ADASYN(random_state=seed, n_neighbors=neighbours).fit_resample(X, y)
    except (ValueError, RuntimeError) as error:
        return unchanged(f"ADASYN says {str(error).rstrip('.')}")
    n_added = len(more_y) - len(y)
    if n_added == 0:
        return unchanged("the classes are balanced")
    note = f"ADASYN added {n_added} rows to {len(y)} training rows ({neighbours} neighbours)."
    if groups is not None:
        groups = np.concatenate(
            [groups, groups[_nearest(X, y, more_X[len(y) :], more_y[len(y) :])]]
        )
    return Oversampled(more_X.astype(X.dtype, copy=False), more_y, groups, n_added, note)


def _nearest(X, y, new_X, new_y):
    """Index of the row of `X` nearest to each new row, within the new row's class."""
    from sklearn.metrics import pairwise_distances_argmin

    nearest = np.empty(len(new_y), dtype=int)
    for k in np.unique(new_y):
        own = np.flatnonzero(y == k)
        nearest[new_y == k] = own[pairwise_distances_argmin(new_X[new_y == k], X[own])]
    return nearest
