"""Tables that people open in a spreadsheet: their text is shown there, never calculated."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

# What a spreadsheet would calculate; full-width signs too, which some take for the plain ones.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def harmless(cell: str) -> str:
    """Text that a spreadsheet will not take for a formula; numbers stay as they are."""
    if not cell.startswith(FORMULA_STARTS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def csv_text(table: DataFrame) -> str:
    """A table as CSV with titles and texts that no spreadsheet will calculate."""
    safe = table.map(lambda cell: harmless(cell) if isinstance(cell, str) else cell)
    safe.columns = [harmless(str(title)) for title in table.columns]
    return safe.to_csv(index=False)
