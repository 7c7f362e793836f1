"""Reasons in chemists' words: the exact shares of the inputs, added up by what they speak of.

An input that lies on atoms speaks of the parts of the molecule that hold them (`parts`), any other
of a property. Nothing is lost: the reasons add up to what the inputs add up to.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kcnet_core.smell.answers import Answer
from kcnet_core.smell.explanation import Shares, descriptor_shares
from kcnet_core.smell.nose import DILUTION, Nose
from kcnet_core.smell.parts import Parts, parts_of

OTHER = "other properties"
# The first that fits an input's name has it.
_WORDS = tuple(
    (re.compile(pattern), word)
    for pattern, word in (
        (r"fr_(A[lr]_)?COO", "carboxylic acid"),
        (r"fr_lactone", "lactone (cyclic ester)"),
        (r"fr_ester", "ester group"),
        (r"fr_aldehyde", "aldehyde group"),
        (r"fr_ketone", "ketone group"),
        (r"fr_C_O", "C=O of any kind"),
        (r"fr_(Ar_OH|phenol)", "phenol group"),
        (r"fr_Al_OH|fr_HOCCN", "alcohol group"),
        (r"fr_methoxy", "methoxy group"),
        (r"fr_(ether|epoxide)", "ether group"),
        (r"fr_(SH|sulf|C_S|thio|isothio)", "sulfur group"),
        (r"fr_(nitrile|nitro|oxime|azo|azide|diazo|isocyan)", "nitrile, nitro or oxime group"),
        (r"fr_(furan|pyridine|imidazole|oxazole|thiazole|Nhpyrrole|Ar_N|tetrazole|piper|morph"
         r"|dihydropyr)", "ring with a heteroatom"),
        (r"fr_(NH|N|Im|am|an|Ar?N|pri|quat|urea|guan|hdr|lactam|imide|barb|alkyl_carb)",
         "amine or amide group"),
        (r"fr_aryl", "methyl on an aromatic ring"),
        (r"fr_para", "aromatic ring, free opposite"),
        (r"fr_benzene|NumAromatic", "aromatic ring"),
        (r"fr_(halogen|alkyl_halide)", "halogen"),
        (r"fr_unbrch", "length of the chain"),
        (r"fr_(allylic|term_acet)|FractionCSP3", "double and triple bonds"),
        (r"fr_bicyclic", "bicyclic frame"),
        (r"Ring|cycles|Spiro|Bridgehead", "rings, their number and kind"),
        (r"StereoCenters|SPS", "centres of handedness"),
        (r"NumHDonors|NumHAcceptors|NHOH|NOCount|NumHeteroatoms|TPSA",
         "volatility: polar groups"),
        (r"MolWt|HeavyAtom|NumValence|LabuteASA|MolMR|Chi0|Kappa1|SMR_VSA", "volatility: its size"),
        (r"Chi\d|Kappa|BalabanJ|BertzCT|HallKier|Phi|FpDensity|Rotatable|BCUT2D_MW",
         "shape and flexibility"),
        (r"LogP|SlogP|LOGP", "fat-loving or water-loving"),
        (r"PEOE|Charge|EState|CHG|BCUT2D_MR", "where its electrons are"),
        (r"^(environment|pair|torsion|key) ", "substructures of several parts"),
        (rf"^{DILUTION}", "dilution"),
    )
)  # fmt: skip


@dataclass(frozen=True)
class Reason:
    """What one part or property adds; `inputs` are what speaks of it, the strongest first, each
    with its own share."""

    word: str
    value: float
    inputs: tuple[tuple[str, float], ...]
    atoms: tuple[int, ...] = ()  # of the part, in the order of the SMILES


@dataclass(frozen=True)
class MoleculeDifference:
    """What tells a second molecule from a first in one character's score.

    `on_first` and `on_second` (n_atoms,) say what each atom gives to its own molecule rather than
    to the other; together with the properties they add up to the difference.
    """

    reasons: list[Reason]
    on_first: np.ndarray
    on_second: np.ndarray


def word_for(name: str) -> str:
    return next((word for pattern, word in _WORDS if pattern.search(name)), OTHER)


def reasons_of(
    shares: Shares, absent: frozenset[str] = frozenset(), parts: Parts | None = None
) -> list[Reason]:
    """Parts and properties by how much they add, up or down; those that add nothing are left out.

    `absent` inputs are zero: a group of atoms that is not there speaks by its absence. Without
    `parts` all inputs speak of properties.
    """
    found = _properties(shares, absent, parts)
    if parts is not None:
        found += _parts_that_speak(shares.values[:, None] * parts.lie(shares.names), shares, parts)
    return sorted(found, key=lambda reason: -abs(reason.value))


def _parts_that_speak(dealt: np.ndarray, shares: Shares, parts: Parts) -> list[Reason]:
    """`dealt` (k, n_atoms) is what each input adds on each atom."""
    found = []
    for word, atoms in parts.atoms_of.items():
        mine = dealt[:, list(atoms)].sum(axis=1)
        if mine.any():
            found.append(
                Reason(parts.called(word), float(mine.sum()), _inputs(mine, shares.names), atoms)
            )
    return found


def _properties(shares: Shares, absent: frozenset[str], parts: Parts | None) -> list[Reason]:
    """Groups of the inputs that lie nowhere in the molecule."""
    members: dict[str, list[int]] = defaultdict(list)
    for k in np.flatnonzero(shares.values):
        if parts is None or shares.names[k] not in parts.places:
            members[_called(shares.names[k], absent)].append(int(k))
    return [
        Reason(word, float(shares.values[rows].sum()),
               _inputs(shares.values[rows], [shares.names[k] for k in rows]))
        for word, rows in members.items()
    ]  # fmt: skip


def _called(name: str, absent: frozenset[str]) -> str:
    word = word_for(name)
    return f"no {word}" if name.startswith("fr_") and name in absent else word


def _inputs(values: np.ndarray, names: Sequence[str]) -> tuple[tuple[str, float], ...]:
    order = np.argsort(-np.abs(values), kind="stable")
    return tuple((str(names[k]), float(values[k])) for k in order if values[k])


def absent_inputs(nose: Nose, answer: Answer) -> frozenset[str]:
    """Inputs of which the molecule has nothing at all."""
    raw = dict(zip(nose.feature_names, answer.features, strict=True))
    return frozenset(name for name in nose.input_names if raw.get(name) == 0)


def what_differs(nose: Nose, first: Answer, second: Answer, character: int) -> MoleculeDifference:
    """What tells the second molecule from the first, in one character's score.

    A substructure speaks of the molecule that holds more of it, of both alike if they hold the
    same.
    """
    one, other = (descriptor_shares(nose, answer, character) for answer in (first, second))
    names, values = one.names, other.values - one.values
    raw = dict(zip(nose.feature_names, second.features - first.features, strict=True))
    more = np.array([np.sign(raw[name]) for name in names])
    parts = tuple(parts_of(answer.smiles) for answer in (first, second))
    lie = [None if mine is None else mine.lie(names) for mine in parts]
    # (k,) how much of each input goes to the first and to the second molecule
    to = np.stack([(1 - more) / 2, (1 + more) / 2])
    there = np.stack([np.zeros(len(names)) if L is None else L.sum(axis=1) > 0 for L in lie])
    to = np.where(there.all(axis=0), to, there)
    dealt = [None if L is None else (w * values)[:, None] * L for w, L in zip(to, lie, strict=True)]
    rest = Shares(values * (1 - to.sum(axis=0)), names, 0.0, one.unit)
    found = _properties(rest, absent_inputs(nose, first) & absent_inputs(nose, second), None)
    for mine, D in zip(parts, dealt, strict=True):
        if mine is not None and D is not None:
            found += _parts_that_speak(D, rest, mine)
    reasons = _joined(found)
    on = [np.zeros(0) if D is None else D.sum(axis=0) for D in dealt]
    return MoleculeDifference(reasons, -on[0], on[1])


def _joined(found: list[Reason]) -> list[Reason]:
    """Reasons of the same word are one; its atoms are of two molecules, so none are told."""
    members: dict[str, list[Reason]] = defaultdict(list)
    for reason in found:
        members[reason.word.partition(" × ")[0]].append(reason)
    joined = [
        Reason(word, sum(r.value for r in same), tuple(
            sorted((one for r in same for one in r.inputs), key=lambda one: -abs(one[1]))
        ))
        for word, same in members.items()
    ]  # fmt: skip
    return sorted((r for r in joined if r.value), key=lambda reason: -abs(reason.value))


def same_to_the_flies(first: Answer, second: Answer) -> bool:
    """Whether two molecules differ in nothing that the flies are told."""
    return first.smiles != second.smiles and bool(np.array_equal(first.features, second.features))
