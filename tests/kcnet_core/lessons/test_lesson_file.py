"""Lesson files: the included ones work, and a bad one names its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcnet_core.datasets import load
from kcnet_core.lessons.circuit import BOUNDS, CircuitSettings, Glomeruli
from kcnet_core.lessons.lesson import LessonError, fill
from kcnet_core.lessons.lesson_file import (
    CIRCUIT_STEPS,
    CONTROLS,
    DATA,
    FOLDER,
    IMAGES,
    MOST_MISTAKES,
    VIEWS,
    LessonReader,
    lesson_names,
    load_lesson,
)
from kcnet_core.lessons.measures import MEASURES, measure

GOOD = """# A title

What it is about,
in two lines.

data: digits
cells: 100

## Look

Some *text*: with a colon.

view: circuit
step: sum
inhibition: 0.5
show: inhibition, sample

## Ask

Think.

question: How many?
measure: active_share
guess: 0 to 100
chart: cells = 50, 100

reveal:
It is {measured}, and $\\mathcal{B}$ is large.

view: inhibition
"""


def with_line(old, new):
    assert old in GOOD
    return GOOD.replace(old, new)


def test_a_lesson_is_read_whole():
    lesson = LessonReader("mine").read(GOOD)
    assert lesson.title == "A title"
    assert lesson.summary == "What it is about, in two lines."
    assert (lesson.data, lesson.minutes) == ("digits", 10)
    look, ask = lesson.steps
    assert look.title == "Look"
    assert look.text == "Some *text*: with a colon."
    assert (look.view, look.circuit_step) == ("circuit", "sum")
    assert look.show == ("inhibition", "sample")
    assert look.settings == {"cells": 100, "inhibition": 0.5}
    assert ask.view == "inhibition"
    assert ask.reveal.startswith("It is {measured}")
    assert ask.question.kind == "guess"
    assert (ask.question.low, ask.question.high) == (0, 100)
    assert ask.question.chart == ("cells", (50, 100))


def test_settings_hold_until_a_later_step_changes_them():
    lesson = LessonReader("mine").read(GOOD)
    assert lesson.steps[1].settings["inhibition"] == 0.5


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("# A title", "A title", 1, "begins with"),
        ("view: circuit", "vew: circuit", 13, "did you mean “view”"),
        ("view: circuit", "view: cirkus", 13, "one of circuit, draw"),
        ("step: sum", "step: add", 14, "one of input, wiring"),
        ("inhibition: 0.5", "inhibition: lots", 15, "“lots” is not a number"),
        ("inhibition: 0.5", "inhibition: 7", 15, "goes from 0 to 2, not 7"),
        ("cells: 100", "cells: 99.5", 7, "whole number"),
        ("data: digits", "data: mnist", 6, "one of mnist_sample"),
        ("show: inhibition, sample", "show: inhibitoin", 16, "did you mean “inhibition”"),
        ("measure: active_share", "measure: activity", 23, "one of accuracy"),
        ("measure: active_share\n", "", 22, "needs “measure:”"),
        ("guess: 0 to 100", "guess: a bit", 24, "like “guess: 0 to 100”"),
        ("guess: 0 to 100", "guess: 1.2.3 to 4", 24, "like “guess: 0 to 100”"),
        ("guess: 0 to 100", f"guess: 0 to {'9' * 400}", 24, "like “guess: 0 to 100”"),
        ("guess: 0 to 100\n", "", 22, "exactly one of"),
        ("guess: 0 to 100", "choose: cells = 50, 100", 24, "answer: highest"),
        ("guess: 0 to 100", "change: cells = 50, 100, 200", 24, "two values"),
        ("guess: 0 to 100", "change: colour = 1, 2", 24, "with one of cells"),
        ("chart: cells = 50, 100", "chart: cells = 50", 25, "at least 2 values"),
        ("question: How many?\n", "", 22, "needs a “question:”"),
        ("{measured}", "{result}", 28, "{result} means nothing here; there is {measured}"),
        ("view: inhibition", "view: tags\nview: flies", 31, "given twice"),
        ("data: digits", "data:", 6, "needs a value"),
    ],
)
def test_a_bad_line_is_named_with_what_would_be_right(old, new, line, says):
    with pytest.raises(LessonError) as error:
        LessonReader("mine").read(with_line(old, new))
    assert str(error.value).startswith(f"mine.md, line {line}: ")
    assert says in str(error.value)


def test_all_mistakes_of_a_file_are_listed_at_once_in_its_order():
    text = GOOD
    for old, new in (
        ("cells: 100", "cells: many"),
        ("view: circuit", "view: cirkus"),
        ("show: inhibition, sample", "show: inhibitoin, smaple"),
        ("measure: active_share", "measure: activity"),
        ("guess: 0 to 100", "guess: a bit"),
        ("chart: cells = 50, 100", "chart: colour = 1, 2"),
    ):
        text = text.replace(old, new)
    with pytest.raises(LessonError) as error:
        LessonReader("mine").read(text)
    lines = str(error.value).splitlines()
    starts = [line.split(": ")[0] for line in lines]
    assert starts == [f"mine.md, line {number}" for number in (7, 13, 16, 16, 23, 24, 25)]


def test_a_file_that_is_wrong_throughout_does_not_fill_the_page():
    with pytest.raises(LessonError) as error:
        LessonReader("mine").read("# T\n## S\n" + "vew: x\n" * 50)
    lines = str(error.value).splitlines()
    assert len(lines) == MOST_MISTAKES + 1
    assert lines[-1] == f"mine.md has {50 - MOST_MISTAKES} more mistakes."


@pytest.mark.parametrize(("data", "sample"), [("digits", "12"), ("starter", "ethyl formate")])
def test_a_lesson_can_fix_the_sample_that_it_opens_on_and_change_it_later(data, sample):
    text = f"# T\ndata: {data}\nsample: {sample}\n## One\n## Two\nsample: {sample}\n## Three\n"
    lesson = LessonReader("mine").read(text)
    assert [step.sample for step in lesson.steps] == [sample] * 3
    assert [step.sample for step in LessonReader("mine").read("# T\n## S\n").steps] == [""]


@pytest.mark.parametrize(
    ("data", "sample", "says"),
    [
        ("digits", "398", "goes from 1 to 397"),
        ("digits", "1.5", "whole number"),
        ("digits", "a seven", "is not a number"),
        ("starter", "ethyl formiate", "did you mean “ethyl formate”"),
        ("starter", "12", "is not an odor of the starter set"),
    ],
)
def test_a_sample_that_there_is_not_is_refused(data, sample, says):
    with pytest.raises(LessonError, match=r"line 3: ") as error:
        LessonReader("mine").read(f"# T\ndata: {data}\nsample: {sample}\n## S\n")
    assert says in str(error.value)


@pytest.mark.parametrize("data", IMAGES)
def test_as_many_images_can_be_chosen_as_there_are_unseen_ones(data):
    assert len(Glomeruli(load(data)).test) == IMAGES[data]


def test_a_reveal_without_a_question_is_refused():
    with pytest.raises(LessonError, match=r"line 4: “reveal:” needs a “question:”"):
        LessonReader("mine").read("# T\n## S\ntext\nreveal: aha")


def test_accuracy_is_refused_for_odors_which_have_several_right_answers():
    text = "# T\ndata: starter\n## S\nquestion: Q\nmeasure: accuracy\nguess: 0 to 1"
    with pytest.raises(LessonError, match=r"line 5: accuracy needs one right answer"):
        LessonReader("mine").read(text)


@pytest.mark.parametrize("text", ["", "\n\n", "# Only a title\n"])
def test_a_lesson_without_steps_says_what_is_missing(text):
    with pytest.raises(LessonError, match=r"mine\.md, line 1"):
        LessonReader("mine").read(text)


@pytest.mark.parametrize("name", ["../secrets", "README", "nothing", "/etc/passwd"])
def test_a_link_reaches_only_lessons(name):
    with pytest.raises(LessonError, match="There is no lesson called"):
        load_lesson(name)


def test_a_file_that_is_not_text_is_refused(tmp_path):
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LessonError, match="UTF-8"):
        load_lesson("binary", tmp_path)


def test_measured_numbers_fill_the_text_and_latex_stays():
    assert fill(r"{measured} of $\mathcal{B}$", {"measured": "3%"}) == r"3% of $\mathcal{B}$"


def test_three_lessons_are_included_and_all_can_be_read():
    assert set(lesson_names()) >= {"sparse-coding", "random-wiring", "doa"}
    for name in lesson_names():
        lesson = load_lesson(name)
        assert any(step.question for step in lesson.steps)
        for step in lesson.steps:
            CircuitSettings(**step.settings)


def test_no_lesson_states_a_number_it_should_measure():
    for name in lesson_names():
        for step in load_lesson(name).steps:
            if step.question:
                assert "{" in step.reveal
                assert "%" not in step.reveal


def test_the_teachers_readme_names_every_field_measure_and_control():
    readme = Path(FOLDER / "README.md").read_text(encoding="utf-8")
    for word in (*MEASURES, *BOUNDS, *CONTROLS, *VIEWS, *CIRCUIT_STEPS, *DATA):
        assert f"`{word}`" in readme or f"`{word}:`" in readme, word


@pytest.fixture(scope="module")
def digits():
    return Glomeruli(load("digits"))


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_measures(digits, name):
    value = measure(name, digits, CircuitSettings(cells=60))
    low, high = (0, 1) if name == "code_distance" else (0, 100)
    assert low <= value <= high
    assert MEASURES[name].format(value).strip()


def test_measures_move_as_the_science_says(digits):
    def at(name, **settings):
        return measure(name, digits, CircuitSettings(**({"cells": 200} | settings)))

    assert (
        at("active_share", inhibition=0.0) > at("active_share") > at("active_share", inhibition=2.0)
    )
    assert at("code_distance", inhibition=0.0) < at("code_distance")
    assert at("accuracy", cells=20) < at("accuracy") - 5
    assert at("tag_overlap_different") < at("tag_overlap_same")
    assert at("wiring_overlap") < 25
    assert at("agreement") > 85
    assert at("inputs_per_cell") == 7
    assert at("connections_kept") == 100
