"""From lines that were asked to their answers: probabilities with their spread, trust, truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kcnet_core.contracts import Counted, Steps, drain, share_of_work
from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES
from kcnet_core.molecules.read import CHECK_SHARE, Molecule, Row, check_steps, describe_steps
from kcnet_core.molecules.text import Line
from kcnet_core.smell.applicability import (
    ODORLESS,
    Verdict,
    domain_of,
    odourless_verdict,
    odourless_warning,
)
from kcnet_core.smell.nose import Nose

_DONORS = DESCRIPTOR_NAMES.index("NumHDonors")


@dataclass(frozen=True)
class Answer:
    """What the nose says of one molecule."""

    row: Row  # the line it came from
    molecule: Molecule
    dilution: str | None  # for which it holds
    features: np.ndarray  # (d,) raw, in the nose's order, the dilution among them
    descriptors: np.ndarray  # raw, in the order of DESCRIPTOR_NAMES
    probabilities: np.ndarray  # (c,) of all flies together, calibrated
    each: np.ndarray  # (F, c) of every fly alone
    # The same two with a known molecule among those taught, or a stereoisomer, which is the same to
    # the flies; above, they have met neither.
    as_taught: tuple[np.ndarray, np.ndarray]
    far: bool  # from what was taught: its ring system is new, and its line is another
    known: int | None  # row among the nose's known molecules that is this very molecule
    stereoisomer: int | None  # row of a known molecule that differs by stereo marks alone
    verdict: Verdict | None  # trust; None when the nose's training molecules are not at hand
    warning: str | None  # why nobody may smell it at all

    @property
    def name(self) -> str:
        return self.row.name or self.smiles

    @property
    def smiles(self) -> str:
        return self.molecule.smiles

    @property
    def left_out(self) -> bool:
        """Whether it is answered as if it had not been taught."""
        return self.probabilities is not self.as_taught[0]

    @property
    def low(self) -> np.ndarray:
        """The least that any fly says, (c,)."""
        return self.each.min(axis=0)

    @property
    def high(self) -> np.ndarray:
        return self.each.max(axis=0)


@dataclass(frozen=True)
class Answers:
    """All rows that were asked in their order, and an answer for each that holds a molecule."""

    rows: tuple[Row, ...]
    answers: tuple[Answer | None, ...]  # one per row

    @property
    def given(self) -> list[Answer]:
        return [answer for answer in self.answers if answer is not None]

    @property
    def errors(self) -> list[Row]:
        return [row for row in self.rows if not row.ok]


def smell(nose: Nose, lines: Sequence[Line], dilution: str | None = None) -> Answers:
    """Answer every line that holds a SMILES, or the name of a molecule that the nose was taught.

    `dilution` is one of `nose.dilutions`; by default the first, the strongest.
    """
    return drain(smell_steps(nose, lines, dilution))


def smell_steps(
    nose: Nose, lines: Sequence[Line], dilution: str | None = None
) -> Steps[Counted, Answers]:
    """`smell`, molecule by molecule.

    Checking and describing count the same molecules, so progress is shared out between them.
    """
    checks = check_steps([nose.names.look_up(line) for line in lines], keep_duplicates=True)
    rows = yield from share_of_work(checks, 0.0, CHECK_SHARE)
    rows = nose.names.named(nose.names.suggest(rows))
    rows, descriptors = yield from share_of_work(describe_steps(rows), CHECK_SHARE, 1 - CHECK_SHARE)
    found = _answered(nose, dilution, rows, descriptors)
    return Answers(tuple(rows), tuple(next(found) if row.ok else None for row in rows))


def _answered(
    nose: Nose, dilution: str | None, rows: Sequence[Row], descriptors: np.ndarray
) -> Iterator[Answer]:
    there = [(row, row.molecule) for row in rows if row.molecule is not None]
    X = nose.features(descriptors, dilution, [molecule.smiles for _, molecule in there])
    inputs = nose.inputs(X)
    together, each = nose.answer(inputs)
    far = nose.are_far([molecule.smiles for _, molecule in there])
    known, domain = nose.known, domain_of(nose)
    verdicts = None
    if domain is not None:
        verdicts = domain.judge(X, nose.activity(inputs), [molecule for _, molecule in there])
    for k, (row, molecule) in enumerate(there):
        found = known.find(molecule.smiles, X[k]) if known else None
        warning = odourless_warning(
            molecule.heavy_atoms, int(descriptors[k, _DONORS]), molecule.charge
        )
        if _smells(nose.truth(found)):
            warning = None  # people have smelled it, whatever a rule says
        verdict = verdicts[k] if verdicts else None
        as_taught = together[k], each[:, k]
        twin = known.stereoisomer(molecule.skeleton) if known else None
        same = found if found is not None else twin
        unseen = None if same is None else nose.answer_unseen(same)
        together_unseen, each_unseen = as_taught if unseen is None else unseen
        yield Answer(
            row,
            molecule,
            dilution,
            X[k],
            descriptors[k],
            together_unseen,
            each_unseen,
            as_taught=as_taught,
            far=bool(far[k]),
            known=found,
            stereoisomer=twin,
            verdict=odourless_verdict(verdict, found is not None) if warning else verdict,
            warning=warning,
        )


def _smells(characters: Sequence[str]) -> bool:
    return any(character != ODORLESS for character in characters)
