"""Keller & Vosshall 2016: people's ratings of 480 molecules at two dilutions each."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kcnet_core.contracts import drain
from kcnet_core.datasets import store
from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.datasets.descriptor_cache import described_rows_steps
from kcnet_core.datasets.keller_labels import (
    QUESTIONNAIRE,
    descriptor_use,
    n_ties,
    odor_characters,
    pooled,
)
from kcnet_core.datasets.odor import MIN_POSITIVES, character_targets, odor_dataset
from kcnet_core.errors import DataError

FOLDER = "keller_2016"
FILES = tuple(f"{FOLDER}/{name}" for name in ("molecules.csv", "stimuli.csv", "behavior.csv"))
PAPER_RATES = {"Sweet": 0.5813, "Musky": 0.419}

# The published table has no structure for these two (their CID was entered as a CAS number).
_SMILES_BY_CAS = {
    "109-19-0": "CC(C)COC(C)=O",  # isobutyl acetate
    "3796-70-1": "CC(C)=CCCC(C)=CCCC(C)=O",  # geranylacetone
}
_COLUMNS = {
    "molecules.csv": ("CID", "OdorName", "CAS", "CanonicalSMILES"),
    "stimuli.csv": ("Stimulus", "CIDs", "Ratio"),
    "behavior.csv": ("Stimulus", "Subject", "MeasurementValue", "Value"),
}


def load_keller(
    *,
    target: str | None = None,
    top_k: int = 3,
    per: str = "stimulus",
    min_positives: int = MIN_POSITIVES,
    progress: Callable[[int, int | None], None] | None = None,
) -> Dataset:
    """One row per stimulus (a molecule at a dilution), labelled with its odor characters.

    Parameters
    ----------
    target : str or None
        One descriptor, such as "Sweet" or "Musky", as a two-class problem; None: all of them at
        once, multi-label.
    top_k : int
        How many of the most used descriptors are a stimulus' odor characters.
    per : {"stimulus", "compound"}
        Count the use of descriptors for each stimulus, or for both dilutions of a compound
        together, which gives them the same characters.
    min_positives : int
        Multi-label only: characters of fewer rows are left out (and named in the report).
    progress : callable or None
        Hears how far the descriptors are, when they have to be computed.
    """
    if per not in ("stimulus", "compound"):
        raise DataError(f"per is {per!r}; choose stimulus or compound.")
    if not 1 <= top_k <= 20:
        raise DataError(f"top_k is {top_k}; choose 1 to 20, the number of descriptors rated.")
    folder = store.require("keller_2016", FILES) / FOLDER
    use = descriptor_use(read_table(folder, "behavior.csv"))
    if not len(use.stimuli):
        raise DataError("behavior.csv holds no rating of any odor descriptor.")
    report = [
        f"{len(use.stimuli):,} stimuli rated by {use.n_subjects} people on "
        f"{len(use.descriptors)} descriptors; {use.n_rated_twice:,} times somebody rated a "
        "stimulus twice and counts once, with the higher rating."
    ]
    unrated = [name.capitalize() for name in QUESTIONNAIRE if name not in use.descriptors]
    if unrated:
        report.append(f"behavior.csv has no ratings of {', '.join(unrated)}.")
    stimuli = rated_stimuli(folder, use, report)
    place = np.searchsorted(use.stimuli, stimuli["Stimulus"])
    counts, sums = use.counts[place], use.sums[place]
    if per == "compound":
        _, compound = np.unique(stimuli["CID"].to_numpy(dtype=str), return_inverse=True)
        counts, sums = pooled(counts, compound), pooled(sums, compound)
    labels = odor_characters(counts, sums, top_k)
    characters = tuple(name.capitalize() for name in use.descriptors)
    texts, names = stimuli["CanonicalSMILES"].fillna("").tolist(), _names(stimuli)
    kept, smiles, X = drain(described_rows_steps(texts, names, report), progress)
    labels = labels[kept]  # every share below is of the rows that are loaded
    report += _label_sentences(labels, counts[kept], characters, top_k, per)
    targets = character_targets(labels, characters, target, min_positives, report)
    return odor_dataset(
        smiles=smiles,
        X=X,
        dilutions=stimuli["Ratio"].to_numpy()[kept].tolist(),
        row_names=tuple(names[k] for k in kept),
        report=report,
        **targets,
        **CATALOGUE["keller_2016"].about,
    )


def rated_stimuli(folder: Path, use, report):
    """Rated stimuli with molecule, name and SMILES; mends and names the table's slips."""
    molecules = read_table(folder, "molecules.csv")
    repeated = molecules["CID"].duplicated()
    if repeated.any():
        report.append(
            f"{', '.join(molecules['OdorName'][repeated])} is listed twice in molecules.csv; the "
            "first entry is used."
        )
    molecules = molecules[~repeated]
    stimuli = read_table(folder, "stimuli.csv")
    again = stimuli["Stimulus"].duplicated()
    if again.any():
        report.append(
            f"{again.sum()} lines of stimuli.csv name a stimulus that came before; the first entry "
            "is used."
        )
    stimuli = stimuli[~again].copy()
    by_cas = dict(zip(molecules["CAS"], molecules["CID"], strict=True))
    unknown = ~stimuli["CIDs"].isin(molecules["CID"])
    by_number = unknown & stimuli["CIDs"].isin(list(by_cas))
    if by_number.any():
        numbers = stimuli["CIDs"][by_number].unique()
        report.append(
            f"{by_number.sum()} stimuli name a CAS number ({', '.join(numbers)}) where a CID "
            "should be; they were matched by it."
        )
    stimuli["CID"] = stimuli["CIDs"].where(~by_number, stimuli["CIDs"].map(by_cas))
    lost = ~stimuli["CID"].isin(molecules["CID"])
    if lost.any():
        report.append(
            f"{lost.sum()} of {len(stimuli)} stimuli name a molecule that molecules.csv does not "
            f"list and were dropped (CID {', '.join(stimuli['CIDs'][lost].unique()[:10])}"
            f"{', …' if stimuli['CIDs'][lost].nunique() > 10 else ''})."
        )
    stimuli = stimuli.merge(molecules[["CID", "OdorName", "CAS", "CanonicalSMILES"]], on="CID")

    lacking = molecules["CanonicalSMILES"].isna()
    known = lacking & molecules["CAS"].isin(list(_SMILES_BY_CAS))
    if known.any():
        report.append(
            f"{', '.join(molecules['OdorName'][known])} have no SMILES in molecules.csv; their "
            "structures were added."
        )
    stimuli["CanonicalSMILES"] = stimuli["CanonicalSMILES"].fillna(
        stimuli["CAS"].map(_SMILES_BY_CAS)
    )
    rated = stimuli["Stimulus"].isin(use.stimuli)
    if not rated.all():
        report.append(
            f"{(~rated).sum()} of {len(stimuli)} stimuli have no ratings in behavior.csv and were "
            f"dropped: {', '.join(_names(stimuli[~rated]))}."
        )
    if not rated.any():
        raise DataError(
            "No stimulus of Keller 2016 has both a molecule in molecules.csv and ratings in "
            "behavior.csv: the files do not belong together, or parts are missing. Delete them "
            "and download them again."
        )
    return stimuli[rated].sort_values("Stimulus").reset_index(drop=True)


