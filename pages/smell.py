"""Smell: paste SMILES or type names, and read odor characters with their reasons."""

from __future__ import annotations

import streamlit as st

from kcnet_core.errors import KCNetError
from kcnet_core.molecules.pool import warm_up
from pages.ui.shell.escaping import plain
from pages.ui.shell.frame import heading
from pages.ui.smell import ask, box, many, models, quality
from pages.ui.smell import one as smell_one


@st.cache_resource(show_spinner=False)
def warmed_up() -> bool:
    """Start RDKit's workers while the visitor still reads."""
    warm_up()
    return True


def main() -> None:
    warmed_up()
    ask.adopt_link()
    heading(
        "What does it smell of?",
        "Paste SMILES or type a name; a swarm of flies says which odor characters it has, how sure "
        "they are, and why.",
    )
    text = question()
    with st.container(horizontal=True, vertical_alignment="center", key="smell_bar"):
        with st.popover("Model", icon=":material/hub:"):
            answering = models.answering(models.choose())
            dilution = choose_dilution(answering) if answering else None
        ask.upload()
        ask.share(dilution)
        if answering:
            models.who(answering, dilution)
    if answering is None:
        st.info("Give the model file under “Model”, or choose another model there.")
    else:
        answer(answering, text, dilution)
    ask.write_link(dilution)


def question() -> str:
    """The text to answer; empty when a table has taken its place."""
    if ask.TABLE in st.session_state:
        ask.asked_table()
        return ""
    text = box.box()
    ask.chips()
    return text


def choose_dilution(answering) -> str | None:
    levels = answering.nose.dilutions
    if not levels:
        return None
    wanted = st.session_state.pop("smell_dilution_wanted", None)
    if wanted in levels:
        st.session_state["smell_dilution"] = wanted
    if st.session_state.get("smell_dilution") not in levels:
        st.session_state["smell_dilution"] = levels[0]
    return st.segmented_control(
        "Dilution", levels, key="smell_dilution", required=True, format_func=plain,
        help="People rated each molecule at these dilutions, and the model knows them apart.",
    )  # fmt: skip


def answer(answering, text: str, dilution: str | None) -> None:
    try:
        answers = ask.answers(answering, text, dilution)
    except KCNetError as error:
        st.error(plain(error), icon=":material/error:")
        return
    if answers is None:
        if not text.strip() and ask.TABLE not in st.session_state:
            st.info("Nothing is asked yet. Paste a SMILES, type a name, or click an example.")
        return
    if len(answers.rows) == 1:
        one = answers.answers[0]
        if one is None:
            smell_one.refused(answers.rows[0])
            return
    else:
        one = many.overview(answering, answers)
    if one is not None:
        smell_one.show(answering, one)
    details(answering, answers, one)


def details(answering, answers, one) -> None:
    views = {"How good is this?": lambda: quality.quality(answering)}
    if one is not None:
        views = {
            "Why": lambda: smell_one.reasons(answering, one),
            "Nearest known odorants": lambda: smell_one.near(answering, one),
        } | views
    if len(answers.given) > 1:
        views["All molecules"] = lambda: many.heatmap(answering, answers)
    names = list(views)
    for tab, name in zip(st.tabs(names, key="smell_tab", on_change="rerun"), names, strict=True):
        with tab:
            if tab.open:
                views[name]()


main()
