"""The Learn page: every view, every step, lessons, links, and what happens to bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kcnet_core.datasets import load
from kcnet_core.lessons import digit_drawing, lesson_file
from kcnet_core.lessons.lesson import Question
from pages.ui.learn.bench import glomeruli
from pages.ui.learn.lesson_question import NO_WINNER, _judge_choice
from pages.ui.shell import visitor_data
from tests.pages.as_read import as_read

PAGE = Path(__file__).resolve().parents[2] / "pages" / "learn.py"
STEPS = (
    "1 Input",
    "2 Wiring",
    "3 Sum",
    "4 Inhibition",
    "5 ReLU",
    "6 Votes",
    "7 Answer",
)


def opened(**query) -> AppTest:
    page = AppTest.from_file(str(PAGE), default_timeout=120)
    for name, value in query.items():
        page.query_params[name] = value
    page.run()
    return sound(page)


def sound(page):
    """No exception reached the page, and every chart and image says what it shows."""
    assert not page.exception
    for chart in page.get("plotly_chart"):
        assert len(chart.proto.alt) > 20
    for images in page.get("imgs"):
        assert all(image.alt for image in images.proto.imgs)
    return page


def captions(page) -> str:
    return " ".join(caption.value for caption in page.caption)


def texts(page) -> str:
    return " ".join(block.value for block in page.markdown)


def test_the_first_visit_shows_an_odor_and_needs_no_link():
    page = opened()
    assert page.selectbox(key="odor").value == "vanillin"
    assert page.header[0].value == "Something arrives"
    assert len(page.latex) == 1


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("sample", ["Odor", "Tiny digit"])
def test_every_step_has_a_picture_an_equation_and_live_numbers(sample, step):
    page = opened(sample=sample, step=step)
    assert page.get("plotly_chart")
    assert page.latex
    assert any(digit in captions(page) for digit in "0123456789")
    text = " ".join(block.value for block in page.markdown)
    assert re.search(r"\*\*Look\.\*\* [A-Z]", text)
    assert re.search(r"\*\*Try\.\*\* [A-Z]", text)


def test_next_and_back_walk_through_the_steps_and_stop_at_the_ends():
    page = opened(sample="Tiny digit")
    assert page.button(key="step_back").disabled
    seen = [page.header[0].value]
    for _ in STEPS[1:]:
        sound(page.button(key="step_next").click().run())
        seen.append(page.header[0].value)
    assert len(set(seen)) == len(STEPS)
    assert page.button(key="step_next").disabled
    sound(page.button(key="step_back").click().run())
    assert page.header[0].value == "The active cells vote"


def active(page) -> int:
    return int(captions(page).split(" of ")[0].replace(",", ""))


def test_more_inhibition_leaves_fewer_cells_active():
    page = opened(sample="Tiny digit", step="5 ReLU")
    before = active(page)
    sound(page.slider(key="inhibition").set_value(2.0).run())
    assert active(page) < before
    assert "2.00" not in captions(page)


def test_fan_in_and_width_change_what_the_equation_says():
    page = opened(sample="Tiny digit", step="2 Wiring")
    assert "7 inputs" in page.markdown[-3].value
    sound(page.slider(key="fan_in").set_value(3).run())
    assert "3 inputs" in page.markdown[-3].value
    sound(page.select_slider(key="cells").set_value(100).run())
    assert "100 Kenyon cells" in page.markdown[-3].value


def test_a_cell_may_draw_its_inputs_from_a_field_where_there_is_an_image():
    page = opened(sample="Tiny digit", step="2 Wiring")
    assert "rectangle" not in page.markdown[-3].value
    sound(page.button_group(key="plan").set_value("local").run())
    assert "inside a rectangle of its own" in page.markdown[-3].value
    assert "plan" not in [group.key for group in opened(sample="Odor").button_group]


def test_reshuffling_gives_another_wiring():
    page = opened(sample="Tiny digit", step="2 Wiring")
    wiring, equation = page.number_input(key="wiring").value, page.latex[0].value
    sound(page.button(key="wiring_reshuffle").click().run())
    assert page.number_input(key="wiring").value != wiring
    assert page.latex[0].value != equation


def test_the_answer_of_an_odor_is_compared_with_the_dataset():
    page = opened(step="7 Answer", odor="vanillin")
    assert "The fly says: " in captions(page)
    assert "The dataset says: " in captions(page)


def test_a_typed_smiles_is_smelled():
    page = opened(step="7 Answer", odor="CCCCCC(C)(C)N")
    assert "The fly says: " in captions(page)
    assert "The dataset" not in captions(page)


@pytest.mark.parametrize("text", ["CCCCCC=O", "aldehyde C-6", "66-25-1"])
def test_a_molecule_of_the_set_is_known_however_it_is_typed_or_drawn(text):
    assert "The dataset says: Fatty, Fruity, Green" in captions(opened(step="7 Answer", odor=text))


def test_a_name_that_comes_near_is_asked_about():
    (error,) = opened(odor="hedion").error
    assert "Is it hedione?" in as_read(error.value)


@pytest.mark.parametrize(
    "text", ["c1ccccc", "not a molecule", "C" * 5000, "<b>x</b>", "CC(C)(C)(C)C"]
)
def test_a_bad_smiles_gives_a_sentence_and_keeps_the_controls(text):
    page = opened(odor=text)
    assert len(page.error) == 1
    assert "neither an odor of the starter set nor a SMILES" in as_read(page.error[0].value)
    assert page.slider(key="inhibition")


def test_inhibition_view_tells_shares_and_distance():
    page = opened(view="Inhibition", sample="Tiny digit")
    assert "of the cells fire for the first" in captions(page)
    assert "distance between the two" in captions(page)
    assert len(page.get("plotly_chart")) == 2


@pytest.mark.parametrize("sample", ["Odor", "Tiny digit"])
def test_tags_view_counts_shared_cells(sample):
    page = opened(view="Tags", sample=sample)
    words = captions(page).split()
    at = words.index("shares")
    nearest = int(words[at + 1])
    farthest = int(words[words.index("farthest") + 1])
    assert nearest > farthest


def test_flies_view_counts_connections_and_agreement():
    page = opened(view="Every fly is different", sample="Tiny digit", flies="3")
    text = page.markdown[-1].value
    assert "of 3,500** connections" in text
    assert "over all 3 pairs" in text
    assert "of 3 flies say" in captions(page)


def ink_of_a_digit() -> tuple[str, str]:
    sample = load("mnist_sample")
    row = sample.n_train + 3
    pixels = (sample.X[row] * sample.pixel_std + sample.pixel_mean).reshape(28, 28)
    return digit_drawing.to_code(pixels), sample.target_names[sample.y[row]]


def test_a_drawing_in_a_link_is_read_and_explained():
    ink, truth = ink_of_a_digit()
    page = opened(view="Draw a digit", ink=ink)
    assert page.header[1].value.startswith(f"A {truth}, ")
    assert "of 500 Kenyon cells are active" in captions(page)


def test_a_drawing_walks_through_the_circuit_too():
    ink, truth = ink_of_a_digit()
    page = opened(sample="My drawing", step="7 Answer", ink=ink)
    assert f"The fly says: {truth}" in captions(page)


def test_without_ink_the_page_says_what_to_do():
    assert "No ink yet" in [heading.value for heading in opened(view="Draw a digit").header]
    assert "Nothing is drawn yet" in opened(sample="My drawing").info[0].value


def test_a_damaged_drawing_in_a_link_gives_a_sentence():
    assert "damaged" in opened(view="Draw a digit", ink="rubbish").warning[0].value
    assert "damaged" in opened(sample="My drawing", ink="rubbish").error[0].value


def test_a_link_sets_the_controls_and_hides_those_it_names():
    page = opened(
        sample="Tiny digit", step="5 ReLU", inhibition="0.5", cells="100", hide="cells,wiring"
    )
    assert page.slider(key="inhibition").value == 0.5
    assert not [box for box in page.number_input if box.key == "wiring"]
    assert "of 100 cells" in captions(page)


def test_nonsense_in_a_link_is_ignored():
    page = opened(
        sample="Moon", step="99", cells="many", inhibition="-4", hide="inhibition", cell="0"
    )
    assert page.header[0].value == "Something arrives"


def test_the_lessons_are_listed_and_open():
    page = opened(view="Lessons")
    titles = [heading.value for heading in page.header]
    assert titles[0] == "Sparse coding and inhibition"
    assert len(titles) >= 3
    sound(page.button(key="start_doa").click().run())
    assert page.title[0].value == "What DOA changes"


def test_an_unknown_lesson_says_which_ones_there_are():
    page = opened(lesson="../../secrets")
    assert "There is: doa, random-wiring, real-fly, sparse-coding" in as_read(page.error[0].value)


SMALL_LESSON = """# Small
data: digits
cells: 50

