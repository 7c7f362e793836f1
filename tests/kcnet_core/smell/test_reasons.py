"""Reasons in chemists' words add up to what the inputs add up to."""

from __future__ import annotations

import numpy as np
import pytest

from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES
from kcnet_core.smell.explanation import descriptor_shares
from kcnet_core.smell.parts import parts_of
from kcnet_core.smell.reasons import (
    OTHER,
    absent_inputs,
    reasons_of,
    same_to_the_flies,
    what_differs,
    word_for,
)


def test_groups_add_up_to_the_score(nose, smelled):
    answer = smelled("isoamyl acetate")
    shares = descriptor_shares(nose, answer, nose.characters.index("Fruity"))
    reasons = reasons_of(shares)
    assert sum(reason.value for reason in reasons) == pytest.approx(shares.values.sum(), abs=1e-5)
    strength = [abs(reason.value) for reason in reasons]
    assert strength == sorted(strength, reverse=True)


def test_a_group_of_atoms_that_is_not_there_is_called_so(nose, smelled):
    answer = smelled("isoamyl acetate")
    shares = descriptor_shares(nose, answer, nose.characters.index("Fruity"))
    words = {reason.word for reason in reasons_of(shares, absent_inputs(nose, answer))}
    assert "ester group" in words and "no ester group" not in words
    assert "aldehyde group" not in words


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("fr_ester", "ester group"), ("fr_Al_COO", "carboxylic acid"),
        ("fr_C_O_noCOO", "C=O of any kind"), ("RingCount", "rings, their number and kind"),
        ("MolWt", "volatility: its size"), ("pair 3", "substructures of several parts"),
        ("dilution 1/1000", "dilution"),
    ],
)  # fmt: skip
def test_inputs_are_called_by_chemists_words(name, word):
    assert word_for(name) == word


def test_few_descriptors_are_left_without_a_word():
    assert sum(word_for(name) == OTHER for name in DESCRIPTOR_NAMES) <= 6


def test_what_differs_is_the_difference_of_the_shares(nose, smelled):
    acid, ester = smelled("butyric acid"), smelled("methyl butyrate")
    fruity = nose.characters.index("Fruity")
    found = what_differs(nose, acid, ester, fruity)
    reasons = found.reasons
    one, other = (descriptor_shares(nose, a, fruity).values.sum() for a in (acid, ester))
    assert sum(reason.value for reason in reasons) == pytest.approx(other - one, abs=1e-5)
    assert any("acid" in reason.word for reason in reasons)
    assert not same_to_the_flies(acid, ester)
    assert len(found.on_first) == acid.molecule.heavy_atoms
    assert len(found.on_second) == ester.molecule.heavy_atoms


def test_the_atoms_that_make_the_difference_are_those_that_differ(informed):
    acid, ester = informed("butyric acid"), informed("methyl butyrate")
    found = what_differs(informed.nose, acid, ester, informed.nose.characters.index("Fruity"))
    chain, group = slice(0, 3), slice(3, None)  # CCC and C(=O)O... in both
    for weights in (found.on_first, found.on_second):
        assert np.abs(weights[group]).max() > 2 * np.abs(weights[chain]).max()
    by_atoms = found.on_second.sum() - found.on_first.sum()
    properties = sum(r.value for r in found.reasons) - by_atoms
    assert abs(by_atoms) > abs(properties)  # substructures say more than mass and the like


def test_reasons_are_parts_of_the_molecule_with_their_atoms(informed):
    answer, nose = informed("isoamyl acetate"), informed.nose
    shares = descriptor_shares(nose, answer, nose.characters.index("Fruity"))
    reasons = reasons_of(shares, absent_inputs(nose, answer), parts_of(answer.smiles))
    assert sum(r.value for r in reasons) == pytest.approx(shares.values.sum(), abs=1e-5)
    ester = next(r for r in reasons if r.word == "ester group")
    assert ester.atoms == (1, 2, 3) and ester.value > 0
    assert sum(value for _, value in ester.inputs) == pytest.approx(ester.value)
    assert not any(r.word == "substructures of several parts" for r in reasons)


def test_enantiomers_are_the_same_to_the_flies(nose, smelled):
    right, left = smelled("(R)-carvone"), smelled("(S)-carvone")
    assert same_to_the_flies(right, left)
    assert what_differs(nose, right, left, 0).reasons == []
    np.testing.assert_array_equal(right.features, left.features)
