"""One molecule: its drawing, its odor profile, whether to trust it, why, and who is near."""

from __future__ import annotations

import numpy as np
import streamlit as st

from kcnet_core import figures
from kcnet_core.errors import KCNetError
from kcnet_core.limits import EXPLAINED_ATOMS_AT_ONCE
from kcnet_core.molecules import fingerprint_table
from kcnet_core.molecules.descriptor_table import DESCRIPTORS
from kcnet_core.molecules.pictures import molecule_svg
from kcnet_core.molecules.read import Row
from kcnet_core.smell import explanation, neighbours
from kcnet_core.smell.answers import Answer
from kcnet_core.smell.applicability import RULE
from kcnet_core.smell.label_sets import COVERAGES
from kcnet_core.smell.names.known_names import KnownNames
from kcnet_core.smell.nose import Nose
from kcnet_core.smell.reasons import Reason, absent_inputs, reasons_of
from pages.ui.shell import visitor
from pages.ui.shell.chart import chart
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.memo import memo
from pages.ui.shell.safety_net import fragment
from pages.ui.smell import ratings
from pages.ui.smell.ask import put, take, take_suggestions
from pages.ui.smell.models import ChosenModel
from pages.ui.smell.queued import from_queue

MEANINGS = {descriptor.name: descriptor.meaning for descriptor in DESCRIPTORS} | {
    name: fingerprint_table.meaning(name) for name in fingerprint_table.NAMES
}
LEVELS = {"inside": ("green", "check_circle"), "edge": ("orange", "adjust"),
          "outside": ("red", "cancel")}  # fmt: skip
PROFILE_ROWS = 12
NEIGHBOURS = 6
CHARACTERS_TO_EXPLAIN = 8
REASONS = 10
LONGEST_NAME = 80
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def show(chosen: ChosenModel, answer: Answer) -> None:
    left, right = st.columns([5, 7], gap="medium")
    with left, st.container(border=True, gap="xsmall", key="smell_card"):
        portrait(chosen, answer)
    with right:
        profile(chosen, answer)
    with left:  # last: the first one after a download takes seconds
        ratings.show(answer)


def portrait(chosen: ChosenModel, answer: Answer) -> None:
    """The drawing and what is to be known before reading the profile."""
    molecule, name = answer.molecule, answer.name[:LONGEST_NAME]
    st.image(molecule_svg(molecule.smiles, 420, 200, dark=visitor.dark()),
             alt=f"Structure of {name}", width="stretch")  # fmt: skip
    if answer.row.name:
        st.text(name)
    st.caption(f"{molecule.formula.translate(SUBSCRIPTS)} · {molecule.weight:.1f} g/mol")
    st.code(molecule.smiles, language=None, wrap_lines=True)
    if answer.warning:
        st.warning(escape_markdown(answer.warning), icon=":material/air:")
        st.caption(f"The rule: {RULE}.")
    known_line(chosen, answer)
    trust_line(answer)
    if answer.row.note:
        st.caption(escape_markdown(answer.row.note))
    if answer.row.suggestion:
        suggestion(answer.row, "Ask for the uncharged form")


def known_line(chosen: ChosenModel, answer: Answer) -> None:
    known = chosen.nose.known
    if known is None:
        return
    row = answer.known if answer.known is not None else answer.stereoisomer
    if row is None:
        st.caption(
            f"Not among the molecules of {escape_markdown(known.title)}; "
            "the model has never met it."
        )
        return
    true = " · ".join(known.characters[row]) or "none of them"
    taught = "taught to the model" if known.taught[row] else "held back for testing, not taught"
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.badge("known" if answer.known is not None else "stereoisomer known",
                 icon=":material/school:", color="blue")  # fmt: skip
        st.text(f"{known.names[row]}: {true}")
    st.caption(f"In {escape_markdown(known.title)}, {taught}.")
    twins = [one for one in known.stereoisomers(answer.molecule.skeleton) if one != row]
    for one in twins:
        st.text(f"{known.names[one]}: {' · '.join(known.characters[one]) or 'none of them'}")
    if twins or answer.known is None:
        st.caption(
            "They differ in stereochemistry alone, which the flies' inputs do not hold: to them "
            "they are one molecule, whatever a nose says."
        )


