"""Files written whole, journals, CSV that no spreadsheet calculates, and where folders are."""
