"""Taking an atom out leaves the molecule that a chemist would expect."""

from __future__ import annotations

import pytest
from rdkit import Chem

from kcnet_core.molecules.worker.atom_edits import without_each_atom


def without(smiles: str, atom: int) -> list[str]:
    return without_each_atom(smiles)[atom]


def same(smiles: str) -> str:
    return Chem.MolToSmiles(Chem.MolFromSmiles(smiles))


@pytest.mark.parametrize(
    ("smiles", "atom", "left"),
    [
        ("COc1cc(C=O)ccc1O", 0, "Oc1cc(C=O)ccc1O"),  # methoxy without its carbon: a phenol
        ("COc1cc(C=O)ccc1O", 6, "COc1cc(C)ccc1O"),  # an aldehyde without its oxygen
        ("CCCC(=O)OCC", 5, "CCCC(=O)CC"),  # an ester without its bridging oxygen: a ketone
        ("CCCC(=O)OCC", 3, "CCCOCC"),  # what hung on the carbonyl carbon alone falls off
        ("CCCCCC=O", 2, "CCCCC=O"),  # a chain becomes shorter
        ("CC1CCCCCCCCCCCCC(=O)C1", 5, "CC1CCCCCCCCCCCC(=O)C1"),  # a ring becomes smaller
        ("C1CC1", 0, "CC"),  # neighbours that are joined already stay as they are
        ("c1ccccc1", 0, "C1=CCC=C1"),  # aromaticity is lost with the atom
        ("O=[N+]([O-])c1ccccc1", 2, "O=Nc1ccccc1"),  # no charge without its partner
        ("C[N+](C)(C)C", 0, "CN(C)C"),
    ],
)
def test_the_gap_is_closed_so_that_one_molecule_is_left(smiles, atom, left):
    assert same(left) in without(smiles, atom)


def test_an_atom_where_rings_meet_can_be_closed_in_several_ways():
    assert len(without("C1CCC2CCCCC2C1", 3)) > 1


def test_nothing_is_left_of_a_single_atom():
    assert without_each_atom("C") == [[]]


@pytest.mark.parametrize(
    "smiles",
    [
        "CC12CCCCC1(O)C(C)CCC2",
        "c1ccc2[nH]ccc2c1",
        "CS(C)(=O)=O",
        "C/C=C/[C@H](O)C",
        "CC#N",
        "[CH3]",
    ],
)
def test_whatever_is_left_is_one_possible_molecule_of_fewer_atoms(smiles):
    n_atoms = Chem.MolFromSmiles(smiles).GetNumAtoms()
    for ways in without_each_atom(smiles):
        for left in ways:
            mol = Chem.MolFromSmiles(left)
            assert mol is not None and "." not in left
            assert mol.GetNumHeavyAtoms() < n_atoms
            assert all(atom.GetNumRadicalElectrons() == 0 for atom in mol.GetAtoms())
