"""The Compare page without a browser: start, cancel, resume, extend, and what it says."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from kcnet_core import datasets
from kcnet_core.experiments.comparison.noise import NoisePlan, noise_job
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.comparison.rows import PlannedRows, compare_steps
from kcnet_core.experiments.comparison.search import SearchPlan, search_job, untuned_settings
from kcnet_core.experiments.evaluate import results_table, summary
from kcnet_core.experiments.measured_job import Pace
from kcnet_core.network.history import Progress
from pages.ui.compare import downloads
from pages.ui.compare.differences import ENOUGH_SPLITS, in_words
from pages.ui.shell import measured, visitor, visitor_jobs
from pages.ui.shell.words import seconds_format, signed
from tests.pages.as_read import as_read

APP = str(Path(__file__).resolve().parents[2] / "app.py")
QUICK = {"dataset": "digits", "models": "KCNet,ELM", "hidden": "20,40", "n_repeats": 2}
SMALL = Comparison(dataset="digits", models=("KCNet", "ELM"), hidden=(20,), n_repeats=2, rows=300)


def opened(tab: str | None = None, **query) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=120).switch_page("pages/compare.py")
    for name, value in query.items():
        app.query_params[name] = str(value)
    if tab:
        app.session_state["compare_tab"] = tab
    return app.run()


def finished(app: AppTest, kind: str = "compare") -> AppTest:
    """Wait, without sleeping, until the job has ended, then draw the page again."""
    assert job_of(app, kind).wait(120)
    return app.run()


def job_of(app: AppTest, kind: str = "compare"):
    return visitor_jobs.jobs().get(app.session_state["compare_jobs"][kind])


def texts(app: AppTest) -> str:
    parts = [*app.markdown, *app.caption, *app.error, *app.warning, *app.info]
    return as_read("\n".join(element.value for element in parts))


def press(app: AppTest, key: str) -> AppTest:
    return app.button(key=key).click().run()


def test_the_measured_comparison_says_what_to_do_next():
    app = opened(dataset="mnist_sample")
    assert not app.exception and not app.error
    assert "Nothing has been compared yet" in texts(app)
    assert "36 fits on the same splits and seeds" in texts(app)
    assert app.button(key="start_comparison").label == "Start"


def test_wirings_are_compared_and_their_bytes_counted():
    query = QUICK | {"models": "KCNet", "hidden": "20", "n_repeats": 1, "wirings": "random,local"}
    app = finished(press(opened("Cost", **query), "start_comparison"))
    assert not app.exception and not app.error
    assert "Accuracy per byte" in [header.value for header in app.subheader]
    stored = next(table.value for table in app.dataframe if "KiB, 8 bits" in table.value)
    assert list(stored["Variant"]) == ["KCNet 20", "KCNet, local 20"]
    assert (stored["KiB, 8 bits"] < stored["KiB, 32 bits"]).all()
    assert "published" not in texts(app)  # these points are of the whole MNIST
    app.button_group(key="compare_wirings_1").set_value([]).run()
    assert "Choose at least one wiring" in texts(app)


def test_every_score_names_its_dataset_protocol_repeats_and_interval():
    app = finished(press(opened(**QUICK), "start_comparison"))
    assert not app.exception and not app.error
    said = texts(app)
    assert "Digits, 8 × 8 · benchmark's own, 1,400 training and 397 test rows" in said
    assert "2 repeats, seeds from 0 · mean and 95% interval" in said
    assert "Highest mean accuracy" in said
    assert "All 8 fits are here" in said
    assert "depends much more on the scale of the pixels" in said


def test_more_models_reuse_the_rows_that_are_there():
    app = finished(press(opened(**QUICK), "start_comparison"))
    before = {row["id"] for row in job_of(app).view.snapshot.items}
    app.number_input(key="compare_repeats_1").set_value(3).run()
    assert app.button(key="start_comparison").label == "Extend"
    assert "8 of them are here already" in texts(app)
    app = finished(press(app, "start_comparison"))
    items = job_of(app).view.snapshot.items
    assert len(items) == 12
    assert before < {row["id"] for row in items}
    assert [row["repeat"] for row in items[8:]] == [2] * 4  # only these were computed


def test_the_aim_follows_the_results_until_somebody_moves_it():
    app = finished(press(opened(**QUICK | {"models": "KCNet", "hidden": "20"}), "start_comparison"))
    few = app.slider(key="compare_aim_digits_accuracy").value
    app.multiselect(key="compare_hidden_1").set_value([20, 300]).run()
    app = finished(press(app, "start_comparison"))
    many = app.slider(key="compare_aim_digits_accuracy").value
    best = app.dataframe[1].value["Accuracy"].max()
    assert few < many <= best < many + 0.01
    app.slider(key="compare_aim_digits_accuracy").set_value(0.5).run()
    app.number_input(key="compare_repeats_1").set_value(3).run()
    app = finished(press(app, "start_comparison"))
    assert app.slider(key="compare_aim_digits_accuracy").value == 0.5


def test_a_cancelled_comparison_keeps_its_rows_and_resumes():
    app = press(opened(**QUICK | {"n_repeats": 40}), "start_comparison")
    job = job_of(app)
    assert job.wait_for(lambda view: view.snapshot is not None and view.snapshot.done > 2, 60)
    app = press(app.run(), "cancel_comparison")
    app = finished(app)
    kept = job.view.snapshot.done
    assert job.view.state == "cancelled" and 2 < kept < 160
    assert app.button(key="start_comparison").label == "Resume"
    assert f"{kept} of them are here already" in texts(app)
    app = press(app, "start_comparison")
    again = job_of(app)
    assert again.id != job.id
    again.control(app.session_state["owner"], "stop")
    finished(app)
    assert again.view.snapshot.items[:kept] == job.view.snapshot.items


@pytest.mark.parametrize(
    ("tab", "kind", "start"),
    [
        ("Scores", "compare", "start_comparison"),
        ("Tune", "search", "start_search"),
        ("Noise", "noise", "start_noise"),
    ],
)
def test_what_ends_while_its_page_is_drawn_can_be_started_again(monkeypatch, tab, kind, start):
    problem, ended = measured.problem, []

    def late(of):  # called when the buttons are drawn
        problem(of)
        job = measured.job(kind)
        if of == kind and job is not None and not ended:
            job.control(visitor.owner(), "stop")
            assert job.wait(60)
            ended.append(job)

    monkeypatch.setattr(measured, "problem", late)
    app = press(opened(tab, **QUICK | {"n_repeats": 40}), start)
    assert [job.view.state for job in ended] == ["cancelled"]
    assert start in [button.key for button in app.button]


def test_results_wait_while_the_visitor_is_on_another_page():
    app = finished(press(opened(**QUICK), "start_comparison"))
    for page in ("train", "compare"):
        app.query_params.clear()  # as a browser does when another page is opened
        app.switch_page(f"pages/{page}.py").run()
    assert "All 8 fits are here" in texts(app)


def test_a_link_opens_the_same_comparison_ready_to_run():
    app = opened(dataset="starter", target="Fruity", models="ELM,SVM", hidden="30", n_repeats=4)
    assert app.session_state["comparison"] == Comparison(
        dataset="starter", target="Fruity", models=("ELM", "SVM"), hidden=(30,), n_repeats=4
    )
    assert app.query_params["models"] == "ELM,SVM"
    assert app.button(key="start_comparison").label == "Start"


def picker(app, label: str):
    return next((box for box in app.selectbox if box.label == label), None)


def test_the_scale_of_the_pixels_is_chosen_for_all_models_and_stays_in_the_link():
    app = opened(**QUICK, options='{"n_train":300}')
    picker(app, "Pixels").select("none").run()
    assert app.query_params["options"] == '{"n_train":300,"normalise":"none"}'
    app = finished(press(app, "start_comparison"))
    assert not app.exception and not app.error
    assert "Digits, 8 × 8, pixels from 0 to 1 · benchmark's own, 300 training" in texts(app)
    again = opened(**QUICK, options='{"n_train":300,"normalise":"none"}')
    assert picker(again, "Pixels").value == "none"
    picker(app, "Pixels").select("").run()
    assert app.query_params["options"] == '{"n_train":300}'
    assert "Nothing has been compared yet" in texts(app)  # rows of one scale are not another's


def test_tables_to_take_home_name_the_scale_of_the_pixels():
    rows = list(compare_steps(SMALL))
    for options in ("", '{"normalise":"none"}'):
        found = SimpleNamespace(
            comparison=replace(SMALL, options=options), table=results_table(rows),
            metric="accuracy", lines=summary(results_table(rows), by=("variant",)),
        )  # fmt: skip
        for make in (downloads.means_csv, downloads.pairs_csv):
            table = pd.read_csv(StringIO(make(found)))
            assert list(table.get("options", pd.Series([""])).unique()) == [options]


def test_another_dataset_has_the_papers_pixels_again():
    app = opened(**QUICK, options='{"normalise":"half"}')
    assert picker(app, "Pixels").value == "half"
    picker(app, "Dataset").select("mnist_sample").run()
    assert app.session_state["comparison"].options == () and picker(app, "Pixels").value == ""


def test_a_link_cannot_scale_the_pixels_of_odors():
    app = opened(dataset="starter", hidden="30", options='{"normalise":"none"}')
    assert not app.exception
    assert "The link's options was not used" in texts(app)
    assert app.session_state["comparison"].hidden == (30,)
    assert picker(app, "Pixels") is None


def test_a_broken_link_gives_sentences_and_a_working_page():
    app = opened(dataset="nowhere", hidden="many", job="nothing", models="SVM")
    said = texts(app)
    assert "The link's hidden was not used" in said
    assert "which is not here" in said
    assert "not on the server any more" in said
    assert not app.exception
    assert not app.button(key="start_comparison").disabled


def test_baselines_are_offered_for_odors_and_left_out_of_image_links():
    app = opened(dataset="digits", models="KCNet,SVM")
    assert "SVM: compared on odors only" in texts(app)
    assert app.session_state["comparison"].models == ("KCNet",)
    odors = opened(dataset="starter")
    offered = odors.button_group(key="compare_models_1").options
    assert offered[:5] == ["KCNet", "DOA", "Ensemble DOA", "ELM", "FSHN"]
    assert set(offered[5:]) == {"AdaBoost", "GBM", "XGBoost", "Random forest", "KNN", "SVM"}


def test_a_comparison_without_models_says_so_and_cannot_start():
    app = opened(**QUICK)
    app.button_group(key="compare_models_1").set_value([]).run()
    assert "Choose at least one model." in texts(app)
    assert app.button(key="start_comparison").disabled


@pytest.mark.parametrize("tab", ["Cost", "Differences", "Take home"])
def test_every_tab_says_what_to_do_before_the_first_row(tab):
    app = opened(tab, **QUICK)
    assert not app.exception
    assert "Nothing has been compared yet" in texts(app)


def test_two_repeats_are_not_called_a_victory():
    app = finished(press(opened("Differences", **QUICK), "start_comparison"))
    said = texts(app)
    assert "beyond chance" not in said
    assert app.button(key="compare_more_repeats").label == f"Set {ENOUGH_SPLITS} repeats"
    app = press(app, "compare_more_repeats")
    assert app.session_state["comparison"].n_repeats == ENOUGH_SPLITS


def test_tables_speak_to_visitors_with_true_minus_signs_and_even_seconds():
    app = finished(press(opened("Differences", **QUICK), "start_comparison"))
    pairs = app.dataframe[0].value
    assert not any("-" in words for words in pairs["95% interval"])
    app.session_state["compare_tab"] = "Scores"
    variants = app.run().dataframe[0].value
    app.session_state["compare_tab"] = "Take home"
    rows = app.run().dataframe[0].value
    assert not app.exception
    for table in (pairs, variants, rows):
        titles = [name for name in table if not name.startswith("p, ")]  # p is a symbol
        assert not [name for name in titles if "_" in name or name[0].islower()]
    assert set(rows["Dataset"]) == {datasets.load("digits").title}
    assert signed(-0.00761) == "−0.0076" and signed(0.0042) == "+0.0042"
    assert seconds_format([4.07, 0.25, 0.0814, None]) == "%.3f"
    assert seconds_format([12.0, 340.0]) == "%.1f"


def test_robustness_has_curves_for_every_damage():
    app = opened("Noise", **QUICK | {"n_repeats": 1})
    assert "Nothing has been spoiled yet" in texts(app)
    app = finished(press(app, "start_noise"), "noise")
    assert not app.exception and not app.error
    assert "random numbers added to every input" in texts(app)
    rows = job_of(app, "noise").view.snapshot.items
    assert {row["kind"] for row in rows} == {"noise", "dropped", "blur"}
    assert {row["model"] for row in rows} == {"KCNet", "ELM"}


def test_both_networks_can_be_looked_into():
    app = opened("Inside", **QUICK)
    assert not app.exception and not app.error
    said = texts(app)
    assert "7.0 inputs per cell" in said
    assert "every input reaches every cell" in said


def test_of_several_wirings_one_is_looked_into_at_a_time():
    """All at once they came into two columns, and the tab ended with an error."""
    app = opened("Inside", **QUICK, wirings="random,local")
    assert not app.exception and not app.error
    assert "7.0 inputs per cell" in texts(app)
    chosen = next(one for one in app.segmented_control if one.label == "Wiring of KCNet")
    assert list(chosen.options) == ["anywhere", "in fields"]
    chosen.set_value("local").run()
    assert not app.exception and not app.error


def test_a_fly_that_is_looked_into_names_its_glomeruli(shared_data, monkeypatch):
    monkeypatch.setenv("KCNET_DATA", str(shared_data))
    wirings = "hemibrain,hemibrain-shuffled,hemibrain-random"
    app = opened("Inside", **QUICK | {"dataset": "door"}, wirings=wirings)
    assert not app.exception and not app.error
    said = texts(app)
    assert "**KCNet, hemibrain**" in said and "to read its glomerulus" in said
    windows = [json.loads(one.proto.spec) for one in app.get("plotly_chart")][-2:]
    assert all(window["data"][0]["x"][:3] == ["DM1", "VA2", "V"] for window in windows)


def test_a_search_ends_with_a_setting_that_the_comparison_can_use():
    app = opened("Tune", **QUICK)
    assert "Nothing has been searched yet" in texts(app)
    app.number_input(key="search_trials").set_value(3).run()
    app = finished(press(app, "start_search"), "search")
    assert not app.exception and not app.error
    trials = job_of(app, "search").view.snapshot.items
    assert [trial.number for trial in trials] == [0, 1, 2]
    assert "λ ∈" in texts(app) and "λ" in app.dataframe[0].value
    app = press(app, "use_tuned")
    best = max(trials, key=lambda trial: (trial.value, -trial.number))
    assert app.session_state["comparison"].model_settings("KCNet") == dict(best.params)


def test_a_longer_search_goes_on_from_the_trials_that_are_here():
    app = opened("Tune", **QUICK)
    app.number_input(key="search_trials").set_value(2).run()
    app = finished(press(app, "start_search"), "search")
    first = list(job_of(app, "search").view.snapshot.items)
    app.number_input(key="search_trials").set_value(3).run()
    assert app.button(key="start_search").label == "Go on"
    app = finished(press(app, "start_search"), "search")
    trials = job_of(app, "search").view.snapshot.items
    assert len(trials) == 3
    assert trials[:2] == first  # with their seconds: they were not made again


# -- the jobs behind the page --------------------------------------------------------------------


def test_the_bar_never_goes_back_and_ends_full():
    pace, seen = Pace([1.0, 10.0, 2.0]), []
    for _ in range(3):
        seen += [pace.inside(Progress("doa", k, 4, 0.0)) for k in (1, 4, 2)]  # 2: a new stage
        seen.append(pace.next())
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_a_resumed_noise_test_trains_only_what_is_missing():
    dataset = datasets.load("digits")
    plan = NoisePlan(SMALL, ("dropped",))
    whole = list(noise_job(plan, dataset).steps())[-1].items
    half_done = whole[: len(whole) // 2 + 1]  # the last model is not complete
    views = list(noise_job(plan, dataset, half_done).steps())
    assert views[0].done == len(whole) // 2
    assert measurements(views[-1].items) == measurements(whole)


def measurements(rows):
    return {(row["variant"], row["repeat"], row["level"]): row["accuracy"] for row in rows}


def test_a_search_begins_with_the_setting_that_is_compared():
    dataset = datasets.load("digits")
    comparison = Comparison(
        dataset="digits", models=("KCNet",), hidden=(30,), settings='{"KCNet": {"alpha": 77.0}}'
    )
    plan = SearchPlan(comparison, "KCNet", 30, 1, "accuracy")
    assert list(search_job(plan, dataset).steps())[-1].items[0].params["alpha"] == 77.0


def test_a_search_keeps_the_settings_that_it_does_not_search():
    comparison = Comparison(
        dataset="digits", models=("DOA",), hidden=(40,), settings='{"DOA": {"alpha": 5.0}}'
    )
    (variant,) = PlannedRows(comparison, datasets.load("digits")).variants
    _, fixed = untuned_settings(variant)
    assert fixed["alpha"] == 5.0
    assert not {"n_epochs", "learning_rate", "stop_metric", "n_hidden"} & set(fixed)


@pytest.mark.parametrize(
    ("n", "better", "p", "words"),
    [
        (1, "", float("nan"), "one value: no telling"),
        (3, "", 0.25, "may be chance"),
        (3, "DOA", 0.25, "DOA looks better; too few repeats to be sure"),
        (8, "DOA", 0.008, "DOA is better"),
        (8, "DOA", 0.3, "may be chance: the permutation test disagrees"),
    ],
)
def test_a_difference_is_called_real_only_with_enough_evidence(n, better, p, words):
    assert in_words(SimpleNamespace(n=n, better=better, p_permutation=p)) == words
