"""Learn: how a fly smells, by doing. One sample walks through the circuit; lessons ask first."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import streamlit as st

from kcnet_core.palette import theme
from pages.ui.learn import lesson, views
from pages.ui.learn.bench import DRAWN, Bench
from pages.ui.learn.fly_controls import settings_strip
from pages.ui.learn.sample_choice import lay_bench
from pages.ui.learn.walk import walk
from pages.ui.shell import frame, session_keys, visitor

DRAW = "Draw a digit"


def on_bench(view: Callable[[Bench], None]) -> None:
    """One sample and its fly, side by side, and below them a view of both."""
    bench = lay_bench()
    if bench is None:
        return
    if bench.kind == DRAWN and not bench.sample.rates.any():
        st.info(f"Nothing is drawn yet. Choose “{DRAW}” above, draw, and come back.")
    else:
        view(bench)


def draw() -> None:
    with st.container(key="bench", border=True):
        settings = settings_strip()
    views.draw(settings)


VIEWS: dict[str, Callable[[], None]] = {
    "Walk through": partial(on_bench, walk),
    DRAW: draw,
    "Inhibition": partial(on_bench, views.inhibition),
    "Tags": partial(on_bench, views.tags),
    "Every fly is different": partial(on_bench, views.flies),
    "Lessons": lesson.overview,
}


def free_visit() -> None:
    frame.heading(
        "How a fly smells",
        "Follow one odor, or one image, through a fly's brain. Change the brain as you go.",
    )
    view = st.segmented_control(
        "What to do",
        list(VIEWS),
        default=next(iter(VIEWS)),
        required=True,
        key=session_keys.VIEW,
        bind="query-params",
        label_visibility="collapsed",
    )
    VIEWS[view]()


st.html(Path(__file__).parent / "ui" / "learn" / "learn.css")
ink = theme(visitor.dark())
st.html(f"<style>:root {{ --learn-paper: {ink.background}; --learn-mark: {ink.primary}; }}</style>")
if "lesson" in st.query_params:
    lesson.show(st.query_params["lesson"])
else:
    free_visit()
