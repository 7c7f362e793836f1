"""Text or a table -> checked and described molecules, or for each row a reason why not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from kcnet_core.contracts import Counted, Steps, drain
from kcnet_core.errors import DataError, LimitError
from kcnet_core.limits import MAX_MOLECULE_NAME_LENGTH, MAX_MOLECULES, MAX_SMILES_LENGTH
from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES
from kcnet_core.molecules.identifiers import cas_number, cas_sentence
from kcnet_core.molecules.pool import RememberedTask
from kcnet_core.molecules.process import MoleculeReply
from kcnet_core.molecules.text import Line, split_lines
from kcnet_core.molecules.worker.messages import unpack

if TYPE_CHECKING:
    import pandas as pd

CHECK_SHARE = 0.15  # of the time that checking and describing molecules takes


def _float32(packed: str) -> np.ndarray:
    with np.errstate(over="ignore"):  # what overflows float32 counts as not finite
        return np.array(unpack(packed), dtype=np.float32)


_check = RememberedTask("check", capacity=2 * MAX_MOLECULES)
_flatten = RememberedTask("skeleton", capacity=2 * MAX_MOLECULES)
_scaffold = RememberedTask("scaffold", capacity=2 * MAX_MOLECULES)
_describe = RememberedTask("describe", capacity=MAX_MOLECULES, decode=_float32)

_MAX_GUESSES = 200
_MISSING = frozenset(("", "na", "n/a", "nan", "none", "null", "-", "?"))
FORMULA = re.compile(r"^(?=.*(H|Na|Li|Mg|Ca|K))((H|C|N|O|S|P|F|I|Cl|Br|B|Si|Na|K|Li|Mg|Ca)\d*)+$")
# What people paste where a SMILES is asked for, and what to tell them.
_NOT_SMILES = (
    (re.compile(r"<[/!a-zA-Z]"), "This is HTML, not a SMILES: paste the structure as plain text."),
    (
        re.compile(r"^[A-Z]{14}-[A-Z]{10}-[A-Z]$"),
        "This is an InChIKey, which does not hold the structure: paste the SMILES.",
    ),
    (re.compile(r"^[^>]*>[^>]*>"), "This is a reaction: paste one molecule per line."),
    (
        re.compile(r"^=|^[+@]"),
        "Starts like a spreadsheet formula; a SMILES starts with an atom.",
    ),
    (
        FORMULA,
        "Looks like a molecular formula; a SMILES says how the atoms are joined.",
    ),
)
# Dashes and full-width signs that word processors put in place of SMILES characters.
_TYPOGRAPHY = {
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d"), "-"),
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if code != 0xFF0D},
    0x2261: "#",
}


@dataclass(frozen=True)
class Molecule:
    """A molecule that RDKit accepts.

    `smiles` is canonical, `skeleton` the same without stereo marks; `elements` leave out hydrogen.
    """

    smiles: str
    skeleton: str
    formula: str
    heavy_atoms: int
    weight: float
    charge: int
    elements: frozenset[str]


@dataclass(frozen=True)
class Row:
    """One line of a paste or one row of a table: a molecule, or an error.

    `number` is the line of the paste or the data row of the table, from 1. `note` says what was
    changed or is worth knowing; `suggestion` is a SMILES that may be meant instead.
    """

    number: int
    text: str
    name: str = ""
    molecule: Molecule | None = None
    error: str | None = None
    note: str | None = None
    suggestion: str | None = None

    @property
    def ok(self) -> bool:
        return self.molecule is not None


def read_smiles(text: str, *, keep_duplicates: bool = False) -> list[Row]:
    """Check pasted text, as `split_lines` reads it: one SMILES per line, perhaps with a name.

    `keep_duplicates` keeps a molecule that came before (with a note) instead of reporting it as an
    error. LimitError says that the text is longer, or holds more lines, than the product takes.
    """
    return drain(check_steps(split_lines(text), keep_duplicates=keep_duplicates))


def read_frame(
    frame: pd.DataFrame, smiles_column, name_column=None, *, keep_duplicates: bool = False
) -> list[Row]:
    """Check the SMILES column of a pandas frame; one `Row` per row, numbered from 1."""
    lines = frame_lines(frame, smiles_column, name_column)
    return drain(check_steps(lines, keep_duplicates=keep_duplicates))


def frame_lines(frame: pd.DataFrame, smiles_column, name_column=None) -> list[Line]:
    """The cells of a pandas frame as if they had been pasted.

    DataError says that a column is not there, LimitError that there are too many rows.
    """
    for column in (smiles_column, name_column):
        if column is not None and column not in frame.columns:
            there = ", ".join(map(str, frame.columns[:20]))
            raise DataError(f"There is no column {column!r}; the table has {there}.")
    _refuse_too_many(len(frame))
    smiles = map(_cell, frame[smiles_column])
    names = [""] * len(frame) if name_column is None else map(_cell, frame[name_column])
    return [
        Line(number, text, text, name)
        for number, (text, name) in enumerate(zip(smiles, names, strict=True), start=1)
    ]


def molecules(smiles: Sequence[str]) -> list[Molecule | None]:
    """Checked molecules of SMILES, None where one is none."""
    replies = _check(list(smiles))
    return [_judged(Row(k, text), reply).molecule
            for k, (text, reply) in enumerate(zip(smiles, replies, strict=True))]  # fmt: skip


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is nothing in it."""
    return cell.strip().lower() in _MISSING


