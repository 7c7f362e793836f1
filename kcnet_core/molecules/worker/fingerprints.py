"""One canonical SMILES -> how often it holds every substructure of six kinds. Runs in a worker."""

from __future__ import annotations

from rdkit import Chem
from rdkit.Chem import rdFingerprintGenerator as generators
from rdkit.Chem import rdMolDescriptors

from kcnet_core.molecules.fingerprint_table import (
    KINDS,
    LONGEST_PAIR,
    LONGEST_PATH,
    RADIUS,
)

COUNTED = {
    "environment": generators.GetMorganGenerator(radius=RADIUS, fpSize=KINDS["environment"].size),
    "pair": generators.GetAtomPairGenerator(maxDistance=LONGEST_PAIR, fpSize=KINDS["pair"].size),
    "torsion": generators.GetTopologicalTorsionGenerator(fpSize=KINDS["torsion"].size),
    "role": generators.GetMorganGenerator(
        radius=RADIUS,
        fpSize=KINDS["role"].size,
        atomInvariantsGenerator=generators.GetMorganFeatureAtomInvGen(),
    ),
    "path": generators.GetRDKitFPGenerator(maxPath=LONGEST_PATH, fpSize=KINDS["path"].size),
}
MOST = 255  # of one substructure


def substructure_counts(smiles: str) -> list[list[int]]:
    """Places in `fingerprint_table.NAMES` that are not zero, and how often each is there."""
    mol = Chem.MolFromSmiles(smiles)
    if mol is None:
        raise ValueError("it does not parse")
    places, counts = [], []
    for name, generator in COUNTED.items():
        found = generator.GetCountFingerprint(mol).GetNonzeroElements()
        places += [KINDS[name].start + place for place in found]
        counts += [min(count, MOST) for count in found.values()]
    keys = list(rdMolDescriptors.GetMACCSKeysFingerprint(mol).GetOnBits())
    return [places + [KINDS["key"].start + key for key in keys], counts + [1] * len(keys)]
