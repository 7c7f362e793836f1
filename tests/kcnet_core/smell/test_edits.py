"""Molecules one step away, and what the step changes."""

from __future__ import annotations

import numpy as np
import pytest
from rdkit import Chem

from kcnet_core.molecules.worker.one_step import STEPS, one_step_edits
from kcnet_core.smell.edits import edits


@pytest.mark.parametrize(
    ("smiles", "step", "edited"),
    [
        ("CCCC(=O)O", "methyl ester for acid", "CCCC(=O)OC"),
        ("CCCC(=O)O", "branch: methyl moved", "CC(C)C(=O)O"),
        ("CC(C)CCO", "methyl moved by one carbon", "CCC(C)CO"),
        ("CC1CCCCC(=O)C1", "methyl moved by one carbon", "CC1CCCCCC1=O"),
        ("Cc1ccc(O)cc1", "methyl moved on the ring", "Cc1cccc(O)c1"),
        ("CCCCCC=O", "one carbon longer", "CCCCCCC=O"),
        ("CCCCCC=O", "alcohol for aldehyde", "CCCCCCO"),
        ("CCCCCC=O", "double bond in the chain", "CCCC=CC=O"),
        ("COc1cc(C=O)ccc1O", "ethoxy for methoxy", "CCOc1cc(C=O)ccc1O"),
        ("CC(C)CCOC(C)=O", "alcohol for acetate", "CC(C)CCO"),
    ],
)
def test_the_steps_that_chemists_think_in_are_offered(smiles, step, edited):
    assert (step, edited) in one_step_edits(smiles)


def test_stereo_marks_that_a_step_does_not_touch_survive():
    menthol = Chem.MolToSmiles(Chem.MolFromSmiles("C[C@@H]1CC[C@H]([C@@H](C1)O)C(C)C"))
    acetate = dict(one_step_edits(menthol))["acetate for alcohol"]
    assert len(Chem.FindMolChiralCenters(Chem.MolFromSmiles(acetate))) == 3


@pytest.mark.parametrize("smiles", ["C", "c1ccccc1", "O=C=O", "C[N+](C)(C)C", "ClC(Cl)Cl"])
def test_every_edit_is_a_possible_canonical_molecule(smiles):
    for step, edited in one_step_edits(smiles):
        assert step in dict(STEPS) and Chem.MolToSmiles(Chem.MolFromSmiles(edited)) == edited
        assert edited != smiles


def test_edits_come_by_what_they_change(nose, smelled):
    acid = smelled("butyric acid")
    found = edits(nose, acid)
    changed = [np.abs(edit.changes).sum() for edit in found]
    assert changed == sorted(changed, reverse=True) and changed[0] > 0.3
    fruity = nose.characters.index("Fruity")
    best = edits(nose, acid, fruity)[0]
    assert best.name in ("methyl butyrate", "ethyl butyrate") and best.changes[fruity] > 0.2


def test_a_change_is_that_of_the_answers(nose, smelled):
    acid, ester = smelled("butyric acid"), smelled("methyl butyrate")
    found = next(edit for edit in edits(nose, acid) if edit.smiles == ester.smiles)
    expected = ester.as_taught[0] - acid.as_taught[0]
    np.testing.assert_allclose(found.changes, expected, atol=1e-5)