def elements(smiles: Sequence[str]) -> frozenset[str]:
    """All chemical elements of molecules given by their canonical SMILES, hydrogen left out."""
    found = (reply.value for reply in _check(smiles) if reply.failure is None)
    return frozenset(element for one in found for element in one.get("elements", ()))


def skeletons(smiles: Sequence[str]) -> list[str]:
    """Canonical SMILES without stereo marks; one that RDKit fails on keeps them."""
    marked = [text for text in smiles if any(mark in text for mark in "@/\\")]
    flat = dict(zip(marked, _flatten(marked), strict=True))
    return [flat[text].value or text if text in flat else text for text in smiles]


def scaffolds(smiles: Sequence[str]) -> list[str]:
    """Bemis-Murcko scaffolds of canonical SMILES: rings and their links; "" without a ring."""
    return [reply.value or "" for reply in _scaffold(list(smiles))]


def _cell(value) -> str:
    if value is None or value != value:  # None, NaN, NaT
        return ""
    return str(value).strip()


def _refuse_too_many(n_rows: int) -> None:
    if n_rows > MAX_MOLECULES:
        raise LimitError(
            f"There are {n_rows:,} rows; at most {MAX_MOLECULES:,} molecules can be read at once."
        )


def check_steps(
    lines: Sequence[Line], *, keep_duplicates: bool = False
) -> Steps[Counted, list[Row]]:
    """Check lines that are split already, molecule by molecule; one `Row` per line.

    Molecules already known are not counted.
    """
    _refuse_too_many(len(lines))
    rows = [
        Row(number, text, name[:MAX_MOLECULE_NAME_LENGTH], error=_refusal(smiles))
        for number, text, smiles, name, _ in lines
    ]
    unreadable = [i for i, row in enumerate(rows) if row.error is not None]
    pending = [i for i, row in enumerate(rows) if row.error is None]
    replies = yield from _check.steps([lines[i].smiles for i in pending])
    for i, reply in zip(pending, replies, strict=True):
        rows[i] = _judged(rows[i], reply)
        if reply.failure is None and reply.value.get("unreadable"):
            unreadable.append(i)
    _suggest(rows, lines, unreadable[:_MAX_GUESSES])
    return _duplicates_reported(rows, keep_duplicates)


def _refusal(smiles: str) -> str | None:
    """Why a text need not be shown to RDKit at all; or None."""
    if is_missing(smiles):
        return "Empty: no SMILES is given."
    if cas := cas_number(smiles):
        return cas_sentence(cas)
    if len(smiles) > MAX_SMILES_LENGTH:
        return (
            f"Too long: {len(smiles):,} characters, the limit is {MAX_SMILES_LENGTH:,}. "
            "Odorants need about 5 to 60."
        )
    for pattern, sentence in _NOT_SMILES:
        if pattern.search(smiles):
            return sentence
    for position, character in enumerate(smiles, start=1):
        if not character.isascii():
            return (
                f"The character '{character if character.isprintable() else ' '}' "
                f"(U+{ord(character):04X}) at position {position} is not part of SMILES, which is "
                "plain ASCII."
            )
        if not character.isprintable():
            return f"There is a control character (U+{ord(character):04X}) at position {position}."
    return None


