"""Reasons in chemists' words: the exact shares of the inputs, added up by what they speak of.

Nothing is lost: the groups add up to what the inputs add up to.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from kcnet_core.smell.answers import Answer
from kcnet_core.smell.explanation import Shares, descriptor_shares
from kcnet_core.smell.nose import DILUTION, Nose

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
        (r"fr_(benzene|aryl|para)|NumAromatic", "aromatic ring"),
        (r"fr_(halogen|alkyl_halide)", "halogen"),
        (r"fr_unbrch", "length of the chain"),
        (r"fr_(allylic|term_acet)|FractionCSP3", "double and triple bonds"),
        (r"Ring|cycles|Spiro|Bridgehead|fr_bicyclic", "rings, their number and kind"),
        (r"StereoCenters|SPS", "centres of handedness"),
        (r"NumHDonors|NumHAcceptors|NHOH|NOCount|NumHeteroatoms|TPSA",
         "volatility: polar groups"),
        (r"MolWt|HeavyAtom|NumValence|LabuteASA|MolMR|Chi0|Kappa1|SMR_VSA", "volatility: its size"),
        (r"Chi\d|Kappa|BalabanJ|BertzCT|HallKier|Phi|FpDensity|Rotatable|BCUT2D_MW",
         "shape and flexibility"),
        (r"LogP|SlogP|LOGP", "fat-loving or water-loving"),
        (r"PEOE|Charge|EState|CHG|BCUT2D_MR", "where its electrons are"),
        (r"^environment ", "what surrounds its atoms"),
        (r"^pair ", "atoms at a distance"),
        (r"^torsion ", "four atoms in a row"),
        (r"^key ", "patterns chemists search by"),
        (rf"^{DILUTION}", "dilution"),
    )
)  # fmt: skip


@dataclass(frozen=True)
class Reason:
    """What one group of inputs adds; `inputs` are its members, the strongest first."""

    word: str
    value: float
    inputs: tuple[str, ...]


def word_for(name: str) -> str:
    return next((word for pattern, word in _WORDS if pattern.search(name)), OTHER)


def reasons_of(shares: Shares, absent: frozenset[str] = frozenset()) -> list[Reason]:
    """Groups of inputs by how much they add, up or down; those that add nothing are left out.

    `absent` inputs are zero: a group of atoms that is not there speaks by its absence.
    """
    members: dict[str, list[int]] = defaultdict(list)
    for k in np.argsort(-np.abs(shares.values), kind="stable"):
        if shares.values[k]:
            members[word_for(shares.names[k])].append(int(k))
    found = [
        Reason(
            f"no {word}" if all(_counts_absence(shares.names[k], absent) for k in rows) else word,
            float(shares.values[rows].sum()),
            tuple(shares.names[k] for k in rows),
        )
        for word, rows in members.items()
    ]
    return sorted(found, key=lambda reason: -abs(reason.value))


def _counts_absence(name: str, absent: frozenset[str]) -> bool:
    return name.startswith("fr_") and name in absent


def absent_inputs(nose: Nose, answer: Answer) -> frozenset[str]:
    """Inputs of which the molecule has nothing at all."""
    raw = dict(zip(nose.feature_names, answer.features, strict=True))
    return frozenset(name for name in nose.input_names if raw.get(name) == 0)


def what_differs(nose: Nose, first: Answer, second: Answer, character: int) -> list[Reason]:
    """What tells the second molecule from the first, in one character's score."""
    one, other = (descriptor_shares(nose, answer, character) for answer in (first, second))
    return reasons_of(Shares(other.values - one.values, one.names, 0.0, one.unit))


def same_to_the_flies(first: Answer, second: Answer) -> bool:
    """Whether two molecules differ in nothing that the flies are told."""
    return first.smiles != second.smiles and bool(np.array_equal(first.features, second.features))
