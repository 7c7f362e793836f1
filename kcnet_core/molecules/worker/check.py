"""One SMILES -> one checked molecule, or the reason why not. Runs inside a molecule worker."""

from __future__ import annotations

import contextlib
import io
import re

from rdkit import Chem, RDLogger, rdBase
from rdkit.Chem import Descriptors, rdMolDescriptors
from rdkit.Chem.MolStandardize import rdMolStandardize

from kcnet_core.limits import MAX_HEAVY_ATOMS

# Everything else in the periodic table is a metal.
_NOT_METALS = frozenset(
    re.findall(r"\w+", "H He B C N O F Ne Si P S Cl Ar Ge As Se Br Kr Te I Xe At Rn")
)
_ORDINARY_BONDS = frozenset(
    Chem.BondType.names[name] for name in ("SINGLE", "DOUBLE", "TRIPLE", "AROMATIC")
)
_ATOM_TOKEN = re.compile(r"\[[^\]]*\]|Br|Cl|[BCNOPSFIbcnops*]")
_RING_TOKEN = re.compile(r"\[[^\]]*\]|%\(\d+\)|%\d\d|\d")
_POSITION = re.compile(r"SMILES Parse Error: (.+?) while parsing: .*?around position (\d+)", re.S)
_PLAIN_REASON = re.compile(r"SMILES Parse Error: (.+?) for input", re.S)
_VALENCE = re.compile(r"Explicit valence for atom # (\d+)")

_BROKEN_INCHI = (
    "This InChI cannot be read (it is cut off, changed, or of a polymer): copy it again from its "
    "source, or paste the SMILES."
)

_uncharger = rdMolStandardize.Uncharger()
rdBase.LogToPythonStderr()  # so that a reason can be caught; only this process is affected


def check_smiles(smiles: str) -> dict:
    """What `read.Molecule` holds and perhaps `note` and `suggestion`; or `error` and perhaps
    `suggestion` (a SMILES that may be meant instead).

    `unreadable` marks a text that is not the SMILES of a possible molecule.
    """
    read_from = []
    if smiles.startswith("InChI="):
        drawn = _drawn_from_inchi(smiles)
        if drawn is None:
            return {"error": _BROKEN_INCHI}
        smiles, read_from = drawn, ["Read from its InChI."]
    mol, error = _parse(smiles)
    if mol is None:
        return {"error": error, "unreadable": True}
    if "." in smiles:
        fragments = Chem.GetMolFrags(mol, asMols=True)
        if len(fragments) > 1:
            return _several(mol, fragments)
    refusal = _refusal(mol)
    if refusal is not None:
        return refusal
    mol, notes = _plain(mol)
    notes = [*read_from, *notes]
    smiles, charge = Chem.MolToSmiles(mol), Chem.GetFormalCharge(mol)
    checked = {
        "smiles": smiles,
        "skeleton": without_stereo(smiles),
        "formula": rdMolDescriptors.CalcMolFormula(mol),
        "heavy_atoms": mol.GetNumHeavyAtoms(),
        "weight": rdMolDescriptors._CalcMolWt(mol),
        "charge": charge,
        "elements": sorted({atom.GetSymbol() for atom in mol.GetAtoms()} - {"H"}),
    }
    if charge:
        notes.append(f"This is an ion (charge {charge:+d}); ions do not reach the nose as such.")
        neutral = _neutral(mol)
        if neutral is not None:
            checked["suggestion"] = neutral
    if notes:
        checked["note"] = " ".join(notes)
    return checked


def without_stereo(smiles: str) -> str:
    """The skeleton of a canonical SMILES: the same atoms and bonds without stereo marks."""
    if not any(mark in smiles for mark in "@/\\"):
        return smiles
    return Chem.MolToSmiles(Chem.MolFromSmiles(smiles), isomericSmiles=False)


def _parse(smiles: str):
    """(mol, None), or (None, reason)."""
    log = io.StringIO()
    with contextlib.redirect_stderr(log):
        raw = Chem.MolFromSmiles(smiles, _RAW)
    if raw is None:
        return None, _syntax(smiles, log.getvalue())
    # Before the costly steps: perception and canonical order of huge molecules take long.
    n_heavy = raw.GetNumHeavyAtoms()
    if n_heavy > MAX_HEAVY_ATOMS:
        return None, (
            f"Too many atoms: {n_heavy} heavy atoms, the limit is {MAX_HEAVY_ATOMS}. "
            "Odorants have about 3 to 25."
        )
    with contextlib.redirect_stderr(log):
        mol = Chem.MolFromSmiles(smiles, _FULL)
    if mol is None:
        return None, _chemistry(smiles, raw, log.getvalue())
    return mol, None


