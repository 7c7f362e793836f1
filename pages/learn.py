"""Learn: how a fly smells, by doing. One sample walks through the circuit; lessons ask first."""

from pathlib import Path

import streamlit as st

from kcnet_core.errors import KCNetError
from kcnet_core.palette import theme
from pages.ui.learn import lesson, views
from pages.ui.learn.bench import DATA_OF, DRAWN, Bench
from pages.ui.learn.fly_controls import settings_strip
from pages.ui.learn.sample_choice import choose_kind, choose_sample, picture
from pages.ui.learn.walk import walk
from pages.ui.shell import frame, session_keys, visitor
from pages.ui.shell.escaping import escape_markdown

WALK, DRAW, INHIBITION, TAGS, FLIES, LESSONS = (
    "Walk through",
    "Draw a digit",
    "Inhibition",
    "Tags",
    "Every fly is different",
    "Lessons",
)
VIEWS = {
    WALK: walk,
    INHIBITION: views.inhibition,
    TAGS: views.tags,
    FLIES: views.flies,
}


def free_visit():
    frame.heading(
        "How a fly smells",
        "Follow one odor, or one image, through a fly's brain. Change the brain as you go.",
    )
    view = st.segmented_control(
        "What to do",
        [WALK, DRAW, INHIBITION, TAGS, FLIES, LESSONS],
        default=WALK,
        required=True,
        key=session_keys.VIEW,
        bind="query-params",
        label_visibility="collapsed",
    )
    if view == LESSONS:
        lesson.overview()
        return
    if view == DRAW:
        with st.container(key="table", border=True):
            settings = settings_strip()
        views.draw(settings)
        return
    bench = lay_bench()
    if bench is None:
        return
    if bench.kind == DRAWN and not bench.sample.rates.any():
        st.info(f"Nothing is drawn yet. Choose “{DRAW}” above, draw, and come back.")
    else:
        VIEWS[view](bench)


def lay_bench() -> Bench | None:
    """The sample and the settings of the fly, side by side; None if the sample cannot be used."""
    with st.container(key="table", border=True):
        portrait, choice, controls = st.columns([2, 5, 9], gap="medium")
        with controls:
            settings = settings_strip(columns=2)
        try:
            with choice, st.container(key="choice"):
                kind = choose_kind()
                sample = choose_sample(kind)
        except KCNetError as error:
            st.error(escape_markdown(error), icon=":material/error:")
            return None
        with portrait, st.container(key="portrait"):
            picture(sample, kind)
    return Bench(DATA_OF[kind], settings, sample, kind)


st.html(Path(__file__).parent / "ui" / "learn" / "learn.css")
ink = theme(visitor.dark())
st.html(f"<style>:root {{ --learn-paper: {ink.background}; --learn-mark: {ink.primary}; }}</style>")
if "lesson" in st.query_params:
    lesson.show(st.query_params["lesson"])
else:
    free_visit()
