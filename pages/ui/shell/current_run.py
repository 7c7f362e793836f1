"""The run that the controls show, on whichever page."""

from __future__ import annotations

import streamlit as st

from kcnet_core.experiments.run import Run
from pages.ui.shell import session_keys


def run() -> Run:
    """The configuration that the controls show, on whichever page."""
    return st.session_state.setdefault(session_keys.RUN, Run())


def set_run(new: Run) -> None:
    st.session_state[session_keys.RUN] = new


def adopt(run: Run) -> None:
    """Make all controls show `run` (from a preset, a link or another page)."""
    set_run(run)
    st.session_state[session_keys.ADOPTED] = st.session_state.get(session_keys.ADOPTED, 0) + 1


def control_key(name: str) -> str:
    """Widget keys change when a whole run is adopted, so that every control shows the new value."""
    return f"control_{name}_{st.session_state.get(session_keys.ADOPTED, 0)}"
