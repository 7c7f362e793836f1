"""A molecule's skeleton: the same atoms and bonds without stereo marks."""

from __future__ import annotations

from rdkit import Chem


def without_stereo(smiles: str) -> str:
    """One skeleton, of a canonical SMILES."""
    if not any(mark in smiles for mark in "@/\\"):
        return smiles
    return Chem.MolToSmiles(Chem.MolFromSmiles(smiles), isomericSmiles=False)
