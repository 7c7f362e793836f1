"""One canonical SMILES -> its RDKit 2D descriptors. Runs inside a molecule worker."""

from __future__ import annotations

from functools import partial

from rdkit import Chem
from rdkit.Chem import QED, Descriptors, rdMolDescriptors

from kcnet_core.descriptor_table import DESCRIPTOR_NAMES


def descriptor_values(smiles: str) -> list[float]:
    """Values in the order of DESCRIPTOR_NAMES; NaN where RDKit has none."""
    mol = Chem.MolFromSmiles(smiles)
    if mol is None:
        raise ValueError("it does not parse")
    values = []
    for compute in _COMPUTE:
        try:
            values.append(float(compute(mol)))
        except Exception:
            values.append(float("nan"))
    return values


def _qed(mol: Chem.Mol) -> float:
    """RDKit's qed in about half the time: `QED.properties` works on a copy, for which it computes
    again what RDKit keeps with the molecule. The copy only serves to drop explicit hydrogens, of
    which a checked molecule has none."""
    strict = rdMolDescriptors.NumRotatableBondsOptions.Strict
    aromatic = Chem.DeleteSubstructs(Chem.Mol(mol), QED.AliphaticRings)
    properties = QED.QEDproperties(
        MW=rdMolDescriptors._CalcMolWt(mol),
        ALOGP=rdMolDescriptors.CalcCrippenDescriptors(mol)[0],
        HBA=sum(len(mol.GetSubstructMatches(pattern)) for pattern in QED.Acceptors),
        HBD=rdMolDescriptors.CalcNumHBD(mol),
        PSA=rdMolDescriptors.CalcTPSA(mol),
        ROTB=rdMolDescriptors.CalcNumRotatableBonds(mol, strict),
        AROM=len(Chem.GetSSSR(aromatic)),
        ALERTS=sum(mol.HasSubstructMatch(alert) for alert in QED.StructuralAlerts),
    )
    return QED.qed(mol, qedProperties=properties)


_FUNCTIONS = {**dict(Descriptors.descList), "qed": _qed}
# By default each of these four computes all electrotopological states again.
for _name in ("MaxEStateIndex", "MinEStateIndex", "MaxAbsEStateIndex", "MinAbsEStateIndex"):
    _FUNCTIONS[_name] = partial(_FUNCTIONS[_name], force=False)
_COMPUTE = tuple(_FUNCTIONS[name] for name in DESCRIPTOR_NAMES)
