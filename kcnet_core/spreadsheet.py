"""Tables that people open in a spreadsheet: their text is shown there, never calculated."""

from __future__ import annotations

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would calculate


def harmless(cell: str) -> str:
    """Text that a spreadsheet will not take for a formula; numbers stay as they are."""
    if not cell.startswith(FORMULA_STARTS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell
