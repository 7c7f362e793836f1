"""Learn: how a fly smells, by doing. One sample walks through the circuit; lessons ask first."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kcnet_core.palette import theme
from pages.ui.learn import lesson, views
from pages.ui.learn.bench import DRAWN, Bench
from pages.ui.learn.fly_controls import settings_strip
from pages.ui.learn.present import presenting, switch
from pages.ui.learn.sample_choice import lay_bench
from pages.ui.learn.walk import walk
from pages.ui.shell import frame, session_keys

DRAW = "Draw a digit"


def on_bench(view: Callable[[Bench], None], row: DeltaGenerator) -> None:
    """One sample and its fly, side by side, and below them a view of both.

    On a projector the two are folded away, in the `row` of the views.
    """
    if presenting():
        with row, st.popover("Sample and fly", icon=":material/tune:"):
            bench = lay_bench()
        if bench is None:
            st.warning("The sample cannot be used; “Sample and fly” above says why.")
    else:
        bench = lay_bench()
    if bench is None:
        return
    if bench.kind == DRAWN and not bench.sample.rates.any():
        st.info(f"Nothing is drawn yet. Choose “{DRAW}” above, draw, and come back.")
    else:
        view(bench)


def draw(_row: DeltaGenerator) -> None:
    with st.container(key="bench", border=True):
        settings = settings_strip()
    views.draw(settings)


VIEWS: dict[str, Callable[[DeltaGenerator], None]] = {
    "Walk through": partial(on_bench, walk),
    DRAW: draw,
    "Inhibition": partial(on_bench, views.inhibition),
    "Tags": partial(on_bench, views.tags),
    "Every fly is different": partial(on_bench, views.flies),
    "Lessons": lambda _row: lesson.overview(),
}


def free_visit() -> None:
    title = "How a fly smells"
    if presenting():
        with st.container(key="spoken_title"):
            st.title(title, anchor=False)
    else:
        lead = "Follow one odor, or one image, through a fly's brain. Change the brain as you go."
        frame.heading(title, lead)
    row = st.container(
        horizontal=True,
        horizontal_alignment="distribute",
        vertical_alignment="center",
        key="views",
    )
    with row:
        view = st.segmented_control(
            "What to do",
            list(VIEWS),
            default=next(iter(VIEWS)),
            required=True,
            key=session_keys.VIEW,
            bind="query-params",
            label_visibility="collapsed",
            width="content",
        )
        switch()
    VIEWS[view](row)


st.html(Path(__file__).parent / "ui" / "learn" / "learn.css")
light, dark = theme(False), theme(True)  # the browser's own choice: it may change on an open page
st.html(
    f"<style>:root {{ --learn-paper: light-dark({light.background}, {dark.background}); "
    f"--learn-mark: light-dark({light.primary}, {dark.primary}); }}</style>"
)
if "lesson" in st.query_params:
    lesson.show(st.query_params["lesson"])
else:
    free_visit()
