"""One SMILES -> the parts that chemists see in it, and where its counted substructures lie.

Every heavy atom belongs to exactly one part: a group, else a ring system, else a bond or chain of
what is left. Runs inside a molecule worker; atoms are numbered as they stand in the SMILES.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from rdkit import Chem
from rdkit.Chem import Fragments, MACCSkeys, rdMolDescriptors
from rdkit.Chem import rdFingerprintGenerator as generators

from kcnet_core.molecules.worker.fingerprints import COUNTED

# The first that fits an atom has it.
GROUPS = (
    ("lactone (cyclic ester)", "[#6;R](=[OX1])@[O,o;R]"),
    ("carboxylic acid", "[CX3](=[OX1])[OX2H1,OX1-]"),
    ("ester group", "[CX3](=[OX1])[OX2;$(O[#6])]"),
    ("thioester group", "[CX3](=[OX1])[SX2]"),
    ("amide group", "[CX3](=[OX1])[NX3]"),
    ("aldehyde group", "[CX3;H1,H2]=[OX1]"),
    ("ketone group", "[CX3;$(C([#6])[#6])]=[OX1]"),
    ("ketone group", "[c]=[OX1]"),
    ("C=O of another kind", "[CX3]=[OX1]"),
    ("nitrile group", "[CX2]#[NX1]"),
    ("isothiocyanate group", "[NX2]=[CX2]=[SX1]"),
    ("nitro group", "[$([NX3](=O)=O),$([NX3+](=O)[O-])](~[OX1])~[OX1]"),
    ("oxime group", "[CX3]=[NX2][OX2H]"),
    ("epoxide", "[#6;r3]1[OX2;r3][#6;r3]1"),
    ("methylenedioxy bridge", "[OX2;R;$(Oc)][CH2;R][OX2;R;$(Oc)]"),
    ("phenol group", "[OX2H;$(Oc)]"),
    ("alcohol group", "[OX2H]"),
    ("methoxy group", "[OX2;!R][CH3]"),
    ("acetal group", "[OX2;!R][CX4;!R][OX2;!R]"),
    ("ether group", "[OX2;!R]"),
    ("thiol group", "[SX2H]"),
    ("disulfide group", "[SX2;!R][SX2;!R]"),
    ("sulfide group", "[#16;!R]"),
    ("amine group", "[#7;!R]"),
    ("halogen", "[F,Cl,Br,I]"),
)  # fmt: skip
# Aromatic rings with a name, by all their atoms.
RINGS = (
    ("benzene ring", "c1ccccc1"), ("pyridine ring", "c1ccncc1"), ("pyrazine ring", "c1cnccn1"),
    ("pyrimidine ring", "c1cncnc1"), ("furan ring", "o1cccc1"), ("thiophene ring", "s1cccc1"),
    ("pyrrole ring", "n1cccc1"), ("thiazole ring", "s1cncc1"), ("oxazole ring", "o1cncc1"),
    ("imidazole ring", "n1cncc1"), ("indole rings", "c1ccc2c(c1)ccn2"),
    ("quinoline rings", "c1ccc2c(c1)cccn2"), ("naphthalene rings", "c1ccc2c(c1)cccc2"),
)  # fmt: skip
DOUBLE, TRIPLE = "double bond", "triple bond"
_GROUPS = tuple((word, Chem.MolFromSmarts(pattern)) for word, pattern in GROUPS)
_RINGS = tuple((word, Chem.MolFromSmarts(pattern)) for word, pattern in RINGS)
_MULTIPLE = ((DOUBLE, Chem.MolFromSmarts("[#6]=[#6]")), (TRIPLE, Chem.MolFromSmarts("[#6]#[#6]")))
_FRAGMENTS = {
    name: next(one for one in count.__defaults__ if isinstance(one, Chem.Mol))
    for name, count in Fragments.fns
}
_KEYS = {
    key: Chem.MolFromSmarts(pattern)
    for key, (pattern, _) in MACCSkeys.smartsPatts.items()
    if pattern != "?"
}


def parts_and_places(smiles: str) -> dict:
    """`{"parts": [[word, atoms], ...], "places": {input: [atoms, weights]}}`."""
    mol = Chem.MolFromSmiles(smiles)
    if mol is None:
        raise ValueError("it does not parse")
    return {"parts": parts(mol), "places": places(mol)}


def parts(mol: Chem.Mol) -> list[tuple[str, list[int]]]:
    """The parts in the order in which they are looked for; together they are the molecule."""
    free = {atom.GetIdx() for atom in mol.GetAtoms()}
    found: list[tuple[str, list[int]]] = []

    def claim(word: str, atoms) -> None:
        if mine := sorted(free.intersection(atoms)):
            found.append((word, mine))
            free.difference_update(mine)

    for word, pattern in _GROUPS:
        for match in mol.GetSubstructMatches(pattern):
            if free.issuperset(match):
                claim(word, match)
    for rings in _ring_systems(mol):
        claim(_ring_word(mol, rings, free), set().union(*rings))
    for word, pattern in _MULTIPLE:
        for match in mol.GetSubstructMatches(pattern):
            if free.intersection(match):
                claim(word, match)
    while free:
        chain = _connected(mol, free)
        claim(_chain_word(mol, chain), chain)
    return found


def places(mol: Chem.Mol) -> dict[str, tuple[list[int], list[float]]]:
    """Where each counted substructure and each fragment lies: its atoms, each with its weight.

    Every occurrence weighs one, and the same on each of its atoms.
    """
    found: dict[str, list[set[int]]] = {}
    for kind, generator in COUNTED.items():
        seen = generators.AdditionalOutput()
        seen.AllocateBitInfoMap()
        seen.AllocateBitPaths()
        generator.GetCountFingerprint(mol, additionalOutput=seen)
        listed = seen.GetBitPaths() if kind in ("torsion", "path") else seen.GetBitInfoMap()
        lies = _LIES.get(kind, _those)
        for bit, each in (listed or {}).items():
            found[f"{kind} {bit}"] = [lies(mol, *one) for one in each]
    on = rdMolDescriptors.GetMACCSKeysFingerprint(mol).GetOnBits()
    patterns = _FRAGMENTS | {f"key {key}": _KEYS[key] for key in on if key in _KEYS}
    for name, pattern in patterns.items():
        if matches := mol.GetSubstructMatches(pattern):
            found[name] = list(map(set, matches))
    found |= _counted_rings(mol)
    return {name: _weights(times) for name, times in found.items()}


def _counted_rings(mol: Chem.Mol) -> dict[str, list[set[int]]]:
    """The rings that each descriptor counts, as far as there are any."""
    found: dict[str, list[set[int]]] = defaultdict(list)
    rings = mol.GetRingInfo()
    for atoms, bonds in zip(rings.AtomRings(), rings.BondRings(), strict=True):
        kinds = [mol.GetBondWithIdx(k) for k in bonds]
        aromatic = all(bond.GetIsAromatic() for bond in kinds)
        saturated = all(bond.GetBondType() == Chem.BondType.SINGLE for bond in kinds)
        carbon = all(mol.GetAtomWithIdx(k).GetAtomicNum() == 6 for k in atoms)
        for kind in ["Aromatic"] if aromatic else ["Aliphatic", *(["Saturated"] * saturated)]:
            found[f"Num{kind}Rings"].append(set(atoms))
            found[f"Num{kind}{'Carbocycles' if carbon else 'Heterocycles'}"].append(set(atoms))
        found["RingCount"].append(set(atoms))
    return found


def _weights(times: list[set[int]]) -> tuple[list[int], list[float]]:
    weights: dict[int, float] = defaultdict(float)
    for atoms in times:
        for atom in atoms:
            weights[atom] += 1 / len(atoms)
    return list(weights), list(weights.values())


def _around(mol: Chem.Mol, atom: int, radius: int) -> set[int]:
    reached = {atom}
    for _ in range(radius):
        reached |= {n.GetIdx() for one in reached for n in mol.GetAtomWithIdx(one).GetNeighbors()}
    return reached


def _those(mol: Chem.Mol, *atoms: int) -> set[int]:
    return set(atoms)


def _along(mol: Chem.Mol, *bonds: int) -> set[int]:
    ends = (mol.GetBondWithIdx(bond) for bond in bonds)
    return {atom for bond in ends for atom in (bond.GetBeginAtomIdx(), bond.GetEndAtomIdx())}


# Atoms of an occurrence, where it is not told by them: by atom and radius, or by bonds.
_LIES: dict[str, Callable[..., set[int]]] = {
    "environment": _around,
    "role": _around,
    "path": _along,
}


def _ring_systems(mol: Chem.Mol) -> list[list[set[int]]]:
    """Rings that share an atom belong together."""
    systems: list[list[set[int]]] = []
    for ring in map(set, mol.GetRingInfo().AtomRings()):
        joined = [system for system in systems if any(ring & other for other in system)]
        systems = [system for system in systems if system not in joined]
        systems.append([ring, *(other for system in joined for other in system)])
    return systems


def _ring_word(mol: Chem.Mol, rings: list[set[int]], free: set[int]) -> str:
    left = free.intersection(set().union(*rings))
    for word, pattern in _RINGS:
        if any(set(match) == left for match in mol.GetSubstructMatches(pattern)):
            return word
    if len(rings) > 1:
        sizes = sorted((len(ring) for ring in rings), reverse=True)
        aromatic = all(mol.GetAtomWithIdx(k).GetIsAromatic() for ring in rings for k in ring)
        return f"{'aromatic ' if aromatic else ''}rings of {' and '.join(map(str, sizes))}"
    (ring,) = rings
    others = sorted({mol.GetAtomWithIdx(k).GetSymbol() for k in ring} - {"C"})
    return f"ring of {len(ring)}" + (f" with {' and '.join(others)}" if others else "")


def _connected(mol: Chem.Mol, free: set[int]) -> set[int]:
    """The atoms that hang together with the first of `free`, through `free` alone."""
    reached, waiting = set(), [min(free)]
    while waiting:
        one = waiting.pop()
        if one not in reached:
            reached.add(one)
            waiting += [
                n.GetIdx() for n in mol.GetAtomWithIdx(one).GetNeighbors() if n.GetIdx() in free
            ]
    return reached


def _chain_word(mol: Chem.Mol, chain: set[int]) -> str:
    atoms = [mol.GetAtomWithIdx(k) for k in chain]
    if any(atom.GetSymbol() != "C" for atom in atoms):
        return "other atoms"
    ends = sum(atom.GetTotalNumHs() == 3 for atom in atoms)
    inside = [sum(n.GetIdx() in chain for n in atom.GetNeighbors()) for atom in atoms]
    if (len(atoms), ends) in _SMALL:
        return _SMALL[len(atoms), ends]
    return f"{'branched ' if max(inside) > 2 else ''}chain of {len(atoms)} carbons"


_SMALL = {
    (1, 1): "methyl group",
    (1, 0): "single carbon",
    (2, 1): "ethyl group",
    (3, 2): "isopropyl group",
    (4, 3): "tert-butyl group",
}
