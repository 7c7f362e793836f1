"""A run on uploaded data: its owner keeps it over a reload, and others watch without the rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments import report
from kcnet_core.experiments.run import Run
from pages.ui.shell import visitor_jobs
from tests.pages.as_read import as_read
from tests.pages.live_numbers import live_numbers

APP = str(Path(__file__).resolve().parents[2] / "app.py")
OWNER = "o" * 43
SECRET = "my secret.csv"
ALCOHOLS = tuple("C" * n + "O" for n in range(1, 61))


@pytest.fixture
def jobs():
    yield visitor_jobs.jobs()
    for job in visitor_jobs.jobs().owned_by(OWNER):
        job.control(OWNER, "stop")
        assert job.wait(60)


def upload(image: bool = False) -> Dataset:
    X = np.random.default_rng(0).random((60, 16)).astype(np.float32)
    about = (
        {"image_shape": (4, 4)}
        if image
        else {"groups": np.arange(60), "smiles": ALCOHOLS, "row_names": ("secret name",) * 60}
    )
    return Dataset(
        "uploaded", SECRET, X, (X[:, 0] > 0.5).astype(int), tuple(f"f{i}" for i in range(16)),
        ("no", "yes"), report=("secret report",), **about,
    )  # fmt: skip


def page(owner: str = "", name: str = "", **query) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=120)
    if owner:
        app.session_state["owner"] = owner
    if name:
        app.switch_page(f"pages/{name}.py")
    for key, value in query.items():
        app.query_params[key] = value
    return app.run()


def started(data: Dataset, wait: bool = True, **settings):
    """A run on `data` by `OWNER`, and what its link says."""
    app = AppTest.from_file(APP, default_timeout=120)
    run = Run(dataset="uploaded", **{"n_hidden": 20, "alpha_loo": True} | settings)
    app.session_state["owner"] = OWNER
    app.session_state["uploaded"], app.session_state["run"] = data, run
    app.session_state["pace"] = "full speed"
    app.run()
    app.button(key="start").click().run()
    job = visitor_jobs.jobs().get(app.session_state["job_id"])
    assert job.wait(60) if wait else job.wait_for(lambda view: view.snapshot is not None, 60)
    return job, run.to_query() | {"job": job.id}


def under_way():
    job, link = started(upload(), wait=False, model="DOA", n_epochs=1000)
    job.control(OWNER, "slow", 1.0)  # it will not end by itself
    return job, link


def texts(app: AppTest) -> str:
    parts = [*app.markdown, *app.caption, *app.error, *app.warning, *app.info, *app.text]
    return as_read("\n".join(str(element.value) for element in parts))


def test_the_owner_of_a_run_sees_and_stops_it_after_a_reload(jobs):
    job, link = under_way()
    app = page(OWNER, **link)
    assert not app.exception and not app.error
    assert app.session_state["uploaded"].title == SECRET, "the data came back with the run"
    assert app.get("bidi_component"), "the live view is drawn"
    assert not app.button(key="stop").disabled
    app.button(key="stop").click().run()
    assert job.wait(60) and job.view.state == "cancelled"


def test_a_run_whose_upload_is_gone_is_still_shown_with_a_sentence(jobs):
    job, link = under_way()
    visitor_jobs._carried().pop(job.id)
    app = page(OWNER, **link)
    assert not app.exception and app.get("bidi_component")
    assert "uploaded" not in app.session_state
    assert not app.button(key="stop").disabled
    app.button(key="reset").click().run()
    assert not app.exception
    assert "Upload it again on the Data page" in texts(app)


@pytest.mark.parametrize("whole_link", [True, False])
@pytest.mark.parametrize("image", [True, False])
@pytest.mark.parametrize("model", ["KCNet", "DOA"])
def test_a_watcher_sees_what_was_learned_but_not_the_upload(jobs, model, image, whole_link):
    job, link = started(upload(image), model=model, n_epochs=2)
    app = page(**(link if whole_link else {"job": job.id}))
    assert not app.exception and not app.error
    assert next(iter(live_numbers(app))).startswith("Test ") and app.get("plotly_chart")
    assert "an uploaded dataset" in texts(app)
    tabs = [tab.label for tab in app.tabs]
    assert "Take home" in tabs and "Test samples" not in tabs
    for tab in tabs:
        app.session_state["result_tab"] = tab
        app.run()
        assert not app.exception
        assert "secret" not in texts(app)
        assert ALCOHOLS[8] not in texts(app)


def test_a_watcher_sees_a_run_under_way_and_cannot_steer_it(jobs):
    _, link = under_way()
    app = page(**link)
    assert not app.exception and not app.error
    assert app.get("bidi_component")
    assert app.button(key="stop").disabled
    assert "You are watching" in texts(app) and "secret" not in texts(app)


def test_the_downloads_of_a_watcher_do_not_name_the_file(jobs):
    from pages.ui.train.result_view import without_rows

    job, _ = started(upload(), model="KCNet")
    taken = without_rows(job.result)
    assert "secret" in report.report_json(job.result)
    assert "secret" not in report.report_json(taken)
    assert b"secret" not in report.model_file(taken)


def test_a_watcher_does_not_smell_with_molecules_that_somebody_uploaded(jobs):
    job, _ = started(upload(), model="KCNet")
    for owner, offered in ((OWNER, True), ("", False)):
        app = page(owner, job=job.id)
        app.switch_page("pages/smell.py").run()
        options = app.selectbox(key="smell_model").options
        assert ("The model from the Train page" in options) == offered


def test_the_owner_of_a_comparison_cancels_it_after_a_reload(jobs):
    from kcnet_core.experiments.comparison.plan import Comparison

    app = AppTest.from_file(APP, default_timeout=120)
    app.session_state["owner"], app.session_state["uploaded"] = OWNER, upload()
    app.session_state["run"] = Run(dataset="uploaded")
    app.session_state["comparison"] = Comparison(
        dataset="uploaded", models=("FSHN",), hidden=(2000,), n_repeats=20
    )
    app.run()
    app.switch_page("pages/compare.py").run()
    app.button(key="start_comparison").click().run()
    (job,) = (one for one in jobs.owned_by(OWNER) if one.kind == "compare")
    job.control(OWNER, "slow", 1.0)
    assert SECRET not in job.title
    again = page(OWNER, "compare")
    assert not again.exception
    assert again.session_state["uploaded"].title == SECRET
    again.button(key="cancel_comparison").click().run()
    assert job.wait(60) and job.view.state == "cancelled"


def test_a_link_with_the_job_of_another_page_is_told_and_opens(jobs):
    job = jobs.submit(OWNER, "compare", {"dataset": "digits"}, lambda: iter([1]))
    assert job.wait(60)
    app = page(OWNER, dataset="digits", job=job.id)
    assert not app.exception and not app.error
    assert "it belongs to another page" in texts(app)
    assert "Nothing has been trained yet" in texts(app)


def test_an_error_in_a_fragment_is_a_sentence(caplog):
    def script():
        from kcnet_core.errors import DataError
        from pages.ui.shell.safety_net import fragment

        @fragment
        def known():
            raise DataError("There are [no] rows.")

        @fragment(run_every=5.0)
        def ours():
            raise RuntimeError("hunter2")

        known()
        ours()

    app = AppTest.from_function(script).run()
    assert not app.exception
    assert as_read(app.error[0].value) == "There are [no] rows."
    assert "not your fault" in app.error[1].value and "hunter2" not in app.error[1].value
    assert "hunter2" in caplog.text
