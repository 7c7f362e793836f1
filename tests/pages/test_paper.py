"""The Paper page without a browser: what is known, what is not, measuring, and the way to Train."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kcnet_core.experiments.models import MODELS
from kcnet_core.experiments.run import Run
from kcnet_core.paper import result_file
from kcnet_core.paper.engine import saved_steps
from kcnet_core.paper.recipe import quickened
from kcnet_core.paper.recipes import RECIPES
from kcnet_core.smell.recipes import NOSE_RECIPES
from kcnet_core.storage.journal import Journal
from pages.ui.paper import provenance
from pages.ui.paper.words import how, title
from pages.ui.shell.words import setting_name, settings_in_words
from tests.kcnet_core.paper.tiny_recipe import TINY

APP = str(Path(__file__).resolve().parents[2] / "app.py")


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """No results but those that a test makes; the folder of kept ones."""
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(result_file, "KEPT_RESULTS", tmp_path / "kept")
    monkeypatch.setitem(RECIPES, "tiny", TINY)
    return tmp_path / "kept"


def opened(**query) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=120).switch_page("pages/paper.py")
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def texts(app: AppTest) -> str:
    parts = [
        *app.markdown,
        *app.caption,
        *app.error,
        *app.warning,
        *app.info,
        *app.header,
        *app.subheader,
    ]
    return "\n".join(element.value for element in parts)


def measured(recipe, folder):
    for _ in saved_steps(recipe, Journal(folder / "journal.jsonl"), folder):
        pass


def test_the_overview_lists_every_result_and_says_that_nothing_is_measured():
    app = opened()
    assert not app.exception
    words = texts(app)
    assert all(recipe.title in words for recipe in RECIPES.values())
    assert words.count("Not measured yet.") == len(RECIPES)
    assert all(recipe.title in words for recipe in NOSE_RECIPES.values()), "beyond the paper"


def test_what_is_measured_of_the_nose_has_its_table_and_its_command():
    app = opened(result="nose-elsewhere")
    assert not app.exception
    assert "labels of" in app.dataframe[0].value.columns
    assert "bootstrap over molecules" in texts(app)
    assert "reproduce nose-elsewhere" in app.code[0].value


def test_seconds_of_a_busy_machine_are_said_to_be_too_long():
    cores = {"cores": 2}
    assert provenance.busy({"mean_load": 13.4, "machine": cores}) == ", so seconds are too long"
    assert not provenance.busy({"mean_load": 2.1, "machine": cores})
    assert not provenance.busy({"mean_load": None, "machine": cores})


def test_an_unmeasured_result_says_so_and_offers_both_versions():
    app = opened(result="tiny")
    assert not app.exception
    assert "Not measured yet on this installation" in texts(app)
    assert [app.button(key=f"measure_{v}").label[:7] for v in ("Quick", "In full")] == [
        "Quick, ",
        "In full",
    ]
    assert "10 measurements (5 repeats for each of 2 figures)" in texts(app)
    assert len(app.dataframe) == 0


def test_kept_results_are_shown_at_once_with_verdict_and_origin(kept):
    measured(TINY, kept)
    app = opened(result="tiny")
    assert not app.exception
    words = texts(app)
    assert "1 differs. Ours is lower in 0 and higher in 1." in words
    assert "higher, beyond our interval" in words
    assert "Do more cells help?" in words
    assert "10 measurements, seeds 0 to 4" in words and "torch" in words
    assert "settings tried" not in words, "nothing was tuned"
    assert "The twin that leaks" in words and "Not measured yet." in words
    frame = app.dataframe[0].value
    assert list(frame["Model"]) == ["KCNet", "more cells"]
    assert frame["Paper"].iloc[0] == 0.2 and frame["Low"].iloc[0] < frame["Ours"].iloc[0]
    assert list(frame["Repeats"]) == [5, 5]
    assert all(words[0].isupper() for words in frame["Beside the paper"])


def test_settings_are_named_as_on_the_other_pages(kept):
    measured(TINY, kept)
    settings = opened(result="tiny").table[0].value
    assert list(settings["Tried"]) == [1, 1]
    assert settings["Settings"].iloc[0].startswith("𝓑 ")
    words = settings_in_words({"alpha": 13.0, "doa_rule": "varpro", "restore_best": False}, "DOA")
    assert words == "λ 13 · DOA rule ours · Keeps the best wiring no"
    assert settings_in_words({"learning_rate": 0.05}, "FSHN") == "α 0.05"
    assert settings_in_words({"learning_rate": 0.05}, "GBM") == "Learning rate 0.05"


def test_every_setting_and_every_way_of_measuring_has_a_name_for_readers():
    lines = [line for recipe in RECIPES.values() for line in recipe.lines]
    used = {(name, line.model) for line in lines for name in {**line.settings, **line.beyond}}
    used |= {(dimension.name, model) for model in MODELS for dimension in MODELS[model].space}
    assert all(setting_name(*each) != each[0] for each in used)
    assert title("Paper split · KCNet · none") == "Paper split · KCNet · no oversampling"
    assert "none" not in {how(line.series) for line in lines}


def test_a_quick_result_is_marked_and_compared_with_nothing(kept):
    measured(quickened(TINY), kept)
    words = texts(opened(result="tiny"))
    assert "This is the quick version" in words
    assert "Nothing here can be compared with the paper yet" in words


def test_measuring_here_is_a_job_whose_result_appears_and_stays(tmp_path):
    from pages.ui.shell import visitor_jobs

    app = opened(result="tiny")
    app.button(key="measure_Quick").click().run()
    (job,) = visitor_jobs.jobs().owned_by(app.session_state["owner"])
    assert job.kind == "reproduce" and job.wait(120) and job.view.state == "done"
    app.run()
    assert not app.exception
    assert "This is the quick version" in texts(app)
    assert (tmp_path / "cache" / "reproduce" / "tiny.quick.json").is_file()
    assert "Quick version" in texts(opened())


def test_a_measurement_that_ends_while_the_page_is_drawn_is_shown(monkeypatch):
    from pages.ui.paper import state
    from pages.ui.shell import visitor_jobs

    results, ended = state.results, []

    def read_too_early(name):
        found = results(name)
        job = state.job(name)
        if job is not None and not ended:
            assert job.wait(120)
            ended.append(job)
        return found

    monkeypatch.setattr(state, "results", read_too_early)
    app = opened(result="tiny")
    app.button(key="measure_Quick").click().run()
    assert ended == visitor_jobs.jobs().owned_by(app.session_state["owner"])
    words = texts(app)
    assert "This is the quick version" in words and "on their way" not in words


def test_a_measurement_that_was_cut_off_is_shown_as_such_and_goes_on(tmp_path):
    from pages.ui.shell import visitor_jobs

    folder = tmp_path / "cache" / "reproduce"
    dying = saved_steps(TINY, Journal(folder / "journal.jsonl"), folder)
    next(step for step in dying if step.done == 3)
    left = (folder / "tiny.json").read_bytes()  # what a kill at this moment leaves
    n_left = len(json.loads(left)["rows"])
    dying.close()
    assert "interrupted" not in texts(opened(result="tiny")), "one that was stopped is not"
    (folder / "tiny.json").write_bytes(left)
    assert "A measurement was interrupted." in texts(opened())

    app = opened(result="tiny")
    words = texts(app)
    assert not app.exception and "Not measured yet on this installation" not in words
    assert "the full version was interrupted" in words
    assert f"with {n_left} of 10 measurements" in words
    assert app.button(key="measure_Quick").label.startswith("Quick, ")
    button = app.button(key="measure_In full")
    assert button.label.startswith("Go on with the full version, about")
    button.click().run()
    (job,) = visitor_jobs.jobs().owned_by(app.session_state["owner"])
    assert job.wait(120) and job.view.state == "done"
    app.run()
    assert "10 measurements, seeds 0 to 4" in texts(app) and "interrupted" not in texts(app)
    ids = [json.loads(line)["id"] for line in (folder / "journal.jsonl").open() if line.strip()]
    assert len(ids) == len(set(ids)) == 10, "no row was measured twice"


def test_two_visitors_share_one_measurement():
    from pages.ui.shell import visitor_jobs

    first, second = opened(result="tiny"), opened(result="tiny")
    visitor_jobs.jobs().max_running, before = 0, visitor_jobs.jobs().max_running
    try:
        first.button(key="measure_In full").click().run()
        second.button(key="measure_In full").click().run()
        owners = [first.session_state["owner"], second.session_state["owner"]]
        assert [len(visitor_jobs.jobs().owned_by(owner)) for owner in owners] == [1, 0]
        assert "Somebody else started this" in texts(second.run())
        job = visitor_jobs.jobs().owned_by(owners[0])[0]
        job.control(owners[0], "stop")
    finally:
        visitor_jobs.jobs().max_running = before


def test_settings_open_on_the_train_page():
    app = opened(result="tiny")
    link = next(e for e in app.get("page_link") if "Open" in e.proto.label)
    from urllib.parse import parse_qsl

    run, ignored = Run.from_query(dict(parse_qsl(link.proto.query_string)))
    assert run == TINY.lines[0].run(repeat=0) and not ignored


def test_an_unknown_result_in_a_link_is_a_sentence_and_shows_the_overview():
    app = opened(result="<b>nothing</b>")
    assert not app.exception
    assert "does not exist" in texts(app)
    assert "Odor perception: nine models" in texts(app)


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        ("agrees lower", "1 agrees and 1 differs"),
        ("close", "1 is close"),
        ("agrees agrees close higher lower", "2 agree, 1 is close and 2 differ"),
    ],
)
def test_the_overview_counts_verdicts_in_words(verdicts, words):
    from types import SimpleNamespace

    from pages.ui.paper.overview import how_many

    assert how_many([SimpleNamespace(verdict=v) for v in verdicts.split()]) == words


def test_the_overview_tells_how_many_differences_of_a_question_are_clear(kept, monkeypatch):
    asked = replace(TINY, name="asked", group="questions")
    monkeypatch.setitem(RECIPES, "asked", asked)
    measured(asked, kept)
    assert "Measured. 1 of 1 difference is clear." in texts(opened())


def test_missing_data_are_named_and_cannot_be_started(monkeypatch, tmp_path):
    monkeypatch.setenv("KCNET_DATA", str(tmp_path / "nothing"))
    app = opened(result="hidden-mnist")
    assert "MNIST is not on this machine" in texts(app)
    assert app.button(key="measure_Quick").disabled


def test_the_page_differs_from_the_train_page_only_where_it_says():
    from pages.ui.paper.measuring import unlike

    line = next(line for line in RECIPES["stop-rule"].lines if line.series != "Algorithm 1")
    words = " ".join(unlike(line))
    assert "published code's rule" in words and "best validation epoch" in words
    assert unlike(TINY.lines[0]) == []
