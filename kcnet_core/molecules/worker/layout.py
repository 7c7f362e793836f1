"""Where atoms lie on paper: for our drawings, and as a mol file. Runs inside a molecule worker."""

from __future__ import annotations

from rdkit import Chem
from rdkit.Chem import rdDepictor


def lay_out(mol: Chem.Mol) -> None:
    rdDepictor.Compute2DCoords(mol, useRingTemplates=True)
    rdDepictor.StraightenDepiction(mol)


def mol_file(smiles: str) -> str:
    """A molecule for an editor, all of its stereochemistry with it.

    A double bond of which nobody said whether it is E or Z is crossed, else its place on the paper
    would say so.
    """
    mol = Chem.MolFromSmiles(smiles)
    if mol is None or not mol.GetNumAtoms():
        raise ValueError("it does not parse")
    for found in Chem.FindPotentialStereo(mol):
        is_bond = found.type == Chem.StereoType.Bond_Double
        if is_bond and found.specified == Chem.StereoSpecified.Unspecified:
            mol.GetBondWithIdx(found.centeredOn).SetStereo(Chem.BondStereo.STEREOANY)
    lay_out(mol)
    return Chem.MolToMolBlock(mol)