def trust_line(answer: Answer) -> None:
    verdict = answer.verdict
    if verdict is None:
        st.caption("Its training molecules are not here, so nothing says how far to trust this.")
        return
    colour, icon = LEVELS[verdict.level]
    head, _, rest = verdict.sentence.partition(": ")
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.badge(escape_markdown(head), icon=f":material/{icon}:", color=colour)
    st.text(rest[:1].upper() + rest[1:])


def suggestion(row: Row, label: str) -> None:
    st.button(label, icon=":material/subdirectory_arrow_right:", key=f"take_{row.number}",
              on_click=take_suggestions, args=([row],),
              help=escape_markdown(row.suggestion))  # fmt: skip


def profile(chosen: ChosenModel, answer: Answer) -> None:
    """Characters by probability, with every fly's own answer."""
    nose, offered = chosen.nose, chosen.offered
    greyed = [k for k in range(len(nose.characters)) if k not in offered]
    truth = nose.truth(answer.known)
    together, each = answer.probabilities, answer.each
    line = nose.line(chosen.coverage, answer.far)
    taught = answer.known is not None and nose.left_out is not None
    if taught and st.toggle(
        "With this molecule among those taught",
        key="smell_as_taught",
        help="Shown first is what the flies make of it when they are solved without this molecule "
        "and its stereoisomers: an honest test. Taught, they have seen the answer.",
    ):
        together, each = answer.as_taught
    chart(
        figures.odor_profile(
            nose.characters, together, each, line=line,
            truth=truth, greyed=greyed, top=PROFILE_ROWS, dark=visitor.dark(),
        ),
        "smell_profile",
    )  # fmt: skip
    n = len(answer.each)
    what = (
        f"Bar: calibrated probability of {n} flies together; dots: each fly alone, because every "
        "random wiring is different. "
        if n > 1
        else "Bar: calibrated probability of this one model; with a single wiring there is no "
        "spread to show. "
    )
    true = "; ✓ true of this molecule" if truth else ""
    st.caption(
        f"{what}Strong colour: named, from the dotted line ({line:.0%}) on{true}. "
        f"{promise(chosen, answer)}"
    )
    if greyed:
        with st.expander(f"{len(greyed)} characters are not offered", icon=":material/block:"):
            for k in greyed:
                found = chosen.quality.of(nose.characters[k])
                st.markdown(f":gray[{escape_markdown(f'{found.character}: {found.reason}.')}]")


def promise(chosen: ChosenModel, answer: Answer) -> str:
    """What the line means, and whether it kept its word where that was measured."""
    if not chosen.nose.lines:
        return "That is where this model itself says yes."
    asked, found = chosen.coverage, chosen.elsewhere
    sentence = f"The line is drawn so that {asked:.0%} of a molecule's true characters are named"
    if found is None:
        return f"{sentence}, going by molecules that were left out."
    which = "unseen ring systems" if answer.far else "unseen molecules"
    level = next(one for one in found.levels if (one.whose, one.which) == (found.source, which))
    k = COVERAGES.index(asked)
    return (
        f"{sentence}; measured on {level.n_molecules:,} {which} by the labels of "
        f"{escape_markdown(found.source)}: {level.coverage[k]:.0%}, with {level.named[k]:.1f} "
        "characters named on average."
    )


def refused(names: KnownNames, row: Row) -> None:
    """One line that is no molecule: why, and what may be meant."""
    with st.container(border=True):
        st.markdown("**That is not a molecule yet.**")
        st.text(f"{row.text[:200]}\n{row.error}")
        near = names.near(row.text)
        with st.container(horizontal=True):
            for k, one in enumerate(near):
                st.button(escape_markdown(one.name), icon=":material/subdirectory_arrow_right:",
                          key=f"near_{row.number}_{k}", on_click=take,
                          args=({row.number: one.smiles},),
                          help=escape_markdown(one.smiles))  # fmt: skip
        if row.suggestion and not near:
            suggestion(row, "Use this instead")


# -- why ---------------------------------------------------------------------------------------


@fragment
def reasons(chosen: ChosenModel, answer: Answer) -> None:
    """Atoms and descriptors that pushed one character up or down."""
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
        descriptors(nose, answer, character)
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


