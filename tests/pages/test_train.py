"""The Train page without a browser: controls, start, results and bad links."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kcnet_core import limits
from kcnet_core.experiments import cost
from tests.pages.as_read import as_read
from tests.pages.live_numbers import live_numbers

APP = str(Path(__file__).resolve().parents[2] / "app.py")


def opened(**query) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=120)
    for name, value in ({"pace": "full speed"} | query).items():  # nobody watches
        app.query_params[name] = str(value)
    return app.run()


def job_of(app: AppTest):
    from pages.ui.shell import visitor_jobs

    return visitor_jobs.jobs().get(app.session_state["job_id"])


def finished(app: AppTest) -> AppTest:
    """Wait, without sleeping, until the session's job has ended, then draw the page again."""
    assert job_of(app).wait(120)
    return app.run()


def paused(app: AppTest) -> AppTest:
    """Wait until the step in hand is over, then draw the page again."""
    job = job_of(app)
    assert job.wait_for(lambda view: view.state == "paused" and view.snapshot is not None, 120)
    return app.run()


def texts(app: AppTest) -> str:
    parts = [*app.markdown, *app.caption, *app.error, *app.warning, *app.info]
    return as_read("\n".join(element.value for element in parts))


def test_the_first_page_says_what_to_do_next():
    app = opened(dataset="digits")
    assert not app.exception
    assert "Nothing has been trained yet" in texts(app)
    assert app.title[0].value == "Train a fly's nose"


def test_a_very_long_run_offers_shorter_ones_and_takes_the_one_that_is_chosen(monkeypatch):
    monkeypatch.setattr(cost, "flops_per_second", lambda: 1e6)
    app = opened(dataset="digits", model="DOA", n_hidden=300, n_epochs=200)
    app.button(key="start").click().run()
    assert "press the same button once more" in as_read(app.error[0].value)
    offers = {key: app.button(key=key) for key in ("take_n_epochs", "take_n_hidden")}
    assert "epochs: about" in offers["take_n_epochs"].label
    assert "cells: about" in offers["take_n_hidden"].label
    offers["take_n_hidden"].click().run()
    taken = app.session_state["run"]
    assert taken.n_hidden < 300 and taken.n_epochs == 200 and not app.error
    app.button(key="start").click().run()
    job = job_of(app)
    assert job.config == taken and job.estimate.seconds <= limits.LONG_RUN_SECONDS
    job.control(app.session_state["owner"], "stop")


@pytest.mark.parametrize("model", ["KCNet", "DOA", "Ensemble DOA", "ELM", "FSHN"])
def test_every_model_can_be_started_and_ends_with_a_named_score(model):
    app = opened(dataset="digits", model=model, n_hidden=40, n_epochs=2, n_submodels=2)
    app.button(key="start").click().run()
    app = finished(app)
    assert not app.exception
    (name, score), *_ = live_numbers(app).items()
    assert name == "Test accuracy"
    assert 0 < float(score) <= 1
    assert "397 test rows" in texts(app)


def test_a_run_that_would_not_fit_is_refused_with_the_numbers(monkeypatch):
    from kcnet_core.jobs import Memory
    from pages.ui.shell import visitor_jobs

    app = opened(dataset="digits", model="KCNet", n_hidden=20_000)
    monkeypatch.setattr(visitor_jobs.jobs()._memory, "measure", lambda: Memory(2**28, 2**28))
    app.button(key="start").click().run()
    assert "needs about" in texts(app)
    assert "job_id" not in app.session_state or app.session_state["job_id"] is None


def test_controls_show_what_the_link_says():
    app = opened(dataset="digits", model="KCNet", n_hidden=300, fan_in=5, inhibition=0.5)
    sliders = {slider.label: slider.value for slider in [*app.slider, *app.select_slider]}
    assert sliders["Kenyon cells 𝓑"] == 300
    assert sliders["Inputs per cell Nᵢₙ"] == 5
    assert sliders["Global inhibition C"] == 0.5


def picker(app, label: str):
    return next((box for box in app.selectbox if box.label == label), None)


def test_the_scale_of_the_pixels_is_chosen_in_words_and_stays_in_the_link():
    app = opened(dataset="digits", model="KCNet", n_hidden=40)
    offered = ["Standardised", "Each pixel by itself", "From 0 to 1", "From −1 to 1", "Softened"]
    assert picker(app, "Pixels").options == offered and picker(app, "Pixels").value == ""
    picker(app, "Pixels").select("none").run()
    assert app.query_params["pixels"] == "none"
    app.button(key="start").click().run()
    app = finished(app)
    assert not app.exception
    X = job_of(app).result.dataset.X
    assert X.min() == 0 and X.max() == 1
    assert "Digits, 8 × 8, pixels from 0 to 1, benchmark's own" in texts(app)
    for tab in ("Wiring", "Kenyon cells", "Test samples", "Take home"):
        app.session_state["result_tab"] = tab
        assert not app.run().exception
    assert "datasets.load('digits', normalise='none')" in app.code[0].value


