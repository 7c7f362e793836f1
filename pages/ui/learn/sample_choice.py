"""What lies on the bench: an odor of the set or a typed molecule, a digit, or a drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from kcnet_core.datasets.catalogue import is_glomerular
from kcnet_core.datasets.fly.door import left_out
from kcnet_core.errors import DataError, KCNetError
from kcnet_core.lessons import digit_drawing
from kcnet_core.lessons.circuit import of_whole_fly
from pages.ui.learn.bench import (
    DATA_OF,
    DRAWN,
    ODOR,
    REAL,
    SMALL,
    Bench,
    Sample,
    error_of_guesses,
    glomeruli,
    measured,
)
from pages.ui.learn.fly_controls import hidden_controls, settings_strip
from pages.ui.learn.needed import needs_downloads
from pages.ui.shell import address, visitor
from pages.ui.shell.escaping import escape_markdown

if TYPE_CHECKING:
    from kcnet_core.molecules.read import Molecule

FIRST_ODOR = {"starter": "vanillin", "door": "ethyl butyrate"}
EMPTY_PAPER = "The paper is empty: the fly goes on with the odor before, until you draw one."
INK = "ink"  # the link's parameter that holds a drawing


def lay_bench() -> Bench | None:
    """The sample and the settings of the fly, side by side; None if the sample cannot be used."""
    with st.container(key="bench", border=True):
        portrait, choice, controls = st.columns([2, 5, 9], gap="medium")
        with choice, st.container(key="choice"):
            kind = choose_kind()
            sample_place = st.container()
        with controls:
            settings = settings_strip(columns=2, data=DATA_OF[kind])
        if needs_downloads(DATA_OF[kind]):
            return None
        try:
            with sample_place:
                sample = choose_sample(kind)
            settings = of_whole_fly(settings, glomeruli(DATA_OF[kind]))
        except KCNetError as error:
            st.error(escape_markdown(error), icon=":material/error:")
            return None
        with portrait, st.container(key="portrait"):
            picture(sample, kind)
    return Bench(DATA_OF[kind], settings, sample, kind)


def choose_kind() -> str:
    """An odor, a digit, or the visitor's own drawing."""
    kinds = tuple(DATA_OF)
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


def choose_sample(
    kind: str, key: str = "", label: str = "", start: int = 1, first: str = ""
) -> Sample:
    """The odor or image itself. `key` sets a second choice apart from the first.

    `first` is what a lesson opens on, an odor's name or an image's number.
    """
    if first:
        key = f"{key}_{first}"  # what was chosen before belongs to what was fixed before
    if kind == ODOR:
        return _choose_odor(f"odor{key}", label or "Odor: a name or SMILES", start, first)
    if kind == REAL:
        return _choose_measured(f"measured{key}", label or "Odorant", start, first)
    senses = glomeruli(DATA_OF[kind])
    if kind == DRAWN:
        drawing = raw_drawing()
        keep_drawing(drawing)
        pixels = digit_drawing.centre_like_mnist(drawing)
        return Sample("your drawing", senses.sense_pixels(pixels), ())
    prefix = "tiny" if kind == SMALL else "digit"
    number = st.number_input(
        label or f"Image, 1 to {len(senses.test):,}",
        1,
        len(senses.test),
        value=int(first or start),
        key=f"{prefix}{key}",
        bind="query-params",
    )
    return sample_of_row(DATA_OF[kind], int(senses.test[number - 1]))


def _odor_names(data: str = "starter") -> list[str]:
    return list(glomeruli(data).dataset.row_names or ())


def _choose_measured(key: str, label: str, start: int, first: str) -> Sample:
    """An odorant that the receptors of flies were tested with."""
    data = DATA_OF[REAL]
    names = _odor_names(data)
    shown = names.index(first) if first in names else _first_row(data) + start - 1
    text = st.selectbox(
        label, names, index=shown % len(names), key=key, bind="query-params",
        accept_new_options=True,
    )  # fmt: skip
    guessing = st.toggle(
        "Guess for others", key=f"guess_{key}", bind="query-params",
        help="Type the SMILES of a molecule that flies were never tested with: its responses are "
        "then guessed from odorants that are built alike, and marked as guessed.",
    )  # fmt: skip
    if text in names:
        return sample_of_row(data, names.index(text))
    smiles, why = left_out(text) or (
        text,
        f"“{text[:80]}” is not among the odorants that were measured",
    )
    if not guessing:
        raise DataError(
            f"{why}. Choose one of the list, or switch on “Guess for others” to have its responses "
            "guessed."
        )
    return _guessed(data, smiles)


def _guessed(data: str, text: str) -> Sample:
    """A molecule that no fly was tested with, and what its glomeruli might answer."""
    from kcnet_core.datasets.fly.predicted import guess

    molecule = _typed(text, "an odorant that was measured")
    found = guess(molecule.smiles, glomeruli(data).dataset)
    said = (
        f"All responses are guessed, none was measured; the most alike odorant is {found.nearest} "
        f"(similarity {found.similarity:.2f}). {error_of_guesses(data)}"
    )
    nobody = np.zeros(len(found.rates), bool)
    return Sample(molecule.smiles, found.rates, (), False, molecule.smiles, nobody, said)


