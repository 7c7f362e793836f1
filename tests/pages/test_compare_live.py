"""KCNet | ELM on the Compare page without a browser: it starts by itself, and answers at once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from kcnet_core import datasets
from kcnet_core.experiments.beside.plan import Beside, Look
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.metrics import mean_interval
from pages.ui.compare.beside import growing, widths
from pages.ui.shell import visitor_jobs
from tests.pages import test_compare
from tests.pages.test_compare import APP, finished, job_of, press

QUICK = {"look": "beside", "dataset": "digits", "rows": 300, "widest": 200, "seeds": 2}


def opened(**query) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=120).switch_page("pages/compare.py")
    for name, value in query.items():
        app.query_params[name] = str(value)
    return app.run()


@pytest.fixture(autouse=True)
def nobody_else():
    """No other test's networks are shown here."""
    growing.shared().clear()
    yield
    growing.shared().clear()


def texts(app: AppTest) -> str:
    return test_compare.texts(app).replace("**", "")


def grown(**query) -> AppTest:
    return finished(opened(**QUICK | query), "beside")


def test_compare_opens_on_two_networks_that_grow_by_themselves():
    app = opened()
    try:
        assert not app.exception and not app.error
        assert app.button_group(key="compare_view").value == "beside"
        job = job_of(app, "beside")
        assert job.kind == "beside" and job.config == Beside(Comparison())
        assert app.query_params["look"] == "beside"
        shown = texts(app)
        assert ("being wired" in shown) != ("KCNet, " in shown), "their place is never empty"
    finally:
        job.control(app.session_state["owner"], "stop")
        assert job.wait(60)


def test_both_columns_hold_wiring_activity_outputs_answer_bytes_and_seconds():
    app = grown(width=100)
    assert not app.exception and not app.error
    said = texts(app)
    point = next(p for p in growing.points_of(job_of(app, "beside")) if p.width == 100)
    truth = datasets.load("digits").y[point_rows(app)[0]]
    for k, name in enumerate(("KCNet", "ELM")):
        given = int(point.outputs[k, 0, 0].argmax())
        mark = ":material/check: right" if given == truth else f":material/close: no, {truth}"
        assert f"{name}, 100 cells: {given} {mark}" in said
    assert "First 40 cells: 7 ones each, 57 zeros" in said
    assert "First 40 cells: 64 real weights each" in said
    assert "as many as training rows" not in said  # 300 rows, 200 cells
    assert "With 300 cells, as many as training rows" in widths.exact_fit(300, 500)
    assert "4.4 KB" in said and "29.3 KB" in said
    assert "over all cells drawn, at every width" in said
    assert "Digits, 8 × 8 · benchmark's own · 300 training and 397 test rows" in said
    assert len(app.get("image")) == 5  # the sample, two wirings, two fields of cells


def point_rows(app: AppTest):
    return growing.points_of(job_of(app, "beside"))[0].scene.rows


def test_width_noise_and_sample_answer_at_once_and_stay_in_the_link():
    app = grown()
    job = job_of(app, "beside")
    before = texts(app)
    app.select_slider(key="beside_width").set_value(30).run()
    app.select_slider(key="beside_noise").set_value(1.0).run()
    app.number_input(key="beside_sample").set_value(7).run()
    assert not app.exception
    assert job_of(app, "beside") is job  # nothing was computed anew
    here = [p for p in growing.points_of(job) if p.width == 30]
    mean = sum(p.scores[0, 3] for p in here) / 2
    assert f"Test accuracy {mean:.3f}" in texts(app) and texts(app) != before
    assert "At 30 cells with noise of 1: KCNet − ELM" in texts(app)
    query = dict(app.query_params.items())
    assert (query["width"], query["noise"], query["sample"]) == ("30", "1", "7")
    again = opened(**query)
    assert again.select_slider(key="beside_width").value == 30
    assert again.select_slider(key="beside_noise").value == 1.0
    assert again.number_input(key="beside_sample").value == 7
    assert texts(again) == texts(app)


def test_a_second_visitor_is_shown_the_networks_that_are_there():
    first, second = grown(), opened(**QUICK)
    assert first.session_state["owner"] != second.session_state["owner"]
    assert job_of(second, "beside") is job_of(first, "beside")
    assert "stop_beside" not in [button.key for button in second.button]


def test_what_was_stopped_stays_stopped_until_somebody_goes_on():
    app = opened(**QUICK | {"widest": 4000, "seeds": 20})
    job = job_of(app, "beside")
    assert job.wait_for(lambda view: view.snapshot is not None and view.snapshot.done > 2, 60)
    app = finished(press(app, "stop_beside"), "beside")
    assert job.view.state == "cancelled" and job_of(app.run(), "beside") is job
    assert "Stopped after" in texts(app)
    other = opened(**QUICK | {"widest": 4000, "seeds": 20})  # nobody is shown a stump
    assert job_of(other, "beside") is not job
    app = press(app, "start_beside")
    for one in (app, other):
        job_of(one, "beside").control(one.session_state["owner"], "stop")
    assert job_of(app, "beside") is not job
    assert job_of(app, "beside").wait(60) and job_of(other, "beside").wait(60)