def _judged(row: Row, reply: MoleculeReply) -> Row:
    if reply.failure is not None:
        return replace(row, error=reply.failure)
    found = dict(reply.value)
    said = {key: found.pop(key, None) for key in ("error", "note", "suggestion")}
    if said["error"] is None:
        found["elements"] = frozenset(found["elements"])
        said["molecule"] = Molecule(**found)
    return replace(row, **said)


def _suggest(rows: list[Row], lines: Sequence[Line], unreadable: list[int]) -> None:
    """Offer what was probably meant: the structure after the name, or with plain characters."""
    guesses: dict[int, list[str]] = {}
    for i in unreadable:
        plain = lines[i].smiles.translate(_TYPOGRAPHY)
        texts = [plain] if plain != lines[i].smiles else []
        texts += [other for other in lines[i].others[-3:] if len(other) > 1]
        guesses[i] = [text for text in texts if _refusal(text) is None]
    texts = list(dict.fromkeys(text for texts in guesses.values() for text in texts))
    replies = dict(zip(texts, _check(texts), strict=True))
    for i, texts in guesses.items():
        for text in texts:
            found = replies[text].value
            if found is not None and "error" not in found:
                hint = " Put the SMILES first and the name after it."
                error = f"{rows[i].error}{hint if text in lines[i].others else ''}"
                rows[i] = replace(rows[i], error=error, suggestion=found["smiles"])
                break


def _duplicates_reported(rows: Iterable[Row], keep: bool) -> list[Row]:
    first: dict[str, Row] = {}
    checked = []
    for row in rows:
        if row.molecule is not None:
            before = first.setdefault(row.molecule.smiles, row)
            if before is not row:
                named = f" ({before.name})" if before.name else ""
                same = f"The same molecule as row {before.number}{named}."
                if keep:
                    row = replace(row, note=" ".join(filter(None, (row.note, same))))
                else:
                    row = replace(row, molecule=None, error=f"{same} It is kept once.")
        checked.append(row)
    return checked


def describe(rows: Sequence[Row]) -> tuple[list[Row], np.ndarray]:
    """The rows, and the descriptors (n_ok, n_descriptors) of those that hold a molecule.

    Rows whose computation failed, took too long or gave a value that is not finite in float32 have
    lost their molecule and say why. Columns are as in DESCRIPTOR_NAMES.
    """
    return drain(describe_steps(rows))


def describe_steps(rows: Sequence[Row]) -> Steps[Counted, tuple[list[Row], np.ndarray]]:
    """`describe`, molecule by molecule; those already known are not counted."""
    smiles = [row.molecule.smiles for row in rows if row.molecule is not None]
    replies = iter((yield from _describe.steps(smiles)))
    described, lines = [], []
    for row in rows:
        if row.ok:
            reply = next(replies)
            error = reply.failure or _not_finite(reply.value)
            if error is None:
                lines.append(reply.value)
            else:
                row = replace(row, molecule=None, error=error)
        described.append(row)
    X = np.stack(lines) if lines else np.empty((0, len(DESCRIPTOR_NAMES)), np.float32)
    return described, X


def descriptors(smiles: Sequence[str]) -> dict[str, np.ndarray]:
    """The descriptors of canonical SMILES; those that cannot be described are left out."""
    return drain(descriptor_steps(smiles))


def descriptor_steps(smiles: Sequence[str]) -> Steps[Counted, dict[str, np.ndarray]]:
    """`descriptors`, molecule by molecule; those already known are not counted."""
    replies = yield from _describe.steps(smiles)
    return {
        text: reply.value
        for text, reply in zip(smiles, replies, strict=True)
        if reply.failure is None and not _not_finite(reply.value)
    }


def _not_finite(values: np.ndarray) -> str | None:
    bad = np.flatnonzero(~np.isfinite(values))
    if not len(bad):
        return None
    names = [DESCRIPTOR_NAMES[i] for i in bad]
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    why = ""
    if any("Charge" in name or "CHG" in name for name in names):
        why = " RDKit's charge model does not know one of its atoms in this state."
    return f"Not finite: {shown}.{why} The molecule is left out."
