"""The Train page without a browser: controls, start, results and bad links."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

APP = str(Path(__file__).resolve().parents[2] / "app.py")


def opened(**query) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=120)
    for name, value in query.items():
        app.query_params[name] = str(value)
    return app.run()


def finished(app: AppTest) -> AppTest:
    """Wait, without sleeping, until the session's job has ended, then draw the page again."""
    from pages.ui import session

    job = session.jobs().get(app.session_state["job_id"])
    assert job.wait(120)
    return app.run()


def texts(app: AppTest) -> str:
    parts = [*app.markdown, *app.caption, *app.error, *app.warning, *app.info]
    return "\n".join(element.value for element in parts)


def test_the_first_page_says_what_to_do_next():
    app = opened(dataset="digits")
    assert not app.exception
    assert "Nothing has been trained yet" in texts(app)
    assert app.title[0].value == "Train a fly's nose"


@pytest.mark.parametrize("model", ["KCNet", "DOA", "Ensemble DOA", "ELM", "FSHN"])
def test_every_model_can_be_started_and_ends_with_a_named_score(model):
    app = opened(dataset="digits", model=model, n_hidden=40, n_epochs=2, n_submodels=2)
    app.button(key="start").click().run()
    app = finished(app)
    assert not app.exception
    assert app.metric[0].label == "Test accuracy"
    assert 0 < float(app.metric[0].value) <= 1
    assert "397 test rows" in texts(app)


def test_a_run_that_would_not_fit_is_refused_with_the_numbers(monkeypatch):
    from kcnet_core.jobs import Memory
    from pages.ui import session

    app = opened(dataset="digits", model="KCNet", n_hidden=20_000)
    monkeypatch.setattr(session.jobs(), "_memory", lambda: Memory(2**28, 2**28))
    app.button(key="start").click().run()
    assert "needs about" in texts(app)
    assert "job_id" not in app.session_state or app.session_state["job_id"] is None


def test_controls_show_what_the_link_says():
    app = opened(dataset="digits", model="KCNet", n_hidden=300, fan_in=5, inhibition=0.5)
    sliders = {slider.label: slider.value for slider in [*app.slider, *app.select_slider]}
    assert sliders["Kenyon cells 𝓑"] == 300
    assert sliders["Inputs per cell N_in"] == 5
    assert sliders["Global inhibition C"] == 0.5


def test_unusable_parameters_of_a_link_are_named():
    app = opened(dataset="digits", n_hidden="many", seed=-1)
    assert "The link's n_hidden was not used" in texts(app)
    assert "The link's seed was not used" in texts(app)


def test_an_unknown_dataset_in_a_link_is_a_sentence_not_a_traceback():
    app = opened(dataset="../../etc/passwd")
    assert not app.exception
    assert "There is no dataset" in texts(app)


def test_a_preset_sets_every_control():
    app = opened(dataset="digits")
    app.selectbox(key="preset").select("Plain and quick").run()
    assert app.session_state["run"].model == "KCNet"
    assert app.session_state["run"].n_hidden == 1000


# -- runs that are not there any more --------------------------------------------------------------


@pytest.fixture
def interrupted_job(tmp_path, monkeypatch):
    """The id of a run that was under way when the server before this one stopped."""
    import threading

    from kcnet_core.jobs import JobJournal, JobManager
    from kcnet_core.run import Run
    from pages.ui import session

    notes, hold = JobJournal(tmp_path), threading.Event()

    def steps():
        yield None
        hold.wait(60)

    before = JobManager(journal=notes)
    run = Run(dataset="digits", model="KCNet", n_hidden=70, seed=3)
    job = before.submit("ann", "train", run, steps)
    assert job.wait_for(lambda view: view.n_snapshots == 1, 60)
    notes.close()
    monkeypatch.setattr(session.jobs(), "_journal", JobJournal(tmp_path))
    yield job.id
    hold.set()
    assert before.shutdown()


def test_an_interrupted_run_is_named_and_start_runs_it_again(interrupted_job):
    app = opened(job=interrupted_job)
    assert "interrupted when the server stopped" in texts(app)
    run = app.session_state["run"]
    assert (run.dataset, run.model, run.n_hidden, run.seed) == ("digits", "KCNet", 70, 3)
    app.button(key="start").click().run()
    app = finished(app)
    assert not app.exception and app.metric[0].label == "Test accuracy"
    assert "interrupted" not in texts(app)


def test_what_a_visitor_changes_after_an_interruption_is_not_undone(interrupted_job):
    app = opened(job=interrupted_job)
    app.selectbox(key="preset").select("Plain and quick").run()
    app.run()
    assert app.session_state["run"].n_hidden == 1000


def test_a_run_that_nobody_knows_is_simply_gone(interrupted_job):
    app = opened(job="nothing", dataset="digits")
    assert "This run is not on the server any more" in texts(app)
    assert "interrupted when" not in texts(app)


def test_the_page_says_why_lambda_cannot_be_moved_any_more():
    from pages.ui import session

    app = opened(dataset="digits", model="KCNet", n_hidden=40)
    app.button(key="start").click().run()
    app.session_state["result_tab"] = "Move λ"
    app = finished(app)
    assert any(slider.key == "lambda_exponent" for slider in app.slider)
    session.jobs().get(app.session_state["job_id"]).result.forget_sums()
    app.run()
    assert not app.exception
    assert "lets those of older runs go when newer ones need the memory" in texts(app)
    assert not any(slider.key == "lambda_exponent" for slider in app.slider)
    assert app.metric[0].label == "Test accuracy"