def _choose_odor(key: str, label: str, start: int, first: str) -> Sample:
    names = _odor_names()
    shown = names.index(first) if first in names else _first_row("starter") + start - 1
    text = st.selectbox(
        label,
        names,
        index=shown % len(names),
        key=key,
        bind="query-params",
        accept_new_options=True,
    )
    try:
        sample = sample_of_row("starter", names.index(text)) if text in names else _own_odor(text)
    except KCNetError:
        _draw(key, text, None)  # what was drawn stays, to be mended
        raise
    _draw(key, text, sample.smiles)
    return sample


def _draw(key: str, typed: str, smiles: str | None) -> None:
    """A molecule may be drawn instead of typed, where the editor is installed."""
    from pages.ui.shell.draw.editor import editor, files

    if not files():
        return

    def take(drawn: str) -> None:
        if drawn:  # an empty paper is no molecule; the one before stays on the bench
            st.session_state[key] = drawn

    place = st.popover("Draw", icon=":material/draw:")
    with place, st.container(width=640, key=f"learn_paper_{key}"):
        editor(f"{key}-drawn", typed, smiles, take, EMPTY_PAPER)


def first_sample(kind: str, first: str = "") -> Sample:
    """What lies on the bench when nobody may choose: what the lesson says, or the first."""
    data = DATA_OF[kind]
    if not first:
        return sample_of_row(data, _first_row(data))
    if kind in (ODOR, REAL):
        names = _odor_names(data)
        return sample_of_row(data, names.index(first) if first in names else _first_row(data))
    return sample_of_row(data, int(glomeruli(data).test[int(first) - 1]))


def _first_row(data: str) -> int:
    if data not in FIRST_ODOR:
        return int(glomeruli(data).test[0])
    names = _odor_names(data)
    return names.index(FIRST_ODOR[data]) if FIRST_ODOR[data] in names else 0


def sample_of_row(data: str, row: int) -> Sample:
    """A row of the dataset as a sample."""
    senses = glomeruli(data)
    dataset = senses.dataset
    if dataset.smiles is None:
        truth = dataset.target_names[dataset.y[row]]
        return Sample(f"a {truth}", senses.rates[row], (truth,))
    hits = np.flatnonzero(dataset.y[row]) if dataset.multilabel else [dataset.y[row]]
    return Sample(
        _odor_names(data)[row],
        senses.rates[row],
        tuple(dataset.target_names[k] for k in hits),
        taught=row in senses.train,
        smiles=dataset.smiles[row],
        measured=measured(data)[row] if is_glomerular(data) else None,
    )


def _typed(text: str, else_than: str) -> Molecule:
    """The molecule that the visitor typed or drew: a SMILES, any name of our table, a number."""
    from kcnet_core.molecules.read import read_smiles
    from kcnet_core.smell.names.known_names import our_names

    names = our_names()
    rows = read_smiles(names.find(text) or text)
    molecule = rows[0].molecule if rows else None
    if molecule is not None:
        return molecule
    if near := names.near(text):
        meant = " or ".join(one.name for one in near)
        raise DataError(f"“{text[:80]}” is no name that is known here. Is it {meant}?")
    why = rows[0].error if rows else "There is nothing to read."
    raise DataError(
        f"“{text[:80]}” is neither {else_than} nor a SMILES. {why} "
        "Choose a name from the list, or type a structure like CCO."
    )


def _own_odor(text: str) -> Sample:
    """A molecule that the visitor typed or drew: one of the set, or checked, described, sensed."""
    from kcnet_core.molecules.read import DESCRIPTOR_NAMES, describe, read_smiles
    from kcnet_core.smell.names.known_names import our_names

    molecule = _typed(text, "an odor of the starter set")
    name, names = our_names().called.get(molecule.smiles, ""), _odor_names()
    if name in names:
        return sample_of_row("starter", names.index(name))
    rows, X = describe(read_smiles(molecule.smiles)[:1])
    if rows[0].error:
        raise DataError(rows[0].error)
    values, senses = dict(zip(DESCRIPTOR_NAMES, X[0], strict=True)), glomeruli("starter")
    rates = senses.sense_descriptors([values[name] for name in senses.dataset.feature_names])
    return Sample(name or molecule.smiles, rates, (), smiles=molecule.smiles)


def raw_drawing() -> np.ndarray:
    """The visitor's drawing (28, 28) as it was drawn, from the link or from the session."""
    code = address.remembered(INK)
    if not code:
        return np.zeros((digit_drawing.SIDE, digit_drawing.SIDE), dtype=np.float32)
    return digit_drawing.from_code(code)


def keep_drawing(pixels: np.ndarray) -> None:
    """Remember a drawing in the session and in the address."""
    address.remember(INK, "" if digit_drawing.is_blank(pixels) else digit_drawing.to_code(pixels))


def picture(sample: Sample, kind: str) -> None:
    """A small portrait of what is on the bench."""
    if sample.smiles is not None:
        from kcnet_core.molecules.pictures import molecule_svg

        drawing = molecule_svg(sample.smiles, 200, 130, dark=visitor.dark())
        st.image(drawing, width=200, alt=f"Structure of {sample.title}")
        return
    from kcnet_core.palette import colour_table

    shades = np.rint(255 * sample.rates).astype(int)
    shades = shades.reshape(glomeruli(DATA_OF[kind]).dataset.image_shape)
    grid, scale = colour_table("ink", visitor.dark())[shades], 112 // len(shades)
    image = np.repeat(np.repeat(grid, scale, axis=0), scale, axis=1)
    st.image(image, width=96, alt=f"Image of {sample.title}")
