"""The map of known molecules by smell, the asked one in its place; a click asks about another."""

from __future__ import annotations

import numpy as np
import streamlit as st

from kcnet_core import figures
from kcnet_core.smell.answers import Answer
from kcnet_core.smell.tag_map import TagMap, tag_map
from pages.ui.shell import session_keys, visitor
from pages.ui.shell.chart import chart
from pages.ui.shell.escaping import escape_markdown
from pages.ui.smell.ask import put
from pages.ui.smell.models import ChosenModel
from pages.ui.smell.one import LONGEST_NAME


def show(chosen: ChosenModel, answer: Answer) -> None:
    nose = chosen.nose
    with st.spinner("Laying out all known molecules…"):  # seconds, the first time
        found = tag_map(nose)
    if found is None or nose.known is None:
        st.info(
            "A map needs the molecules that a model was taught, and Kenyon cells that tag them."
        )
        return
    most = max(chosen.offered, key=lambda k: answer.probabilities[k], default=0)
    character = st.selectbox(
        "Coloured by", nose.characters, index=most,
        key=f"smell_map_by_{hash((chosen.key, answer.smiles))}",
    )  # fmt: skip
    known = nose.known
    has = np.array([character in known.characters[row] for row in found.rows], bool)
    names = [known.names[row] for row in found.rows]
    chart(
        figures.smell_map(
            found.places, names, has, character, found.place(answer), answer.name,
            dark=visitor.dark(),
        ),
        session_keys.SMELL_MAP,
        on_select=lambda: _open(chosen, found),
        selection_mode="points",
    )  # fmt: skip
    st.caption(
        f"{len(names):,} molecules of {escape_markdown(known.title)}: the more Kenyon cells two "
        "tags share, the nearer they lie, as far as two dimensions can show it (they hold "
        f"{found.share:.0%} of what tells tags apart). Diamonds smell of "
        f"{escape_markdown(character)}, as people say; the ring is "
        f"{escape_markdown(answer.name[:LONGEST_NAME])}. Click a point to ask about it."
    )


def _open(chosen: ChosenModel, found: TagMap) -> None:
    event = st.session_state.get(session_keys.SMELL_MAP)
    points = event["selection"]["points"] if event else []
    clicked = points[0].get("customdata") if points else None
    if isinstance(clicked, int) and 0 <= clicked < len(found.rows) and chosen.nose.known:
        row = found.rows[clicked]
        put(f"{chosen.nose.known.smiles[row]} {chosen.nose.known.names[row]}")
