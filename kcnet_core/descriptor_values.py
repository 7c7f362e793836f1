"""One canonical SMILES -> its RDKit 2D descriptors. Runs inside a molecule worker."""

from __future__ import annotations

from functools import partial

from rdkit import Chem
from rdkit.Chem import Descriptors

from kcnet_core.descriptor_table import DESCRIPTOR_NAMES

_FUNCTIONS = dict(Descriptors.descList)
# By default each of these four computes all electrotopological states again.
for _name in ("MaxEStateIndex", "MinEStateIndex", "MaxAbsEStateIndex", "MinAbsEStateIndex"):
    _FUNCTIONS[_name] = partial(_FUNCTIONS[_name], force=False)
_COMPUTE = tuple(_FUNCTIONS[name] for name in DESCRIPTOR_NAMES)


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
