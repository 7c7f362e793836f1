"""The sliders that change the fly, all of them kept in the address; a link may hide some."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from kcnet_core.lessons.circuit import BOUNDS, CircuitSettings
from kcnet_core.network.wiring import PLANS

CELLS = (50, 100, 200, 500, 1000, 2000)
SHOWN = ("cells", "fan_in", "inhibition", "wiring")
TITLES = {
    "cells": "Kenyon cells, 𝓑",
    "fan_in": "Inputs per cell",
    "inhibition": "Inhibition, C",
    "epochs": "Epochs of DOA",
    "wiring": "Wiring",
}
HELP = {
    "cells": "How many cells listen. A fly has about 2,000.",
    "fan_in": "How many glomeruli each cell listens to, drawn at random. A fly's have about 7.",
    "inhibition": "How much of the cells' mean is taken from every cell. The paper uses 1.",
    "epochs": "How often the wiring is revised. 0 leaves it random.",
    "wiring": "Every number is another fly: same species, other random connections.",
}
STEPS = {"inhibition": 0.05}  # the others are whole numbers


def hidden_controls() -> set[str]:
    """Controls that a link hides: `?hide=cells,wiring`."""
    return {name.strip() for name in st.query_params.get("hide", "").split(",") if name.strip()}


def settings_strip(columns: int = 4, pixels: bool = True) -> CircuitSettings:
    """The sliders side by side; what is hidden has the link's value.

    Where the inputs are `pixels`, also from where in the image a cell's inputs are drawn.
    """
    hidden, start = hidden_controls(), CircuitSettings()
    chosen: dict[str, Any] = {
        name: _from_link(name, getattr(start, name)) for name in SHOWN if name in hidden
    }
    shown = [name for name in SHOWN if name not in hidden]
    with st.container(key="fly_controls"):
        for first in range(0, len(shown), columns):
            row = shown[first : first + columns]
            for name, column in zip(row, st.columns(columns, gap="medium"), strict=False):
                with column:
                    chosen[name] = setting_control(name, getattr(start, name), bind="query-params")
        if pixels:
            chosen["plan"] = _plan(hidden)
    return CircuitSettings(**chosen)


def _plan(hidden: set[str]) -> str:
    """How the wiring is drawn."""
    if "plan" in hidden:
        named = st.query_params.get("plan", "")
        return named if named in PLANS else CircuitSettings().plan
    return st.segmented_control(
        "Plan of the wiring",
        list(PLANS),
        default=CircuitSettings().plan,
        required=True,
        key="plan",
        bind="query-params",
        help="  \n".join(f"**{name}**: {plan.about}" for name, plan in PLANS.items()),
    )


def _from_link(name: str, default: float) -> float:
    """The value of a control that is not shown: the link's, if it is usable, or the default."""
    try:
        value = type(default)(st.query_params.get(name, default))
    except ValueError:
        return default
    low, high = BOUNDS[name]
    return value if low <= value <= high else default


def setting_control(
    name: str, value: float, key: str | None = None, bind: str | None = None
) -> Any:
    """One slider of the fly."""
    common: dict[str, Any] = {"key": key or name, "bind": bind, "help": HELP[name]}
    if name == "cells":
        nearest = min(CELLS, key=lambda cells: abs(cells - value))
        return st.select_slider(TITLES[name], CELLS, value=nearest, **common)
    if name != "wiring":
        return st.slider(
            TITLES[name], *BOUNDS[name], value=value, step=STEPS.get(name, 1), **common
        )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        number = st.number_input(TITLES[name], *BOUNDS[name], value=value, width=120, **common)
        st.button(
            "Reshuffle",
            icon=":material/shuffle:",
            key=f"{common['key']}_reshuffle",
            on_click=_reshuffle,
            args=(common["key"],),
            help="Draw a new random wiring",
        )
    return number


def _reshuffle(key: str) -> None:
    low, high = map(int, BOUNDS["wiring"])
    st.session_state[key] = int(np.random.default_rng().integers(low, high + 1))
