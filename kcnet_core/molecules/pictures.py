"""Drawings of molecules for pages and tables: SVG text, and as data URIs for image columns."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

from kcnet_core.molecules.pool import RememberedTask
from kcnet_core.palette import theme

_draw = RememberedTask("draw", capacity=4096)
_mol_file = RememberedTask("mol_file", capacity=256)
# What RDKit's drawing needs of the system, and the packages of Debian and Ubuntu that have it.
SYSTEM_LIBRARIES = {
    "libXrender.so.1": "libxrender1",
    "libXext.so.6": "libxext6",
    "libX11.so.6": "libx11-6",
    "libexpat.so.1": "libexpat1",
}


def molecule_svg(
    smiles: str,
    width: int = 220,
    height: int = 160,
    atom_weights: Sequence[float] | None = None,
    dark: bool = False,
) -> str:
    """Draw one molecule, so many pixels large, on a transparent background, perhaps a dark one.

    `atom_weights` are one per heavy atom, in the order in which the atoms stand in `smiles`:
    positive ones get an orange halo, negative ones a purple one. A molecule that RDKit cannot lay
    out gives a neutral picture, not an error; so does a machine that lacks a library for drawing,
    and the picture then names it.
    """
    weights = None if atom_weights is None else tuple(map(float, atom_weights))
    return _svgs([(smiles, width, height, weights, 0.0, dark)])[0]


def molecule_svgs(smiles: Sequence[str], width: int, height: int, dark: bool = False) -> list[str]:
    """Many drawings at once."""
    return _svgs([(text, width, height, None, 0.0, dark) for text in smiles])


def weighted_svgs(
    drawn: Sequence[tuple[str, Sequence[float]]], width: int, height: int, dark: bool = False
) -> list[str]:
    """Many drawings, each a SMILES and its atom weights, whose halos have one scale."""
    weights = [tuple(map(float, mine)) for _, mine in drawn]
    strongest = max((abs(one) for mine in weights for one in mine), default=0.0)
    return _svgs([(smiles, width, height, mine, strongest, dark)
                  for (smiles, _), mine in zip(drawn, weights, strict=True)])  # fmt: skip


def mol_file(smiles: str) -> str | None:
    """One molecule as it lies on paper, for an editor; None where RDKit fails."""
    return _mol_file([smiles])[0].value


def svg_data_uri(svg: str) -> str:
    """An SVG as a `data:` address, for <img> and image columns."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def missing_library() -> str | None:
    """The library of the system without which nothing can be drawn here; None if all is there."""
    return (_draw([("C", 60, 40, None, 0.0, False)])[0].value or {}).get("missing")


def _svgs(requests: list[tuple]) -> list[str]:
    svgs = []
    for request, reply in zip(requests, _draw(requests), strict=True):
        missing = (reply.value or {}).get("missing")
        if reply.failure is not None or missing is not None:
            _, width, height, *_, dark = request
            svgs.append(_neutral_picture(width, height, dark, missing))
        elif "svg" in reply.value:
            svgs.append(reply.value["svg"])
        else:
            raise ValueError(
                f"{len(request[3])} atom weights for the {reply.value['n_atoms']} atoms of "
                f"{request[0]}"
            )
    return svgs


def _neutral_picture(width: int, height: int, dark: bool, missing: str | None) -> str:
    colour = theme(dark).muted
    lines = ["no drawing"]
    if missing is not None:
        package = SYSTEM_LIBRARIES.get(missing)
        lines += [f"{escape(missing)} is missing", *([f"(package {package})"] if package else [])]
    first = height / 2 - 8 * (len(lines) - 1)
    spans = "".join(
        f"<tspan x='50%' y='{first + 16 * k:g}'>{line}</tspan>" for k, line in enumerate(lines)
    )
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' "
        f"viewBox='0 0 {width} {height}'>"
        f"<rect x='4' y='4' width='{width - 8}' height='{height - 8}' rx='8' fill='none' "
        f"stroke='{colour}' stroke-dasharray='4 4'/>"
        f"<text fill='{colour}' font-family='sans-serif' font-size='11' "
        f"text-anchor='middle' dominant-baseline='middle'>{spans}</text></svg>"
    )
