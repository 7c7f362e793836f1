"""DoOR: how the glomeruli of a fly answer to 691 odorants, gathered from many laboratories.

No laboratory measured everything: of all pairs of odorant and glomerulus most were never measured.
What is missing is never taken for silence. By default it is set to the glomerulus's spontaneous
rate, which DoOR has as a row of its own ("SFR"): a constant that no other odorant had a part in, so
that nothing of a test row reaches a training row. The other way is to keep complete cases only.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kcnet_core.datasets import store
from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.datasets.fly.characters import (
    STARTER,
    all_characters,
    attribution,
    characters_of,
    checked,
)
from kcnet_core.datasets.odor import character_targets, odor_dataset
from kcnet_core.errors import DataError
from kcnet_core.molecules.read import Molecule

NAMES = CLASSES, CHARACTERS = ("door", "door_characters")
FOLDER = "door"
PUBLISHED = (
    ("door_response_matrix.csv", 295_852,
     "bc2aa5414ff54d3a1399f5fe171e154bcadc754bcf323a3c27711a54f70848e2"),
    ("door_mappings.csv", 12_824,
     "1197c492e769b1b587c907c5b750ffa2507d7e6c9fe9dfcb2ee8603871e00912"),
    ("odor.csv", 155_880, "a31d1841cf90ce23ec149760a5efa38eae02de7820bb2300c3a7dba221745940"),
)  # fmt: skip
FILES = tuple(f"{FOLDER}/{name}" for name, _, _ in PUBLISHED)
_RESPONSES, _MAPPINGS, _ODORS = (name for name, _, _ in PUBLISHED)
_COLUMNS = {_MAPPINGS: ("receptor", "code"), _ODORS: ("Class", "Name", "InChIKey", "SMILES")}
SPONTANEOUS = "SFR"  # the row of rates without any odor
MISSING = {
    "spontaneous": "a response that was never measured is set to the spontaneous rate",
    "complete": "only odorants and glomeruli are kept that were measured with each other",
}
MIN_MEASURED = 10  # glomeruli; of odorants with fewer hardly anything is known
MIN_POSITIVES = 8  # rows of a class or character; there are not many rows
# What the hemibrain calls two glomeruli, DoOR has as one (DL2 it doubles itself).
HALVES = {"VC3": ("VC3l", "VC3m")}
SPELLINGS = {
    "arom": "aromatic", "aromatics": "aromatic", "terpenes": "terpene", "esters": "ester",
    "acids": "acid", "sulfid": "sulfide", "O ring": "oxygen ring", "N ring": "nitrogen ring",
}  # fmt: skip


@dataclass(frozen=True)
class Responses:
    """What was measured: odorants by glomeruli, NaN where nobody did."""

    names: tuple[str, ...]
    smiles: tuple[str, ...]
    classes: tuple[str, ...]  # chemical; "" where DoOR names none
    glomeruli: tuple[str, ...]
    values: np.ndarray  # (n, d)
    spontaneous: np.ndarray  # (d,)

    def only(self, rows: np.ndarray, columns: np.ndarray) -> Responses:
        names, smiles, classes = (
            tuple(those[row] for row in rows) for those in (self.names, self.smiles, self.classes)
        )
        glomeruli = tuple(self.glomeruli[k] for k in columns)
        values, rates = self.values[np.ix_(rows, columns)], self.spontaneous[columns]
        return Responses(names, smiles, classes, glomeruli, values, rates)


def load_door(
    name: str = CLASSES,
    *,
    target: str | None = None,
    min_positives: int = MIN_POSITIVES,
    missing: str = "spontaneous",
    min_measured: int = MIN_MEASURED,
    characters: str = STARTER,
    progress: Callable[[int, int | None], None] | None = None,
) -> Dataset:
    """One row per odorant, one input per glomerulus, responses from 0 to 1.

    Parameters
    ----------
    name : {"door", "door_characters"}
        What is to be told: the chemical class, or the odor characters that one of our odor sets
        gives to the same molecule.
    target : str or None
        One class or character against all others.
    min_positives : int
        Classes and characters with fewer rows are left out.
    missing : {"spontaneous", "complete"}
        See `MISSING`.
    min_measured : int
        Odorants for which fewer glomeruli were measured are left out ("spontaneous").
    characters : str
        Who says what the odorants smell of, one of `characters.SOURCES` ("door_characters").
    progress : callable
        Hears how many molecules are done, and of how many.
    """
    if missing not in MISSING:
        raise DataError(f"missing is {missing[:40]!r}; it must be one of {', '.join(MISSING)}.")
    report: list[str] = []
    there = _usable(read_responses(), missing, min_measured, report)
    kept, molecules = _molecules(there, report, progress)
    there = there.only(kept, np.arange(len(there.glomeruli)))
    about = CATALOGUE[name].about
    wanted = (there, molecules, target, min_positives, report)
    if name == CLASSES:
        rows, targets = _class_targets(*wanted)
    else:
        rows, targets = _character_targets(*wanted, characters, progress)
        more = attribution(characters)
        about |= {key: f"{about[key]}; odor characters: {more[key]}" for key in more}
    there = there.only(rows, np.arange(len(there.glomeruli)))
    unknown = np.isnan(there.values)
    if unknown.any():
        report.append(
            f"{unknown.sum():,} of {unknown.size:,} responses ({unknown.mean():.0%}) were never "
            "measured and are set to the glomerulus's spontaneous rate."
        )
    return odor_dataset(
        smiles=[molecules[row].smiles for row in rows],
        X=np.where(unknown, there.spontaneous, there.values).astype(np.float32),
        descriptor_names=there.glomeruli,
        row_names=there.names,
        report=report,
        **targets,
        **about,
    )


def measured(dataset: Dataset) -> np.ndarray:
    """Which responses (n, d) of a loaded dataset somebody measured."""
    there = read_responses()
    row_of = {name: k for k, name in enumerate(there.names)}
    columns = [there.glomeruli.index(name) for name in dataset.feature_names]
    rows = [row_of[name] for name in dataset.row_names or ()]
    return ~np.isnan(there.values[np.ix_(rows, columns)])


def read_responses() -> Responses:
    """All odorants, and every glomerulus of the adult fly with a response of its own."""
    folder = store.require(CLASSES, FILES) / FOLDER
    values, mappings, odors = (_read(folder, name) for name, _, _ in PUBLISHED)
    if SPONTANEOUS not in values.index:
        raise DataError(_DAMAGED.format(name=_RESPONSES))
    _require_whole(values, mappings, odors)
    mapped = mappings[mappings["code"].notna() & mappings["receptor"].isin(values.columns)]
    columns = [
        (glomerulus, unit)
        for unit, code in zip(mapped["receptor"], mapped["code"], strict=True)
        for glomerulus in HALVES.get(code, (code,))
    ]
    odors = odors.drop_duplicates("InChIKey").set_index("InChIKey")
    odorants = [key for key in values.index if key != SPONTANEOUS and key in odors.index]
    table = values.loc[odorants, [unit for _, unit in columns]].to_numpy(float)
    known = ~np.isnan(table).all(axis=0)
    if not known.any():
        raise DataError(_DAMAGED.format(name=_RESPONSES))
    about = odors.loc[odorants, ["Class", "Name", "SMILES"]].astype(object).fillna("")
    classes = about["Class"].astype(str)
    rates = values.loc[SPONTANEOUS, [unit for _, unit in columns]].to_numpy(float)
    return Responses(
        tuple(about["Name"].astype(str)),
        tuple(about["SMILES"].astype(str)),
        tuple(SPELLINGS.get(one, one) for one in classes),
        tuple(glomerulus for (glomerulus, _), keep in zip(columns, known, strict=True) if keep),
        table[:, known],
        np.nan_to_num(rates[known]),
    )


def _require_whole(values, mappings, odors) -> None:
    """Tables that were cut short at the end of a line read well, and name less than the others."""
    tested, described = set(values.index), set(odors["InChIKey"].dropna())
    for name, what, lost in (
        (_ODORS, "odorants", tested - described),
        (_RESPONSES, "odorants", described - tested),
        (_MAPPINGS, "receptors", set(values.columns) - set(mappings["receptor"])),
    ):
        if lost:
            raise DataError(
                f"{name} of DoOR lacks {len(lost)} {what} that the other tables have: it is cut "
                "short, or of another version. Delete all three and download them again."
            )


def _usable(there: Responses, missing: str, min_measured: int, report: list[str]) -> Responses:
    """Odorants and glomeruli that enough was measured of; the report says which did not."""
    known = ~np.isnan(there.values)
    counts = known.sum(axis=1)
    report.append(
        f"{len(counts)} odorants and {known.shape[1]} glomeruli; {1 - known.mean():.0%} of their "
        "responses were never measured. DoOR's glomerulus VC3 stands for both VC3l and VC3m of the "
        "hemibrain."
    )
    if silent := [name for name, count in zip(there.names, counts, strict=True) if not count]:
        report.append(
            f"{len(silent)} odorants have no response in any glomerulus of the adult fly and were "
            f"left out: {'; '.join(silent)}."
        )
    if missing == "complete":
        rows, columns = complete_block(known)
        report.append(
            f"Complete cases: {len(rows)} odorants that were all measured in the same "
            f"{len(columns)} glomeruli, the largest table that adding one glomerulus at a time "
            "finds."
        )
    else:
        rows, columns = np.flatnonzero(counts >= max(1, min_measured)), np.arange(known.shape[1])
        report.append(
            f"{len(counts) - len(rows) - np.count_nonzero(counts == 0)} more odorants were "
            f"measured in fewer than {min_measured} glomeruli and were left out; {len(rows)} stay."
        )
    if not len(rows):
        raise DataError(f"No odorant was measured in {min_measured} glomeruli; lower min_measured.")
    return there.only(rows, columns)


def left_out(name: str) -> tuple[str, str] | None:
    """The SMILES of an odorant that DoOR knows and `load_door` by itself leaves out, and why."""
    there, wanted = read_responses(), name.strip().casefold()
    row = next((k for k, one in enumerate(there.names) if one.casefold() == wanted), None)
    if row is None:
        return None
    n_measured = np.count_nonzero(~np.isnan(there.values[row]))
    if not n_measured:
        why = "no response of any glomerulus of the adult fly to it was ever measured"
    elif n_measured < MIN_MEASURED:
        why = f"only {n_measured} glomeruli were measured with it, and {MIN_MEASURED} are needed"
    else:
        why = "its chemical class is not named, or too few odorants are of it"
    return there.smiles[row], f"DoOR has {there.names[row]}, but {why}"


def complete_block(known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns without a gap: columns join one by one, whichever costs fewest rows."""
    rows, chosen = np.ones(len(known), bool), list[int]()
    best, block = 0, (np.flatnonzero(rows), np.arange(0))
    while len(chosen) < known.shape[1]:
        left = (known & rows[:, None]).sum(axis=0)
        left[chosen] = -1
        chosen.append(int(left.argmax()))
        rows = rows & known[:, chosen[-1]]
        area = int(rows.sum()) * len(chosen)
        if area > best:
            best, block = area, (np.flatnonzero(rows), np.sort(chosen))
    return block


