"""Pasted text -> one (number, SMILES, name) per line, as people really paste: with or without a
header, names after a space, tab, comma or semicolon, quotes, comments and blank lines."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kcnet_core.errors import LimitError
from kcnet_core.limits import (
    MAX_PASTED_CHARACTERS,
    MAX_SMILES_LENGTH,
    SMELLED_AT_ONCE,
    SMELLED_CHARACTERS_AT_ONCE,
)

_LINE_END = re.compile(r"\r\n|\r|\n")
_SPACE = re.compile(r"\s")
_SEPARATOR = re.compile(r"[\s,;]")
_CXSMILES = re.compile(r"\|[^|]*\|")
# Left out; and halves of a character, which JSON can hold and nothing can be written with.
_INVISIBLE = {
    **dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060")),
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}
_LONGEST_HEADER = 10_000  # characters; a longer line holds no titles
_DELIMITERS = "\t,;"

# What people call the column of names, best first; a title may have one word more, or an s.
NAME_TITLES = (
    "name", "odorname", "material", "ingredient", "odorant", "odourant", "compound", "molecule",
    "substance", "chemical", "title", "label", "stoff", "rohstoff", "bezeichnung", "riechstoff",
    "substanz", "nom", "ingrédient", "matière", "nombre", "ingrediente", "sustancia", "cas",
    "casnumber", "casno", "casrn", "id", "cid",
)  # fmt: skip


class Line(NamedTuple):
    """One line that should hold a molecule; `others` are its further fields."""

    number: int
    text: str
    smiles: str
    name: str
    others: tuple[str, ...] = ()


def costly(lines: Sequence[Line]) -> bool:
    """Whether to answer them takes seconds, going by how many and how long they are."""
    read = sum(len(line.smiles) for line in lines if len(line.smiles) <= MAX_SMILES_LENGTH)
    return len(lines) > SMELLED_AT_ONCE or read > SMELLED_CHARACTERS_AT_ONCE


def too_long_sentence(n_characters: int) -> str:
    return (
        f"The text has {n_characters:,} characters; at most {MAX_PASTED_CHARACTERS:,} can be "
        "pasted. Split it, or upload the molecules as a CSV file."
    )


def split_lines(text: str) -> list[Line]:
    """The lines of a paste that are not blank, a comment (#) or the header.

    Raises
    ------
    LimitError
        If the text is longer than the product takes.
    """
    if len(text) > MAX_PASTED_CHARACTERS:
        raise LimitError(too_long_sentence(len(text)))
    numbered = [
        (number, line.translate(_INVISIBLE).strip())
        for number, line in enumerate(_LINE_END.split(text), start=1)
    ]
    numbered = [(number, line) for number, line in numbered if line and not line.startswith("#")]
    titled = numbered and len(numbered[0][1]) <= _LONGEST_HEADER
    columns = _header(numbered[0][1]) if titled else None
    if columns is None:
        return [_free_line(number, line) for number, line in numbered]
    return [_table_line(number, line, *columns) for number, line in numbered[1:]]


def with_lines(text: str, new: Mapping[int, str]) -> str:
    """A paste with some of its lines, by their numbers from 1, replaced."""
    lines = _LINE_END.split(text)
    return "\n".join(new.get(number, line) for number, line in enumerate(lines, start=1))


def smiles_column(titles: Iterable[object]) -> int | None:
    """The first column whose title announces SMILES; a molecule does not, for it holds no m."""
    keys = [_key(str(title)) for title in titles]
    return next((k for k, key in enumerate(keys) if "smiles" in key or key == "smi"), None)


def name_column(titles: Iterable[object]) -> int | None:
    """The column whose title says that it holds names, or numbers that stand for molecules."""
    words = [_words(str(title)) for title in titles]
    return next((k for name in NAME_TITLES for k, own in enumerate(words) if name in own), None)


def _words(title: str) -> set[str]:
    """A title as a whole and its last word, each also without a plural s."""
    found = [_key(title), *re.split(r"[\s_.\-()/]+", title.strip().lower())[-1:]]
    return {form for word in found for form in (word, word.removesuffix("s"))}


def _header(line: str) -> tuple[str | None, int, int | None] | None:
    """(delimiter, SMILES column, name column or None) if the line is a header."""
    delimiter = next((mark for mark in _DELIMITERS if mark in line), None)
    titles = _fields(line, delimiter)
    smiles = smiles_column(titles)
    if smiles is None:
        return None
    name = name_column("" if k == smiles else title for k, title in enumerate(titles))
    if name is None and len(titles) == 2:
        name = 1 - smiles
    return delimiter, smiles, name


def _key(title: str) -> str:
    return re.sub(r"[\s_.-]", "", title).lower()


def _fields(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return line.split()
    try:
        row = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:  # a field beyond csv's own limit; it is refused for its length later
        row = line.split(delimiter)
    return [field.strip() for field in row]


def _table_line(number, line, delimiter, smiles_column, name_column) -> Line:
    fields = _fields(line, delimiter)
    smiles = fields[smiles_column] if smiles_column < len(fields) else ""
    name = ""
    if name_column is not None:
        if delimiter is None and name_column == smiles_column + 1:
            name = " ".join(fields[name_column:])  # names hold spaces
        elif name_column < len(fields):
            name = fields[name_column]
    return Line(number, line, smiles, name)


def _free_line(number: int, line: str) -> Line:
    if line.startswith('"'):
        mark = next((mark for mark in _DELIMITERS if mark in line), ",")
        smiles, *fields = _fields(line, mark) or [""]
        return Line(number, line, smiles, fields[0] if fields else "", tuple(fields))
    # The commas of an InChI belong to it; it is told apart from a SMILES later.
    found = (_SPACE if line.startswith("InChI=") else _SEPARATOR).search(line)
    if found is None:
        return Line(number, line, line, "")
    smiles, rest = line[: found.start()], _CXSMILES.sub(" ", line[found.start() :])
    rest = rest.strip()
    delimiter = rest[:1] if rest[:1] in (",", ";") else found.group()
    if delimiter not in (",", ";", "\t"):
        return Line(number, line, smiles, rest, tuple(_SEPARATOR.split(rest)))
    others = tuple(_fields(rest.removeprefix(delimiter).strip(), delimiter))
    return Line(number, line, smiles, others[0] if others else "", others)
