"""From rows to answers: descriptors, probabilities with their spread, trust, and known truth."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kcnet_core.molecules.describe import describe
from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES
from kcnet_core.molecules.read import Row
from kcnet_core.smell.applicability import Verdict, domain_of
from kcnet_core.smell.nose import Nose
from kcnet_core.smell.volatility import odourless_warning

_CHARGE = re.compile(r"\[[^\]]*?([+-]+)(\d*)(?::\d+)?\]")


@dataclass(frozen=True)
class Answer:
    """What the nose says of one molecule.

    Parameters
    ----------
    row : Row
        The line it came from, with the checked molecule.
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
    features: np.ndarray
    probabilities: np.ndarray
    each: np.ndarray
    known: int | None
    stereoisomer: int | None
    verdict: Verdict | None
    warning: str | None

    @property
    def name(self) -> str:
        return self.row.name or self.row.molecule.smiles

    @property
    def smiles(self) -> str:
        return self.row.molecule.smiles

    @property
    def low(self) -> np.ndarray:
        """The least that any fly says, (c,)."""
        return self.each.min(axis=0)

    @property
    def high(self) -> np.ndarray:
        return self.each.max(axis=0)


@dataclass(frozen=True)
class Answers:
    """All rows in their order, and an answer for each that holds a molecule."""

    rows: tuple[Row, ...]
    answers: tuple[Answer | None, ...]  # one per row

    @property
    def given(self) -> list[Answer]:
        return [answer for answer in self.answers if answer is not None]

    @property
    def errors(self) -> list[Row]:
        return [row for row in self.rows if not row.ok]


def smell(
    nose: Nose,
    rows: Sequence[Row],
    *,
    dilution: str | None = None,
    progress=None,
    should_stop=None,
) -> Answers:
    """Answer for every row that holds a molecule.

    Parameters
    ----------
    nose : Nose
    rows : sequence of Row
        From `smell.reading`; rows with an error are passed on.
    dilution : str, optional
        One of `nose.dilutions`.
    progress, should_stop : callable or None
        As for `kcnet_core.molecules.describe.describe`, which takes nearly all of the time.
    """
    rows, descriptors = describe(rows, progress, should_stop)
    there = [row for row in rows if row.ok]
    if not there:
        return Answers(tuple(rows), (None,) * len(rows))
    X = nose.features(descriptors, dilution)
    inputs = nose.inputs(X)
    together, each = nose.answer(inputs)
    domain = domain_of(nose)
    smiles = [row.molecule.smiles for row in there]
    verdicts = domain.judge(X, inputs, smiles) if domain else [None] * len(there)
    answers = iter(
        Answer(
            row,
            X[k],
            together[k],
            each[:, k],
            known=nose.known.find(smiles[k], X[k]) if nose.known else None,
            stereoisomer=nose.known.stereoisomer(smiles[k]) if nose.known else None,
            verdict=verdicts[k],
            warning=odourless_warning(
                dict(zip(DESCRIPTOR_NAMES, descriptors[k], strict=True)), charge(smiles[k])
            ),
        )
        for k, row in enumerate(there)
    )
    return Answers(tuple(rows), tuple(next(answers) if row.ok else None for row in rows))


def charge(smiles: str) -> int:
    """Net charge of a canonical SMILES."""
    total = 0
    for signs, number in _CHARGE.findall(smiles):
        size = int(number) if number else len(signs)
        total += size if signs[0] == "+" else -size
    return total


def named(answer: Answer, row_name: str) -> Answer:
    """The same answer under another name."""
    return replace(answer, row=replace(answer.row, name=row_name))
