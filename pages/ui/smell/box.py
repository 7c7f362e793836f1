"""The text box of the Smell page, which answers while one types or pastes."""

from __future__ import annotations

import streamlit as st

from kcnet_core.limits import MAX_PASTED_CHARACTERS
from kcnet_core.molecules.text import too_long_sentence
from pages.ui.shell.component import component
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.session_keys import SMELL_BOX as KEY
from pages.ui.shell.session_keys import SMELL_TEXT as TEXT
from pages.ui.shell.session_keys import SMELL_TOO_LONG as TOO_LONG
from pages.ui.shell.session_keys import SMELL_VERSION as VERSION

_box = component(__file__, "kcnet_smell_box")


def put(text: str) -> None:
    """Replace what stands in the box."""
    st.session_state[TEXT] = text
    st.session_state[VERSION] = st.session_state.get(VERSION, 0) + 1
    st.session_state[TOO_LONG] = 0


def text() -> str:
    return st.session_state.get(TEXT, "")


def show() -> None:
    """The box. More than it takes is refused, and the old text stays."""
    _box(
        key=KEY,
        data={
            "text": text(),
            "version": st.session_state.setdefault(VERSION, 0),
            "longest": MAX_PASTED_CHARACTERS,
        },
        default={"typed": None},
        on_typed_change=_typed,
        height="content",
    )
    if too_long := st.session_state.get(TOO_LONG):
        st.error(escape_markdown(too_long_sentence(too_long)), icon=":material/error:")


def _typed() -> None:
    """What came from the browser; stale news from before we replaced the text do not count."""
    typed = (st.session_state.get(KEY) or {}).get("typed")
    if not isinstance(typed, dict) or typed.get("version") != st.session_state.get(VERSION):
        return
    length, new = typed.get("length"), typed.get("text")
    too_long = isinstance(length, int) and length > MAX_PASTED_CHARACTERS
    st.session_state[TOO_LONG] = length if too_long else 0
    if isinstance(new, str) and len(new) <= MAX_PASTED_CHARACTERS:
        st.session_state[TEXT] = new
