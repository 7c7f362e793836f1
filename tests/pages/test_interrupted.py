"""Links to runs that were under way when the server stopped, opened on the server after it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.run import Run
from kcnet_core.jobs import JobJournal
from pages.ui.shell import visitor_jobs
from tests.kcnet_core.jobs.ending_manager import EndingManager
from tests.pages.live_numbers import live_numbers

APP = str(Path(__file__).resolve().parents[2] / "app.py")
RUN = Run(dataset="digits", model="KCNet", n_hidden=70, seed=3)


def opened(page: str = "", **query) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=120)
    if page:
        app.switch_page(f"pages/{page}.py")
    for name, value in query.items():
        app.query_params[name] = str(value)
    return app.run()


def texts(app: AppTest) -> str:
    parts = [*app.markdown, *app.caption, *app.error, *app.warning, *app.info]
    return "\n".join(element.value for element in parts)


@pytest.fixture
def interrupted(tmp_path, monkeypatch):
    """Make a run that was under way when the server before this one stopped; gives its id."""
    notes, hold = JobJournal(tmp_path), threading.Event()
    before = EndingManager(journal=notes)

    def steps():
        yield None
        hold.wait(60)

    def make(kind: str, config) -> str:
        job = before.submit("ann", kind, config, steps)
        assert job.wait_for(lambda view: view.n_snapshots == 1, 60)
        notes.close()
        monkeypatch.setattr(visitor_jobs.jobs(), "journal", JobJournal(tmp_path))
        return job.id

    yield make
    hold.set()
    before.end()


def test_an_interrupted_run_is_named_and_start_runs_it_again(interrupted):
    app = opened(job=interrupted("train", RUN))
    assert "interrupted when the server stopped" in texts(app)
    assert app.session_state["run"] == RUN
    app.button(key="start").click().run()
    job = visitor_jobs.jobs().get(app.session_state["job_id"])
    assert job.wait(120) and job.config == RUN
    app.run()
    assert not app.exception and "Test accuracy" in live_numbers(app)
    assert "interrupted" not in texts(app)


def test_what_a_visitor_changes_after_an_interruption_is_not_undone(interrupted):
    app = opened(job=interrupted("train", RUN))
    app.selectbox(key="preset").select("Plain and quick").run()
    app.run()
    assert app.session_state["run"].n_hidden == 1000


def test_an_interrupted_comparison_is_named_with_its_settings(interrupted):
    config = Comparison(dataset="digits", models=("KCNet", "ELM"), hidden=(20,), n_repeats=2)
    job_id = interrupted("compare", config)
    app = opened("compare", job=job_id, **{"dataset": "digits"} | config.to_query())
    assert "interrupted when the server stopped" in texts(app)
    assert app.session_state["comparison"] == config
    assert not app.button(key="start_comparison").disabled


def test_a_run_that_nobody_knows_is_simply_gone(interrupted):
    interrupted("train", RUN)
    app = opened(job="nothing", dataset="digits")
    assert "This run is not on the server any more" in texts(app)
    assert "interrupted when" not in texts(app)
