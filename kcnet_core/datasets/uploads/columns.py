"""Guess what the columns of somebody's table mean; a page shows the guess for correction."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kcnet_core.datasets.uploads.cells import TableText, read_table
from kcnet_core.errors import DataError
from kcnet_core.limits import MAX_CSV_CHARACTERS, MAX_CSV_DILUTIONS
from kcnet_core.molecules.read import read_frame
from kcnet_core.molecules.text import name_column, smiles_column

YES = frozenset(("1", "1.0", "yes", "y", "true", "t", "x", "✓", "✔"))
NO = frozenset(("0", "0.0", "no", "n", "false", "f"))
LIST_SEPARATORS = (";", "|", ",", "/")
LABEL_KINDS = {
    "yes_no": "each column is a character, with 0/1 or yes/no in it",
    "list": "one column lists the characters of a molecule",
    "class": "one column names the class of a molecule",
}

_SAMPLE = 200  # rows that content is judged by
_SMILES_TRIALS = 12
_SMILES_SHAPE = re.compile(r"[A-Za-z0-9@+\-\[\]()=#$:./\\%*]+")
_DILUTION_TITLES = re.compile(r"dilut|concentrat|^conc$|verd")
_LABEL_TITLES = re.compile(
    r"^(?:odou?rs?|characters?|descriptors?|labels?|class(?:es)?|targets?|smells?|notes?|tags?|"
    r"categor(?:y|ies)|odou?r (?:characters?|descriptors?|qualit(?:y|ies)|notes?|class)|y)$"
)


@dataclass(frozen=True)
class TableGuess:
    """How an uploaded table is read; every field may be corrected with `dataclasses.replace`.

    A SMILES column and at least one label column must be chosen where none was recognised.
    """

    encoding: str
    separator: str
    has_header: bool  # whether the first row holds titles
    columns: tuple[str, ...]  # titles, unique; "column 3" where there is none
    n_rows: int  # below the header
    smiles_column: str | None
    label_columns: tuple[str, ...]
    label_kind: str  # a key of LABEL_KINDS
    list_separator: str  # between the characters of a "list" cell
    name_column: str | None
    dilution_column: str | None
    preview: tuple[tuple[str, ...], ...]  # the first rows, as text
    notes: tuple[str, ...]  # sentences about the guess


def guess_table(
    content: bytes,
    *,
    encoding: str | None = None,
    separator: str | None = None,
    has_header: bool | None = None,
) -> TableGuess:
    """Read a table's head and guess the meaning of its columns; what is None is found out."""
    table = read_table(content, encoding=encoding, separator=separator)
    has_header, smiles = _header_and_smiles(table, has_header)
    columns = column_titles(table, has_header)
    body = table.rows[1:] if has_header else table.rows
    if not body:
        raise DataError("The table has a header but no rows below it.")
    cells = {title: [row[k] for row in body[:_SAMPLE]] for k, title in enumerate(columns)}
    rest = [title for k, title in enumerate(columns) if k != smiles]
    dilution = _first(rest, lambda t: _DILUTION_TITLES.search(_key(t)) and _few(cells[t]))
    rest = [title for title in rest if title != dilution]
    titled = name_column("" if _LABEL_TITLES.search(_key(title)) else title for title in rest)
    name = None if titled is None else rest[titled]
    rest = [title for title in rest if title != name]
    labels, kind, list_separator = _labels(rest, cells)
    if name is None:
        name = _first([t for t in rest if t not in labels], lambda t: _names_rows(cells[t]))
    notes = []
    if table.unclosed:
        more = f", and {len(table.unclosed) - 1:,} more have one" if table.unclosed[1:] else ""
        notes.append(
            f"Line {table.unclosed[0]} has a quotation mark that is never closed{more}; such a "
            "line was read without its marks. Check the row."
        )
    return TableGuess(
        encoding=table.encoding,
        separator=table.separator,
        has_header=has_header,
        columns=columns,
        n_rows=len(body),
        smiles_column=None if smiles is None else columns[smiles],
        label_columns=labels,
        label_kind=kind,
        list_separator=list_separator,
        name_column=name,
        dilution_column=dilution,
        preview=tuple(tuple(cell[:200] for cell in row) for row in body[:8]),
        notes=tuple(notes),
    )


def column_titles(table: TableText, has_header: bool) -> tuple[str, ...]:
    """Titles from the first row, made unique; numbers where there is none."""
    width = len(table.rows[0])
    raw = table.rows[0] if has_header else ("",) * width
    titles = []
    for k, title in enumerate(raw, start=1):
        title = " ".join(title.split())[:80] or f"column {k}"
        unique, n = title, 2
        while unique in titles:
            unique, n = f"{title} ({n})", n + 1
        titles.append(unique)
    return tuple(titles)


