"""Tables of our own that come with the project, as CSV files among its assets."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from kcnet_core.errors import DataError


def asset_rows(path: Path, columns: Sequence[str], what: str) -> list[dict[str, str]]:
    """The rows of a table, each with all of `columns`; `what` it is called in a sentence."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise DataError(
            f"The {what} (assets/{path.name}) is missing from this installation. "
            "Install the project again, assets and all."
        ) from error
    if not rows or any(row.get(column) is None for column in columns for row in rows):
        raise DataError(
            f"assets/{path.name} must have the columns {', '.join(columns)} in every row."
        )
    return rows
