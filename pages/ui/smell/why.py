"""Why the flies say so: atoms, and the parts and properties that pushed a character up or down."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from kcnet_core import figures
from kcnet_core.errors import KCNetError
from kcnet_core.limits import EXPLAINED_ATOMS_AT_ONCE
from kcnet_core.molecules import fingerprint_table
from kcnet_core.molecules.descriptor_table import DESCRIPTORS
from kcnet_core.molecules.pictures import molecule_svg, weighted_svgs
from kcnet_core.smell import explanation
from kcnet_core.smell.answers import Answer
from kcnet_core.smell.explanation import Shares
from kcnet_core.smell.nose import Nose
from kcnet_core.smell.parts import Parts, parts_of
from kcnet_core.smell.reasons import Reason, absent_inputs, reasons_of
from pages.ui.shell import visitor
from pages.ui.shell.chart import chart
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.memo import memo
from pages.ui.shell.safety_net import fragment
from pages.ui.smell import ratings
from pages.ui.smell.models import ChosenModel
from pages.ui.smell.one import LONGEST_NAME
from pages.ui.smell.queued import from_queue

MEANINGS = {descriptor.name: descriptor.meaning for descriptor in DESCRIPTORS} | {
    name: fingerprint_table.meaning(name) for name in fingerprint_table.NAMES
}
CHARACTERS_TO_EXPLAIN = 8
REASONS = 10
DRAWN = 6  # parts
INPUTS = 12  # that are shown one by one
FAINTEST = 0.4  # halo of a part that adds next to nothing, against the strongest


@fragment
def reasons(chosen: ChosenModel, answer: Answer) -> None:
    """Atoms, parts and properties that pushed one character up or down."""
    nose = chosen.nose
    order = [int(k) for k in np.argsort(-answer.probabilities) if k in chosen.offered]
    options = order[:CHARACTERS_TO_EXPLAIN] or [int(answer.probabilities.argmax())]
    character = st.pills(
        "Why this much of",
        options,
        format_func=lambda k: (
            f"{escape_markdown(nose.characters[k])} {answer.probabilities[k]:.0%}"
        ),
        default=options[0],
        required=True,
        key=f"smell_why_{hash((chosen.key, answer.smiles))}",
    )
    left, right = st.columns([5, 7], gap="medium")
    with left:
        atoms(nose, answer, character)
    with right:
        told = parts_and_properties(nose, answer, character)
    if told is not None:
        every_input(answer, *told)
    ratings.reasons(answer, reason_bars)


def atoms(nose: Nose, answer: Answer, character: int) -> None:
    name = nose.characters[character]
    key = (nose, answer.smiles, answer.features.tobytes())  # the dilution is among the features
    if answer.molecule.heavy_atoms <= EXPLAINED_ATOMS_AT_ONCE:
        every = memo("smell_worths", key, lambda: explanation.atom_worths(nose, answer), size=40)
    else:
        every = from_queue(
            "smell atoms", key, lambda: explanation.worth_steps(nose, answer), nose,
            2 * answer.molecule.heavy_atoms, f"Atoms of {answer.name[:LONGEST_NAME]}",
        )  # fmt: skip
        if every is None:
            return
    worths = every[:, character]
    if not np.isfinite(worths).any():
        st.info("Without any one of its atoms no possible molecule is left to compare with.")
        return
    svg = molecule_svg(answer.smiles, 420, 300, atom_weights=np.nan_to_num(worths),
                       dark=visitor.dark())  # fmt: skip
    most, least = int(np.nanargmax(worths)), int(np.nanargmin(worths))
    alt = (
        f"Structure with atoms coloured by what they are worth to {name}: from "
        f"{worths[least]:+.1f} (atom {least + 1}) to {worths[most]:+.1f} (atom {most + 1}) log-odds"
    )
    st.image(svg, alt=alt, width="stretch")
    st.caption(
        f"Atoms: orange ones speak for {escape_markdown(name)}, purple ones against it. Each was "
        "taken out of the molecule (neighbours joined, loose ends filled with hydrogen) and the "
        f"rest smelled again; strength is the change in log-odds, here {np.nanmin(worths):+.1f} to "
        f"{np.nanmax(worths):+.1f}. It is a measured what-if, not a part of a sum."
    )


def parts_and_properties(
    nose: Nose, answer: Answer, character: int
) -> tuple[list[Reason], Shares, Parts | None] | None:
    """Drawn and as bars; what they are made of, if the model can say."""
    try:
        shares = explanation.descriptor_shares(nose, answer, character)
    except KCNetError as error:
        st.info(escape_markdown(error))
        return None
    parts = parts_of(answer.smiles)
    found = reasons_of(shares, absent_inputs(nose, answer), parts)
    _drawn_parts(answer, [reason for reason in found if reason.atoms][:DRAWN])
    reason_bars(found, shares.unit, "smell_reasons")
    name = escape_markdown(nose.characters[character])
    if shares.unit == "log-odds":
        seen = " with this molecule among those taught" if answer.left_out else ""
        st.caption(
            f"What its parts and properties add to {name}: the shares of {len(shares.values):,} "
            f"inputs and the base rate ({shares.bias:+.2f}) add up to the log-odds, "
            f"{shares.total:+.2f}, that is {answer.as_taught[0][character]:.0%}{seen}. Exact: "
            "nothing is sampled or approximated."
        )
    else:
        st.caption(
            f"What its parts and properties add to {name}: the shares of {len(shares.values):,} "
            f"inputs add up to the raw score, {shares.total:+.3f}. Exact: nothing is sampled or "
            "approximated."
        )
    return found, shares, parts


def every_input(answer: Answer, found: list[Reason], shares: Shares, parts: Parts | None) -> None:
    """One click deeper: the raw inputs behind each reason."""
    with st.expander("What the flies were told: every input by itself", icon=":material/function:",
                     key="smell_inputs", on_change="rerun") as deeper:  # fmt: skip
        if deeper.open:
            _made_of(found)
            _drawn_inputs(answer, shares, parts)


def _drawn_parts(answer: Answer, found: list[Reason]) -> None:
    """Each part on the molecule, orange if it speaks for the character, purple if against it."""
    if not found:
        return
    strongest = max(abs(reason.value) for reason in found)
    drawn = []
    for reason in found:
        weights = np.zeros(answer.molecule.heavy_atoms)
        strength = FAINTEST + (1 - FAINTEST) * abs(reason.value) / strongest
        weights[list(reason.atoms)] = np.copysign(strength, reason.value)
        drawn.append((answer.smiles, weights))
    pictures = weighted_svgs(drawn, 170, 110, visitor.dark())
    said = figures.signed([reason.value for reason in found])
    with st.grid(min_column_width=140, border=True, key="smell_parts") as grid:
        for reason, picture, value in zip(found, pictures, said, strict=True):
            with grid.cell(), st.container(gap="xsmall"):
                st.image(picture, alt=f"Where {reason.word} is in {answer.name[:LONGEST_NAME]}")
                st.text(f"{reason.word} {value}")


def _made_of(found: list[Reason]) -> None:
    for reason in found[:REASONS]:
        most = ", ".join(f"{name} {value:+.2f}" for name, value in reason.inputs[:4])
        others = f" and {n} more" if (n := len(reason.inputs) - 4) > 0 else ""
        st.caption(f"**{escape_markdown(reason.word)}**: {escape_markdown(most + others)}")


def _drawn_inputs(answer: Answer, shares: Shares, parts: Parts | None) -> None:
    """The strongest inputs: a substructure where it lies, a property by what it means."""
    order = np.argsort(-np.abs(shares.values), kind="stable")[:INPUTS]
    names = [str(shares.names[k]) for k in order]
    lie = np.zeros((len(names), answer.molecule.heavy_atoms)) if parts is None else parts.lie(names)
    drawn = [
        (answer.smiles, np.where(mine > 0, np.sign(shares.values[k]), 0))
        for k, mine in zip(order, lie, strict=True)
    ]
    pictures = weighted_svgs(drawn, 170, 110, visitor.dark())
    with st.grid(min_column_width=170, border=True) as grid:
        for k, name, mine, picture in zip(order, names, lie, pictures, strict=True):
            with grid.cell(), st.container(gap="xsmall"):
                if mine.any():
                    st.image(picture, alt=f"Where {name} is in {answer.name[:LONGEST_NAME]}")
                st.text(f"{name} {shares.values[k]:+.2f}")
                st.caption(escape_markdown(MEANINGS.get(name, name)))


def reason_bars(found: Sequence[Reason], unit: str, key: str) -> None:
    """Parts and properties by what they add, in chemists' words."""
    shown, rest = list(found[:REASONS]), found[REASONS:]
    if rest:
        inputs = tuple(one for reason in rest for one in reason.inputs)
        shown = [*shown, Reason("all the rest together", sum(r.value for r in rest), inputs)]
    chart(
        figures.two_sided_bars(
            [reason.value for reason in shown], [reason.word for reason in shown], x=unit,
            notes=[f"mostly {', '.join(name for name, _ in reason.inputs[:3])}"
                   for reason in shown],
            alt="Reasons, strongest first: "
            + ", ".join(f"{reason.word} {reason.value:+.2f}" for reason in shown[:5]),
            dark=visitor.dark(),
        ),
        key,
    )  # fmt: skip
