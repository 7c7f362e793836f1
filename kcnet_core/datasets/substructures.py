"""Odor data whose molecules are described by their substructures besides the 2D descriptors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.molecules.fingerprint_table import NAMES
from kcnet_core.molecules.fingerprints import substructure_counts

FEWEST = 3  # molecules that hold a substructure, for it to become an input


def with_substructures(dataset: Dataset) -> Dataset:
    """The same rows with one more input for every substructure that a few molecules hold.

    Data that do not say which molecules they are stay as they are.
    """
    if dataset.smiles is None or dataset.feature_names[-1:] == NAMES[-1:]:
        return dataset
    unique, row_of = np.unique(np.array(dataset.smiles, dtype=object), return_inverse=True)
    counts = substructure_counts(unique.tolist())
    kept = np.flatnonzero((counts > 0).sum(axis=0) >= min(FEWEST, len(unique)))
    return replace(
        dataset,
        X=np.hstack([dataset.X, counts[:, kept][row_of].astype(np.float32)]),
        feature_names=(*dataset.feature_names, *(NAMES[k] for k in kept)),
    )
