"""GS-LF: GoodScents and Leffingwell, 4,983 molecules with the words that experts gave them."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kcnet_core.contracts import drain
from kcnet_core.datasets import store
from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.datasets.descriptor_cache import described_rows_steps
from kcnet_core.datasets.odor import MIN_POSITIVES, character_targets, odor_dataset, shortened
from kcnet_core.errors import DataError

FOLDER = "gs_lf"
FILE = f"{FOLDER}/curated_GS_LF_merged_4983.csv"
FILES = (FILE,)
_SMILES, _WORDS = "nonStereoSMILES", "descriptors"


def load_gs_lf(
    *,
    target: str | None = None,
    min_positives: int = MIN_POSITIVES,
    progress: Callable[[int, int | None], None] | None = None,
) -> Dataset:
    """One row per molecule, labelled with every word that experts gave it.

    The table has no names and no stereo marks: a molecule is called by its SMILES. The options are
    those of `keller.load_keller`.
    """
    table = _read(store.require("gs_lf", FILES) / FOLDER)
    words = [column for column in table.columns if column not in (_SMILES, _WORDS)]
    texts = table[_SMILES].fillna("").astype(str).tolist()
    labels = table[words].to_numpy() == 1
    report = [
        f"{len(table):,} molecules and {len(words)} words; experts gave a molecule "
        f"{labels.sum(axis=1).mean():.1f} of them on average. Stereo marks were taken off by "
        "those who made the table, so mirror images stand as one molecule."
    ]
    said: list[str] = []
    kept, smiles, X = drain(described_rows_steps(texts, texts, said), progress)
    report += shortened(said)
    characters = [word.capitalize() for word in words]
    targets = character_targets(labels[kept], characters, target, min_positives, report)
    return odor_dataset(
        smiles=smiles,
        X=X,
        row_names=tuple(smiles),
        report=report,
        **targets,
        **CATALOGUE["gs_lf"].about,
    )


def _read(folder: Path):
    """The table, its words as 0 or 1."""
    import pandas as pd

    path = folder / Path(FILE).name
    if not path.is_file():
        path = path.with_name(f"{path.name}.gz")
    try:
        table = pd.read_csv(path, dtype={_SMILES: "str", _WORDS: "str"})
    except PermissionError as error:
        raise DataError(
            f"{path.name} of GS-LF may not be read by this program; give it the right to."
        ) from error
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataError(_DAMAGED.format(name=path.name)) from error
    words = table.drop(columns=[_SMILES, _WORDS], errors="ignore")
    whole = _SMILES in table and len(table) and words.shape[1]
    if not whole or not np.isin(words.to_numpy(), (0, 1)).all():
        raise DataError(_DAMAGED.format(name=path.name))
    return table


_DAMAGED = (
    "{name} of GS-LF is damaged or has another layout (it should have the column "
    f"{_SMILES}, and 0 or 1 in one column per word). Delete it and download it again."
)
