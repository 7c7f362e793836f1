"""A molecule changed by one step that chemists think in. Runs inside a molecule worker.

Each step is a reaction pattern applied at every place it fits; what is no possible molecule is
dropped, and what several places give is given once.
"""

from __future__ import annotations

import contextlib
import io

from rdkit import Chem
from rdkit.Chem import rdChemReactions

# What the step is called, and its pattern; atoms that are not named keep all that hangs on them.
STEPS = (
    ("one carbon longer", "[CX4H3:1][CX4;!R:2]>>[CH3:1][CH2][C:2]"),
    ("one carbon shorter", "[CX4H3:1][CX4H2;!R:2][*:3]>>[CH3:1][*:3]"),
    ("double bond in the chain", "[CX4H2:1][CX4H2:2]>>[CH:1]=[CH:2]"),
    ("double bond taken away", "[CX3:1]=[CX3:2]>>[C:1][C:2]"),
    ("branch: methyl moved", "[CX4H3:1][CX4H2:2][CX4H2:3]>>[CH2:2]([H])[CH:3][CH3:1]"),
    ("methyl moved by one carbon", "[CX4H1:1]([CX4H3:2])[CX4H2:3]>>[CH2:1][CH:3][CH3:2]"),
    ("methyl moved on the ring", "[c:1](-[CX4H3:2]):[cH:3]>>[cH:1]:[c:3]-[CH3:2]"),
    ("methyl added", "[CX4H2:1]>>[CH:1][CH3]"),
    ("methyl taken away", "[CX4H3][CX4;H1,H0:1]>>[C:1][H]"),
    ("methyl on the aromatic ring", "[cH:1]>>[c:1][CH3]"),
    ("methyl ester for acid", "[CX3:1](=[O:2])[OX2H:3]>>[C:1](=[O:2])[O:3]C"),
    ("ethyl ester for acid", "[CX3:1](=[O:2])[OX2H:3]>>[C:1](=[O:2])[O:3]CC"),
    ("acid for ester", "[CX3:1](=[O:2])[OX2:3]-;!@[#6]>>[C:1](=[O:2])[OH:3]"),
    ("acetate for alcohol", "[CX4:1][OX2H:2]>>[C:1][O:2]C(C)=O"),
    ("alcohol for acetate", "[#6:1][OX2:2][CX3](=O)[CH3]>>[#6:1][OH:2]"),
    ("aldehyde for alcohol", "[CX4H2:1][OX2H:2]>>[CH:1]=[O:2]"),
    ("ketone for alcohol", "[CX4H1;!$(C(O)O):1]([#6:3])([#6:4])[OX2H:2]"
     ">>[C:1]([#6:3])([#6:4])=[O:2]"),
    ("alcohol for aldehyde", "[CX3H1:1](=[OX1:2])[#6:3]>>[CH2:1]([OH:2])[#6:3]"),
    ("alcohol for ketone", "[#6:3][CX3:1](=[OX1:2])[#6:4]>>[#6:3][CH:1]([OH:2])[#6:4]"),
    ("nitrile for aldehyde", "[CX3H1:1](=[OX1])[#6:3]>>[C:1](#N)[#6:3]"),
    ("methoxy for hydroxyl", "[c:1][OX2H:2]>>[c:1][O:2]C"),
    ("hydroxyl for methoxy", "[c:1][OX2:2][CH3]>>[c:1][OH:2]"),
    ("ethoxy for methoxy", "[c:1][OX2:2][CH3:3]>>[c:1][O:2][CH2:3]C"),
    ("thiol for alcohol", "[CX4:1][OX2H]>>[C:1]S"),
)  # fmt: skip
MOST_OF_EACH = 6


def one_step_edits(smiles: str) -> list[tuple[str, str]]:
    """(step, canonical SMILES) of everything one step away."""
    mol = Chem.MolFromSmiles(smiles)
    if mol is None:
        raise ValueError("it does not parse")
    found: dict[str, str] = {}
    with contextlib.redirect_stderr(io.StringIO()):
        for step, reaction in _REACTIONS:
            new = 0
            for (product,) in reaction.RunReactants((mol,), maxProducts=60):
                edited = _possible(product)
                if edited and edited != smiles and edited not in found and new < MOST_OF_EACH:
                    found[edited], new = step, new + 1
    return [(step, edited) for edited, step in found.items()]


def _possible(product: Chem.Mol) -> str | None:
    try:
        Chem.SanitizeMol(product)
        text = Chem.MolToSmiles(Chem.RemoveHs(product))
        mol = Chem.MolFromSmiles(text)
    except Exception:  # no possible molecule
        return None
    if mol is None or "." in text or any(atom.GetNumRadicalElectrons() for atom in mol.GetAtoms()):
        return None
    return Chem.MolToSmiles(mol)


_REACTIONS = tuple((step, rdChemReactions.ReactionFromSmarts(pattern)) for step, pattern in STEPS)
