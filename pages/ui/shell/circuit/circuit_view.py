"""The circuit drawing: glomeruli, Kenyon cells and answers, lit by the current sample."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.ui.shell.component import component

_drawing = component(__file__, "kcnet_circuit", "signals.js")


def circuit_view(picture: dict, key: str, on_pick: Callable[[int], None] | None = None) -> None:
    """Draw `picture`, or play a film (see `kcnet_core.lessons.circuit_drawing`).

    `on_pick(cell)` is called with the number of the Kenyon cell, from 0, that a visitor clicks.
    """

    def picked() -> None:
        cell = st.session_state[key].get("picked")
        if on_pick is not None and isinstance(cell, int):
            on_pick(cell)

    _drawing(key=key, data=picture, on_picked_change=picked)
