"""What the Learn page works on: glomeruli, taught flies and the sample on the bench, each kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from kcnet_core.datasets.catalogue import is_glomerular
from kcnet_core.lessons.circuit import CircuitSettings, Glomeruli, real_cells, train_fly
from kcnet_core.network.wiring import PLANS
from pages.ui.shell import visitor_data

if TYPE_CHECKING:
    from kcnet_core.contracts import Circuit

ODOR, REAL = "Odor", "Measured odor"
DIGIT, SMALL, DRAWN = "Digit", "Tiny digit", "My drawing"
DATA_OF = {
    ODOR: "starter", REAL: "door", DIGIT: "mnist_sample", SMALL: "digits", DRAWN: "mnist_sample",
}  # fmt: skip
SAMPLE_OF = {"starter": ODOR, "door": REAL, "mnist_sample": DIGIT, "digits": SMALL}


@dataclass(frozen=True)
class Sample:
    """One odor or image on the bench."""

    title: str
    rates: np.ndarray  # (d,)
    truth: tuple[str, ...]  # what the dataset says it is; empty if nobody knows
    taught: bool = False  # one of the examples that the fly learned from
    smiles: str | None = None
    measured: np.ndarray | None = None  # (d,) which rates somebody measured; None: all
    guessed: str = ""  # what is to be known of rates that were guessed


@dataclass(frozen=True)
class Bench:
    """Everything a view needs: the data, the settings, and the sample."""

    data: str
    settings: CircuitSettings
    sample: Sample
    kind: str  # one of DATA_OF

    @property
    def glomeruli(self) -> Glomeruli:
        return glomeruli(self.data)

    @property
    def fly(self) -> Circuit:
        return fly(self.data, self.settings)

    @property
    def answer_names(self) -> tuple[str, ...]:
        return self.glomeruli.dataset.target_names

    @property
    def input_meanings(self) -> tuple[str, ...]:
        """What each input is, in words."""
        names, known = input_meanings(self.data), self.sample.measured
        if known is None:
            return names
        instead = "a guess" if self.sample.guessed else "its spontaneous rate"
        return tuple(
            name if measured else f"{name}, never measured: {instead}"
            for name, measured in zip(names, known, strict=True)
        )

    @property
    def lobes(self) -> tuple[str, ...] | None:
        """The lobe of every cell, where they are a real fly's."""
        real = PLANS[self.settings.plan].needs_glomeruli
        return real_cells(tuple(self.glomeruli.names)) if real else None

    @property
    def image_shape(self) -> tuple[int, ...] | None:
        return self.glomeruli.dataset.image_shape


@st.cache_resource(show_spinner="Opening the data …", max_entries=4)
def glomeruli(data: str) -> Glomeruli:
    return Glomeruli(visitor_data.loaded(data, ()))


@st.cache_resource(show_spinner=False, max_entries=40)
def fly(data: str, settings: CircuitSettings) -> Circuit:
    return train_fly(glomeruli(data), settings)


@st.cache_resource(show_spinner=False, max_entries=3)
def measured(data: str) -> np.ndarray:
    """Which responses of glomeruli (n, d) somebody measured."""
    from kcnet_core.datasets.fly.door import measured

    return measured(glomeruli(data).dataset)


@st.cache_resource(show_spinner=False, max_entries=3)
def error_of_guesses(data: str) -> str:
    """How wrong guessed responses are, in a sentence."""
    from kcnet_core.datasets.fly.predicted import leave_one_out

    error = leave_one_out(glomeruli(data).dataset)
    return (
        f"Guesses of {error.n:,} responses that were measured are wrong by {error.guessed:.3f} on "
        f"average; each glomerulus's own mean would be by {error.of_mean:.3f}."
    )


@st.cache_resource(show_spinner=False, max_entries=3)
def input_meanings(data: str) -> tuple[str, ...]:
    names = glomeruli(data).names
    if glomeruli(data).dataset.kind == "image" or is_glomerular(data):
        return names
    from kcnet_core.molecules.descriptor_table import DESCRIPTORS

    meaning = {each.name: each.meaning for each in DESCRIPTORS}
    return tuple(f"{name}: {meaning[name]}" if name in meaning else name for name in names)
