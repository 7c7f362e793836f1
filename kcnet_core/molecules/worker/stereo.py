"""A molecule's skeleton: the same atoms and bonds without stereo marks."""

from __future__ import annotations


def without_stereo(smiles: str) -> str:
    """One skeleton."""
    from rdkit import Chem

    return Chem.MolToSmiles(Chem.MolFromSmiles(smiles), isomericSmiles=False)
