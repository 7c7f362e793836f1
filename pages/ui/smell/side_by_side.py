"""Two to four molecules side by side: on one axis, with what tells them apart."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import streamlit as st

from kcnet_core import figures
from kcnet_core.errors import KCNetError
from kcnet_core.molecules.pictures import molecule_svgs, weighted_svgs
from kcnet_core.smell.answers import Answer
from kcnet_core.smell.export import named_characters
from kcnet_core.smell.reasons import MoleculeDifference, same_to_the_flies, what_differs
from pages.ui.shell import visitor
from pages.ui.shell.chart import chart
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.safety_net import fragment
from pages.ui.smell.models import ChosenModel
from pages.ui.smell.one import LONGEST_NAME
from pages.ui.smell.why import reason_bars

MOST = 4
ROWS = 12  # characters that are shown: those that differ most
DIFFERENT = 0.15  # in probability, from which on a difference is worth a mark


@fragment
def show(chosen: ChosenModel, answers: list[Answer]) -> None:
    nose, offered = chosen.nose, sorted(chosen.offered)
    P = np.array([answer.probabilities[offered] for answer in answers])
    _portraits(chosen, answers)
    for first, second in combinations(answers, 2):
        if same_to_the_flies(first, second):
            st.info(
                escape_markdown(
                    f"{first.name[:LONGEST_NAME]} and {second.name[:LONGEST_NAME]} differ in "
                    "stereochemistry alone, which the flies' inputs do not hold: to them they are "
                    "one molecule, whatever a nose says."
                ),
                icon=":material/flip:",
            )
    spread = P.max(axis=0) - P.min(axis=0)
    order = [int(k) for k in np.lexsort((-P.max(axis=0), -spread.round(6)))[:ROWS]]
    characters = [nose.characters[offered[k]] for k in order]
    names = [answer.name for answer in answers]
    lines = {answer.far: nose.line(chosen.coverage, answer.far) for answer in answers}
    chart(
        figures.odor_profiles(
            [f"{word} ≠" if spread[k] >= DIFFERENT else word
             for word, k in zip(characters, order, strict=True)],
            P[:, order], names, lines=list(lines.values()), dark=visitor.dark(),
        ),
        "smell_side_by_side",
    )  # fmt: skip
    st.caption(
        f"The characters in which they differ most, ≠ from {DIFFERENT:.0%} on. Dotted: from where "
        f"on a character is named, {drawn_lines(lines)}."
    )
    if spread.any():
        _why(chosen, answers, [offered[k] for k in order])


def drawn_lines(lines: Mapping[bool, float]) -> str:
    """The lines by whether they are for ring systems that were never taught."""
    of = {False: "ring systems that were taught", True: "ring systems that were never taught"}
    if len(lines) == 1:
        return f"{next(iter(lines.values())):.0%}"
    return " and ".join(f"{lines[far]:.0%} for {of[far]}" for far in sorted(lines))


def _portraits(chosen: ChosenModel, answers: list[Answer]) -> None:
    pictures = molecule_svgs([one.smiles for one in answers], 240, 140, visitor.dark())
    with st.container(key="smell_portraits"):
        columns = st.columns(len(answers), border=True)
        for answer, picture, column in zip(answers, pictures, columns, strict=True):
            with column, st.container(gap="xsmall"):
                st.image(picture, alt=f"Structure of {answer.name[:LONGEST_NAME]}")
                st.text(answer.name[:LONGEST_NAME])
                said = named_characters(chosen.nose, answer, chosen.offered, chosen.coverage)
                st.caption(f"{answer.molecule.weight:.1f} g/mol")
                st.text(" · ".join(said) or "nothing it could name")
                if answer.known is not None:
                    true = " · ".join(chosen.nose.truth(answer.known)) or "none"
                    st.caption(escape_markdown(f"known: {true}"))


def _why(chosen: ChosenModel, answers: list[Answer], characters: list[int]) -> None:
    """Which reasons make the difference between two of them, for one character."""
    nose = chosen.nose
    character = st.pills(
        "What makes the difference in", characters[:6], default=characters[0], required=True,
        format_func=lambda k: escape_markdown(nose.characters[k]),
        key=f"smell_differs_{hash(tuple(one.smiles for one in answers))}",
    )  # fmt: skip
    first = answers[0]
    for k, other in enumerate(answers[1:]):
        try:
            differ = what_differs(nose, first, other, character)
        except KCNetError as error:
            st.info(escape_markdown(error))
            return
        st.markdown(
            f"**{escape_markdown(other.name[:LONGEST_NAME])}** against "
            f"**{escape_markdown(first.name[:LONGEST_NAME])}**"
        )
        if not differ.reasons:
            st.caption("Nothing: the flies are told the same of both.")
            continue
        left, right = st.columns([5, 7], gap="medium", vertical_alignment="center")
        with left:
            _drawn(first, other, differ, nose.characters[character])
        with right:
            reason_bars(differ.reasons, "log-odds", f"smell_differs_{k}")
    word = escape_markdown(nose.characters[character])
    st.caption(
        f"Drawings: orange atoms give their molecule more {word} than the other has, purple ones "
        f"less; what both have alike stays pale. Bars: orange gives {word} to the molecule rather "
        "than to the first, purple takes it away. Exact shares of the inputs, added up by the "
        "parts they lie on or the property they speak of, with known molecules among those taught."
    )


def _drawn(first: Answer, other: Answer, differ: MoleculeDifference, character: str) -> None:
    """The substructures that make the difference, on both molecules with one scale."""
    pairs = [
        (one, weights)
        for one, weights in ((first, differ.on_first), (other, differ.on_second))
        if len(weights)
    ]
    drawn = [(one.smiles, weights) for one, weights in pairs]
    pictures = weighted_svgs(drawn, 260, 170, visitor.dark())
    with st.container(key=f"smell_differs_on_{other.row.number}"):
        columns = st.columns(len(pairs) or 1)
        for (one, weights), picture, column in zip(pairs, pictures, columns, strict=False):
            with column, st.container(gap="xsmall"):
                st.image(
                    picture,
                    width="stretch",
                    alt=f"Structure of {one.name[:LONGEST_NAME]}; what it has and the other has "
                    f"not gives it {weights.sum():+.1f} log-odds of {character}",
                )
                st.caption(escape_markdown(one.name[:LONGEST_NAME]))
