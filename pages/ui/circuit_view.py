"""The circuit drawing: glomeruli, Kenyon cells and answers, lit by the current sample."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_HERE = Path(__file__).parent

_drawing = st.components.v2.component(
    "kcnet_circuit",
    html=(_HERE / "circuit_view.html").read_text(encoding="utf-8"),
    css=(_HERE / "circuit_view.css").read_text(encoding="utf-8"),
    js=(_HERE / "circuit_view.js").read_text(encoding="utf-8"),
)


def circuit_view(picture: dict, key: str, on_pick=None) -> None:
    """Draw `picture` (see `kcnet_core.circuit_picture`).

    `on_pick(cell)` is called with the number of the Kenyon cell, from 0, that a visitor clicks.
    """

    def picked():
        cell = st.session_state[key].get("picked")
        if on_pick is not None and isinstance(cell, int):
            on_pick(cell)

    _drawing(key=key, data=picture, on_picked_change=picked)
