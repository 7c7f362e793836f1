"""Long runs ask first, and say what becomes of them when their visitor leaves."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from kcnet_core import limits
from kcnet_core.jobs import Estimate, JobManager
from pages.ui.shell import visitor_jobs


def asks():
    import streamlit as st

    from kcnet_core.errors import KCNetError
    from kcnet_core.jobs import Estimate
    from pages.ui.shell import visitor_jobs

    hours = st.number_input("hours", value=74.1)
    if st.button("Start"):
        try:
            visitor_jobs.ask_first(("plan", hours), Estimate(3600 * hours), "Fewer rows")
            st.write("started")
        except KCNetError as refused:
            st.error(str(refused))


def test_a_very_long_run_names_its_time_and_starts_when_asked_again():
    app = AppTest.from_function(asks).run()
    app.button[0].click().run()
    assert "74.1 h" in app.error[0].value
    assert "Fewer rows make it shorter" in app.error[0].value and not app.markdown
    app.number_input[0].set_value(50.0).run()
    app.button[0].click().run()
    assert "50" in app.error[0].value, "another plan is asked about anew"
    app.button[0].click().run()
    assert not app.error and app.markdown[0].value == "started"


def test_a_run_that_is_not_long_starts_at_once():
    app = AppTest.from_function(asks).run()
    app.number_input[0].set_value(1.9).run()
    app.button[0].click().run()
    assert not app.error and app.markdown[0].value == "started"


def status():
    from pages.ui.shell import frame

    frame.status_line()


def test_a_long_run_says_what_happens_when_its_visitor_leaves_and_can_be_kept(monkeypatch):
    def rests():
        yield None

    manager = JobManager(alone=False)
    monkeypatch.setattr(visitor_jobs, "jobs", lambda: manager)
    app = AppTest.from_function(status).run()
    assert not app.button
    owner = app.session_state["owner"]
    long = Estimate(2.0 * limits.UNWATCHED_PAUSE_SECONDS)
    job = manager.submit(owner, "train", {}, rests, estimate=long, paused=True)
    app.run()
    assert (
        "paused 10 minutes after" in app.caption[1].value
        and "ended after 60" in app.caption[1].value
    )
    app.button[0].click().run()
    assert job.view.kept_until > 0 and "goes on without you until" in app.caption[1].value
    assert not app.button
    job.control(owner, "stop")