def test_cells_with_fields_are_trained_and_shown_on_the_image():
    app = opened(
        dataset="digits", model="KCNet", n_hidden=40, wiring="local", min_field=2, max_field=4
    )
    field = next(slider for slider in app.slider if slider.label == "Field, pixels a side")
    assert tuple(field.value) == (2, 4)
    app.button(key="start").click().run()
    app = finished(app)
    for tab in ("Wiring", "Kenyon cells"):
        app.session_state["result_tab"] = tab
        assert not app.run().exception
    assert "Its field (outlined): " in texts(app)
    assert app.session_state["run"].wiring == "local"
    picker(app, "Dataset").select("starter").run()
    assert not app.exception
    assert app.session_state["run"].wiring == "random"
    assert "Wiring" not in [group.label for group in app.button_group]


def test_a_link_cannot_lay_fields_on_odors():
    app = opened(dataset="starter", wiring="local")
    assert not app.exception
    assert "The link's wiring was not used" in texts(app)


def test_another_dataset_has_the_papers_pixels_again():
    app = opened(dataset="digits", pixels="half")
    assert picker(app, "Pixels").value == "half"
    picker(app, "Dataset").select("mnist_sample").run()
    assert app.session_state["run"].pixels == "" and picker(app, "Pixels").value == ""
    picker(app, "Dataset").select("starter").run()
    assert not app.exception and picker(app, "Pixels") is None


@pytest.mark.parametrize("dataset", ["starter", "uploaded"])
def test_a_link_cannot_scale_pixels_that_are_not_there(dataset):
    app = opened(dataset=dataset, pixels="none")
    assert not app.exception
    assert "The link's pixels was not used" in texts(app)
    assert app.session_state["run"].pixels == "" and picker(app, "Pixels") is None
    assert "pixels" not in app.query_params


def test_unusable_parameters_of_a_link_are_named():
    app = opened(dataset="digits", n_hidden="many", seed=-1)
    assert "The link's n_hidden was not used" in texts(app)
    assert "The link's seed was not used" in texts(app)


def test_an_unknown_dataset_in_a_link_is_a_sentence_not_a_traceback():
    app = opened(dataset="../../etc/passwd")
    assert not app.exception
    assert "The link's dataset was not used: there is none called" in texts(app)
    assert "Nothing has been trained yet" in texts(app)  # the page works on, with its own data


def test_a_preset_sets_every_control():
    app = opened(dataset="digits")
    app.selectbox(key="preset").select("Plain and quick").run()
    assert app.session_state["run"].model == "KCNet"
    assert app.session_state["run"].n_hidden == 1000


def test_the_page_says_why_lambda_cannot_be_moved_any_more():
    app = opened(dataset="digits", model="KCNet", n_hidden=40)
    app.button(key="start").click().run()
    app.session_state["result_tab"] = "Move λ"
    app = finished(app)
    assert any(slider.key == "lambda_exponent" for slider in app.slider)
    job_of(app).result.forget_sums()
    app.run()
    assert not app.exception
    assert "lets those of older runs go when newer ones need the memory" in texts(app)
    assert not any(slider.key == "lambda_exponent" for slider in app.slider)
    assert "Test accuracy" in live_numbers(app)


def test_what_stands_above_the_charts_is_one_line_in_every_state():
    app = opened(dataset="digits", n_hidden=40, n_epochs=2)
    app = paused(app.button(key="step").click().run())
    assert "This run: DOA 40 on Digits, 8" in texts(app)
    assert "Next run" not in texts(app)
    app.button(key="resume").click().run()
    app = finished(app)
    assert "Next run: DOA with 40 cells" in texts(app)
    assert "This run" not in texts(app)


def live(app) -> list[str]:
    """Keys of what the live view draws, in order."""
    drawn = [*app.get("bidi_component"), *app.get("echarts_chart")]
    return [element.key for element in drawn if element.key.startswith("live_")]


def test_a_run_that_has_ended_keeps_the_very_charts_in_which_it_was_watched():
    app = opened(dataset="digits", n_hidden=40, n_epochs=2)
    app = paused(app.button(key="step").click().run())
    watched = live(app)
    assert watched == ["live_film"]
    assert not app.get("plotly_chart")
    app.button(key="resume").click().run()
    app = finished(app)
    assert live(app) == watched


def test_the_format_of_saved_figures_outlives_its_tab():
    app = opened(dataset="digits", model="KCNet", n_hidden=40)
    app.button(key="start").click().run()
    app = finished(app)
    app.session_state["result_tab"] = "Take home"
    app.run()
    app.button_group(key="figure_format").set_value("svg").run()
    app.session_state["result_tab"] = "Scores"
    app.run()
    assert app.session_state["figure_format"] == "svg"
    assert '"format": "svg"' in app.get("plotly_chart")[0].proto.config
