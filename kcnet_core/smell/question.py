"""What a person typed or uploaded -> checked molecules; common names of known molecules count too.

Whatever can be a SMILES is read as one. Any other line is looked up among the names of the loaded
dataset, whatever its case; a word that is neither gets the names that come nearest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from kcnet_core.errors import DataError
from kcnet_core.limits import MAX_MOLECULE_NAME_LENGTH
from kcnet_core.molecules.read import Row, check_length, read_frame, read_smiles
from kcnet_core.molecules.text import is_smiles_header

_SPACES = re.compile(r"\s+")
_LINE_END = re.compile(r"\r\n|\r|\n")
# A name made of nothing else is left to SMILES: "CO" is methanol, never somebody's "Co".
_SMILES_ONLY = re.compile(r"[BCNOPSFIHbcnops\[\]()=#@+\-\\/%.0-9]+|Cl|Br")
_WORD = re.compile(r"[a-zA-Z]{3}")  # three letters in a row: a word rather than a structure
_NEAR_NAMES = 3
_NEAR_ENOUGH = 0.72  # of difflib's ratio; "limonen" finds limonene, "xyz" nothing
_LONGEST_GUESS = 80  # characters; difflib is slow on long texts
_MOST_GUESSES = 100  # rows of one request


@dataclass(frozen=True)
class KnownNames:
    """Names that stand for molecules.

    Parameters
    ----------
    smiles : mapping from the normal form of a name to its canonical SMILES
    spelled : mapping from the normal form to the name as the dataset writes it
    title : str
        The dataset they come from, for messages.
    """

    smiles: Mapping[str, str]
    spelled: Mapping[str, str]
    title: str

    @classmethod
    def of(cls, names: Iterable[str], smiles: Iterable[str], title: str) -> KnownNames:
        """The first molecule of a name keeps it."""
        known: dict[str, str] = {}
        spelled: dict[str, str] = {}
        for name, structure in zip(names, smiles, strict=True):
            key = normal(name)
            if key and _SMILES_ONLY.fullmatch(name.strip()) is None and key not in known:
                known[key], spelled[key] = structure, _SPACES.sub(" ", name.strip())
        return cls(known, spelled, title)

    def near(self, text: str) -> list[str]:
        """Normal forms of the names that look most like `text`, best first."""
        key = normal(text)
        if not key or len(key) > _LONGEST_GUESS:
            return []
        inside = [name for name in self.smiles if key in name] if len(key) > 3 else []
        close = get_close_matches(key, self.smiles, _NEAR_NAMES, _NEAR_ENOUGH)
        return list(dict.fromkeys([*sorted(inside, key=len), *close]))[:_NEAR_NAMES]


NO_NAMES = KnownNames({}, {}, "")


def normal(name: str) -> str:
    """The form in which names are compared: case and runs of spaces do not count."""
    return _SPACES.sub(" ", name.strip()).casefold()


def read_molecules(
    text: str, names: KnownNames = NO_NAMES, *, progress=None, should_stop=None
) -> list[Row]:
    """Check pasted lines: SMILES with an optional name, or a known name alone.

    Parameters
    ----------
    text : str
    names : KnownNames
    progress, should_stop : callable or None
        As for `kcnet_core.molecules.read.read_smiles`.

    Raises
    ------
    LimitError
        If the text is longer, or holds more lines, than the product takes.
    """
    check_length(len(text))
    lines = _LINE_END.split(text)
    named: dict[int, str] = {}  # line number -> what stood there
    for number, line in enumerate(lines, start=1):
        key = normal(line)
        if key in names.smiles:
            named[number] = line.strip()
            lines[number - 1] = f"{names.smiles[key]}\t{names.spelled[key]}"
    rows = read_smiles(
        "\n".join(lines), keep_duplicates=True, progress=progress, should_stop=should_stop
    )
    rows = [replace(row, text=named[row.number]) if row.number in named else row for row in rows]
    return _with_near_names(rows, names)


def read_table_molecules(
    frame,
    smiles_column,
    name_column=None,
    names: KnownNames = NO_NAMES,
    *,
    progress=None,
    should_stop=None,
) -> list[Row]:
    """The same for a column of a table, which may hold known names as well."""
    frame = frame.copy()
    if smiles_column not in frame.columns:
        raise DataError(f"There is no column {smiles_column!r} in the table.")
    texts = frame[smiles_column].map(lambda value: "" if value is None else str(value))
    frame[smiles_column] = [names.smiles.get(normal(text), text) for text in texts]
    rows = read_frame(
        frame, smiles_column, name_column, keep_duplicates=True,
        progress=progress, should_stop=should_stop,
    )  # fmt: skip
    spelled = [names.spelled.get(normal(text), "") for text in texts]
    rows = [
        replace(row, text=text.strip(), name=row.name or name)
        for row, text, name in zip(rows, texts, spelled, strict=True)
    ]
    return _with_near_names(rows, names)


def frame_of(content: bytes):
    """An uploaded table as a frame of text.

    Its first row names the columns when one of them announces SMILES or names; else it is data.
    """
    import pandas as pd

    from kcnet_core.datasets.uploads.cells import read_table
    from kcnet_core.datasets.uploads.columns import column_titles

    table = read_table(content)
    has_header = any(smiles_and_name_columns(table.rows[0]))
    titles = column_titles(table, has_header)
    rows = table.rows[1:] if has_header else table.rows
    if not rows:
        raise DataError("The table has no row below its header; give one molecule per row.")
    return pd.DataFrame([list(row) for row in rows], columns=list(titles))


def smiles_and_name_columns(titles: Iterable[str]) -> tuple[str | None, str | None]:
    """Which columns of a table probably hold the SMILES and the names."""
    titles = list(titles)
    smiles = next((title for title in titles if is_smiles_header(title)), None)
    wanted = ("name", "title", "compound", "molecule", "odorant", "id")
    name = next(
        (t for word in wanted for t in titles if word in str(t).lower() and t != smiles), None
    )
    return smiles, name


def _with_near_names(rows: list[Row], names: KnownNames) -> list[Row]:
    """Errors of lines that look like words say which names come near."""
    guesses = 0
    for k, row in enumerate(rows):
        text = row.text.strip()
        if row.ok or row.suggestion or not _WORD.search(text) or len(text) > _LONGEST_GUESS:
            continue
        if not _looks_like_a_name(text) or guesses >= _MOST_GUESSES:
            continue
        guesses += 1
        near = names.near(text)
        where = f" in {names.title}" if names.title else ""
        error = f"Neither a SMILES nor the name of a molecule{where}."
        suggestion = None
        if near:
            error += f" Is it {_listed([names.spelled[key] for key in near])}?"
            suggestion = names.smiles[near[0]]
        rows[k] = replace(
            row, error=error, suggestion=suggestion, name=row.name[:MAX_MOLECULE_NAME_LENGTH]
        )
    return rows


def _looks_like_a_name(text: str) -> bool:
    """Letters, digits and what chemical names hold besides; no bonds, brackets or markup.

    What consists of SMILES characters alone is a broken SMILES, and RDKit's reason says more.
    """
    if _SMILES_ONLY.fullmatch(text.split()[0]):
        return False
    return re.fullmatch(r"[\w\s,'’()+.-]+", text) is not None


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
