"""The parts that chemists see, and where counted substructures lie."""

from __future__ import annotations

import numpy as np
import pytest

from kcnet_core.molecules.fingerprint_table import NAMES
from kcnet_core.molecules.fingerprints import substructure_counts
from kcnet_core.smell.parts import parts_of

MOLECULES = {
    "COc1cc(C=O)ccc1O": {"methoxy group", "benzene ring", "aldehyde group", "phenol group"},
    "C[C@@H]1CCCCCCCCCCCCC(=O)C1": {"ring of 15", "ketone group", "methyl group"},
    "CC(=O)OCCC(C)C": {"ester group", "methyl group", "branched chain of 5 carbons"},
    "O=C1CCCCCCCCCCCCCCO1": {"lactone (cyclic ester)", "ring of 16 with O"},
    "O=Cc1ccc2OCOc2c1": {"aldehyde group", "methylenedioxy bridge", "benzene ring"},
    "CC(C)Cc1nccs1": {"thiazole ring", "branched chain of 4 carbons"},
    "Cc1c[nH]c2ccccc12": {"indole rings", "methyl group"},
    "CSSC": {"disulfide group", "methyl group"},
    "CC(C)=CCCC(C)=CC=O": {"aldehyde group", "double bond", "chain of 2 carbons", "methyl group"},
    "CO": {"alcohol group", "methyl group"},
    "N": {"amine group"},
}


@pytest.mark.parametrize(("smiles", "words"), MOLECULES.items())
def test_a_molecule_is_the_sum_of_parts_with_chemists_names(smiles, words):
    parts = parts_of(smiles)
    assert set(parts.atoms_of) == words
    atoms = [atom for mine in parts.atoms_of.values() for atom in mine]
    assert sorted(atoms) == list(range(parts.n_atoms))


def test_parts_that_are_there_more_than_once_are_counted():
    parts = parts_of("COc1ccc(C=O)cc1OC")
    assert parts.called("methoxy group") == "methoxy group × 2"
    assert parts.called("aldehyde group") == "aldehyde group"


@pytest.mark.parametrize("smiles", MOLECULES)
def test_every_substructure_that_is_counted_lies_somewhere_and_no_other(smiles):
    counted = {NAMES[k] for k in np.flatnonzero(substructure_counts([smiles])[0])}
    parts = parts_of(smiles)
    placed = {name for name in parts.places if name in NAMES}
    # Two keys have no pattern: several aromatic rings (125), several fragments (166).
    assert counted - placed <= {"key 125", "key 166"}
    assert placed <= counted


def test_what_an_input_adds_is_dealt_out_to_its_atoms_exactly():
    parts = parts_of("CC(=O)OCCC(C)C")
    rows = parts.lie(["fr_ester", "MolWt", "fr_ketone"])
    np.testing.assert_allclose(rows.sum(axis=1), [1, 0, 0])
    assert set(np.flatnonzero(rows[0])) <= {0, 1, 2, 3, 4}
    assert parts_of("no molecule") is None
