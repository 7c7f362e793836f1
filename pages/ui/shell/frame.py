"""What surrounds every page: navigation, style, the status line, and a net under all of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from kcnet_core import limits
from kcnet_core.storage.folders import assets
from pages.ui.shell import streamlit_workarounds, visitor, visitor_jobs
from pages.ui.shell.safety_net import fragment, safety_net

if TYPE_CHECKING:
    from kcnet_core.jobs import Job

streamlit_workarounds.ignore_pages_folder()  # here, because a bare page gets no further

HERE = Path(__file__).parent
PAGES = HERE.parents[1]
LOGOS = assets() / "pictures"
# Without icons: Streamlit makes a page's icon the browser's, and fetches it from another host.
ROOMS = ("train", "data", "learn", "smell", "compare", "paper")
FIRST = "train"
WITHOUT_CONTROLS = ("Data", "Learn", "Smell", "Paper")  # nothing in the sidebar but the status line


def pages() -> list[StreamlitPage]:
    """The pages, made anew for every run: a page object remembers whether it was run already, so
    visitors who shared one would now and then take it from each other.

    The first one's address is "/"; under its name, as all others have one, it is found as well.
    """
    first, *others = (
        st.Page(
            PAGES / f"{name}.py",
            title=name.capitalize(),
            default=name == FIRST,
            url_path="first" if name == FIRST else name,  # of the first it is never shown
        )
        for name in ROOMS
        if (PAGES / f"{name}.py").exists()
    )

    def under_its_name() -> None:
        st.switch_page(first, query_params=st.query_params.to_dict())

    named = st.Page(under_its_name, title=first.title, url_path=FIRST, visibility="hidden")
    return [first, *others, named]


def around(page: StreamlitPage) -> None:
    """Run `page` inside the frame; whatever goes wrong becomes a sentence, never a traceback."""
    for sheet in (HERE / "style.css", streamlit_workarounds.STYLE):
        st.html(sheet)
    st.logo(LOGOS / f"logo-{'dark' if visitor.dark() else 'light'}.svg", size="large")
    with safety_net(f"page {page.title}"):
        page.run()
    with st.sidebar:
        status_line()


@fragment(run_every=5.0)
def status_line() -> None:
    visitor_jobs.attend()
    status = visitor_jobs.jobs().status()
    st.caption(
        f"{status.running} running · {status.queued} queued · "
        f"{status.memory.used / 2**30:.1f} GB in use"
    )
    if (job := visitor_jobs.long_run()) is not None:
        if_left_alone(job)


def if_left_alone(job: Job) -> None:
    """What becomes of a long run when its visitor leaves, and how to keep it."""
    if job.view.kept_until > time.time():
        until = time.strftime("%H:%M UTC on %d %B", time.gmtime(job.view.kept_until))
        st.caption(f"Your run goes on without you until {until}.")
        return
    pause, end = limits.UNWATCHED_PAUSE_SECONDS // 60, limits.UNWATCHED_END_SECONDS // 60
    st.caption(
        f"Your run is paused {pause} minutes after its last viewer has left, and ended after {end}."
    )
    hours = limits.KEPT_RUNNING_SECONDS // 3600
    st.button(
        f"Keep it running, up to {hours} h", key="keep_running", icon=":material/hourglass_top:",
        on_click=visitor_jobs.keep_running, args=(job,),
    )  # fmt: skip


def heading(title: str, lead: str) -> None:
    """A page's title and, where there is room, the one sentence that says what it is for."""
    st.title(title, anchor=False)
    with st.container(key="lead"):  # its place stays: all below keeps its number, and its parts
        if lead:
            st.markdown(f":gray[{lead}]")
    with st.container(key="where_things_are"):  # on a phone only
        st.markdown(":small[:gray[**»** at the top opens the left side: pages and settings.]]")
