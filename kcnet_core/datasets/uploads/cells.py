"""Bytes of a CSV as people really have them -> rows of text cells."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kcnet_core.datasets.uploads.quota import refuse_large
from kcnet_core.errors import DataError, LimitError
from kcnet_core.limits import (
    MAX_CSV_CELLS,
    MAX_CSV_COLUMNS,
    MAX_CSV_LINE,
    MAX_CSV_LINES,
    MAX_CSV_ROWS,
)

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1")

_MARKS = (  # the byte order marks that editors and spreadsheets write
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FOREIGN = (
    (b"PK\x03\x04", "an Excel or zip file"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file"),
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"\x1f\x8b", "a gzip file"),
    (b"SQLite format", "a database"),
)
_SEPARATOR_HINT = re.compile(r"[\r\n]*(sep=([,;\t|]) *)(?=[\r\n])", re.IGNORECASE)  # Excel's own
_TEXT_CONTROLS = frozenset("\t\n\r\x0b\x0c\x1a\x1b")
_MOST_READ_AGAIN = 10_000_000  # characters, when quotation marks are not closed
_SNIFFED_LINES = 60
_SNIFFED_CHARACTERS = 100_000  # below the longest cell that csv takes


@dataclass(frozen=True)
class TableText:
    """Cells of a table and how they were found; all rows are equally wide."""

    encoding: str
    separator: str
    rows: tuple[tuple[str, ...], ...]  # blank lines are gone
    lines: tuple[int, ...]  # line of the file on which each row ends
    surplus: dict[int, int]  # rows that had more cells than fit, and how many; these were cut off
    unclosed: tuple[int, ...] = ()  # lines with a quotation mark that is never closed


def read_table(
    content: bytes, *, encoding: str | None = None, separator: str | None = None
) -> TableText:
    """Decode and cut a table into cells; an encoding or separator of None is found out."""
    refuse_large(content)
    if not content.strip(b" \t\r\n\0"):
        raise DataError("The file is empty.")
    for signature, what in _FOREIGN:
        if content.startswith(signature):
            raise DataError(f"This is {what}, not a table of text; save it as CSV first.")
    encoding = encoding or guess_encoding(content)
    text = _decode(content, encoding)
    hint = _SEPARATOR_HINT.match(text)
    if hint:
        # Its line stays, blank, so that the lines below keep their numbers.
        separator, text = separator or hint[2], text[: hint.start(1)] + text[hint.end(1) :]
    if separator is None:
        separator = guess_separator(text)
    elif separator not in SEPARATORS:
        raise DataError(f"The separator must be one of {', '.join(SEPARATORS.values())}.")
    rows, lines, unclosed = _cells(text, separator)
    if not rows:
        raise DataError("The file is empty: it holds no row of text.")
    rows, lines = _from_header(rows, lines)
    width = max(len(rows[0]), _usual_width(rows))
    return TableText(
        encoding,
        separator,
        rows=tuple(tuple(row[:width] + [""] * (width - len(row))) for row in rows),
        lines=tuple(lines),
        surplus={k: len(row) for k, row in enumerate(rows) if any(row[width:])},
        unclosed=unclosed,
    )


def guess_encoding(content: bytes) -> str:
    """One of ENCODINGS; the last, latin-1, can read anything."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return encoding
    head = content[:4096]
    if len(head) >= 4 and max(head[::2].count(0), head[1::2].count(0)) > len(head) // 4:
        return "utf-16"
    for encoding in ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError):
            content.decode(encoding)
            return encoding
    return "latin-1"


def guess_separator(text: str) -> str:
    """The separator that cuts the first lines into equally many cells, at least two.

    Lines of one cell above them may be a title; of two separators that agree as well, the one that
    needs fewer such lines is meant.
    """
    head = "\n".join(line for line in text[:_SNIFFED_CHARACTERS].splitlines() if line.strip())
    best, best_score = ",", (0.0, 0, 0)
    for separator in SEPARATORS:
        widths = [len(row) for row, _ in _rows(head, separator, []) if any(row)][:_SNIFFED_LINES]
        cut = [width for width in widths if width > 1]
        if cut:
            agreeing = widths.count(cut[0]) / len(widths)
            score = (round(agreeing, 1), -widths.index(cut[0]), cut[0])
            if score > best_score:
                best, best_score = separator, score
    return best


def _decode(content: bytes, encoding: str) -> str:
    if encoding not in ENCODINGS:
        raise DataError(f"The encoding must be one of {', '.join(ENCODINGS)}.")
    if encoding == "utf-16" and not content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # Latin text has its zero byte second in little-endian order, first in big-endian.
        encoding = "utf-16-le" if content[1:4096:2].count(0) else "utf-16-be"
    try:
        text = content.decode(encoding)
    except UnicodeError as error:
        raise DataError(
            f"The file is not {encoding} text; choose another encoding, or save it as UTF-8."
        ) from error
    head = text[:100_000]
    controls = sum((c < " " and c not in _TEXT_CONTROLS) or "\x7f" <= c < "\xa0" for c in head)
    if "\0" in text or controls > len(head) // 100 + 1:
        raise DataError(
            "The file is not a table of text (it holds binary data); save it as CSV first."
        )
    return text.removeprefix("\ufeff")