def _label_sentences(labels, counts, characters, top_k, per):
    sentences = [
        f"A descriptor counts when somebody rated it above 0; the {top_k} most used of a {per} "
        f"are its odor characters. Counting left {n_ties(counts, top_k)} of {len(counts)} rows "
        "tied at the last place; the higher sum of ratings decided, then the questionnaire's order."
    ]
    rates = [
        f"{name} is a character of {labels[:, characters.index(name)].mean():.1%} of the rows "
        f"(the paper has {rate:.2%})"
        for name, rate in PAPER_RATES.items()
        if name in characters
    ]
    if rates and top_k == 3:
        sentences.append("; ".join(rates) + ".")
    return sentences


def _names(stimuli) -> list[str]:
    return [
        f"{name} ({ratio})"
        for name, ratio in zip(stimuli["OdorName"], stimuli["Ratio"], strict=True)
    ]


def read_table(folder: Path, name: str):
    """A table as text columns; numbers only where they are needed."""
    import pandas as pd

    path = folder / name
    if not os.path.isfile(path):
        path = folder / f"{name}.gz"
    text = "category" if name == "behavior.csv" else "str"
    dtype = {column: "int64" if column == "Stimulus" else text for column in _COLUMNS[name]}
    try:
        return pd.read_csv(path, usecols=list(dtype), dtype=dtype)
    except PermissionError as error:
        raise DataError(
            f"{path.name} of Keller 2016 may not be read by this program; give it the right to."
        ) from error
    except (OSError, EOFError, ValueError, OverflowError, zlib.error) as error:
        raise DataError(
            f"{path.name} of Keller 2016 is damaged or has another layout "
            f"(it should have the columns {', '.join(_COLUMNS[name])}). "
            "Delete it and download it again."
        ) from error
