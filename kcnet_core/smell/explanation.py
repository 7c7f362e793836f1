"""Why the nose says so: the exact share of every descriptor, and what each atom is worth.

Descriptors. A KCNet's raw score is a sum of one share per input (`network.explain`), so is the
mean over flies, and the calibration's slope carries it to log-odds. For characters that do not
exclude each other the shares and the bias add up to the log-odds of the probability shown; nothing
is sampled or approximated.

Atoms. Descriptors have no place in the molecule. An atom's worth is therefore measured: the
log-odds of the molecule minus those of the same molecule without the atom (`worker.atom_edits` says
how it is taken out; where there are several ways, the mean counts). Positive: the atom speaks for
the character. Worths of atoms need not add up to anything.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kcnet_core.contracts import Counted, Steps, drain
from kcnet_core.molecules.pool import RememberedTask
from kcnet_core.molecules.read import descriptor_steps
from kcnet_core.network.explain import contributions
from kcnet_core.smell.answers import Answer
from kcnet_core.smell.glomeruli import GroupedFly
from kcnet_core.smell.nose import Nose

_without = RememberedTask("without_atoms", capacity=2048)


@dataclass(frozen=True)
class Shares:
    """What every input adds to a character's score.

    `values` (k,) and `names` belong together; `bias` is what the calibration adds
    whatever the molecule. In log-odds when `unit` is "log-odds", else in raw score.
    """

    values: np.ndarray
    names: tuple[str, ...]
    bias: float
    unit: str

    @property
    def total(self) -> float:
        return float(self.values.sum() + self.bias)


def descriptor_shares(nose: Nose, answer: Answer, character: int) -> Shares:
    """Exact shares of all inputs in one character's score.

    Raises
    ------
    KCNetError
        The model is one whose scores cannot be divided (an ELM).
    """
    inputs = nose.inputs(answer.features[None])
    column = int(nose.columns[character])
    values = np.mean([_shares(fly, inputs, column)[0, :, 0] for fly in nose.flies], axis=0)
    calibration = nose.calibration
    if calibration is not None and calibration.kind == "multilabel":
        slope, bias = float(calibration.slope[column]), float(calibration.bias[column])
        return Shares(slope * values, nose.input_names, bias, "log-odds")
    return Shares(values, nose.input_names, 0.0, "score")


def _shares(fly, inputs: np.ndarray, column: int) -> np.ndarray:
    if isinstance(fly, GroupedFly):
        return fly.contributions(inputs, column)
    return contributions(fly, inputs, column)


def atom_worths(nose: Nose, answer: Answer) -> np.ndarray:
    """What every atom is worth to every character, (n_atoms, c), in log-odds.

    NaN for an atom without which no possible molecule is left.
    """
    return drain(worth_steps(nose, answer))


def worth_steps(nose: Nose, answer: Answer) -> Steps[Counted, np.ndarray]:
    """`atom_worths`, molecule by molecule that is left; some hundreds of a peptide."""
    (reply,) = _without([answer.smiles])
    n_characters = len(nose.characters)
    if reply.failure is not None:
        return np.full((answer.molecule.heavy_atoms, n_characters), np.nan)
    ways: list[list[str]] = reply.value
    worths = np.full((len(ways), n_characters), np.nan)
    left = list(dict.fromkeys(smiles for atom in ways for smiles in atom))
    rest = yield from descriptor_steps(left)
    if not rest:
        return worths
    X = nose.features(np.stack(list(rest.values())), answer.dilution, list(rest))
    without = dict(zip(rest, nose.log_odds(nose.inputs(X)), strict=True))
    whole = nose.log_odds(nose.inputs(answer.features[None]))[0]
    for atom, variants in enumerate(ways):
        measured = [without[smiles] for smiles in variants if smiles in without]
        if measured:
            worths[atom] = whole - np.mean(measured, axis=0)
    return worths
