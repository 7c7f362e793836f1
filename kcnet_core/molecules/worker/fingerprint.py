"""Morgan fingerprints: which environments of atoms a molecule holds."""

from __future__ import annotations

from rdkit import Chem
from rdkit.Chem import rdFingerprintGenerator
from rdkit.DataStructs import BitVectToBinaryText

_generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)


def morgan_bits(smiles: str) -> str:
    """The fingerprint as hexadecimal digits."""
    mol = Chem.MolFromSmiles(smiles)
    if mol is None:
        raise ValueError("it does not parse")
    return BitVectToBinaryText(_generator.GetFingerprint(mol)).hex()