def _molecules(there: Responses, report: list[str], progress) -> tuple[np.ndarray, list[Molecule]]:
    """The odorants that are molecules; of a salt, its organic part."""
    rows = checked(there.smiles, progress)
    salts = [row for row in rows if row.molecule is None and row.suggestion]
    parts = checked([row.suggestion or "" for row in salts])
    for salt, part in zip(salts, parts, strict=True):
        rows[salt.number - 1] = part
    kept = [k for k, row in enumerate(rows) if row.molecule is not None]
    dropped = [there.names[k] for k, row in enumerate(rows) if row.molecule is None]
    if dropped:
        report.append(
            f"{len(dropped)} substances are no organic molecules and were left out: "
            f"{', '.join(dropped)}."
        )
    return np.array(kept, int), [molecule for row in rows if (molecule := row.molecule)]


def _class_targets(there, molecules, target, min_positives, report):
    """Rows whose class is known and frequent enough, and the fields that name it."""
    names, counts = np.unique(there.classes, return_counts=True)
    frequent = [
        str(name)
        for name, count in zip(names, counts, strict=True)
        if name not in ("", "other") and count >= max(1, min_positives)
    ]
    rows = np.array([k for k, name in enumerate(there.classes) if name in frequent], int)
    if not len(rows):
        raise DataError(f"No chemical class has {min_positives} odorants; lower min_positives.")
    rare = [
        f"{name} ({count})" if name else f"none named ({count})"
        for name, count in zip(names, counts, strict=True)
        if name not in frequent
    ]
    if rare:
        report.append(
            f"Chemical classes left out, because fewer than {min_positives} odorants have them or "
            f"because they are none: {', '.join(rare)}."
        )
    y = np.array([frequent.index(there.classes[row]) for row in rows])
    if target:
        labels = y[:, None] == np.arange(len(frequent))
        return rows, character_targets(labels, frequent, target, min_positives, report)
    return rows, {"y": y, "target_names": tuple(frequent)}


