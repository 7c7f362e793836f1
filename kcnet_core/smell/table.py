"""An uploaded table of molecules to smell: its cells, and which columns hold SMILES and names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kcnet_core.errors import DataError
from kcnet_core.molecules.text import smiles_column

if TYPE_CHECKING:
    import pandas as pd


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
