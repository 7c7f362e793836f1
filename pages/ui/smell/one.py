"""One molecule: its drawing, its odor profile, whether to trust it, and who is near."""

from __future__ import annotations

import streamlit as st

from kcnet_core import figures
from kcnet_core.molecules.pictures import molecule_svg
from kcnet_core.molecules.read import Row
from kcnet_core.smell import neighbours
from kcnet_core.smell.answers import Answer
from kcnet_core.smell.applicability import RULE
from kcnet_core.smell.label_sets import COVERAGES
from kcnet_core.smell.names.known_names import KnownNames
from kcnet_core.smell.nose import Nose
from pages.ui.shell import visitor
from pages.ui.shell.chart import chart
from pages.ui.shell.escaping import escape_markdown
from pages.ui.smell import ratings
from pages.ui.smell.ask import put, take, take_suggestions
from pages.ui.smell.models import ChosenModel

LEVELS = {"inside": ("green", "check_circle"), "edge": ("orange", "adjust"),
          "outside": ("red", "cancel")}  # fmt: skip
PROFILE_ROWS = 12
NEIGHBOURS = 6
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
    if answer.left_out and st.toggle(
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
