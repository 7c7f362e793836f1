"""What is asked, and of whom: lines that a person typed or uploaded, a nose, and a dilution.

Whatever can be a SMILES is read as one. Any other line is looked up among the names of the
molecules that the nose was taught, whatever its case; a word that is neither gets the names that
come nearest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kcnet_core.contracts import Counted, Steps
from kcnet_core.errors import DataError
from kcnet_core.molecules.read import Row, check_length, check_steps
from kcnet_core.molecules.text import Line, is_smiles_header, split_lines
from kcnet_core.smell.known_molecules import LONGEST_GUESS, SMILES_ONLY, KnownNames, normal
from kcnet_core.smell.nose import Nose

if TYPE_CHECKING:
    import pandas as pd

_WORD = re.compile(r"[a-zA-Z]{3}")  # three letters in a row: a word rather than a structure
_MOST_GUESSES = 100  # rows of one request


@dataclass(frozen=True)
class Question:
    """Lines to answer.

    Parameters
    ----------
    nose : Nose
        Who is to answer.
    lines : tuple of Line
        SMILES with their names; a known name has become its molecule.
    dilution : str or None
        One of `nose.dilutions`; by default the first, the strongest.
    """

    nose: Nose
    lines: tuple[Line, ...]
    dilution: str | None = None

    @classmethod
    def of_text(cls, nose: Nose, text: str, dilution: str | None = None) -> Question:
        """Pasted lines: SMILES with an optional name, or a known name alone.

        Raises
        ------
        LimitError
            If the text is longer than the product takes.
        """
        check_length(len(text))
        return cls.of_lines(nose, split_lines(text), dilution)

    @classmethod
    def of_lines(cls, nose: Nose, lines: Sequence[Line], dilution: str | None = None) -> Question:
        return cls(nose, tuple(_looked_up(line, nose.names) for line in lines), dilution)

    def check_steps(self) -> Steps[Counted, list[Row]]:
        """Every line as a checked molecule, or with the reason why it is none."""
        rows = yield from check_steps(self.lines, keep_duplicates=True)
        return _with_near_names(rows, self.nose.names)


def _looked_up(line: Line, names: KnownNames) -> Line:
    """The molecule of a line that is a known name; a name in a column of its own stays."""
    key = normal(line.text)
    if key not in names.smiles:
        return line
    given = line.name if line.smiles == line.text else ""
    return Line(line.number, line.text, names.smiles[key], given or names.spelled[key])


def frame_of(content: bytes) -> pd.DataFrame:
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
        if row.ok or row.suggestion or not _WORD.search(text) or len(text) > LONGEST_GUESS:
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
        rows[k] = replace(row, error=error, suggestion=suggestion)
    return rows


def _looks_like_a_name(text: str) -> bool:
    """Letters, digits and what chemical names hold besides; no bonds, brackets or markup.

    What consists of SMILES characters alone is a broken SMILES, and RDKit's reason says more.
    """
    if SMILES_ONLY.fullmatch(text.split()[0]):
        return False
    return re.fullmatch(r"[\w\s,'’()+.-]+", text) is not None


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
