"""What the Learn page works on: glomeruli, taught flies and the sample on the table, each kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from kcnet_core.errors import DataError, KCNetError
from kcnet_core.lessons import digit_drawing
from kcnet_core.lessons.circuit import BOUNDS, CircuitSettings, Glomeruli, train_fly
from pages.ui.shell import visitor, visitor_data

ODOR, DIGIT, SMALL, DRAWN = "Odor", "Digit", "Tiny digit", "My drawing"
DATA_OF = {ODOR: "starter", DIGIT: "mnist_sample", SMALL: "digits", DRAWN: "mnist_sample"}
SAMPLE_OF = {"starter": ODOR, "mnist_sample": DIGIT, "digits": SMALL}
FIRST_ODOR = "vanillin"
CELLS = (50, 100, 200, 500, 1000, 2000)


@dataclass(frozen=True)
class Sample:
    """One odor or image on the table."""

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
    def fly(self):
        return fly(self.data, self.settings)

    @property
    def answer_names(self) -> tuple[str, ...]:
        return self.glomeruli.dataset.target_names

    @property
    def input_meanings(self) -> tuple[str, ...]:
        """What each input is, in words."""
        return input_meanings(self.data)

    @property
    def image_shape(self):
        return self.glomeruli.dataset.image_shape


@st.cache_resource(show_spinner="Opening the data …", max_entries=3)
def glomeruli(data: str) -> Glomeruli:
    return Glomeruli(visitor_data.loaded(data, ()))


@st.cache_resource(show_spinner=False, max_entries=40)
def fly(data: str, settings: CircuitSettings):
    return train_fly(glomeruli(data), settings)


@st.cache_resource(show_spinner=False, max_entries=3)
def input_meanings(data: str) -> tuple[str, ...]:
    names = glomeruli(data).names
    if glomeruli(data).dataset.kind == "image":
        return names
    from kcnet_core.molecules.describe import DESCRIPTORS

    meaning = {each.name: each.meaning for each in DESCRIPTORS}
    return tuple(f"{name}: {meaning[name]}" if name in meaning else name for name in names)


def hidden_controls() -> set[str]:
    """Controls that a link hides: `?hide=cells,wiring`."""
    return {name.strip() for name in st.query_params.get("hide", "").split(",") if name.strip()}


def from_link(name: str, default):
    """The value of a control that is not shown: the link's, if it is usable, or the default."""
    try:
        value = type(default)(st.query_params.get(name, default))
    except ValueError:
        return default
    low, high = BOUNDS.get(name, (value, value))
    return value if low <= value <= high else default


def settings_strip(columns: int = 4) -> CircuitSettings:
    """The sliders that change the fly, all of them kept in the address."""
    names = ("cells", "fan_in", "inhibition", "wiring")
    hidden = hidden_controls()
    start = CircuitSettings()
    chosen = {name: from_link(name, getattr(start, name)) for name in names if name in hidden}
    shown = [name for name in names if name not in hidden]
    with st.container(key="fly_controls"):
        for first in range(0, len(shown), columns):
            row = shown[first : first + columns]
            for name, column in zip(row, st.columns(columns, gap="medium"), strict=False):
                with column:
                    chosen[name] = setting_control(name, getattr(start, name), bind="query-params")
    return CircuitSettings(**chosen)


def setting_control(name: str, value, key: str | None = None, bind: str | None = None):
    """One slider of the fly."""
    key = key or name
    if name == "cells":
        return st.select_slider(
            "Kenyon cells, 𝓑",
            CELLS,
            value=min(CELLS, key=lambda cells: abs(cells - value)),
            key=key,
            bind=bind,
            help="How many cells listen. A fly has about 2,000.",
        )
    if name == "fan_in":
        return st.slider(
            "Inputs per cell",
            *BOUNDS[name],
            value=value,
            key=key,
            bind=bind,
            help="How many glomeruli each cell listens to, drawn at random. A fly's have about 7.",
        )
    if name == "inhibition":
        return st.slider(
            "Inhibition, C",
            *BOUNDS[name],
            value=value,
            step=0.05,
            key=key,
            bind=bind,
            help="How much of the cells' mean is taken from every cell. The paper uses 1.",
        )
    if name == "epochs":
        return st.slider(
            "Epochs of DOA",
            *BOUNDS[name],
            value=value,
            key=key,
            bind=bind,
            help="How often the wiring is revised. 0 leaves it random.",
        )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        number = st.number_input(
            "Wiring",
            *BOUNDS["wiring"],
            value=value,
            key=key,
            bind=bind,
            width=120,
            help="Every number is another fly: same species, other random connections.",
        )
        st.button(
            "Reshuffle",
            icon=":material/shuffle:",
            key=f"{key}_reshuffle",
            on_click=_reshuffle,
            args=(key,),
            help="Draw a new random wiring",
        )
    return number


def _reshuffle(key):
    low, high = BOUNDS["wiring"]
    st.session_state[key] = int(np.random.default_rng().integers(low, high + 1))


def choose_kind(kinds=tuple(DATA_OF)) -> str:
    """What lies on the table: an odor, a digit, or the visitor's own drawing."""
    if "sample" in hidden_controls():
        kind = st.query_params.get("sample", ODOR)
        return kind if kind in kinds else kinds[0]
    return st.segmented_control(
        "What does the fly sense?",
        kinds,
        default=kinds[0],
        required=True,
        key="sample",
        bind="query-params",
    )


