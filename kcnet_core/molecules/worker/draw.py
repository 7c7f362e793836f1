"""One SMILES -> an SVG drawing, with optional halos on its atoms. Runs inside a molecule worker."""

from __future__ import annotations

import math

from rdkit import Chem
from rdkit.Chem.Draw import rdMolDraw2D

from kcnet_core.molecules.worker.layout import lay_out
from kcnet_core.palette import colour_table, theme

_BOND_PIXELS = 26.0  # at most; larger molecules shrink to fit
_HALO_BONDS = 0.85  # radius of a halo in bond lengths
_HALO_OPACITY = 0.85  # of the strongest halo, at its centre
_HEADER_END = "<!-- END OF HEADER -->"

# Colour of an element's symbol on a light and on a dark page, by atomic number; others are as text.
_ATOM_COLOURS = {
    7: ("#1D4ED8", "#8AB4FF"),
    8: ("#B91C1C", "#FF8A80"),
    9: ("#0F766E", "#5EEAD4"),
    15: ("#9A3412", "#FDBA74"),
    16: ("#7C5E00", "#FACC15"),
    17: ("#15803D", "#86EFAC"),
    35: ("#7C2D12", "#FCA5A5"),
    53: ("#6B21A8", "#D8B4FE"),
}


def draw_svg(
    smiles: str, width: int, height: int, weights: list[float] | None, strongest: float, dark: bool
) -> dict:
    """`{"svg": ...}`, or `{"n_atoms": ...}` when the weights are not one per atom.

    A weight of `strongest` has the strongest halo; 0 takes the largest of the molecule's own.
    """
    mol = Chem.MolFromSmiles(smiles)
    if mol is None or not mol.GetNumAtoms():
        raise ValueError("it does not parse")
    n_atoms = mol.GetNumAtoms()
    if weights is not None and len(weights) != n_atoms:
        return {"n_atoms": n_atoms}
    drawer = rdMolDraw2D.MolDraw2DSVG(width, height)
    _set_options(drawer.drawOptions(), dark)
    lay_out(mol)
    mol = _prepared(mol)
    drawer.DrawMolecule(mol)
    halos = "" if weights is None else _halos(drawer, mol, n_atoms, weights, strongest, dark)
    drawer.FinishDrawing()
    svg = drawer.GetDrawingText()
    head, found, body = svg.partition(_HEADER_END)
    head = head[head.index("<svg") :]  # without the XML declaration, so that it can stand in a page
    return {"svg": head + halos + body if found else svg}


def _prepared(mol: Chem.Mol) -> Chem.Mol:
    for kekulize in (True, False):
        try:
            # Hydrogens that show a stereocentre are added after the other atoms.
            return rdMolDraw2D.PrepareMolForDrawing(mol, kekulize=kekulize)
        except (ValueError, RuntimeError):
            continue
    return mol


def _set_options(options, dark: bool) -> None:
    options.clearBackground = False
    options.prepareMolsBeforeDrawing = False
    options.fixedBondLength = _BOND_PIXELS
    options.bondLineWidth = 1.6
    options.scaleBondWidth = False
    options.padding = 0.06
    options.minFontSize = 7
    options.maxFontSize = 15
    options.multipleBondOffset = 0.17
    colours = {number: _rgb(pair[dark]) for number, pair in _ATOM_COLOURS.items()}
    default = _rgb(theme(dark).text)
    options.setAtomPalette({-1: default, 1: default, 6: default, **colours})
    options.setSymbolColour(default)
    options.setAnnotationColour(default)


def _halos(drawer, mol, n_atoms, weights, strongest, dark) -> str:
    """Circles that fade outwards: orange pushes up, purple pulls down, strength by opacity."""
    weights = [weight if math.isfinite(weight) else 0.0 for weight in weights]
    largest = strongest or max(map(abs, weights), default=0.0)
    if not largest:
        return ""
    places = [drawer.GetDrawCoords(index) for index in range(n_atoms)]
    bonds = [
        math.dist((a.x, a.y), (b.x, b.y))
        for bond in mol.GetBonds()
        if max(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) < n_atoms
        for a, b in [(places[bond.GetBeginAtomIdx()], places[bond.GetEndAtomIdx()])]
    ]
    radius = _HALO_BONDS * (sum(bonds) / len(bonds) if bonds else _BOND_PIXELS)
    page = "dark" if dark else "light"
    scores = colour_table("diverging", dark)  # as the preference scores: purple below, orange above
    parts = ["<defs>"]
    for sign, place in (("down", 1 / 6), ("up", 5 / 6)):
        colour = "#{:02X}{:02X}{:02X}".format(*scores[round(255 * place)])
        # Drawings on one page share these names; they all define the same gradient.
        parts.append(
            f"<radialGradient id='kcnet-halo-{sign}-{page}'>"
            f"<stop offset='0' stop-color='{colour}' stop-opacity='1'/>"
            f"<stop offset='0.45' stop-color='{colour}' stop-opacity='0.6'/>"
            f"<stop offset='1' stop-color='{colour}' stop-opacity='0'/></radialGradient>"
        )
    parts.append("</defs>")
    for place, weight in zip(places, weights, strict=True):
        strength = min(1.0, abs(weight) / largest)
        if strength < 0.02:
            continue
        sign = "up" if weight > 0 else "down"
        parts.append(
            f"<circle class='halo' cx='{place.x:.1f}' cy='{place.y:.1f}' r='{radius:.1f}' "
            f"fill='url(#kcnet-halo-{sign}-{page})' opacity='{_HALO_OPACITY * strength:.3f}'/>"
        )
    return "".join(parts)


def _rgb(colour: str) -> tuple[float, ...]:
    return tuple(part / 255 for part in bytes.fromhex(colour[1:]))
