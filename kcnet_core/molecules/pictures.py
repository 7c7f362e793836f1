"""Drawings of molecules for pages and tables: SVG text, and as data URIs for image columns."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from kcnet_core.molecules.pool import RememberedTask
from kcnet_core.palette import theme

_draw = RememberedTask("draw", capacity=4096)


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
    out gives a neutral picture, not an error.
    """
    weights = None if atom_weights is None else tuple(map(float, atom_weights))
    return _svgs([(smiles, width, height, weights, dark)])[0]


def molecule_svgs(smiles: Sequence[str], width: int, height: int, dark: bool = False) -> list[str]:
    """Many drawings at once."""
    return _svgs([(text, width, height, None, dark) for text in smiles])


def svg_data_uri(svg: str) -> str:
    """An SVG as a `data:` address, for <img> and image columns."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def _svgs(requests: list[tuple]) -> list[str]:
    svgs = []
    for request, reply in zip(requests, _draw(requests), strict=True):
        if reply.failure is not None:
            _, width, height, *_, dark = request
            svgs.append(_neutral_picture(width, height, dark))
        elif "svg" in reply.value:
            svgs.append(reply.value["svg"])
        else:
            raise ValueError(
                f"{len(request[3])} atom weights for the {reply.value['n_atoms']} atoms of "
                f"{request[0]}"
            )
    return svgs


def _neutral_picture(width: int, height: int, dark: bool) -> str:
    colour = theme(dark).muted
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' "
        f"viewBox='0 0 {width} {height}'>"
        f"<rect x='4' y='4' width='{width - 8}' height='{height - 8}' rx='8' fill='none' "
        f"stroke='{colour}' stroke-dasharray='4 4'/>"
        f"<text x='50%' y='50%' fill='{colour}' font-family='sans-serif' font-size='12' "
        "text-anchor='middle' dominant-baseline='middle'>no drawing</text></svg>"
    )
