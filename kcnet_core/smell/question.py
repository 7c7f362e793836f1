"""What is asked, and of whom: lines that a person typed or uploaded, a nose, and a dilution."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kcnet_core.errors import DataError
from kcnet_core.molecules.text import Line, smiles_column, split_lines
from kcnet_core.smell.nose import Nose

if TYPE_CHECKING:
    import pandas as pd


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
        return cls.of_lines(nose, split_lines(text), dilution)

    @classmethod
    def of_lines(cls, nose: Nose, lines: Sequence[Line], dilution: str | None = None) -> Question:
        return cls(nose, tuple(map(nose.names.look_up, lines)), dilution)


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
    announced = smiles_column(titles)
    smiles = None if announced is None else titles[announced]
    wanted = ("name", "title", "compound", "molecule", "odorant", "id")
    name = next(
        (t for word in wanted for t in titles if word in str(t).lower() and t != smiles), None
    )
    return smiles, name
