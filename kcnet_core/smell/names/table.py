"""Our own table of names, `assets/names.csv`: synonyms, trade names, CAS numbers, other languages.

Written from knowledge, not copied. Wherever a name is systematic enough to be read by a machine
(OPSIN), the structure it gives is the one in the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from kcnet_core.storage.asset_table import asset_rows
from kcnet_core.storage.folders import assets

PATH = assets() / "names.csv"
COLUMNS = ("name", "smiles", "cas", "synonyms", "german", "french", "spanish")


@dataclass(frozen=True)
class Entry:
    """One molecule: the name it is shown by, its canonical SMILES, and all that it is called."""

    name: str
    smiles: str
    cas: tuple[str, ...]
    synonyms: tuple[str, ...]  # in any language


@cache
def entries() -> tuple[Entry, ...]:
    return tuple(
        Entry(
            row["name"],
            row["smiles"],
            _parts(row["cas"]),
            tuple(word for column in COLUMNS[3:] for word in _parts(row[column])),
        )
        for row in asset_rows(PATH, COLUMNS, "table of names")
    )


def _parts(cell: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, cell.split("|"))))
