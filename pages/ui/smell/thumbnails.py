"""Small drawings for a table of many molecules, less than half as heavy as RDKit writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from kcnet_core.molecules.pictures import molecule_svgs

WIDTH, HEIGHT = 130, 84
_CLASS = re.compile(r" class='[^']*'")
_STROKE = re.compile(
    r" style='fill:none;fill-rule:evenodd;stroke:(#\w+);stroke-width:[\d.]+px;[^']*'"
)
_HEAD = re.compile(r"<svg[^>]*?(width='[^']*' height='[^']*' viewBox='[^']*')>", re.S)
_NAMESPACE = "xmlns='http://www.w3.org/2000/svg' fill='none' stroke-width='1.6'"


def thumbnails(smiles: Sequence[str], dark: bool) -> list[str]:
    """Data URIs for an image column."""
    return [_light(svg) for svg in molecule_svgs(smiles, WIDTH, HEIGHT, dark)]


def _light(svg: str) -> str:
    svg = _CLASS.sub("", _STROKE.sub(r" stroke='\1'", _HEAD.sub(rf"<svg {_NAMESPACE} \1>", svg)))
    return "data:image/svg+xml," + quote(" ".join(svg.split()), safe=" =:/',;()-.<>")
