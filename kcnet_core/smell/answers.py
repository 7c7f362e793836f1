"""From a question to its answers: descriptors, probabilities with their spread, trust, truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kcnet_core.contracts import Counted, Steps, drain, share_of_work
from kcnet_core.molecules.describe import CHECK_SHARE, describe_steps
from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES
from kcnet_core.molecules.read import Molecule, Row, check_steps
from kcnet_core.smell.applicability import Verdict, domain_of
from kcnet_core.smell.question import Question
from kcnet_core.smell.volatility import odourless_warning

_DONORS = DESCRIPTOR_NAMES.index("NumHDonors")


@dataclass(frozen=True)
class Answer:
    """What the nose says of one molecule.

    Parameters
    ----------
    row : Row
        The line it came from.
    molecule : Molecule
        As it was checked.
    dilution : str or None
        For which it holds.
    features : ndarray of shape (d,)
        Raw features in the nose's order, the dilution among them.
    probabilities : ndarray of shape (c,)
        Of all flies together, calibrated.
    each : ndarray of shape (F, c)
        Of every fly alone.
    known : int or None
        Row among the nose's known molecules that is this very molecule.
    stereoisomer : int or None
        Row of a known molecule that differs by stereo marks alone.
    verdict : Verdict or None
        Whether the nose can be trusted here; None when its training molecules are not at hand.
    warning : str or None
        Why nobody may smell it at all.
    """

    row: Row
    molecule: Molecule
    dilution: str | None
    features: np.ndarray
    probabilities: np.ndarray
    each: np.ndarray
    known: int | None
    stereoisomer: int | None
    verdict: Verdict | None
    warning: str | None

    @property
    def name(self) -> str:
        return self.row.name or self.smiles

    @property
    def smiles(self) -> str:
        return self.molecule.smiles

    @property
    def low(self) -> np.ndarray:
        """The least that any fly says, (c,)."""
        return self.each.min(axis=0)

    @property
    def high(self) -> np.ndarray:
        return self.each.max(axis=0)


@dataclass(frozen=True)
class Answers:
    """All rows of a question in their order, and an answer for each that holds a molecule."""

    question: Question
    rows: tuple[Row, ...]
    answers: tuple[Answer | None, ...]  # one per row

    @property
    def given(self) -> list[Answer]:
        return [answer for answer in self.answers if answer is not None]

    @property
    def errors(self) -> list[Row]:
        return [row for row in self.rows if not row.ok]


def smell(question: Question) -> Answers:
    """Answer every line of a question that holds a molecule."""
    return drain(smell_steps(question))


def smell_steps(question: Question) -> Steps[Counted, Answers]:
    """`smell`, molecule by molecule.

    Checking and describing count the same molecules, so progress is shared out between them.
    """
    rows = yield from share_of_work(
        check_steps(question.lines, keep_duplicates=True), 0.0, CHECK_SHARE
    )
    rows = question.nose.names.suggest(rows)
    rows, descriptors = yield from share_of_work(describe_steps(rows), CHECK_SHARE, 1 - CHECK_SHARE)
    found = _answered(question, rows, descriptors) if len(descriptors) else iter(())
    return Answers(question, tuple(rows), tuple(next(found) if row.ok else None for row in rows))


def _answered(question: Question, rows: list[Row], descriptors: np.ndarray) -> Iterator[Answer]:
    nose, dilution = question.nose, question.dilution
    there = [(row, row.molecule) for row in rows if row.molecule is not None]
    X = nose.features(descriptors, dilution)
    inputs = nose.inputs(X)
    together, each = nose.answer(inputs)
    known, domain = nose.known, domain_of(nose)
    verdicts = None
    if domain is not None:
        verdicts = domain.judge(X, nose.activity(inputs), [molecule for _, molecule in there])
    for k, (row, molecule) in enumerate(there):
        yield Answer(
            row,
            molecule,
            dilution,
            X[k],
            together[k],
            each[:, k],
            known=known.find(molecule.smiles, X[k]) if known else None,
            stereoisomer=known.stereoisomer(molecule.skeleton) if known else None,
            verdict=verdicts[k] if verdicts else None,
            warning=odourless_warning(
                molecule.heavy_atoms, int(descriptors[k, _DONORS]), molecule.charge
            ),
        )