def _character_targets(there, molecules, target, min_positives, report, source, progress):
    """Rows whose molecule the source knows, and its odor characters."""
    found = characters_of(molecules, source, report, progress)
    rows = np.array([k for k, words in enumerate(found) if words is not None], int)
    if not len(rows):
        raise DataError(
            "The source of odor characters knows none of these odorants: lower min_measured, or "
            "choose another one."
        )
    if lost := len(found) - len(rows):
        report.append(f"{lost} odorants that nobody there describes were left out.")
    ours = all_characters()
    labels = np.array([[word in (found[row] or ()) for word in ours] for row in rows])
    return rows, character_targets(labels, ours, target, min_positives, report)


def _read(folder: Path, name: str):
    """One of the tables: semicolons, quotes, and a first column without a name."""
    import pandas as pd

    path = folder / name
    if not path.is_file():
        path = path.with_name(f"{name}.gz")
    try:
        table = pd.read_csv(path, sep=";", index_col=0)
        if name == _RESPONSES:
            table = table.astype(float)
            sound = len(table) > 0 and not table.index.has_duplicates
            sound = sound and ((table >= 0) & (table <= 1) | table.isna()).all(axis=None)
        else:
            sound = len(table) > 0 and set(_COLUMNS[name]) <= set(table.columns)
    except PermissionError as error:
        raise DataError(
            f"{name} of DoOR may not be read by this program; give it the right to."
        ) from error
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataError(_DAMAGED.format(name=name)) from error
    if not sound:
        raise DataError(_DAMAGED.format(name=name))
    return table


_DAMAGED = (
    "{name} of DoOR is damaged or has another layout (semicolons between columns, responses from 0 "
    "to 1, and the columns that DoOR.data has). Delete it and download it again."
)
