"""One canonical SMILES -> its RDKit 2D descriptors, fingerprint or scaffold. Runs in a worker."""

from __future__ import annotations

from contextlib import suppress
from functools import cache, partial

import numpy as np
from rdkit import Chem
from rdkit.Chem import QED, Descriptors, Fragments, rdFingerprintGenerator, rdMolDescriptors
from rdkit.Chem.EState import EState
from rdkit.Chem.Scaffolds import MurckoScaffold
from rdkit.DataStructs import BitVectToBinaryText

from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES
from kcnet_core.molecules.worker.substructure_screen import ScreenedPatterns

UNCONNECTED = 1e6  # bonds; RDKit's distance between two parts of a salt is more
ALERTS = ScreenedPatterns(QED.StructuralAlerts)
# RDKit holds the pattern of a fragment as the default of its function's last argument.
FRAGMENTS = ScreenedPatterns(count.__defaults__[-1] for _, count in Fragments.fns)


_environments = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)


def morgan_bits(smiles: str) -> str:
    """Which environments of atoms a molecule holds, as hexadecimal digits."""
    return BitVectToBinaryText(_environments.GetFingerprint(_parsed(smiles))).hex()


def ring_scaffold(smiles: str) -> str:
    """Its rings and what links them (Bemis and Murcko), without stereo marks; "" without a ring."""
    scaffold = MurckoScaffold.GetScaffoldForMol(_parsed(smiles))
    return Chem.MolToSmiles(scaffold, isomericSmiles=False)


def _parsed(smiles: str) -> Chem.Mol:
    mol = Chem.MolFromSmiles(smiles)
    if mol is None:
        raise ValueError("it does not parse")
    return mol


def descriptor_values(smiles: str) -> list[float]:
    """Values in the order of DESCRIPTOR_NAMES; NaN where RDKit has none."""
    mol = _parsed(smiles)
    mol._eStateIndices = _e_states(mol)  # where RDKit's own functions look for them
    values = dict.fromkeys(DESCRIPTOR_NAMES, np.nan)
    for names, compute in _FAMILIES:
        with suppress(Exception):
            values.update(zip(names, compute(mol), strict=True))
    for name, compute in _SINGLE:
        with suppress(Exception):
            values[name] = compute(mol)
    return [float(value) for value in values.values()]


def _e_states(mol: Chem.Mol) -> np.ndarray:
    """RDKit's `EStateIndices`, whose loop over pairs of atoms takes longer."""
    states = []
    for atom in mol.GetAtoms():
        degree = atom.GetDegree()
        outer, weight = _shell(atom.GetAtomicNum())
        states.append((weight * (outer - atom.GetTotalNumHs()) + 1) / degree if degree else 0.0)
    intrinsic = np.array(states)
    distances = Chem.GetDistanceMatrix(mol) + 1
    near = distances < UNCONNECTED
    pairs = np.where(near, intrinsic[:, None] - intrinsic, 0.0) / distances**2
    return intrinsic + pairs.sum(1)


@cache
def _shell(number: int) -> tuple[int, float]:
    """Electrons in an element's outer shell, and their weight in an intrinsic state."""
    outer = Chem.GetPeriodicTable().GetNOuterElecs(number)
    return outer, 4.0 / EState.GetPrincipleQuantumNumber(number) ** 2


def _qed(mol: Chem.Mol) -> float:
    """RDKit's qed in less than half the time: `QED.properties` works on a copy, for which it
    computes again what RDKit keeps with the molecule. The copy only serves to drop explicit
    hydrogens, of which a checked molecule has none."""
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
        ALERTS=ALERTS.n_found(mol),
    )
    return QED.qed(mol, qedProperties=properties)


def _numbered(name: str, n: int) -> tuple[str, ...]:
    return tuple(f"{name}{k + 1}" for k in range(n))


# Asked for one by one, each of these would fetch its whole family.
_FAMILIES = (
    (tuple(name for name, _ in Fragments.fns), FRAGMENTS.counts),
    (_numbered("PEOE_VSA", 14), rdMolDescriptors.PEOE_VSA_),
    (_numbered("SMR_VSA", 10), rdMolDescriptors.SMR_VSA_),
    (_numbered("SlogP_VSA", 12), rdMolDescriptors.SlogP_VSA_),
)
_FUNCTIONS = {**dict(Descriptors.descList), "qed": _qed}
# By default each of these four computes all electrotopological states again.
for _name in ("MaxEStateIndex", "MinEStateIndex", "MaxAbsEStateIndex", "MinAbsEStateIndex"):
    _FUNCTIONS[_name] = partial(_FUNCTIONS[_name], force=False)
_IN_FAMILIES = {name for names, _ in _FAMILIES for name in names}
_SINGLE = tuple((name, _FUNCTIONS[name]) for name in DESCRIPTOR_NAMES if name not in _IN_FAMILIES)
