"""An uploaded table of molecules to smell: its cells, and which columns hold SMILES and names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kcnet_core.contracts import drain
from kcnet_core.errors import DataError
from kcnet_core.molecules.read import check_steps
from kcnet_core.molecules.text import Line, name_column, smiles_column

if TYPE_CHECKING:
    import pandas as pd

    from kcnet_core.smell.names.known_names import KnownNames

_SAMPLE = 40  # rows that content is judged by
_ENOUGH = 0.5  # of them must be known names, or SMILES


def frame_of(content: bytes) -> pd.DataFrame:
    """An uploaded table as a frame of text.

    Its first row names the columns when one of them announces SMILES or names; else it is data.
    """
    import pandas as pd

    from kcnet_core.datasets.uploads.cells import read_table
    from kcnet_core.datasets.uploads.columns import column_titles

    table = read_table(content)
    has_header = any(title is not None for title in titled_columns(table.rows[0]))
    titles = column_titles(table, has_header)
    rows = table.rows[1:] if has_header else table.rows
    if not rows:
        raise DataError("The table has no row below its header; give one molecule per row.")
    return pd.DataFrame([list(row) for row in rows], columns=list(titles))


def titled_columns(titles: Sequence[str]) -> tuple[str | None, str | None]:
    """Which columns of a table hold the SMILES and the names, by their titles."""
    smiles = smiles_column(titles)
    name = name_column("" if k == smiles else title for k, title in enumerate(titles))
    return (
        None if smiles is None else titles[smiles],
        None if name is None else titles[name],
    )


def molecule_and_name_columns(frame: pd.DataFrame, names: KnownNames) -> tuple[str, str | None]:
    """Which column says what the molecules are (SMILES, else names), and which has their names.

    Titles count first. Where none announces names, or none that is known stands below it (a column
    of running numbers called ID), the column with the most known names counts; so does that with
    the most SMILES where no title announces them.
    """
    smiles, name = titled_columns(list(frame.columns))
    if smiles is None:
        others = [title for title in frame.columns if title != name]
        smiles = _best({title: _smiles_share(frame[title]) for title in others})
    known = {title: _known_share(frame[title], names) for title in frame.columns if title != smiles}
    if name is None or not known.get(name):
        name = _best(known) or name
    if smiles is not None:
        return smiles, name
    if name is not None and known[name] > 0:
        return name, None
    return frame.columns[0], name if name != frame.columns[0] else None


def _best(shares: dict[str, float]) -> str | None:
    best = max(shares, key=shares.__getitem__, default=None)
    return best if best is not None and shares[best] >= _ENOUGH else None


def _sample(cells) -> list[str]:
    return [str(cell) for cell in cells[:_SAMPLE]]


def _known_share(cells, names: KnownNames) -> float:
    sample = _sample(cells)
    return sum(names.find(cell) is not None for cell in sample) / max(len(sample), 1)


def _smiles_share(cells) -> float:
    lines = [Line(k, cell, cell, "") for k, cell in enumerate(_sample(cells))]
    rows = drain(check_steps(lines, keep_duplicates=True))
    return sum(row.ok for row in rows) / max(len(rows), 1)
