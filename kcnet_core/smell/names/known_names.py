"""Names that a visitor may type: those of a nose's own molecules, and those of our table.

Whatever can be a SMILES is read as one. Any other line is looked up, whatever its spelling; a word
that is neither gets the names that come nearest, never one of them in silence.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import cache, cached_property

from kcnet_core.molecules.identifiers import cas_number, inchi_key
from kcnet_core.molecules.pool import RememberedTask
from kcnet_core.molecules.read import FORMULA, Row, is_missing
from kcnet_core.molecules.text import Line
from kcnet_core.smell.names.several import several
from kcnet_core.smell.names.spelling import readings, spelling, spellings
from kcnet_core.smell.names.table import Entry, entries

# A name made of nothing else is left to SMILES: "CO" is methanol, never somebody's "Co". Nothing is
# tried twice (`++`): a bracket may be read in two ways, so forty of them in 2 to the 40.
_SMILES_ONLY = re.compile(r"(?:\[[^\]]*+\]|Cl|Br|[BCNOPSFIbcnops\[\]()=#@+\-\\/%.0-9])++")
_NEAR_NAMES = 3
_NEAR_ENOUGH = 0.72  # of difflib's ratio; "limonen" finds limonene, "xyz" nothing
_COMPARED = 40  # names that share most triples of letters; only they are compared letter by letter
_LONGEST_NAME = 200  # characters; what is longer is no name
_LONGEST_GUESS = 80  # characters; difflib is slow on long texts
_MOST_GUESSES = 100  # rows of one request
_WORD = re.compile(r"[^\W\d_]{3}")  # three letters in a row: a word rather than a structure
_NAME = re.compile(r"[\w\s,'’′()+.±®™&/\[\]-]+")  # no bonds or markup
_TWICE = re.compile(r"(.+?)\s*[(/]([^()/]+)\)?")  # "Ambroxide (Ambroxan)", "Triplal/Ligustral"
# Few letters that are atoms one by one, but to a perfumer may be a symbol or an abbreviation.
_LETTERS = re.compile(r"[A-Za-z]{1,4}")
_MEANT = "If a name, a formula or an abbreviation was meant, write it out."
_MARKS = "@/\\"  # of stereochemistry, in a SMILES

_inchi_keys = RememberedTask("inchi_key", capacity=20_000)


@dataclass(frozen=True)
class Near:
    """A name that may have been meant."""

    name: str
    smiles: str


@dataclass(frozen=True)
class KnownNames:
    """Names that stand for molecules, by the form in which they are compared (`spelling`)."""

    smiles: Mapping[str, str]  # canonical
    spelled: Mapping[str, str]  # the name that the molecule is shown by
    called: Mapping[str, str]  # the same by canonical SMILES
    title: str  # the dataset they come from, for messages
    numbers: Mapping[str, str] = field(default_factory=dict)  # canonical SMILES by CAS number

    @classmethod
    def of(
        cls,
        names: Iterable[str],
        smiles: Iterable[str],
        title: str,
        table: Iterable[Entry] | None = None,
    ) -> KnownNames:
        """The first molecule of a name keeps it; names of our table come last."""
        known: dict[str, str] = {}
        spelled: dict[str, str] = {}
        called: dict[str, str] = {}

        def add(name: str, structure: str, shown: str) -> None:
            if _SMILES_ONLY.fullmatch(name.strip()) is None:
                for key in spellings(name):
                    if key and known.setdefault(key, structure) == structure:
                        spelled.setdefault(key, shown)

        for name, structure in zip(names, smiles, strict=True):
            shown = " ".join(name.split())
            if shown and shown != structure:
                called.setdefault(structure, shown)
                add(name, structure, shown)
        table = entries() if table is None else tuple(table)
        for entry in table:
            shown = called.setdefault(entry.smiles, entry.name)
            for name in (entry.name, *entry.synonyms):
                add(name, entry.smiles, shown)
        numbers = {cas: entry.smiles for entry in table for cas in entry.cas}
        return cls(known, spelled, called, title, numbers)

    def look_up(self, line: Line) -> Line:
        """The molecule of a line that is a name; a name in a column of its own stays."""
        asked = line.name if is_missing(line.smiles) and line.name else line.text
        smiles = self.find(asked)
        if smiles is None:
            return line
        given = line.name if line.smiles == line.text else ""
        return Line(line.number, line.text, smiles, given or self.called[smiles])

    def find(self, text: str) -> str | None:
        """The molecule that a name, a CAS number or an InChIKey stands for."""
        if number := cas_number(text):
            return self.numbers.get(number)
        if len(text) > _LONGEST_NAME or _SMILES_ONLY.fullmatch(text.strip()):
            return None
        if key := inchi_key(text):
            return self._inchi_keys.get(key)
        for reading in readings(text):
            if reading in self.smiles:
                return self.smiles[reading]
            flat = self.smiles.get(reading.removeprefix("dl"))
            if flat and reading.startswith("dl") and not any(mark in flat for mark in _MARKS):
                return flat  # drawn without handedness, it is the racemate already
        if twice := _TWICE.fullmatch(text.strip()):
            first, second = map(self.find, twice.groups())
            return first if first == second else None
        return None

    def named(self, rows: Iterable[Row]) -> list[Row]:
        """Rows that hold a known molecule and no name of their own get the known one."""
        return [
            replace(row, name=self.called[row.molecule.smiles])
            if row.molecule is not None and not row.name and row.molecule.smiles in self.called
            else row
            for row in rows
        ]

    def suggest(self, rows: Iterable[Row]) -> list[Row]:
        """Rows whose errors, where the line looks like a word, say which names come near."""
        rows, guesses = list(rows), 0
        for k, row in enumerate(rows):
            if _few_letters(row.text):
                rows[k] = _read_as_atoms(row)
            elif row.ok or row.suggestion or guesses >= _MOST_GUESSES:
                continue
            elif _is_word(row.text):
                rows[k], guesses = self._suggested(row), guesses + 1
        return rows

    def _suggested(self, row: Row) -> Row:
        if key := inchi_key(row.text):
            near = self._same_skeleton(key)
            error = "This InChIKey is not that of a molecule known here, and it does not hold the "
            error += "structure: paste the SMILES or the InChI."
            if near:
                error += f" It has the skeleton of {near[0].name}, but another stereochemistry."
        elif found := several(row.text):
            near = self.near(row.text)
            return replace(row, error=found.sentence([one.name for one in near]))
        else:
            near = self.near(row.text)
            inside = f" in {self.title}" if self.title else ""
            error = f"Neither a SMILES nor the name of a molecule{inside} or in our table of names."
            if near:
                *others, last = [one.name for one in near]
                error += f" Is it {' or '.join(filter(None, (', '.join(others), last)))}?"
        return replace(row, error=error, suggestion=near[0].smiles if near else None)

    def near(self, text: str) -> list[Near]:
        """Names that look most like `text`, best first, one of each molecule."""
        if not _is_word(text) or inchi_key(text):
            return []
        if (shared_name := several(text)) and shared_name.molecules:
            meant = filter(None, map(self.find, shared_name.molecules))
            return [Near(self.called[smiles], smiles) for smiles in meant]
        key = spelling(text)
        inside = [name for name in self.smiles if key in name] if len(key) > 3 else []
        shared = Counter(name for one in _triples(key) for name in self._by_triple.get(one, ()))
        best = sorted((name for name, _ in shared.most_common(_COMPARED)))
        ratios = {name: SequenceMatcher(None, name, key).ratio() for name in best}
        close = sorted(
            (name for name in best if ratios[name] >= _NEAR_ENOUGH), key=ratios.__getitem__
        )
        found = (self.smiles[name] for name in [*sorted(inside, key=len), *reversed(close)])
        return [Near(self.called[smiles], smiles) for smiles in dict.fromkeys(found)][:_NEAR_NAMES]

    @cached_property
    def _by_triple(self) -> Mapping[str, list[str]]:
        found = defaultdict(list)
        for name in self.smiles:
            for triple in set(_triples(name)):
                found[triple].append(name)
        return found

    @cached_property
    def _inchi_keys(self) -> Mapping[str, str]:
        """Canonical SMILES by InChIKey; made when the first is asked for."""
        structures = list(dict.fromkeys([*self.called, *self.smiles.values()]))
        replies = zip(structures, _inchi_keys(structures), strict=True)
        return {reply.value: smiles for smiles, reply in replies if reply.value}

    def _same_skeleton(self, key: str) -> list[Near]:
        return [
            Near(self.called[smiles], smiles)
            for other, smiles in self._inchi_keys.items()
            if other[:14] == key[:14]
        ][:_NEAR_NAMES]


@cache
def our_names() -> KnownNames:
    """Those of our table alone."""
    return KnownNames.of((), (), "")


def _triples(key: str) -> Iterator[str]:
    padded = f" {key} "
    return (padded[k : k + 3] for k in range(len(padded) - 2))


def _few_letters(text: str) -> bool:
    """Whether a line is a SMILES, right or wrong, that may be one by accident: CO, CN, Ic, PCB."""
    return bool(
        _LETTERS.fullmatch(text) and _SMILES_ONLY.fullmatch(text) and not text.startswith("CC")
    )


def _read_as_atoms(row: Row) -> Row:
    if row.ok:
        note = f"{row.note} " if row.note else ""
        return replace(row, note=f"{note}Each letter was read as an atom. {_MEANT}")
    return replace(row, error=f"{row.error} {_MEANT}")


def _is_word(text: str) -> bool:
    """Whether a line that is no molecule looks like a name.

    What consists of SMILES characters alone is a broken SMILES, and RDKit's reason says more; so
    does that of a formula.
    """
    return (
        len(text) <= _LONGEST_GUESS
        and _WORD.search(text) is not None
        and _SMILES_ONLY.fullmatch(text.split()[0]) is None
        and _NAME.fullmatch(text) is not None
        and FORMULA.fullmatch(text) is None
    )
