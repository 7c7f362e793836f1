"""A part of a page that follows a job, and when the whole page is drawn again."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest


def test_the_page_is_drawn_again_when_the_state_is_no_longer_the_one_drawn():
    def script():
        from types import SimpleNamespace

        import streamlit as st

        from kcnet_core.jobs import JobView
        from pages.ui.shell.watch import state_of, watch

        job = st.session_state.setdefault("job", SimpleNamespace(view=JobView("running")))
        drawn = state_of(job)
        st.text(f"buttons for {drawn}")
        job.view = JobView("done")  # while the page is drawn
        watch(job, drawn, lambda: st.text(f"figures of {job.view.state}"), "any")

    app = AppTest.from_function(script).run()
    assert [text.value for text in app.text] == ["buttons for done", "figures of done"]


@pytest.mark.parametrize(
    ("state", "every"), [("queued", 1.0), ("running", 1.0), ("paused", None), (None, None)]
)
def test_only_a_job_under_way_is_looked_at_again(monkeypatch, state, every):
    from types import SimpleNamespace

    from kcnet_core.jobs import JobView
    from pages.ui.shell import watch as module

    asked = []
    monkeypatch.setattr(
        module, "fragment", lambda draw, **options: asked.append(options["run_every"]) or draw
    )
    job = None if state is None else SimpleNamespace(view=JobView(state))
    module.watch(job, state, lambda: asked.append("drawn"), "any")
    assert asked == [every, "drawn"]


def test_first_things_to_see_are_looked_for_more_often_and_then_drawn_with_the_page(
    monkeypatch,
):
    from types import SimpleNamespace

    from kcnet_core.jobs import JobView
    from pages.ui.shell import watch as module

    class PageDrawnAgain(Exception):
        pass

    def draw_again():
        raise PageDrawnAgain

    asked, seen = [], iter([False, False, True, True])
    looked = []
    monkeypatch.setattr(
        module,
        "fragment",
        lambda draw, **options: asked.append(options["run_every"]) or looked.append(draw) or draw,
    )
    monkeypatch.setattr(module.st, "rerun", draw_again)
    follow = [SimpleNamespace(view=JobView("running")), "running", lambda: asked.append("drawn")]
    module.watch(*follow, "any", 0.5, settled=lambda: next(seen))
    assert asked == [0.3, "drawn"], "what is there is drawn without waiting for the page"
    with pytest.raises(PageDrawnAgain):
        looked[0]()
    module.watch(*follow, "any", 0.5, settled=lambda: next(seen))
    assert asked[2:] == [0.5, "drawn"]
