"""The sliders that change the fly, all of them kept in the address; a link may hide some."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from kcnet_core.datasets.catalogue import is_image_set
from kcnet_core.experiments.obstacles import plans_for
from kcnet_core.lessons.circuit import BOUNDS, CircuitSettings
from kcnet_core.network.wiring import PLANS

CELLS = (50, 100, 200, 500, 1000, 2000)
SHOWN = ("cells", "fan_in", "inhibition", "wiring")
OF_A_DRAWN_FLY = ("cells", "fan_in")
REAL = "hemibrain"  # there is one such wiring, and no other number would be another
PLAN_NAMES = {
    "hemibrain": "real", "hemibrain-shuffled": "shuffled", "hemibrain-random": "random",
}  # fmt: skip
TITLES = {
    "cells": "Kenyon cells, 𝓑",
    "fan_in": "Inputs per cell",
    "inhibition": "Inhibition, C",
    "epochs": "Epochs of DOA",
    "wiring": "Wiring",
}
HELP = {
    "cells": "How many cells listen. A fly has about 2,000.",
    "fan_in": "How many glomeruli a cell listens to, drawn at random. A fly's has about 7 claws.",
    "inhibition": "How much of the cells' mean is taken from every cell. The paper uses 1.",
    "epochs": "How often the wiring is revised. 0 leaves it random.",
    "wiring": "Every number is another fly: same species, other random connections.",
}
STEPS = {"inhibition": 0.05}  # the others are whole numbers


def hidden_controls() -> set[str]:
    """Controls that a link hides: `?hide=cells,wiring`."""
    return {name.strip() for name in st.query_params.get("hide", "").split(",") if name.strip()}


def settings_strip(columns: int = 4, data: str = "mnist_sample") -> CircuitSettings:
    """The sliders side by side; what is hidden has the link's value.

    Where the inputs of the data leave a choice, also the plan of the wiring. A real fly has its
    own number of cells and of inputs to each.
    """
    hidden, start = hidden_controls(), CircuitSettings()
    plans, chosen = plans_of(data), dict[str, Any]()
    real = "random" not in plans
    with st.container(key="fly_controls"):
        if real:
            chosen["plan"] = _plan(hidden, plans)
        fixed = (*OF_A_DRAWN_FLY, "wiring") if chosen.get("plan") == REAL else OF_A_DRAWN_FLY
        names = [name for name in SHOWN if not real or name not in fixed]
        chosen |= {name: _from_link(name, getattr(start, name)) for name in names if name in hidden}
        shown = [name for name in names if name not in hidden]
        for first in range(0, len(shown), columns):
            row = shown[first : first + columns]
            for name, column in zip(row, st.columns(columns, gap="medium"), strict=False):
                with column:
                    chosen[name] = setting_control(name, getattr(start, name), bind="query-params")
        if len(plans) > 1 and not real:
            chosen["plan"] = _plan(hidden, plans)
    return CircuitSettings(**chosen)


def plans_of(data: str) -> tuple[str, ...]:
    """The plans between which a visitor may switch."""
    plans = plans_for(data, is_image_set(data))
    return plans if is_image_set(data) or len(plans) == 1 else plans[1:]


def _plan(hidden: set[str], plans: tuple[str, ...]) -> str:
    """How the wiring is drawn."""
    key = "plan" if plans[0] == "random" else "real_plan"
    if key in hidden:
        named = {PLAN_NAMES.get(plan, plan): plan for plan in plans}
        return named.get(st.query_params.get(key, ""), plans[0])
    return plan_control(plans, plans[0], key=key, bind="query-params")


def plan_control(plans: tuple[str, ...], value: str, key: str, bind: str | None = None) -> str:
    return st.segmented_control(
        "Plan of the wiring",
        list(plans),
        format_func=lambda name: PLAN_NAMES.get(name, name),
        default=value,
        required=True,
        key=key,
        bind=bind,
        help="  \n".join(
            f"**{PLAN_NAMES.get(name, name)}**: {PLANS[name].about}" for name in plans
        ),
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