def _parameters(**settings: bool) -> Chem.SmilesParserParams:
    parameters = Chem.SmilesParserParams()
    for name, value in {"allowCXSMILES": False, "parseName": False, **settings}.items():
        setattr(parameters, name, value)
    return parameters


_RAW, _FULL = _parameters(sanitize=False, removeHs=False), _parameters()


def _syntax(smiles: str, log: str) -> str:
    log = re.sub(r"^\[[\d:]+\] ", "", log, flags=re.M)
    found = _POSITION.search(log)
    if found:
        reason, position = found.group(1), int(found.group(2))
        reason = {
            "extra open parentheses": "a parenthesis is opened but never closed",
            "extra close parentheses": "a parenthesis is closed but never opened",
        }.get(reason, reason)
        near = f", near '{smiles[position - 1]}'" if position <= len(smiles) else ""
        return f"Does not parse: {reason} at position {position}{near}."
    plain = _PLAIN_REASON.search(log)
    reason = plain.group(1) if plain else "RDKit gives no reason"
    if reason == "unclosed ring":
        opened = _open_rings(smiles)
        where = " and ".join(f"{label} (position {position})" for label, position in opened)
        if len(opened) == 1:
            reason = f"ring closure {where} has no partner"
        elif opened:
            reason = f"ring closures {where} have no partner"
    return f"Does not parse: {reason}."


def _open_rings(smiles: str) -> list[tuple[str, int]]:
    opened: dict[str, int] = {}
    for token in _RING_TOKEN.finditer(smiles):
        if token.group().startswith("["):
            continue
        label = token.group().lstrip("%").strip("()")
        if opened.pop(label, None) is None:
            opened[label] = token.start() + 1
    return sorted(opened.items(), key=lambda item: item[1])[:3]


def _chemistry(smiles: str, raw: Chem.Mol, log: str) -> str:
    places = [token.start() + 1 for token in _ATOM_TOKEN.finditer(smiles)]

    def where(index: int) -> str:
        symbol = raw.GetAtomWithIdx(index).GetSymbol()
        if len(places) == raw.GetNumAtoms():
            return f"{symbol} at position {places[index]}"
        return f"{symbol} (atom {index + 1})"

    # Some valence errors show only after aromatic rings are worked out; the log names those too.
    valence = _VALENCE.search(log)
    if valence:
        return (
            f"Not a possible molecule: {where(int(valence.group(1)))} has more bonds than its "
            "valence permits (a missing charge or a bond too many)."
        )
    with contextlib.redirect_stderr(io.StringIO()):
        problems = Chem.DetectChemistryProblems(raw)
    for problem in problems:
        kind = problem.GetType()
        if kind == "KekulizeException":
            ring = ", ".join(where(index) for index in list(problem.GetAtomIndices())[:6])
            return (
                "Not a possible molecule: no alternating double bonds fit the aromatic (lower "
                f"case) atoms {ring}; a ring nitrogen may need its hydrogen, as [nH]."
            )
        if kind == "AtomKekulizeException":
            return (
                f"Not a possible molecule: {where(problem.GetAtomIdx())} is written as aromatic "
                "(lower case) but is in no ring."
            )
    reason = problems[0].Message() if problems else "RDKit cannot make sense of it"
    return f"Not a possible molecule: {reason}."


