"""The walk through the circuit: seven steps, each a picture, an equation and something to try."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from kcnet_core.datasets.fly.connectome import MIN_SYNAPSES, connectome
from kcnet_core.lessons.circuit import ForwardPass, forward_pass
from kcnet_core.lessons.circuit_drawing import circuit_picture
from kcnet_core.palette import LOBE_COLOURS, circuit_colours
from pages.ui.learn.bench import Bench
from pages.ui.learn.present import around, chart, presenting
from pages.ui.learn.walk_steps import REAL_ATTEMPTS, STEPS, equation, figure, words
from pages.ui.shell import session_keys, visitor
from pages.ui.shell.circuit.circuit_view import circuit_view
from pages.ui.shell.escaping import escape_markdown

COLOUR_WORDS = {"γ": "orange", "α′β′": "blue", "αβ": "green", "other": "grey"}


def circuit(
    bench: Bench,
    forward: ForwardPass,
    step: str,
    cell: int,
    key: str,
    on_pick=None,
    around: int | None = None,
):
    """The drawing, lit for one step.

    With `around`, as large as the window allows that has so many pixels of other things.
    """
    dark, lobes = visitor.dark(), bench.lobes
    colours = {name: both[dark] for name, both in LOBE_COLOURS.items()}
    known = bench.sample.measured
    circuit_view(
        circuit_picture(
            forward,
            step,
            cell,
            input_names=bench.input_meanings,
            answer_names=bench.answer_names,
            image_shape=bench.image_shape,
            colours=circuit_colours(dark),
            short_names=None if lobes is None else bench.glomeruli.names,
            cell_kinds=None if lobes is None else [(lobe, colours[lobe]) for lobe in lobes],
            unknown=None if known is None else ~known,
        )
        | {"around": around, "large": presenting()},
        key=key,
        on_pick=on_pick,
    )
    if lobes is not None and known is not None:
        cells = ", ".join(
            f"{lobes.count(lobe):,} of {lobe} ({COLOUR_WORDS[lobe]})"
            for lobe in LOBE_COLOURS
            if lobe in lobes
        )
        dashed = bench.sample.guessed or (
            f"{np.count_nonzero(known)} of {len(known)} glomeruli were measured with "
            f"{bench.sample.title}; dashed ones never were and stand at their spontaneous rate."
        )
        st.caption(
            f"{len(lobes):,} of the fly's {len(connectome().cells):,} Kenyon cells, those that "
            f"hear one of these {len(known)} glomeruli through at least {MIN_SYNAPSES} synapses, "
            f"by their lobe: {cells}. {escape_markdown(dashed)}"
        )


def walk(bench: Bench) -> None:
    """Show the current step; Back and Next (or the arrow keys) move."""
    forward = forward_pass(bench.fly, bench.sample.rates)
    name, cell = _stepper(len(forward.sums))
    circuit(bench, forward, name, cell, "circuit", on_pick=_pick, around=around())
    step, filled = STEPS[name], words(bench, forward, cell)
    st.header(step.title.format(**filled), anchor=False)
    st.markdown(step.text.format(**filled))
    with st.container(key="step_more"):
        text, picture = st.columns([9, 11], gap="large")
    with text:
        st.latex(equation(name, bench, forward, cell))
        st.markdown(f":material/visibility: **Look.** {step.look.format(**filled)}")
        attempt = (REAL_ATTEMPTS.get(name) if bench.lobes else None) or step.attempt
        st.markdown(f":material/science: **Try.** {attempt.format(**filled)}")
    with picture:
        _figure(name, bench, forward, cell)


def still(bench: Bench, name: str) -> None:
    """One step without its text: the drawing and the figure, for lessons that speak themselves."""
    forward = forward_pass(bench.fly, bench.sample.rates)
    cell = min(st.session_state.get(session_keys.CELL, 1), len(forward.sums)) - 1
    circuit(bench, forward, name, cell, "circuit", on_pick=_pick)
    _figure(name, bench, forward, cell)


def _figure(name: str, bench: Bench, forward: ForwardPass, cell: int) -> None:
    chart(figure(name, bench, forward, cell, visitor.dark()), key=f"step_{name}")
    st.caption(STEPS[name].numbers.format(**words(bench, forward, cell)))


def _stepper(n_cells: int) -> tuple[str, int]:
    names = list(STEPS)
    labels = {**{name: name.capitalize() for name in names}, "relu": "ReLU"}
    with st.container(horizontal=True, vertical_alignment="bottom", key="stepper"):
        back = st.container(width="content")
        middle = st.container(width="content", key="step_names")
        onward = st.container(width="content")
        with middle:
            current = st.segmented_control(
                "Step",
                names,
                format_func=lambda name: f"{names.index(name) + 1} {labels[name]}",
                default=names[0],
                required=True,
                key=session_keys.STEP,
                bind="query-params",
                label_visibility="collapsed",
            )
        at = names.index(current)
        last = len(names) - 1
        with back:
            back_button("step_back", _go, names[max(at - 1, 0)], disabled=at == 0)
        with onward:
            next_button("step_next", _go, names[min(at + 1, last)], disabled=at == last)
        cell = st.number_input(
            "Kenyon cell (or click one)",
            1,
            n_cells,
            key=session_keys.CELL,
            bind="query-params",
            width=150 if presenting() else 190,
            label_visibility="collapsed" if presenting() else "visible",
        )
    return current, cell - 1


def back_button(key: str, go: Callable, to: object, *, disabled: bool) -> None:
    st.button(
        "Back",
        icon=":material/arrow_back:",
        shortcut="Left",
        disabled=disabled,
        on_click=go,
        args=(to,),
        key=key,
    )


def next_button(
    key: str, go: Callable, to: object, *, disabled: bool, label="Next", type="primary"
) -> None:
    st.button(
        label,
        icon=":material/arrow_forward:",
        icon_position="right",
        shortcut="Right",
        type=type,
        disabled=disabled,
        on_click=go,
        args=(to,),
        key=key,
    )


def _go(name: str) -> None:
    st.session_state[session_keys.STEP] = name


def _pick(cell: int) -> None:
    st.session_state[session_keys.CELL] = cell + 1
