"""What a job that only counts says when somebody has stopped it."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

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
