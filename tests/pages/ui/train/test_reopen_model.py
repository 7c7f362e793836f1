"""Opening a saved model: how much memory it may take is known before it starts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kcnet_core import datasets
from kcnet_core.experiments.report import model_file
from kcnet_core.experiments.run import Run
from kcnet_core.experiments.training import train_steps
from kcnet_core.jobs import Memory
from kcnet_core.jobs.memory import Room
from pages.ui.shell import visitor_jobs
from pages.ui.train.reopen_model import cost

APP = str(Path(__file__).resolve().parents[4] / "app.py")
RUN = Run(dataset="digits", model="KCNet", n_hidden=50, seed=1)


@pytest.fixture(scope="module")
def saved() -> bytes:
    steps = train_steps(RUN, datasets.load("digits"))
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return model_file(end.value)


def opened(saved: bytes) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=120).run()
    app.file_uploader(key="model_file").upload("mine.kcnet", saved, "application/octet-stream")
    app.run()
    return app.button(key="open_model").click().run()


def test_a_model_that_needs_more_memory_than_there_is_is_refused_before_it_starts(
    saved, monkeypatch
):
    monkeypatch.setattr(visitor_jobs.jobs(), "_memory", Room(lambda: Memory(100 * 2**20, 0)))
    app = opened(saved)
    assert not app.exception
    assert "GB of memory, and at most" in "\n".join(error.value for error in app.error)
    assert visitor_jobs.jobs().owned_by(app.session_state["owner"]) == []


def test_a_model_that_fits_is_opened(saved):
    app = opened(saved)
    assert not app.exception
    (job,) = visitor_jobs.jobs().owned_by(app.session_state["owner"])
    assert job.wait(60) and job.view.state == "done"
    assert job.estimate == cost(RUN, datasets.load("digits"))


def test_memory_grows_with_the_test_rows_and_not_with_the_training_rows():
    digits = datasets.load("digits")
    assert cost(RUN, digits) == cost(replace(RUN, rows=100), digits)
    more = cost(replace(RUN, n_hidden=20_000), digits)
    assert more.bytes > cost(RUN, digits).bytes