def test_more_seeds_keep_those_that_are_grown():
    app = grown(seeds=1)
    before = growing.points_of(job_of(app, "beside"))
    assert "one seed has no interval" in texts(app)
    app = finished(press(app, "more_beside"), "beside")
    after = growing.points_of(job_of(app, "beside"))
    assert after[: len(before)] == before and len(after) == 7 * len(before)
    assert "95%, 7 seeds" in texts(app)


def test_other_settings_end_the_job_of_those_before():
    app = opened(**QUICK | {"widest": 4000, "seeds": 20})
    job = job_of(app, "beside")
    app.select_slider(key="beside_widest").set_value(200).run()
    assert job.wait(60) and job.view.state == "cancelled"
    now = job_of(app, "beside")
    assert now.config.widest == 200
    now.control(app.session_state["owner"], "stop")
    assert now.wait(60)


def test_the_measured_comparison_is_one_click_away_and_keeps_its_links():
    app = grown()
    app.button_group(key="compare_view").set_value("measured").run()
    assert not app.exception
    assert "Nothing has been compared yet" in texts(app)
    assert "look" not in app.query_params
    app.button_group(key="compare_view").set_value("beside").run()
    assert app.query_params["look"] == "beside" and "KCNet − ELM" in texts(app)


def test_a_link_of_a_measured_comparison_opens_it_without_growing_anything():
    app = opened(dataset="digits", models="KCNet,ELM", hidden="20", n_repeats=2)
    assert app.button_group(key="compare_view").value == "measured"
    assert app.button(key="start_comparison").label == "Start"
    owned = visitor_jobs.jobs().owned_by(app.session_state["owner"])
    assert not [job for job in owned if job.kind == "beside"]


def test_a_broken_link_gives_sentences_and_two_networks():
    app = opened(**QUICK | {"widest": "13", "width": "many", "noise": "0.3", "sample": "999"})
    said = texts(app)
    assert "The link's widest was not used: The widest network must have 200, 500" in said
    assert "The link's width was not used" in said and "The link's sample was not used" in said
    assert "The link's noise was not used: The noise must be one of 0, 0.25, 0.5, 1, 2." in said
    assert not app.exception
    job = job_of(app, "beside")
    assert job.config.widest == Look().widest
    job.control(app.session_state["owner"], "stop")
    assert job.wait(60)


def test_odors_are_told_by_name_and_answered_by_their_strongest_characters():
    app = grown(dataset="starter", seeds=1)
    assert not app.exception and not app.error
    starter, scene = datasets.load("starter"), growing.points_of(job_of(app, "beside"))[0].scene
    picker = app.selectbox(key="beside_sample")
    assert picker.options[0] == starter.row_names[scene.rows[0]]
    assert "of 3 true" in texts(app) and "Test AUROC" in texts(app)
    assert app.session_state["comparison"].n_repeats == 6  # the measured view's own for odors


def test_a_visitors_own_data_are_compared_and_shown_to_nobody_else():
    own = replace(datasets.load("digits"), name="uploaded", title="Secret scans", n_train=None)
    app = AppTest.from_file(APP, default_timeout=120)
    app.session_state["uploaded"] = own
    app.switch_page("pages/compare.py")
    for name, value in (QUICK | {"dataset": "uploaded"}).items():
        app.query_params[name] = str(value)
    app = finished(app.run(), "beside")
    assert not app.exception and not app.error
    assert "Secret scans · paper split · 300 training" in texts(app)
    job = job_of(app, "beside")
    assert job.id not in growing.shared().values() and "Secret" not in job.title


def test_a_refusal_is_a_sentence_with_a_button():
    huge = replace(Beside(Comparison()), widest=4000)
    app = opened(**QUICK)
    owner = app.session_state["owner"]
    manager, held = visitor_jobs.jobs(), []
    finished(app, "beside")
    try:
        for k in range(4):
            held.append(manager.submit(owner, "test", {"k": k}, iter, paused=True))
        app.select_slider(key="beside_widest").set_value(huge.widest).run()
        assert not app.exception
        assert "4 unfinished runs" in texts(app)
        assert app.button(key="start_beside").label == "Start"
    finally:
        for job in held:
            job.control(owner, "stop")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0.02], "one seed has no interval"),
        ([0.02, -0.01], "may be chance"),
        ([0.02, 0.021, 0.022], "KCNet looks ahead; too few seeds to be sure"),
        ([-0.02, -0.021, -0.022, -0.02, -0.021, -0.022], "ELM is ahead"),
    ],
)
def test_a_difference_is_called_one_only_with_enough_seeds(values, words):
    said = widths.verdict([mean_interval(values)], "accuracy", 100, 0.5)
    assert said.replace("**", "").endswith(f"{words}.")
    assert said.startswith("At 100 cells with noise of 0.5: KCNet − ELM")


def test_a_width_that_was_not_measured_gives_the_nearest():
    plan = Beside(Comparison(), 200)
    assert widths.width_looked_at(plan, 4000) == 200
    assert widths.width_looked_at(plan, 101) == 100
