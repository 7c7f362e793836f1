"""Our own table of names, `assets/names.csv`: synonyms, trade names, CAS numbers, other languages.

Written from knowledge, not copied. Wherever a name is systematic enough to be read by a machine
(OPSIN), the structure it gives is the one in the table.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

from kcnet_core.errors import DataError
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
    try:
        with PATH.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise DataError(
            "The table of names (assets/names.csv) is missing from this installation. "
            "Install the project again, assets and all."
        ) from error
    if any(row.get(column) is None for row in rows for column in COLUMNS):
        raise DataError(f"assets/names.csv must have the columns {', '.join(COLUMNS)} in each row.")
    return tuple(
        Entry(
            row["name"],
            row["smiles"],
            _parts(row["cas"]),
            tuple(word for column in COLUMNS[3:] for word in _parts(row[column])),
        )
        for row in rows
    )


def _parts(cell: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, cell.split("|"))))
