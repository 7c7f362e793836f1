"""The circuit in motion: a small fly that was taught digits, or odors, senses some it never saw."""

from __future__ import annotations

import json
from functools import cache

import streamlit as st

from kcnet_core.lessons.circuit import CircuitSettings, Glomeruli, forward_pass, train_fly
from kcnet_core.lessons.circuit_drawing import circuit_film
from kcnet_core.palette import circuit_colours
from pages.ui.shell import visitor, visitor_data
from pages.ui.shell.circuit.circuit_view import circuit_view

DATA = {"image": "mnist_sample", "odor": "starter"}  # by kind of what is to be learned
FLY = CircuitSettings(cells=300)
SAMPLES = 6
SECONDS = 1.7  # a frame
AROUND = 400  # pixels of the window for what stands above it and its sentence
SENSES = {
    "image": "reads digits that it was not taught with",
    "odor": "smells molecules that it was not taught with",
}
ROOM = 380  # pixels that it takes, for which a page waits that is drawn before it can be


@cache
def film(kind: str, dark: bool) -> dict:
    """Frames and facts of the film for data of this kind; made once, in a fraction of a second."""
    glomeruli = Glomeruli(visitor_data.loaded(DATA[kind], ()))
    dataset = glomeruli.dataset
    fly = train_fly(glomeruli, FLY)
    rows = _rows(glomeruli)
    names = [
        dataset.row_names[row] if dataset.row_names else f"a {dataset.target_names[dataset.y[row]]}"
        for row in rows
    ]
    return {
        "name": f"{kind}-{dark}",
        "seconds": SECONDS,
        "frames": circuit_film(
            [forward_pass(fly, glomeruli.rates[row]) for row in rows],
            names,
            input_names=glomeruli.names,
            answer_names=dataset.target_names,
            image_shape=dataset.image_shape,
            colours=circuit_colours(dark),
        ),
        "taught": len(glomeruli.train),
    }


@cache
def reel(kind: str, dark: bool) -> dict:
    """The film as it is sent: its frames as a text, which costs nothing to send again and again."""
    made = film(kind, dark)
    return {**made, "frames": json.dumps(made["frames"])}


def _rows(glomeruli: Glomeruli) -> list[int]:
    """The first held-out samples, of different kinds where there is one answer each."""
    y, rows = glomeruli.dataset.y, []
    for row in glomeruli.test:
        if y.ndim > 1 or all(y[row] != y[other] for other in rows):
            rows.append(int(row))
        if len(rows) == SAMPLES:
            break
    return rows


def show(kind: str, ready: bool) -> None:
    """Play it, and say what one sees; room for it while a fresh server is not yet `ready`."""
    with st.container(key="living", height="content"):
        if not ready:
            st.space(ROOM)
            return
        playing = reel(kind, visitor.dark())
        circuit_view({"film": playing, "around": AROUND, "large": False}, key="living_circuit")
        what = "images" if kind == "image" else "odors"
        st.caption(
            f"A small fly with {FLY.cells} Kenyon cells, taught {playing['taught']:,} {what}, "
            f"{SENSES[kind]}: glomeruli fire, each Kenyon cell adds up the few it hears, "
            "inhibition silences most, and the rest vote for an answer."
        )