def descriptors(nose: Nose, answer: Answer, character: int) -> None:
    name = nose.characters[character]
    try:
        shares = explanation.descriptor_shares(nose, answer, character)
    except KCNetError as error:
        st.info(escape_markdown(error))
        return
    values = dict(zip(shares.names, shares.values, strict=True))
    reason_bars(reasons_of(shares, absent_inputs(nose, answer)), shares.unit, "smell_reasons")
    if shares.unit == "log-odds":
        seen = " with this molecule among those taught" if answer.known is not None else ""
        st.caption(
            f"Reasons: the shares of {len(shares.values):,} inputs and the base rate "
            f"({shares.bias:+.2f}) add up to the log-odds of {escape_markdown(name)}, "
            f"{shares.total:+.2f}, that is "
            f"{answer.as_taught[0][character]:.0%}{seen}. Exact: nothing is sampled or "
            "approximated."
        )
    else:
        st.caption(
            f"Reasons: the shares of {len(shares.values):,} inputs add up to the raw score of "
            f"{escape_markdown(name)}, {shares.total:+.3f}. Exact: nothing is sampled or "
            "approximated."
        )

    with st.expander("Every input by itself", icon=":material/function:"):
        chart(
            figures.contribution_bars(
                shares.values, shares.names, MEANINGS, top=11, dark=visitor.dark()
            ),
            "smell_shares",
        )
        for name in sorted(shares.names, key=lambda n: -abs(values[n]))[:11]:
            st.caption(escape_markdown(f"{name} ({values[name]:+.2f}): {MEANINGS.get(name, name)}"))


def reason_bars(reasons: list[Reason], unit: str, key: str) -> None:
    """Groups of inputs by what they add, in chemists' words."""
    shown, rest = reasons[:REASONS], reasons[REASONS:]
    if rest:
        inputs = tuple(name for reason in rest for name in reason.inputs)
        shown = [*shown, Reason("all the rest together", sum(r.value for r in rest), inputs)]
    chart(
        figures.two_sided_bars(
            [reason.value for reason in shown], [reason.word for reason in shown], x=unit,
            notes=[f"mostly {', '.join(reason.inputs[:3])}" for reason in shown],
            alt="Reasons, strongest first: "
            + ", ".join(f"{reason.word} {reason.value:+.2f}" for reason in shown[:5]),
            dark=visitor.dark(),
        ),
        key,
    )  # fmt: skip


# -- neighbours --------------------------------------------------------------------------------


def near(chosen: ChosenModel, answer: Answer) -> None:
    """Known odorants nearest by KC tag and by structure, side by side."""
    nose = chosen.nose
    if nose.known is None:
        st.info("This model's training molecules are not here, so there is nobody to compare with.")
        return
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**As the flies see it**: the most similar KC tags")
        if nose.circuits:
            inputs = nose.inputs(answer.features[None])[0]
            found = neighbours.tag_neighbours(nose, inputs, answer.smiles, NEIGHBOURS)
            cards(nose, found, "tag")
        else:
            st.caption("This model has no Kenyon cells, so it makes no tags.")
    with right:
        st.markdown("**By structure**: the most similar Morgan fingerprints")
        cards(nose, neighbours.structure_neighbours(nose, answer.smiles, NEIGHBOURS), "morgan")
    st.caption(
        "Similarity is the share of marks that both have of those that either has: Kenyon cells in "
        f"a molecule's tag (its most active {neighbours.TAG_SHARE:.0%}, averaged over the flies), "
        "or atom environments in its fingerprint."
    )


def cards(nose: Nose, found: list[neighbours.Neighbour], kind: str) -> None:
    known = nose.known
    with st.grid(min_column_width=150, border=True) as grid:
        for one in found:
            with grid.cell(), st.container(gap="xsmall"):
                st.image(molecule_svg(known.smiles[one.row], 190, 110, dark=visitor.dark()),
                         alt=known.names[one.row])  # fmt: skip
                st.text(known.names[one.row][:LONGEST_NAME])
                st.caption(f"similarity {one.similarity:.2f}")
                st.text(" · ".join(known.characters[one.row]) or "none")
                st.button("Smell it", key=f"ask_{kind}_{one.row}", icon=":material/air:",
                          type="tertiary", on_click=put,
                          args=(f"{known.smiles[one.row]} {known.names[one.row]}",))  # fmt: skip
