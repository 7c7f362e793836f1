"""What if: a molecule changed by one step that chemists think in, and what the flies make of it.

`molecules.worker.one_step` lists the steps. Both answers are of flies that were taught all they
know, so that a change is never that of being known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kcnet_core.contracts import Counted, Steps, drain
from kcnet_core.molecules.pool import RememberedTask
from kcnet_core.molecules.read import descriptor_steps
from kcnet_core.smell.answers import Answer
from kcnet_core.smell.nose import Nose

_one_step = RememberedTask("one_step", capacity=2048)


@dataclass(frozen=True)
class Edit:
    """A neighbour one step away; `changes` (c,) are differences of probabilities."""

    step: str  # what was done
    smiles: str  # canonical
    name: str  # "" if it is not known
    changes: np.ndarray


def edits(nose: Nose, answer: Answer, character: int | None = None) -> list[Edit]:
    """All one-step edits: those that change most first, or that add most to one character."""
    return ranked(drain(edit_steps(nose, answer)), character)


def edit_steps(nose: Nose, answer: Answer) -> Steps[Counted, list[Edit]]:
    """All one-step edits in the order in which they are made, molecule by molecule."""
    (reply,) = _one_step([answer.smiles])
    steps = {} if reply.failure else {smiles: step for step, smiles in reply.value}
    described = yield from descriptor_steps(list(steps))
    if not described:
        return []
    X = nose.features(np.stack(list(described.values())), answer.dilution, list(described))
    changes = nose.answer(nose.inputs(X))[0] - answer.as_taught[0]
    return [
        Edit(steps[smiles], smiles, nose.names.called.get(smiles, ""), change)
        for smiles, change in zip(described, changes, strict=True)
    ]


def ranked(found: list[Edit], character: int | None = None) -> list[Edit]:
    """Those that change most first, or that add most to one character."""
    if character is None:
        return sorted(found, key=lambda edit: -np.abs(edit.changes).sum())
    return sorted(found, key=lambda edit: -edit.changes[character])
