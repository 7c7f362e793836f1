"""The run that the controls show, on whichever page."""

from __future__ import annotations

import streamlit as st

from kcnet_core.experiments.run import Run


def run() -> Run:
    """The configuration that the controls show, on whichever page."""
    return st.session_state.setdefault("run", Run())


def set_run(new: Run) -> None:
    st.session_state["run"] = new


def adopt(run: Run) -> None:
    """Make all controls show `run` (from a preset, a link or another page)."""
    set_run(run)
    st.session_state["adopted"] = st.session_state.get("adopted", 0) + 1


def control_key(name: str) -> str:
    """Widget keys change when a whole run is adopted, so that every control shows the new value."""
    return f"control_{name}_{st.session_state.setdefault('adopted', 0)}"