def choose_sample(kind: str, key: str = "", label: str = "", start: int = 1) -> Sample:
    """The odor or image itself. `key` sets a second choice apart from the first."""
    if kind == ODOR:
        return _choose_odor(f"odor{key}", label or "Odor: a name, or type a SMILES", start)
    if kind == DRAWN and not key:
        keep_drawing(raw_drawing())
        pixels = drawn_pixels()
        return Sample("your drawing", glomeruli(DATA_OF[kind]).sense_pixels(pixels), ())
    senses = glomeruli(DATA_OF[kind])
    prefix = "tiny" if kind == SMALL else "digit"
    number = st.number_input(
        label or f"Image, 1 to {len(senses.test):,}",
        1,
        len(senses.test),
        value=start,
        key=f"{prefix}{key}",
        bind="query-params",
    )
    row = senses.test[number - 1]
    truth = senses.dataset.target_names[senses.dataset.y[row]]
    return Sample(f"a {truth}", senses.rates[row], (truth,))


def _choose_odor(key, label, start):
    senses = glomeruli("starter")
    names = list(senses.dataset.row_names)
    first = names.index(FIRST_ODOR) if FIRST_ODOR in names else 0
    text = st.selectbox(
        label,
        names,
        index=(first + start - 1) % len(names),
        key=key,
        bind="query-params",
        accept_new_options=True,
    )
    if text in names:
        return odor_of_row(names.index(text))
    return _own_odor(text)


def odor_of_row(row: int) -> Sample:
    dataset = glomeruli("starter").dataset
    truth = tuple(dataset.target_names[k] for k in np.flatnonzero(dataset.y[row]))
    return Sample(
        dataset.row_names[row],
        glomeruli("starter").rates[row],
        truth,
        taught=row in glomeruli("starter").train,
        smiles=dataset.smiles[row],
    )


def first_sample(kind: str) -> Sample:
    """What lies on the table when nobody may choose."""
    if kind != ODOR:
        data = DATA_OF[kind]
        return sample_of_row(data, int(glomeruli(data).test[0]))
    names = list(glomeruli("starter").dataset.row_names)
    return odor_of_row(names.index(FIRST_ODOR) if FIRST_ODOR in names else 0)


def sample_of_row(data: str, row: int) -> Sample:
    """A row of the dataset as a sample, for comparisons."""
    if data == "starter":
        return odor_of_row(row)
    senses = glomeruli(data)
    truth = senses.dataset.target_names[senses.dataset.y[row]]
    return Sample(f"a {truth}", senses.rates[row], (truth,))


def _own_odor(text):
    """A molecule that the visitor typed: checked, described, and sensed."""
    from kcnet_core.molecules.describe import DESCRIPTOR_NAMES, describe
    from kcnet_core.molecules.read import read_smiles

    rows = read_smiles(text)
    if not rows or rows[0].molecule is None:
        why = rows[0].error if rows else "There is nothing to read."
        raise DataError(
            f"“{text[:80]}” is neither an odor of the starter set nor a SMILES. {why} "
            "Choose a name from the list, or type a structure like CCO."
        )
    rows, X = describe(rows[:1])
    if rows[0].error:
        raise DataError(rows[0].error)
    values = dict(zip(DESCRIPTOR_NAMES, X[0], strict=True))
    names = glomeruli("starter").dataset.feature_names
    try:
        x = [values[name] for name in names]
    except KeyError as error:
        raise KCNetError(f"The descriptor {error} is not known for new molecules.") from error
    smiles = rows[0].molecule.smiles
    return Sample(smiles, glomeruli("starter").sense_descriptors(x), (), smiles=smiles)


def drawn_pixels() -> np.ndarray:
    """The current drawing, centred as MNIST's digits are; it travels in the address as `ink`."""
    return digit_drawing.centre_like_mnist(raw_drawing())


def raw_drawing() -> np.ndarray:
    code = st.query_params.get("ink", st.session_state.get("ink", ""))
    if not code:
        return np.zeros((digit_drawing.SIDE, digit_drawing.SIDE), dtype=np.float32)
    return digit_drawing.from_code(code)


def keep_drawing(pixels) -> None:
    """Remember a drawing in the session and in the address."""
    code = "" if digit_drawing.is_blank(pixels) else digit_drawing.to_code(pixels)
    st.session_state["ink"] = code
    if code:
        if st.query_params.get("ink") != code:
            st.query_params["ink"] = code
    elif "ink" in st.query_params:
        del st.query_params["ink"]


def picture(sample: Sample, kind: str) -> None:
    """A small portrait of what is on the table."""
    if sample.smiles is not None:
        from kcnet_core.molecules.pictures import molecule_svg

        st.image(molecule_svg(sample.smiles, 200, 130, dark=visitor.dark()), width=200)
        return
    shape = glomeruli(DATA_OF[kind]).dataset.image_shape
    st.image(_thumbnail(sample.rates, shape), width=96)


def _thumbnail(rates, shape):
    from kcnet_core.palette import colour_table

    table = colour_table("ink", visitor.dark())
    grid = table[np.rint(255 * np.asarray(rates).reshape(shape)).astype(int)]
    scale = 112 // shape[0]
    return np.repeat(np.repeat(grid, scale, axis=0), scale, axis=1)
