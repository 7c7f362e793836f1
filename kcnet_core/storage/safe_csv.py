"""Tables that people open in a spreadsheet: their text is shown there, never calculated."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

# What a spreadsheet would calculate, full-width signs too, which some take for the plain ones: at
# the start of a cell, or behind a mark that another country's spreadsheet takes for its end.
_FORMULA = re.compile(
    r"(^|[;|\t\r\n])((?:\s*\")?\s*)(?=[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])([^;|\t\r\n]*)"
)
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")


def harmless(cell: str) -> str:
    """Text that a spreadsheet will not take for a formula; numbers stay as they are."""
    return _FORMULA.sub(_quoted, cell)


def _quoted(part: re.Match) -> str:
    before, opening, rest = part.groups()
    if not opening.strip() and _NUMBER.fullmatch(rest):
        return part.group()
    return f"{before}'{opening}{rest}"


def _harmless_cell(cell):
    if isinstance(cell, str):
        return harmless(cell)
    return [_harmless_cell(each) for each in cell] if isinstance(cell, (list, tuple)) else cell


def harmless_table(table: DataFrame) -> DataFrame:
    """A table whose titles and texts no spreadsheet will calculate."""
    safe = table.map(_harmless_cell)
    safe.columns = [harmless(str(title)) for title in table.columns]
    return safe


def csv_text(table: DataFrame) -> str:
    """A table as CSV with titles and texts that no spreadsheet will calculate."""
    return harmless_table(table).to_csv(index=False)
