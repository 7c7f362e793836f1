"""DREAM: Keller's ratings as numbers, cut as the olfaction prediction challenge of 2015 cut them.

The challenge asked for the mean over its 49 subjects of 21 attributes: intensity at a dilution of
1/1,000, and pleasantness and 19 descriptors at the stronger of a molecule's two dilutions. Its
lists name the 69 molecules of the leaderboard and the 69 of the final test; all others of the 476
were for training.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kcnet_core.contracts import drain
from kcnet_core.datasets import keller, store
from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.datasets.descriptor_cache import described_rows_steps
from kcnet_core.datasets.keller_labels import QUESTIONNAIRE, coded, descriptor_use
from kcnet_core.datasets.odor import odor_dataset
from kcnet_core.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

FOLDER = "dream"
LISTS = {"leaderboard": f"{FOLDER}/CID_leaderboard.txt", "test": f"{FOLDER}/CID_testset.txt"}
FILES = (*keller.FILES, *LISTS.values())
QUESTIONS = {"HOW STRONG IS THE SMELL?": "Intensity", "HOW PLEASANT IS THE SMELL?": "Pleasantness"}
ATTRIBUTES = (
    *QUESTIONS.values(),
    *(name.capitalize() for name in QUESTIONNAIRE if name != "EDIBLE"),
)
INTENSITY_AT = "1/1000"
_ABOUT = (
    "Every number is the mean of all ratings from 0 to 100 of a stimulus; who smelled nothing "
    "rated its intensity alone. Intensity is that at 1/1,000, everything else that at the stronger "
    "of the dilutions rated, as in the challenge."
)


def load_dream(*, progress: Callable[[int, int | None], None] | None = None) -> Dataset:
    """One row per molecule: first those for training, then the leaderboard's, then the test's.

    `y` (n, 21) has NaN where nobody rated; `n_train` counts the first two parts, which entrants
    had in the final round.
    """
    folder = store.require("dream", FILES)
    rated = rated_molecules(folder=folder / keller.FOLDER, progress=progress)
    parts = {part: _list(folder / file) for part, file in LISTS.items()}
    cids = np.array([name.rpartition(" ")[2] for name in rated.row_names or ()])
    part = np.select([np.isin(cids, parts["leaderboard"]), np.isin(cids, parts["test"])], [1, 2])
    order = np.argsort(part, kind="stable")
    sizes = np.bincount(part, minlength=3)
    there = np.isfinite(rated.y[part == 2, 0]).sum()
    report = (
        *rated.report,
        f"{sizes[0]} molecules for training, {sizes[1]} of the leaderboard, {sizes[2]} for the "
        f"final test; {there} of the last have an intensity at 1/1,000.",
    )
    about: dict[str, Any] = CATALOGUE["dream"].about
    return replace(taken(rated, order), report=report, n_train=int(sizes[:2].sum()), **about)


def rated_molecules(
    *, folder: Path | None = None, progress: Callable[[int, int | None], None] | None = None
) -> Dataset:
    """All of Keller's molecules with the numbers of `ATTRIBUTES`; called by name and CID."""
    folder = folder or store.require("keller_2016", keller.FILES) / keller.FOLDER
    ratings = keller.read_table(folder, "behavior.csv")
    report: list[str] = []
    stimuli = keller.rated_stimuli(folder, descriptor_use(ratings), report)
    # In the order of `load_keller`, so that descriptors in the cache serve both.
    texts = stimuli["CanonicalSMILES"].fillna("").tolist()
    called = [f"{one.OdorName}, CID {one.CID}" for one in stimuli.itertuples()]
    kept, smiles, X = drain(described_rows_steps(texts, called, report), progress)
    means = mean_ratings(ratings, stimuli["Stimulus"].to_numpy()[kept])
    ratios = stimuli["Ratio"].to_numpy(dtype=str)[kept]
    weakest_first = np.argsort([-_times_diluted(ratio) for ratio in ratios], kind="stable")
    _, molecule = np.unique(stimuli["CID"].to_numpy(dtype=str)[kept], return_inverse=True)
    y, at = (
        np.full((molecule.max() + 1, len(ATTRIBUTES)), np.nan),
        np.zeros(molecule.max() + 1, int),
    )
    for row in weakest_first:  # the strongest is written last
        y[molecule[row], 1:], at[molecule[row]] = means[row, 1:], row
    mild = np.flatnonzero(ratios == INTENSITY_AT)
    y[molecule[mild], 0] = means[mild, 0]
    return odor_dataset(
        smiles=[smiles[k] for k in at],
        X=X[at],
        y=y,
        target_names=ATTRIBUTES,
        row_names=tuple(called[kept[k]] for k in at),
        report=[_ABOUT, *report],
        **CATALOGUE["keller_2016"].about,
    )


def _times_diluted(ratio: str) -> float:
    """How many times thinner than pure "1/1000" is."""
    try:
        return float(ratio.partition("/")[2])
    except ValueError:
        raise DataError(
            f"stimuli.csv of Keller 2016 has the dilution {ratio[:20]!r}, which should be like "
            "1/1000. Delete the file and download it again."
        ) from None


def taken(dataset: Dataset, rows: np.ndarray) -> Dataset:
    """Some rows of a dataset, in this order."""
    chosen: dict[str, Any] = {}
    for name in ("X", "y", "groups", "row_names", "smiles"):
        values = getattr(dataset, name)
        if values is not None:
            own = isinstance(values, tuple)
            chosen[name] = tuple(values[k] for k in rows) if own else values[rows]
    return replace(dataset, **chosen)


def mean_ratings(ratings: pd.DataFrame, stimuli: np.ndarray) -> np.ndarray:
    """Mean of all ratings of some stimuli, (n, 21); NaN where there is none."""
    import pandas as pd

    question, words = coded(ratings["MeasurementValue"])
    named = [str(word).strip().upper() for word in words]
    place = {name.upper(): k for k, name in enumerate(ATTRIBUTES)}
    place |= {question: place[name.upper()] for question, name in QUESTIONS.items()}
    attribute = np.array([place.get(name, -1) for name in named] + [-1])[question]
    answer, words = coded(ratings["Value"])
    number = pd.to_numeric(pd.Series(words, dtype=object), errors="coerce").to_numpy(dtype=float)
    value = np.append(number, np.nan)[answer]
    rated = (attribute >= 0) & np.isfinite(value) & np.isin(ratings["Stimulus"], stimuli)
    row = pd.Index(stimuli).get_indexer(ratings["Stimulus"].to_numpy()[rated])
    cell, shape = row * len(ATTRIBUTES) + attribute[rated], (len(stimuli), len(ATTRIBUTES))
    sums, counts = (np.bincount(cell, w, np.prod(shape)) for w in (value[rated], None))
    return np.divide(sums, counts, np.full(len(sums), np.nan), where=counts > 0).reshape(shape)


def _list(path: Path) -> list[str]:
    """CIDs, one per line."""
    try:
        found = path.read_text(encoding="ascii").split()
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path.name} of DREAM cannot be read. Delete it and download it again."
        ) from error
    if not found or not all(word.isdigit() for word in found):
        raise DataError(
            f"{path.name} of DREAM is damaged: it should have one CID per line. Delete it and "
            "download it again."
        )
    return found
