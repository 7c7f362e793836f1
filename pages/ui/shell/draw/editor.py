"""A structure editor: JSME's paper under tools of ours, and text that follows what is drawn.

JSME comes in the wheel of streamlit-jsme, whose own component asks a public host for it first. Ours
takes its files from there, and this server hands them out; without the package nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import streamlit as st

from kcnet_core.limits import MAX_SMILES_LENGTH
from kcnet_core.molecules.pictures import mol_file
from pages.ui.shell import visitor
from pages.ui.shell.address import prefix
from pages.ui.shell.component import component

PATH = "/editor"  # where this server has JSME's files

_board = component(__file__, "kcnet_editor", isolate_styles=False)  # JSME looks itself up by its id


@cache
def files() -> Path | None:
    """The folder of JSME's files; None if the package is not installed."""
    found = find_spec("streamlit_jsme")
    folder = Path(found.origin).resolve().parent / "jsme" if found and found.origin else None
    return folder if folder and (folder / "jsme.nocache.js").is_file() else None


def editor(
    key: str, typed: str, smiles: str | None, take: Callable[[str], None], empty: str = ""
) -> None:
    """Draw `smiles`, the molecule that `typed` means, and hand what is drawn next to `take`.

    It is laid out here: JSME's own layout turns E into Z in large rings, and what nobody told into
    E. None means that it is no molecule: what was drawn stays. Text that came from the drawing
    itself is not drawn again. `empty` is said below an empty paper.
    """

    def drawn() -> None:
        new = (st.session_state.get(key) or {}).get("drawn")
        if isinstance(new, str) and len(new) <= MAX_SMILES_LENGTH and new.isascii():
            take(new)

    _board(
        key=key,
        data={
            "files": prefix() + PATH,
            "typed": typed,
            "smiles": smiles,
            "mol": mol_file(smiles) if smiles else None,
            "dark": visitor.dark(),
            "empty": empty,
        },
        on_drawn_change=drawn,
        height="content",
    )