def _refusal(mol: Chem.Mol) -> dict | None:
    """Why a single, well-formed molecule is none this product can describe; or None."""
    symbols = {atom.GetSymbol() for atom in mol.GetAtoms()}
    metals = sorted(symbols - _NOT_METALS - {"*"})
    why = ""
    if "*" in symbols:
        why = "Holds a wildcard atom (*): write the whole structure."
    elif metals:
        why = (
            f"Holds a metal ({', '.join(metals)}); the descriptors are made for organic molecules."
        )
    elif any(bond.GetBondType() not in _ORDINARY_BONDS for bond in mol.GetBonds()):
        why = (
            "Holds a bond that is not single, double, triple or aromatic ($, ~ or an arrow): write "
            "ordinary bonds."
        )
    elif "C" not in symbols:
        why = "No carbon atom: the descriptors and the odor data here are of organic molecules."
    if why:
        return {"error": why}
    n_radical = Descriptors.NumRadicalElectrons(mol)
    if n_radical:
        refusal = {
            "error": f"A radical ({n_radical} unpaired electron{'s' if n_radical > 1 else ''}): "
            "odorants are closed-shell molecules; fill up the hydrogens."
        }
        filled = Chem.RWMol(mol)
        for atom in filled.GetAtoms():
            if atom.GetNumRadicalElectrons():
                atom.SetNumRadicalElectrons(0)
                atom.SetNoImplicit(False)
        return _suggest(refusal, filled)
    return None


def _plain(mol: Chem.Mol) -> tuple[Chem.Mol, list[str]]:
    """The molecule without atom maps and isotope labels, and what was changed."""
    notes = []
    mapped = [atom for atom in mol.GetAtoms() if atom.GetAtomMapNum()]
    labelled = [atom for atom in mol.GetAtoms() if atom.GetIsotope()]
    if mapped:
        notes.append("Atom map numbers were removed.")
    if labelled:
        notes.append(
            "Isotope labels were removed: the descriptors do not tell isotopes apart "
            "(deuterium counts as hydrogen)."
        )
    if not notes:
        return mol, notes
    for atom in mapped:
        atom.SetAtomMapNum(0)
    for atom in labelled:
        atom.SetIsotope(0)
    # Reading it again drops the hydrogens and stereocentres that only the labels had kept.
    return Chem.MolFromSmiles(Chem.MolToSmiles(mol)), notes


def _several(mol: Chem.Mol, fragments) -> dict:
    metals = sorted({atom.GetSymbol() for atom in mol.GetAtoms()} - _NOT_METALS - {"*"})
    charged = any(Chem.GetFormalCharge(fragment) for fragment in fragments)
    if metals:
        what = f"A metal salt ({', '.join(metals)})"
    elif charged or any(fragment.GetNumHeavyAtoms() == 1 for fragment in fragments):
        what = f"A salt or adduct of {len(fragments)} parts"
    else:
        what = f"A mixture of {len(fragments)} molecules"
    refusal = {"error": f"{what}, separated by dots; descriptors are of one molecule at a time."}
    organic = [
        fragment
        for fragment in fragments
        if any(atom.GetSymbol() == "C" for atom in fragment.GetAtoms())
        and _refusal(fragment) is None
    ]
    if not organic:
        return refusal
    largest = max(organic, key=lambda f: (f.GetNumHeavyAtoms(), rdMolDescriptors._CalcMolWt(f)))
    refusal["error"] += " The largest organic part is offered instead."
    return _suggest(refusal, largest)


def _suggest(refusal: dict, mol: Chem.Mol) -> dict:
    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(Exception):
        Chem.SanitizeMol(mol)
        plain, _ = _plain(Chem.Mol(mol))
        refusal["suggestion"] = _neutral(plain) or Chem.MolToSmiles(plain)
    return refusal


def _neutral(mol: Chem.Mol) -> str | None:
    """The uncharged form, where moving protons is enough to reach it."""
    with contextlib.redirect_stderr(io.StringIO()):
        neutral = _uncharger.uncharge(mol)
    return Chem.MolToSmiles(neutral) if Chem.GetFormalCharge(neutral) == 0 else None


def _drawn_from_inchi(text: str) -> str | None:
    """The SMILES of an InChI; one that RDKit cannot read, or that holds no atom, has none."""
    with contextlib.redirect_stderr(io.StringIO()):
        mol = Chem.MolFromInchi(text)
    return Chem.MolToSmiles(mol) if mol is not None and mol.GetNumAtoms() else None


def inchi_key(smiles: str) -> str:
    """The InChIKey of a canonical SMILES; "" where there is none."""
    with contextlib.redirect_stderr(io.StringIO()):
        return Chem.MolToInchiKey(Chem.MolFromSmiles(smiles))


RDLogger.logger().setLevel(RDLogger.ERROR)
