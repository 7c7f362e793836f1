"""Smell: paste SMILES or type names, and read odor characters with their reasons."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kcnet_core.errors import KCNetError
from kcnet_core.molecules.pool import warm_up
from kcnet_core.smell.answers import Answer, Answers
from kcnet_core.smell.names.known_names import our_names
from pages.ui.shell import address
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.frame import heading
from pages.ui.smell import (
    ask,
    draw,
    edits,
    many,
    models,
    quality,
    search,
    side_by_side,
    tag_map,
    why,
)
from pages.ui.smell import one as smell_one


def main() -> None:
    st.cache_resource(show_spinner=False)(warm_up)()  # RDKit starts while the visitor still reads
    ask.adopt_link(search.adopt)
    heading(
        "What does it smell of?",
        "Paste SMILES or type a name; a swarm of flies says which odor characters it has, how sure "
        "they are, and why. Or search the other way round, from a smell to molecules.",
    )
    searching = search.chosen_view() == search.SEARCH
    if not searching:
        search.keep()
        board = draw.beside(ask.show)
    with st.container(horizontal=True, vertical_alignment="center", key="smell_bar"):
        with st.popover("Model", icon=":material/hub:", key="smell_who"):
            chosen = models.choose()
            dilution = models.choose_dilution(chosen.nose) if chosen else None
            chosen = models.choose_coverage(chosen) if chosen else None
        if not searching:
            draw.switch()
            ask.upload(chosen.nose.names if chosen else our_names())
        link = search.link_query(dilution) if searching else ask.link_query(dilution)
        ask.share(link)
        if chosen and not searching:
            models.who(chosen, dilution)
    if chosen is None:
        st.info("Give the model file under “Model”, or choose another model there.")
    elif searching:
        search.show(chosen, dilution)
    else:
        answer(chosen, dilution, board)
    address.write("smell", link)


def answer(chosen: models.ChosenModel, dilution: str | None, board: DeltaGenerator | None) -> None:
    answers = None
    try:
        answers = ask.answers(chosen.nose, dilution)
    except KCNetError as error:
        st.error(escape_markdown(error), icon=":material/error:")
    draw.show(board, answers)
    if answers is None:
        return
    if len(answers.rows) == 1:
        one = answers.answers[0]
        if one is None:
            smell_one.refused(chosen.nose.names, answers.rows[0])
            return
    else:
        one = many.overview(chosen, answers)
    if one is not None:
        edits.before(chosen, one)
        smell_one.show(chosen, one)
    details(chosen, answers, one)


def details(chosen: models.ChosenModel, answers: Answers, one: Answer | None) -> None:
    views = {"How good is this?": lambda: quality.quality(chosen)}
    if one is not None:
        views = {
            "Why": lambda: why.reasons(chosen, one),
            "Change it": lambda: edits.show(chosen, one),
            "Nearest known odorants": lambda: smell_one.near(chosen, one),
            "Map": lambda: tag_map.show(chosen, one),
        } | views
    if 2 <= len(answers.given) <= side_by_side.MOST:
        views = {"Side by side": lambda: side_by_side.show(chosen, answers.given)} | views
    if len(answers.given) > 1:
        views["All molecules"] = lambda: many.heatmap(chosen, answers)
    names = list(views)
    for tab, name in zip(st.tabs(names, key="smell_tab", on_change="rerun"), names, strict=True):
        with tab:
            if tab.open:
                views[name]()


main()
