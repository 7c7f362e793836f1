"""A click is noted first and carried out by the page, which then knows what the controls say now.

A callback with arguments would have those of the last finished drawing: who moves a slider and
presses Start at once would train with the old value. And Streamlit drops a callback that the next
click interrupts, but not what is in the session.
"""

from __future__ import annotations

import streamlit as st

from pages.ui.shell.retry_if_interrupted import whole
from pages.ui.shell.session_keys import clicked


@whole
def ask(what: str) -> None:
    """For `on_click`: note that `what` was asked for."""
    st.session_state[clicked(what)] = True


def asked(what: str) -> bool:
    """Whether `what` was asked for since the last look."""
    return st.session_state.pop(clicked(what), False)