def _rows(text: str, separator: str, unclosed: list[int]) -> Iterator[tuple[list[str], int]]:
    """(cells, line on which the row ends), one row after the other.

    A quotation mark that is never closed would swallow the rows below it, so its line is read by
    itself, without the marks, and put down in `unclosed`.
    """
    file = io.StringIO(text, newline="")
    options: dict[str, Any] = {"delimiter": separator, "skipinitialspace": separator != "\t"}
    begin, line, read_again = 0, 0, 0  # where the row in hand begins, and characters read twice
    while begin < len(text):
        reader, before = csv.reader(_lines(file, line), strict=True, **options), line
        try:
            for cells in reader:
                begin, line = file.tell(), before + reader.line_num
                yield cells, line
        except csv.Error:
            read_again += file.tell() - begin
            if read_again > _MOST_READ_AGAIN:
                raise DataError(
                    f"Line {line + 1} has a quotation mark that is not closed as it should be; "
                    "check the marks from there on, or remove them."
                ) from None
            file.seek(begin)
            alone, line = file.readline(), line + 1
            begin = file.tell()
            yield _lone_row(alone, line, options, unclosed), line


def _lines(file: io.StringIO, before: int) -> Iterator[str]:
    """Lines of a file, of which `before` were read already; a very long one never reaches csv."""
    for number, line in enumerate(file, start=before + 1):
        if number > MAX_CSV_LINES:
            raise LimitError(
                f"The file has more than {MAX_CSV_LINES:,} lines, which is the limit "
                "(MAX_CSV_LINES). Remove blank lines, or keep a part of it."
            )
        if len(line) > MAX_CSV_LINE:
            raise LimitError(
                f"Line {number} has {len(line):,} characters; the limit is {MAX_CSV_LINE:,} "
                "(MAX_CSV_LINE). Is it a table with one molecule per line?"
            )
        yield line


def _lone_row(text: str, line: int, options: dict[str, Any], unclosed: list[int]) -> list[str]:
    """Cells of a line whose quotation marks are not as they should be."""
    try:
        for _ in csv.reader([text], strict=True, **options):
            pass
    except csv.Error as error:
        if "unexpected end of data" in str(error):
            unclosed.append(line)
            options = {**options, "quoting": csv.QUOTE_NONE}
    try:
        (cells,) = csv.reader([text], **options)
    except csv.Error as error:
        raise DataError(
            f"Line {line} cannot be read as a row of cells ({error}); "
            "check the quotation marks near it."
        ) from error
    return [cell.strip(' "') for cell in cells] if "quoting" in options else cells


def _cells(text: str, separator: str) -> tuple[list[list[str]], list[int], tuple[int, ...]]:
    n_cells = text.count(separator)
    if n_cells > MAX_CSV_CELLS:
        raise LimitError(
            f"The table has about {n_cells:,} cells; the limit is {MAX_CSV_CELLS:,} "
            "(MAX_CSV_CELLS). Keep fewer rows or columns."
        )
    rows: list[list[str]] = []
    lines: list[int] = []
    unclosed: list[int] = []
    for cells, line in _rows(text, separator, unclosed):
        if len(cells) > MAX_CSV_COLUMNS:
            raise LimitError(
                f"Line {line} has {len(cells):,} columns; the limit is "
                f"{MAX_CSV_COLUMNS} (MAX_CSV_COLUMNS)."
            )
        cells = [cell.strip() for cell in cells]
        if not any(cells):
            continue
        rows.append(cells)
        lines.append(line)
        if len(rows) > MAX_CSV_ROWS + 1:  # one of them is the header
            raise LimitError(
                f"The table has more than {MAX_CSV_ROWS:,} rows, which is the limit "
                "(MAX_CSV_ROWS). Keep a part of it."
            )
    return rows, lines, tuple(unclosed)


def _from_header(rows: list[list[str]], lines: list[int]) -> tuple[list[list[str]], list[int]]:
    """Without title lines above the header, and with R's missing title of the row numbers."""
    width = _usual_width(rows)
    while len(rows) > 1 and width > 1 and sum(map(bool, rows[0])) == 1:
        rows, lines = rows[1:], lines[1:]
    if len(rows) > 1 and len(rows[0]) == width - 1 and rows[1][0].isdigit():
        rows = [["", *rows[0]], *rows[1:]]
    return rows, lines


def _usual_width(rows: list[list[str]]) -> int:
    return Counter(map(len, rows)).most_common(1)[0][0]
