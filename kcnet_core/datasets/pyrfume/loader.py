"""An archive of pyrfume-data as a `Dataset`: one row per molecule, with all words it was given."""

from __future__ import annotations

import ast
import os
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np

from kcnet_core.contracts import drain
from kcnet_core.datasets import store
from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.datasets.descriptor_cache import described_rows_steps
from kcnet_core.datasets.odor import MIN_POSITIVES, character_targets, odor_dataset, shortened
from kcnet_core.datasets.pyrfume import first_seen
from kcnet_core.datasets.pyrfume.archives import ARCHIVES, MOLECULES, STIMULI, Archive, files
from kcnet_core.datasets.vocabulary import words_of
from kcnet_core.errors import DataError

_SMILES, _STIMULUS = "IsomericSMILES", "Stimulus"
_LONGEST_WORD = 60
_UNLISTED = 12  # words without a character that the report names


def load_archive(
    name: str,
    *,
    target: str | None = None,
    min_positives: int = MIN_POSITIVES,
    progress: Callable[[int, int | None], None] | None = None,
) -> Dataset:
    """One row per molecule of an archive, labelled with every word that it was given.

    The options are those of `keller.load_keller`.
    """
    archive, title = ARCHIVES[name], CATALOGUE[name].title
    folder = store.require(name, files(name))
    first_seen.check(name, folder, files(name))
    read = _ArchiveReader(folder / name, title)
    molecules = read.table(MOLECULES, ("CID", _SMILES))
    molecules = molecules[molecules["CID"].notna()].drop_duplicates("CID").set_index("CID")
    said = _words_by_stimulus(read, archive)
    found: dict[str, set[str]] = {}
    unknown = 0
    for cid, words in _by_molecule(said, read, archive):
        if cid not in molecules.index or not isinstance(molecules.at[cid, _SMILES], str):
            unknown += 1
        elif words:
            found.setdefault(cid, set()).update(words)
    if not found:
        raise DataError(
            f"No molecule of {title} has both a structure in {MOLECULES} and a word in "
            f"{archive.behavior}: the files do not belong together, or parts are missing. Delete "
            "them and download them again."
        )
    vocabulary = sorted(set().union(*found.values()))
    report = _about(name, len(found), unknown, vocabulary)
    labels = np.array([[word in words for word in vocabulary] for words in found.values()])
    rows = molecules.loc[list(found)]
    texts = rows[_SMILES].astype(str).str.strip().tolist()
    names = rows["name"].fillna(rows[_SMILES]) if "name" in rows else rows[_SMILES]
    single: list[str] = []
    kept, smiles, X = drain(described_rows_steps(texts, texts, single), progress)
    report += shortened(single)
    targets = character_targets(labels[kept], vocabulary, target, min_positives, report)
    return odor_dataset(
        smiles=smiles,
        X=X,
        row_names=tuple(np.asarray(names, dtype=object)[kept].tolist()),
        report=report,
        **targets,
        **CATALOGUE[name].about,
    )


def _about(name: str, n_molecules: int, unknown: int, words: list[str]) -> list[str]:
    report = [f"{n_molecules:,} molecules and {len(words):,} words.", ARCHIVES[name].quirk]
    if unknown:
        report.append(f"{unknown:,} stimuli are no molecule that {MOLECULES} has a structure for.")
    unlisted = [word for word in words if word not in words_of(name)]
    if unlisted:
        report.append(
            f"{len(unlisted):,} words stand for none of our characters, because "
            f"assets/vocabulary.csv does not list them: {', '.join(unlisted[:_UNLISTED])}"
            f"{', …' if len(unlisted) > _UNLISTED else ''}."
        )
    return [sentence for sentence in report if sentence]


def _words_by_stimulus(read: _ArchiveReader, archive: Archive) -> list[tuple[str, set[str]]]:
    """Every stimulus with its words, as the file of words has them."""
    if archive.column is not None:
        table = read.table(archive.behavior, (_STIMULUS, archive.column), archive.formerly)
        cells = table[archive.column].fillna("").tolist()
        return [
            (stimulus, set(spelled(read.words(archive.behavior, cell))))
            for stimulus, cell in zip(table[_STIMULUS], cells, strict=True)
        ]
    table = read.table(archive.behavior, (_STIMULUS,))
    columns = [column for column in table.columns if column != _STIMULUS]
    names = [next(iter(spelled([column])), "") for column in columns]
    try:
        numbers = table[columns].to_numpy(dtype=float)
    except ValueError as error:
        raise read.damaged(archive.behavior, "numbers, one column for every word") from error
    counts = numbers >= archive.from_value
    return [
        (stimulus, {names[k] for k in np.flatnonzero(row)} - {""})
        for stimulus, row in zip(table[_STIMULUS], counts, strict=True)
    ]


def _by_molecule(
    said: list[tuple[str, set[str]]], read: _ArchiveReader, archive: Archive
) -> list[tuple[str, set[str]]]:
    """The same by molecule: a stimulus that is not listed is no molecule."""
    if not archive.cid:
        return said
    wanted = (_STIMULUS, archive.cid, *(archive.only or ())[:1])
    stimuli = read.table(STIMULI, wanted)
    if archive.only is not None:
        column, value = archive.only
        stimuli = stimuli[stimuli[column] == value]
        said = [one for one in said if one[0] in set(stimuli[_STIMULUS])]
    of = dict(zip(stimuli[_STIMULUS], stimuli[archive.cid], strict=True))
    return [(of.get(stimulus, ""), words) for stimulus, words in said]


def spelled(words: Iterable[str]) -> list[str]:
    """Words as everywhere: without punctuation, with a capital."""
    plain = (" ".join(re.findall(r"\w+", str(word).lower()))[:_LONGEST_WORD] for word in words)
    return [word.capitalize() for word in plain if word]


class _ArchiveReader:
    """The files of one archive, as text; what is wrong with them is said by name."""

    def __init__(self, folder: Path, title: str):
        self.folder, self.title = folder, title

    def table(self, name: str, columns: tuple[str, ...], formerly: Mapping[str, str] | None = None):
        """`formerly` are names that columns have had in other versions of the repository."""
        import pandas as pd

        path = self.folder / name
        if not os.path.isfile(path):
            path = self.folder / f"{name}.gz"
        try:
            table = pd.read_csv(path, dtype="str", keep_default_na=False, na_values=[""])
        except PermissionError as error:
            raise DataError(
                f"{path.name} of {self.title} may not be read by this program; give it the right "
                "to."
            ) from error
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise self.damaged(name, f"the columns {', '.join(columns)}") from error
        table = table.rename(
            columns={old: new for old, new in (formerly or {}).items() if new not in table.columns}
        )
        if not set(columns) <= set(table.columns) or not len(table):
            raise self.damaged(name, f"the columns {', '.join(columns)}")
        for column in set(columns) & {"CID", "new_CID", _STIMULUS}:  # some were written as 123.0
            table[column] = table[column].str.strip().str.removesuffix(".0")
        return table

    def words(self, name: str, cell: str) -> Iterable[str]:
        """A cell's words: a list or a set as Python writes them, or parted by semicolons."""
        if not cell.startswith(("[", "{")):
            return cell.split(";")
        try:
            found = ast.literal_eval(cell)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
            raise self.damaged(name, "a list of words in every row") from error
        return [] if isinstance(found, dict) else [one for one in found if isinstance(one, str)]

    def damaged(self, name: str, should: str) -> DataError:
        return DataError(
            f"{name} of {self.title} is damaged or has another layout (it should have {should}). "
            "Delete it and download it again."
        )
