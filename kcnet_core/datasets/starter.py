"""The starter odor set: well-known odorants that come with the project, so no network is needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from kcnet_core.contracts import drain
from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.datasets.descriptor_cache import described_rows_steps
from kcnet_core.datasets.odor import MIN_POSITIVES, character_targets, odor_dataset
from kcnet_core.storage.asset_table import asset_rows
from kcnet_core.storage.folders import assets

PATH = assets() / "odorants.csv"
_COLUMNS = ("name", "smiles", "formula", "characters")


def load_starter(
    *,
    target: str | None = None,
    min_positives: int = MIN_POSITIVES,
    progress: Callable[[int, int | None], None] | None = None,
) -> Dataset:
    """One row per molecule, labelled with the odor characters that a perfumer would give it.

    The options are those of `keller.load_keller`.
    """
    entries = _entries(PATH)
    vocabulary = sorted({word for entry in entries for word in entry["characters"]})
    labels = np.array([[word in entry["characters"] for word in vocabulary] for entry in entries])
    names = [entry["name"] for entry in entries]
    report = [f"{len(entries)} molecules; each has the odor characters it is best known for."]
    texts = [entry["smiles"] for entry in entries]
    kept, smiles, X = drain(described_rows_steps(texts, names, report), progress)
    characters = [word.capitalize() for word in vocabulary]
    targets = character_targets(labels[kept], characters, target, min_positives, report)
    return odor_dataset(
        smiles=smiles,
        X=X,
        row_names=tuple(names[row] for row in kept),
        report=report,
        **targets,
        **CATALOGUE["starter"].about,
    )


def size() -> tuple[int, int]:
    """Number of molecules and of odor characters."""
    entries = _entries(PATH)
    return len(entries), len({word for entry in entries for word in entry["characters"]})


def entries() -> tuple[dict, ...]:
    """Every odorant: its name, its SMILES as written, and the set of its characters."""
    return _entries(PATH)


@cache
def _entries(path: Path) -> tuple[dict, ...]:
    entries: tuple[dict, ...] = tuple(asset_rows(path, _COLUMNS, "starter odor set"))
    for entry in entries:
        words = map(str.strip, entry["characters"].lower().split(";"))
        entry["characters"] = frozenset(filter(None, words))
    return entries
