"""What is said of a job: how far it is, and that somebody has stopped it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from kcnet_core.jobs import JobView
from pages.ui.shell import job_progress
from pages.ui.shell.job_progress import progress_text
from tests.pages.as_read import as_read


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("download", "Stopped; what has arrived is kept for the next time."),
        ("upload", "Stopped; nothing of it is kept."),
        ("smell", "Stopped; nothing of it is kept."),
    ],
)
def test_only_a_stopped_download_speaks_of_what_has_arrived(kind, sentence):
    def script(kind):
        from types import SimpleNamespace

        from kcnet_core.jobs import JobView
        from pages.ui.shell.job_progress import job_progress

        job_progress(SimpleNamespace(kind=kind, view=JobView("cancelled")), "any")

    app = AppTest.from_function(script, kwargs={"kind": kind}).run()
    assert [as_read(error.value) for error in app.error] == [sentence]


def test_a_page_that_looked_too_early_is_drawn_again_with_the_result():
    def script():
        from types import SimpleNamespace

        import streamlit as st

        from kcnet_core.jobs import JobView
        from pages.ui.shell.job_progress import job_progress

        job = st.session_state.setdefault(
            "job", SimpleNamespace(kind="smell", view=JobView("running"))
        )
        if job.view.state == "done":
            st.write("the result")
        else:
            job.view = JobView("done")  # ends between the page's look and the bar
            job_progress(job, "any")

    app = AppTest.from_function(script).run()
    assert [text.value for text in app.markdown] == ["the result"]


@pytest.mark.parametrize("begun", [True, None])
def test_trying_again_draws_the_whole_page_which_knows_the_new_job(monkeypatch, begun):
    """The part that is drawn by itself would show the failure of the job before for ever."""
    drawn: list[str] = []
    monkeypatch.setattr(job_progress.st, "error", lambda *_, **__: None)
    monkeypatch.setattr(job_progress.st, "button", lambda *_, **__: True)
    monkeypatch.setattr(job_progress.st, "rerun", lambda: drawn.append("page"))
    job = SimpleNamespace(kind="download", view=JobView("failed", error="It broke."))
    job_progress._draw(job, "any", "MB", 1e6, lambda: begun)
    assert drawn == (["page"] if begun else [])


def test_cancel_stops_the_job_that_is_shown():
    def script():
        from types import SimpleNamespace

        import streamlit as st

        from kcnet_core.jobs import JobView
        from pages.ui.shell.job_progress import job_progress

        def control(owner, action):
            st.session_state["asked"] = action

        job = SimpleNamespace(
            id="1",
            title="any",
            kind="upload",
            view=JobView("running"),
            control=control,
            owned_by=lambda owner: True,
        )
        job_progress(job, "any")

    app = AppTest.from_function(script).run()
    app.button(key="cancel_any").click().run()
    assert app.session_state["asked"] == "stop"


STEP = SimpleNamespace(done=3, total=12, stage="fitting")


@pytest.mark.parametrize(
    ("view", "text"),
    [
        (JobView("queued", position=2), "waiting: number 2 in the queue"),
        (JobView("running", worked=5.0), "starting · 5.0 s · about 60 s left"),
        (JobView("running", STEP, worked=5.0), "3 fits · fitting · 5.0 s · about 60 s left"),
        (JobView("running", STEP, asked="stop", worked=5.0), "3 fits · stopping · 5.0 s"),
        (JobView("paused", STEP, worked=5.0), "paused after 5.0 s · 3 fits"),
        (JobView("cancelled", STEP, worked=5.0), "stopped after 5.0 s · 3 fits"),
        (JobView("done", STEP, worked=5.0), "done after 5.0 s · 3 fits"),
    ],
)
def test_every_state_of_a_job_has_its_words(view, text):
    left = 60.0 if view.asked is None and view.state == "running" else None
    job = SimpleNamespace(view=view, seconds_left=lambda: left)
    count = "3 fits" if view.snapshot else ""
    assert progress_text(job, count, cancelled="stopped") == text


def test_cancel_stops_the_very_job_that_is_drawn():
    def script():
        from types import SimpleNamespace

        import streamlit as st

        from kcnet_core.jobs import JobView
        from pages.ui.shell.job_progress import job_progress

        asked = st.session_state.setdefault("asked", [])
        job = SimpleNamespace(
            id="1",
            title="any",
            kind="download",
            view=JobView("running"),
            owned_by=lambda owner: True,
            control=lambda owner, action: asked.append(action),
        )
        job_progress(job, "any")

    app = AppTest.from_function(script).run()
    app.button(key="cancel_any").click().run()
    assert not app.exception and app.session_state["asked"] == ["stop"]
