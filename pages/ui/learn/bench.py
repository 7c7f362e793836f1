"""What the Learn page works on: glomeruli, taught flies and the sample on the bench, each kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from kcnet_core.lessons.circuit import CircuitSettings, Glomeruli, train_fly
from pages.ui.shell import visitor_data

if TYPE_CHECKING:
    from kcnet_core.contracts import Circuit

ODOR, DIGIT, SMALL, DRAWN = "Odor", "Digit", "Tiny digit", "My drawing"
DATA_OF = {ODOR: "starter", DIGIT: "mnist_sample", SMALL: "digits", DRAWN: "mnist_sample"}
SAMPLE_OF = {"starter": ODOR, "mnist_sample": DIGIT, "digits": SMALL}


@dataclass(frozen=True)
class Sample:
    """One odor or image on the bench."""

    title: str
    rates: np.ndarray  # (d,)
    truth: tuple[str, ...]  # what the dataset says it is; empty if nobody knows
    taught: bool = False  # one of the examples that the fly learned from
    smiles: str | None = None


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
        return input_meanings(self.data)

    @property
    def image_shape(self) -> tuple[int, int] | None:
        return self.glomeruli.dataset.image_shape


@st.cache_resource(show_spinner="Opening the data …", max_entries=3)
def glomeruli(data: str) -> Glomeruli:
    return Glomeruli(visitor_data.loaded(data, ()))


@st.cache_resource(show_spinner=False, max_entries=40)
def fly(data: str, settings: CircuitSettings) -> Circuit:
    return train_fly(glomeruli(data), settings)


@st.cache_resource(show_spinner=False, max_entries=3)
def input_meanings(data: str) -> tuple[str, ...]:
    names = glomeruli(data).names
    if glomeruli(data).dataset.kind == "image":
        return names
    from kcnet_core.molecules.descriptor_table import DESCRIPTORS

    meaning = {each.name: each.meaning for each in DESCRIPTORS}
    return tuple(f"{name}: {meaning[name]}" if name in meaning else name for name in names)
