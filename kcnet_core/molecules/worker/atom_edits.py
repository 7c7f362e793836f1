"""A molecule with one of its atoms taken out, for every atom. Runs inside a molecule worker.

The atom goes, and the gap is closed by a single bond so that what remains is one molecule: between
its two neighbours in the ring, or between the two largest parts that it held together in a chain.
Smaller parts that hung on it alone fall off, and hydrogens fill what is free. An atom where rings
meet has several pairs of ring neighbours; each closes the gap in its own way.
"""

from __future__ import annotations

from itertools import combinations

from rdkit import Chem

MOST_PAIRS = 3  # an atom where two rings meet has three ring neighbours


def without_each_atom(smiles: str) -> list[list[str]]:
    """For every atom, in the order of `smiles`, the molecules that are left without it.

    An atom without which nothing chemically possible is left has an empty list.
    """
    mol = Chem.MolFromSmiles(smiles)
    if mol is None:
        raise ValueError("it does not parse")
    Chem.Kekulize(mol, clearAromaticFlags=True)
    return [_without(mol, atom) for atom in mol.GetAtoms()]


def _without(mol: Chem.Mol, atom: Chem.Atom) -> list[str]:
    found = (_closed(mol, atom.GetIdx(), pair) for pair in _gaps(mol, atom))
    return list(dict.fromkeys(smiles for smiles in found if smiles is not None))


def _gaps(mol: Chem.Mol, atom: Chem.Atom) -> list[tuple[int, int] | None]:
    """Pairs of neighbours to join when `atom` is gone; None where there is nothing to join."""
    index = atom.GetIdx()
    in_ring = [bond.GetOtherAtomIdx(index) for bond in atom.GetBonds() if bond.IsInRing()]
    if in_ring:
        pairs = list(combinations(in_ring, 2))[:MOST_PAIRS]
    else:
        held = sorted(
            (neighbour.GetIdx() for neighbour in atom.GetNeighbors()),
            key=lambda start: -len(_part(mol, start, index)),
        )
        pairs = [(held[0], held[1])] if len(held) > 1 else []
    free = (pair for pair in pairs if mol.GetBondBetweenAtoms(*pair) is None)
    return [*free] or [None]


def _part(mol: Chem.Mol, start: int, without: int) -> set[int]:
    """The atoms that `start` still holds together when `without` is gone."""
    reached, waiting = {start}, [start]
    while waiting:
        for neighbour in mol.GetAtomWithIdx(waiting.pop()).GetNeighbors():
            index = neighbour.GetIdx()
            if index != without and index not in reached:
                reached.add(index)
                waiting.append(index)
    return reached


def _free(atom: Chem.Atom) -> None:
    """Let hydrogens fill whatever valence becomes free."""
    atom.SetNoImplicit(False)
    atom.SetNumExplicitHs(0)
    atom.SetNumRadicalElectrons(0)


def _closed(mol: Chem.Mol, index: int, pair: tuple[int, int] | None) -> str | None:
    edited = Chem.RWMol(mol)
    for neighbour in edited.GetAtomWithIdx(index).GetNeighbors():
        _free(neighbour)
        # A charge that the bond to the lost atom called for goes, and its counter-charge with it.
        for other in neighbour.GetNeighbors():
            if neighbour.GetFormalCharge() * other.GetFormalCharge() < 0:
                other.SetFormalCharge(0)
                _free(other)
        neighbour.SetFormalCharge(0)
        neighbour.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)
    if pair is not None:
        edited.AddBond(*pair, Chem.BondType.SINGLE)
    edited.RemoveAtom(index)
    try:
        parts = Chem.GetMolFrags(edited, asMols=True, sanitizeFrags=True)
        if not parts:
            return None
        left = max(parts, key=lambda part: part.GetNumHeavyAtoms())
        return Chem.MolToSmiles(Chem.MolFromSmiles(Chem.MolToSmiles(left)))
    except Exception:  # no possible molecule is left
        return None
