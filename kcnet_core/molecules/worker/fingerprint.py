"""Morgan fingerprints: which environments of atoms a molecule holds."""

from __future__ import annotations

RADIUS = 2
N_BITS = 2048


def morgan_bits(smiles: str) -> str:
    """The fingerprint as hexadecimal digits."""
    from rdkit import Chem
    from rdkit.DataStructs import BitVectToBinaryText

    mol = Chem.MolFromSmiles(smiles)
    if mol is None:
        raise ValueError("it does not parse")
    return BitVectToBinaryText(_generator().GetFingerprint(mol)).hex()


def _generator():
    from rdkit.Chem import rdFingerprintGenerator

    return rdFingerprintGenerator.GetMorganGenerator(radius=RADIUS, fpSize=N_BITS)
