"""Edit and watch: the molecules one step away, what each step changes, and a click to take it."""

from __future__ import annotations

import numpy as np
import streamlit as st

from kcnet_core.limits import EXPLAINED_ATOMS_AT_ONCE
from kcnet_core.molecules.pictures import molecule_svgs
from kcnet_core.molecules.text import Line
from kcnet_core.smell.answers import Answer, smell
from kcnet_core.smell.edits import edit_steps, edits, ranked
from pages.ui.shell import session_keys, visitor
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.memo import memo
from pages.ui.smell.ask import change, take
from pages.ui.smell.models import ChosenModel
from pages.ui.smell.one import LONGEST_NAME
from pages.ui.smell.queued import from_queue
from pages.ui.smell.why import CHARACTERS_TO_EXPLAIN

SHOWN = 18
WORTH_SAYING = 0.01  # in probability


def show(chosen: ChosenModel, answer: Answer) -> None:
    nose = chosen.nose
    order = [int(k) for k in np.argsort(-answer.probabilities) if k in chosen.offered]
    wish = st.pills(
        "Steps that give more of (or all that change much)", order[:CHARACTERS_TO_EXPLAIN],
        format_func=lambda k: escape_markdown(nose.characters[k]),
        key=f"smell_edit_{hash((chosen.key, answer.smiles))}",
    )  # fmt: skip
    key = (nose, answer.smiles, answer.dilution)
    if answer.molecule.heavy_atoms <= EXPLAINED_ATOMS_AT_ONCE:
        every = memo("smell_edits", key, lambda: edits(nose, answer))
    else:
        every = from_queue(
            "smell edits", key, lambda: edit_steps(nose, answer), nose,
            2 * answer.molecule.heavy_atoms, f"Steps from {answer.name[:LONGEST_NAME]}",
        )  # fmt: skip
        if every is None:
            return
    found = ranked(every, wish)[:SHOWN]
    if not found:
        st.info("No step of ours fits this molecule: it has no chain, ring or group to change.")
        return
    pictures = molecule_svgs([edit.smiles for edit in found], 190, 110, visitor.dark())
    with st.grid(min_column_width=170, border=True) as grid:
        for k, (edit, picture) in enumerate(zip(found, pictures, strict=True)):
            with grid.cell(), st.container(gap="xsmall"):
                st.image(picture, alt=edit.name or edit.smiles)
                st.caption(edit.step)
                st.text((edit.name or edit.smiles)[:LONGEST_NAME])
                st.text(_words(chosen, edit.changes))
                st.button("Take it", key=f"smell_edit_take_{k}", type="tertiary",
                          icon=":material/edit:", on_click=change,
                          args=(answer, edit.smiles))  # fmt: skip
    st.caption(
        "Change of the flies' probability in percent points, from this molecule to the one drawn; "
        "both by flies that were taught all they know."
    )


def before(chosen: ChosenModel, answer: Answer) -> None:
    """The difference to the molecule that was changed into this one."""
    smiles, name = st.session_state.get(session_keys.SMELL_BEFORE, ("", ""))
    if not smiles or smiles == answer.smiles:
        return
    from_it = memo(
        "smell_before",
        (chosen.nose, smiles, answer.dilution),
        lambda: smell(chosen.nose, [Line(1, smiles, smiles, name)], answer.dilution).given,
    )
    if not from_it:
        return
    changes = answer.as_taught[0] - from_it[0].as_taught[0]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"Changed from {name[:LONGEST_NAME]}: {_words(chosen, changes, ', ')}")
        st.button("Put it back", icon=":material/undo:", key="smell_edit_back",
                  on_click=take, args=({answer.row.number: smiles},))  # fmt: skip


def _words(chosen: ChosenModel, changes: np.ndarray, between: str = "\n") -> str:
    order = [int(k) for k in np.argsort(-np.abs(changes), kind="stable") if k in chosen.offered]
    said = [
        f"{chosen.nose.characters[k]} {100 * changes[k]:+.0f}".replace("-", "−")
        for k in order[:3]
        if abs(changes[k]) >= WORTH_SAYING
    ]
    return between.join(said) or "next to nothing"
