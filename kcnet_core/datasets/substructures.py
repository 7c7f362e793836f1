"""Odor data whose molecules are described by their substructures besides the 2D descriptors."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.molecules.fingerprint_table import KINDS, NAMES, kind_of
from kcnet_core.molecules.fingerprints import substructure_counts

FEWEST = 3  # molecules that hold a substructure, for it to become an input


def with_substructures(dataset: Dataset, kinds: Collection[str] = tuple(KINDS)) -> Dataset:
    """The same rows with one more input for every substructure that a few molecules hold.

    `kinds` are keys of `fingerprint_table.KINDS`.

    Data that do not say which molecules they are stay as they are.
    """
    if dataset.smiles is None or any(map(kind_of, dataset.feature_names)):
        return dataset
    unique, row_of = np.unique(np.array(dataset.smiles, dtype=object), return_inverse=True)
    counts = substructure_counts(unique.tolist())
    wanted = np.array([kind_of(name) in kinds for name in NAMES])
    held = (counts > 0).sum(axis=0) >= min(FEWEST, len(unique))
    kept = np.flatnonzero(wanted & held)
    return replace(
        dataset,
        X=np.hstack([dataset.X, counts[:, kept][row_of].astype(np.float32)]),
        feature_names=(*dataset.feature_names, *(NAMES[k] for k in kept)),
    )
