"""Draw a molecule instead of typing it: the box's first line as a drawing, in step both ways."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kcnet_core.molecules.text import split_lines
from kcnet_core.smell.answers import Answers
from pages.ui.shell import session_keys
from pages.ui.shell.draw.editor import editor, files
from pages.ui.smell.ask import change, put, take


def switch() -> None:
    """A switch for the editor, if it is installed; a table is not drawn."""
    if files():
        st.toggle("Draw", key=session_keys.SMELL_DRAW, help="Draw the molecule of the first line.",
                  disabled=session_keys.SMELL_TABLE in st.session_state)  # fmt: skip


def beside(box: Callable[[], None]) -> DeltaGenerator | None:
    """Show the text box, and the place of the editor beside it if it is switched on."""
    drawing = st.session_state.get(session_keys.SMELL_DRAW) and files()
    if not drawing or session_keys.SMELL_TABLE in st.session_state:
        box()
        return None
    left, right = st.columns([5, 7], gap="medium")
    with left:
        box()
    return right


def show(place: DeltaGenerator | None, answers: Answers | None) -> None:
    """The first molecule that was asked about, to be changed by hand."""
    if place is None:
        return
    row = answers.rows[0] if answers and answers.rows else None
    smiles = "" if row is None else row.molecule.smiles if row.molecule else None
    lines = split_lines(st.session_state.get(session_keys.SMELL_TEXT, ""))
    with place:
        editor(session_keys.SMELL_EDITOR, lines[0].text if lines else "", smiles, _take,
               "The paper is empty: draw a molecule, or type one.")  # fmt: skip


def _take(smiles: str) -> None:
    """The drawing takes the place of the first line."""
    _, answers = st.session_state.get(session_keys.SMELL_ANSWERS, (None, None))
    first = answers.answers[0] if answers else None
    lines = split_lines(st.session_state.get(session_keys.SMELL_TEXT, ""))
    if first is not None and smiles:
        change(first, smiles)
    elif len(lines) > 1 and smiles:
        take({lines[0].number: smiles})
    else:
        put(smiles)