def yes_no(cell: str) -> bool | None:
    """True or False for the words people use for them, None for anything else."""
    word = cell.strip().casefold().replace(",", ".")
    return True if word in YES else False if word in NO else None


def split_list(cell: str, separator: str) -> list[str]:
    """The characters in a cell, without blanks and repeats."""
    words = (" ".join(word.split()) for word in cell.split(separator))
    return list(dict.fromkeys(word for word in words if word))


def _header_and_smiles(table: TableText, has_header: bool | None) -> tuple[bool, int | None]:
    head = table.rows[0]
    if has_header is False:
        return False, _smiles_by_content(table.rows)
    if (titled := smiles_column(head)) is not None:
        return True, titled
    smiles = _smiles_by_content(table.rows[1:] or table.rows)
    if smiles is None:
        return True, None
    return has_header or not _are_smiles([head[smiles]]), smiles


def _smiles_by_content(rows) -> int | None:
    """The column whose cells look and parse most like SMILES."""
    best, best_length = None, 0.0
    for k in range(len(rows[0])):
        cells = [row[k] for row in rows[:_SAMPLE] if row[k]]
        shaped = [cell for cell in cells if _looks_like_smiles(cell)]
        distinct = list(dict.fromkeys(shaped))
        if len(shaped) < 0.8 * len(cells) or not distinct:
            continue
        length = sum(map(len, distinct)) / len(distinct)
        if length > best_length and _are_smiles(distinct[:_SMILES_TRIALS]):
            best, best_length = k, length
    return best


def _looks_like_smiles(cell: str) -> bool:
    return (
        len(cell) <= 1000
        and _SMILES_SHAPE.fullmatch(cell) is not None
        and any(letter in cell for letter in "Cc")
        and yes_no(cell) is None
    )


def _are_smiles(cells: Sequence[str]) -> bool:
    import pandas as pd

    rows = read_frame(pd.DataFrame({"smiles": list(cells)}), "smiles", keep_duplicates=True)
    return sum(row.ok or row.suggestion is not None for row in rows) >= 0.7 * len(cells)


def _labels(titles, cells) -> tuple[tuple[str, ...], str, str]:
    """Label columns, their kind and the separator inside a list."""
    for title in titles:  # a title that says so comes before anything the cells suggest
        if _LABEL_TITLES.search(_key(title)):
            found = _label_kind(cells[title], numbers=True)
            if found is not None:
                return (title,), *found
    marked = tuple(title for title in titles if _is_yes_no(cells[title]))
    if marked:
        return marked, "yes_no", ";"
    for kind in ("list", "class"):
        for title in titles:
            found = _label_kind(cells[title])
            if found is not None and found[0] == kind:
                return (title,), *found
    return (), "yes_no", ";"


def _label_kind(cells, numbers: bool = False) -> tuple[str, str] | None:
    """What kind of label a single column may be; numbers are classes only if the title says so."""
    if _is_yes_no(cells):
        return "yes_no", ";"
    filled = [cell for cell in cells if cell]
    if not numbers and all(re.fullmatch(r"[\d.,eE+\- ]+", cell) for cell in filled):
        return None
    for separator in LIST_SEPARATORS:
        if sum(separator in cell for cell in filled) >= 0.1 * len(filled):
            words = Counter(word for cell in filled for word in split_list(cell, separator))
            if _repeats(words):
                return "list", separator
    return ("class", ";") if _repeats(Counter(filled)) else None


def _repeats(words: Counter) -> bool:
    """Few enough different words, used often enough, to be labels rather than free text."""
    return 2 <= len(words) <= MAX_CSV_CHARACTERS and words.total() >= 1.5 * len(words)


def _is_yes_no(cells) -> bool:
    answers = [yes_no(cell) for cell in cells if cell]
    # A few slips ("maybe") become row errors; they do not make the column something else.
    return True in answers and answers.count(None) <= 0.2 * len(answers)


def _names_rows(cells) -> bool:
    filled = [cell for cell in cells if re.search(r"[^\W\d]{2}", cell)]
    return len(filled) > 0.8 * len(cells) and len(set(filled)) > 0.8 * len(filled)


def _few(cells) -> bool:
    return 0 < len({cell for cell in cells if cell}) <= MAX_CSV_DILUTIONS


def _first(titles, matches) -> str | None:
    return next((title for title in titles if matches(title)), None)


def _key(title: str) -> str:
    return re.sub(r"[\s_.\-]+", " ", title).strip().casefold()