## Guess
question: How many?
measure: active_share
guess: 0 to 100
reveal:
It is {measured}.

## Change
question: When C grows, the share
measure: active_share
change: inhibition = 0, 2
reveal:
From {first} to {last}.

## Choose
question: Which is best?
measure: accuracy
choose: cells = 20, 500
answer: highest
reveal:
It is {winner}.

## Play
Move it.
view: circuit
step: relu
show: inhibition, sample
"""


@pytest.fixture
def small_lesson(tmp_path, monkeypatch):
    (tmp_path / "small.md").write_text(SMALL_LESSON, encoding="utf-8")
    (tmp_path / "broken.md").write_text("# Broken\n## Step\nvew: tags\n", encoding="utf-8")
    monkeypatch.setattr(lesson_file, "FOLDER", tmp_path)


def test_a_lesson_from_start_to_end(small_lesson):
    page = opened(lesson="small")
    assert page.button(key="lesson_next").disabled
    assert not page.button(key="measure_small_1").disabled
    assert "You predict 50.0%; move the slider" in texts(page)

    sound(page.slider(key="predict_small_1").set_value(30.0).run())
    sound(page.button(key="measure_small_1").click().run())
    verdict = [*page.success, *page.info][0].value
    assert verdict.startswith("Measured: ")
    assert "You predicted: 30.0%" in verdict
    measured = verdict.split("Measured: ")[1].split(".  ")[0].split("%")[0]
    assert f"It is {measured}%." in [block.value for block in page.markdown]
    assert not page.button(key="lesson_next").disabled

    sound(page.button(key="lesson_next").click().run())
    assert page.button(key="measure_small_2").disabled
    assert "Measure waits for your prediction: choose one of the answers above." in texts(page)
    sound(page.radio(key="predict_small_2").set_value("falls").run())
    sound(page.button(key="measure_small_2").click().run())
    assert "it falls, from" in page.success[0].value

    sound(page.button(key="lesson_next").click().run())
    sound(page.radio(key="predict_small_3").set_value("Kenyon cells = 20").run())
    sound(page.button(key="measure_small_3").click().run())
    assert "Kenyon cells = 500, with" in page.info[0].value

    sound(page.button(key="lesson_next").click().run())
    before = active(page)
    sound(page.slider(key="small_4_inhibition").set_value(2.0).run())
    assert active(page) < before
    assert not [slider for slider in page.slider if slider.key == "fan_in"]

    sound(page.button(key="lesson_next").click().run())
    assert page.header[0].value.endswith("of 3 predictions held")
    assert page.table[0].value["Held"].tolist()[1:] == ["yes", "no"]

    sound(page.button(key="lesson_again").click().run())
    assert page.slider(key="predict_small_1").value == 50
    assert not [*page.success, *page.info]


def test_half_is_a_guess_that_needs_no_move(small_lesson):
    page = opened(lesson="small")
    sound(page.button(key="measure_small_1").click().run())
    assert "You predicted: 50.0%" in [*page.success, *page.info][0].value


def test_all_mistakes_of_a_lesson_file_are_shown_at_once(tmp_path, monkeypatch):
    text = "# Broken\ncells: many\n## Step\nvew: tags\nstep: add\n"
    (tmp_path / "broken.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(lesson_file, "FOLDER", tmp_path)
    shown = as_read(opened(lesson="broken").error[0].value)
    assert [line in shown for line in ("line 2:", "line 4:", "line 5:")] == [True] * 3


@pytest.mark.parametrize("show", ["", "show: sample\n"])
def test_a_lesson_opens_on_the_sample_that_it_names(tmp_path, monkeypatch, show):
    text = f"# Fixed\ndata: digits\ncells: 50\nsample: 12\n## See\nview: flies\n{show}"
    (tmp_path / "fixed.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(lesson_file, "FOLDER", tmp_path)
    page = opened(lesson="fixed", flies="2")
    digits = load("digits")
    truth = digits.target_names[digits.y[digits.n_train + 11]]
    assert f"What they say of a {truth}" in [heading.value for heading in page.header]
    assert [box.value for box in page.number_input] == ([12] if show else [])


def test_a_presentation_hides_the_controls_and_keeps_what_they_say():
    page = opened(present="1", sample="Tiny digit", step="5 ReLU", cells="100")
    assert "of 100 cells" in captions(page)
    assert page.button(key="presenting")
    drawing = json.loads(page.get("bidi_component")[0].proto.json)
    assert drawing["large"] and drawing["around"]
    sound(page.button(key="presenting").click().run())
    assert "present" not in page.query_params and page.button(key="present")


def test_a_broken_lesson_names_its_line_and_spares_the_others(small_lesson):
    page = opened(view="Lessons")
    assert as_read(page.error[0].value).startswith("broken.md, line 3: ")
    assert page.button(key="start_small")
    shown = opened(lesson="broken").error[0].value
    assert as_read(shown).startswith("broken.md, line 3: ")


@pytest.mark.parametrize(
    ("data", "view"),
    [
        ("digits", "circuit"),
        ("digits", "inhibition"),
        ("digits", "tags"),
        ("digits", "flies"),
        ("starter", "tags"),
        ("mnist_sample", "draw"),
    ],
)
def test_a_lesson_can_show_every_view_and_only_the_controls_it_names(
    tmp_path, monkeypatch, data, view
):
    text = f"# All\ndata: {data}\ncells: 50\n## See\nview: {view}\nshow: inhibition\n"
    (tmp_path / "all.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(lesson_file, "FOLDER", tmp_path)
    page = opened(lesson="all")
    assert page.slider(key="all_1_inhibition")
    controls = [*page.slider, *page.select_slider, *page.number_input]
    assert not [each.key for each in controls if each.key.endswith(("cells", "fan_in", "wiring"))]
    assert page.get("plotly_chart") or view == "draw"


@pytest.mark.parametrize(
    "values, right",
    [
        ([57.0, 58.0, 56.0], {NO_WINNER}),
        ([57.0, 58.0, 50.0], {"real wiring", "shuffled wiring"}),
        ([50.0, 58.0, 51.0], {"shuffled wiring"}),
    ],
)
def test_where_nobody_won_only_that_prediction_holds(values, right):
    plans = ("hemibrain", "hemibrain-shuffled", "hemibrain-random")
    question = Question("?", "unseen_accuracy", "choose", setting="plan", values=plans,
                        answer="highest")  # fmt: skip
    said = ("real wiring", "shuffled wiring", "random wiring", NO_WINNER)
    held = {one for one in said if _judge_choice(question, one, values)[0].right}
    assert held == right


def test_measured_odors_that_are_not_here_say_how_to_get_them(monkeypatch, tmp_path):
    monkeypatch.delenv("KCNET_DATA", raising=False)
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path))
    for kept in (glomeruli, visitor_data.loaded):  # another test may have had them
        kept.clear()
    for page in (inside_the_app(sample="Measured odor"), inside_the_app(lesson="real-fly")):
        (told,) = (as_read(note.value) for note in page.info)
        assert "**DoOR, chemical classes**, 0.5 MB; CC BY-SA 4.0" in told
        assert "**Hemibrain v1.2**, 46 MB; CC BY 4.0 by Janelia" in told
        assert not page.error and not page.exception


def test_the_file_that_is_still_missing_is_named_alone(shared_data, monkeypatch, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "door").symlink_to(shared_data / "door")
    monkeypatch.setenv("KCNET_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path))
    (told,) = (as_read(note.value) for note in inside_the_app(lesson="real-fly").info)
    assert "Hemibrain" in told and "DoOR" not in told


def inside_the_app(**query):
    """With the other pages around it, to which it leads."""
    app = AppTest.from_file(str(PAGE.parents[1] / "app.py"), default_timeout=120).run()
    app.switch_page("pages/learn.py")
    app.query_params.update(query)
    return app.run()


def test_responses_that_nobody_measured_are_guessed_only_when_asked(shared_data, monkeypatch):
    monkeypatch.setenv("KCNET_DATA", str(shared_data))
    page = opened(sample="Measured odor", measured="CCCCCC(=O)OCCC")
    assert "is not among the odorants that were measured" in as_read(page.error[0].value)
    page = opened(sample="Measured odor", measured="spermine")
    assert "no response of any glomerulus of the adult fly" in as_read(page.error[0].value)
    page = opened(sample="Measured odor", measured="spermine", guess_measured="true")
    assert not page.error and "All responses are guessed" in as_read(captions(page))
    page = opened(sample="Measured odor", measured="CCCCCC(=O)OCCC", guess_measured="true")
    assert "All responses are guessed, none was measured" in as_read(captions(page))
    assert re.search(r"wrong by 0\.08\d on average", as_read(captions(page)))
    assert "which is a guess" in texts(page)


def test_a_real_glomerulus_has_its_name_in_the_equation_too(shared_data, monkeypatch):
    monkeypatch.setenv("KCNET_DATA", str(shared_data))
    page = opened(sample="Measured odor", step="2 Wiring")
    heard = re.search(r"mathcal{I}_{\d+} &= (.*)", page.latex[0].value)[1]
    names = re.findall(r"text{(\w+)}", heard)
    assert names and set(names) <= set(glomeruli("door").names)
