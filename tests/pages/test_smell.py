"""The Smell page without a browser: questions, answers, bad input, models and links."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kcnet_core import datasets, figures
from kcnet_core.contracts import Counted
from kcnet_core.experiments.run import Run
from kcnet_core.experiments.training import train_steps
from kcnet_core.jobs import Memory
from kcnet_core.jobs.memory import Room
from kcnet_core.limits import EXPLAINED_ATOMS_AT_ONCE, SMELLED_AT_ONCE
from kcnet_core.smell.flies import FlySettings
from pages.ui.shell import visitor_jobs
from pages.ui.smell import ask, models, side_by_side
from tests.pages.as_read import as_read

APP = str(Path(__file__).resolve().parents[2] / "app.py")


def opened(tab: str | None = None, **query) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=180)
    app.switch_page("pages/smell.py")
    for name, value in query.items():
        app.query_params[name] = str(value)
    if tab:
        app.session_state["smell_tab"] = tab
    return app.run()


def asked(app: AppTest, text: str) -> AppTest:
    """As the text box reports it."""
    app.session_state["smell_text"] = text
    return app.run()


def texts(app: AppTest) -> str:
    parts = [*app.markdown, *app.caption, *app.text, *app.error, *app.warning, *app.info]
    return as_read("\n".join(element.value for element in parts))


def profile(app: AppTest) -> str:
    """The alternative text of the odor profile."""
    charts = app.get("plotly_chart")
    return next(c.proto.alt for c in charts if c.proto.alt.startswith("Odor profile"))


def table(app: AppTest):
    return app.dataframe[0].value


def test_many_molecules_and_a_quality_for_which_there_is_no_memory_are_refused_at_once(
    monkeypatch,
):
    monkeypatch.setattr(visitor_jobs.jobs(), "_memory", Room(lambda: Memory(100 * 2**20, 0)))
    app = asked(opened(), "\n".join("C" * n + "O" for n in range(1, SMELLED_AT_ONCE + 2)))
    assert not app.exception
    assert "GB of memory, and at most" in texts(app)
    nose, dataset = models.taught("starter")
    models._measure("a key of its own", dataset, nose)
    assert "a key of its own" not in models._measuring()
    assert visitor_jobs.jobs().owned_by(app.session_state["owner"]) == []


def test_quality_is_quoted_by_the_labels_of_others():
    said = texts(opened())
    assert "measured by the labels of GS-LF" in said and "never taught" in said
    found = models.remembered_elsewhere(models.taught("starter")[1], FlySettings())
    assert f"{found.outside.auroc.mean:.2f}" in said
    assert f"{found.outside.confirmed.mean:.0%}" in said


def test_what_is_named_follows_the_coverage_that_is_chosen():
    app = opened(smiles="CC1CC(=O)CCC1\nCCCCCC=O")
    before = table(app)["characters"].tolist()
    app.button_group(key="smell_coverage").set_value(0.9).run()
    after = table(app)["characters"].tolist()
    assert all(len(b) > len(a) and b.startswith(a) for a, b in zip(before, after, strict=True))
    assert "so that 90% of a molecule's true characters are named" in texts(app)


def test_the_first_visit_shows_an_example_already_answered():
    app = opened()
    assert not app.exception
    assert "Vanilla" in profile(app) and "True of this molecule" in profile(app)
    said = texts(app)
    assert "Inside what the model knows" in said
    assert "taught Starter odorants" in said.replace("\\", "")
    assert "mean AUROC" in said
    assert "kcnet data fetch keller_2016" in texts(app)  # for intensity and pleasantness


def test_a_link_opens_its_molecule_and_the_page_writes_its_own():
    app = opened(smiles="CCCC(=O)OCC ethyl butyrate")
    assert "Fruity" in profile(app)
    assert app.query_params["smiles"] == "CCCC(=O)OCC ethyl butyrate"
    assert "Vanilla" in profile(asked(app, "Vanillin"))
    assert app.query_params["smiles"] == "Vanillin"


def test_the_reasons_add_up_and_say_what_they_are():
    said = texts(opened(smiles="O=C/C=C/c1ccccc1"))
    assert "add up to the log-odds" in said and "measured what-if" in said


def test_neighbours_by_tag_and_by_structure_stand_side_by_side():
    app = opened(tab="Nearest known odorants")
    said = texts(app)
    assert "KC tags" in said and "Morgan" in said and "ethyl vanillin" in said


def test_quality_is_shown_with_its_protocol():
    said = texts(opened(tab="How good is this?"))
    assert "5-fold cross-validation" in said and "95% intervals" in said
    assert "λ" in said
    assert "ratings of the challenge's test molecules" in said


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "# heading\n**bold** [link](http://x) `code` :red[x]",
        "C" * 400,
        "[CH3]",
        "CCO.CCN",
        "[2H]C([2H])([2H])O",
        "[CH3:1][OH:2]",
        "C[C@H](N)C(=O)O",
        "[Na+].[Cl-]",
        "C",
        "\u2028",
        "日本語",
        "=HYPERLINK(1)",
        "C1CC",
        "💐\x00",
        "a" * 5000,
    ],
)
def test_odd_input_gives_an_answer_or_a_sentence_and_never_a_fault(text):
    app = asked(opened(), text)
    assert not app.exception
    assert "not your fault" not in texts(app)
    for element in [*app.markdown, *app.caption]:
        assert "<script" not in element.value and ":red[x]" not in element.value


def test_a_word_that_is_nearly_a_name_offers_the_molecule():
    app = asked(opened(), "limonnene")
    assert "Is it limonene" in texts(app)
    next(b for b in app.button if b.label == "limonene").click().run()
    assert "Citrus" in profile(app)


def test_suggestions_are_taken_for_all_lines_at_once():
    app = asked(opened(), "limonnene\nhedionne\nAmbroxan")
    next(b for b in app.button if b.label == "Take 2 suggestions").click().run()
    assert list(table(app)["name"]) == ["limonene", "hedione", "ambroxide"]


def test_an_empty_box_says_what_to_do():
    assert "Nothing is asked yet" in texts(asked(opened(), "  "))


def test_several_lines_become_a_table_with_the_errors_in_place():
    app = asked(opened(), "vanillin\nCCO ethanol\nC1CC\n=SUM(A1)")
    found = table(app)
    assert list(found["row"]) == [1, 2, 3, 4]
    assert found["characters"][0].startswith("Vanilla") and "Ethereal" in found["characters"][1]
    assert "ring closure" in found["remark"][2] and found["molecule"][0].startswith("data:image")
    assert "2 molecules answered" in texts(app)


def test_many_lines_become_a_job_whose_answers_arrive():
    lines = "\r".join(  # lines that end so are counted as they are read
        f"{'C' * n}O alcohol{n}" for n in range(1, SMELLED_AT_ONCE + 10)
    )
    app = asked(opened(), lines)
    _, job_id = app.session_state["smell_job"]["smell"]
    assert visitor_jobs.jobs().get(job_id).wait(120)
    app.run()
    assert len(table(app)) == SMELLED_AT_ONCE + 9
    assert ("smiles" in app.query_params) == (len(lines) <= ask.LONGEST_LINK)


@pytest.mark.parametrize(
    ("tab", "place", "found"),
    [("Why", "smell atoms", "Atoms: orange ones"), ("Change it", "smell edits", "Change of the")],
)
def test_what_takes_seconds_for_a_large_molecule_waits_in_the_queue(tab, place, found):
    app = opened(tab=tab, smiles="C" * (EXPLAINED_ATOMS_AT_ONCE + 1))
    _, job_id = app.session_state["smell_job"][place]
    assert visitor_jobs.jobs().get(job_id).wait(120)
    assert found in texts(app.run()) and not app.exception
    asked(app, "C" * EXPLAINED_ATOMS_AT_ONCE)
    assert found in texts(app) and app.session_state["smell_job"][place][1] == job_id


def test_few_lines_with_long_molecules_wait_in_the_queue():
    app = asked(opened(), "\n".join("C" * 900 for _ in range(5)))
    _, job_id = app.session_state["smell_job"]["smell"]
    assert visitor_jobs.jobs().get(job_id).wait(120)
    assert len(table(app.run())) == 5 and not app.exception


def test_a_cancelled_job_can_be_started_again(monkeypatch):
    monkeypatch.setattr(ask, "smell_steps", _until_stopped)
    app = asked(opened(), "\n".join("CCO" for _ in range(SMELLED_AT_ONCE + 1)))
    _, job_id = app.session_state["smell_job"]["smell"]
    job = visitor_jobs.jobs().get(job_id)
    assert job.wait_for(lambda view: view.state == "running", 60)
    job.control(app.session_state["owner"], "stop")
    assert job.wait(60)
    app.run()
    assert any(button.label == "Try again" for button in app.button)


def _until_stopped(*_):
    while True:
        time.sleep(0.01)
        yield Counted(0, 10)


def test_ten_megabytes_are_refused_by_a_sentence():
    app = opened()
    app.session_state["smell_too_long"] = 10_000_000
    app.run()
    assert "10,000,000 characters" in texts(app) and not app.exception


def test_a_run_of_the_train_page_can_answer():
    dataset = datasets.load("starter")
    run = Run(dataset="starter", model="KCNet", n_hidden=100)
    app = opened()
    app.session_state["owner"] = owner = "o" * 43
    job = visitor_jobs.jobs().submit(owner, "train", run, lambda: train_steps(run, dataset))
    assert job.wait(120)
    app.session_state["job_id"] = job.id
    app.run()
    app.selectbox(key=models.CHOICE).set_value(models.RUN).run()
    said = texts(app).replace("\\", "")
    assert "KCNet from the Train page" in said and "no spread to show" in said


def test_characters_no_better_than_guessing_are_greyed_with_the_reason(monkeypatch):
    from dataclasses import replace

    from kcnet_core.smell.quality import Measured

    whole = models._quality

    def worse(choice, dataset, nose):
        quality = whole(choice, dataset, nose)
        vanilla = replace(quality.of("Vanilla"), auroc=Measured(0.55, 0.4, 0.7))
        others = tuple(vanilla if q.character == "Vanilla" else q for q in quality.characters)
        return replace(quality, characters=others)

    monkeypatch.setattr(models, "_quality", worse)
    app = opened()
    assert "Vanilla" not in profile(app).split("True of")[0]
    assert "does not exclude guessing" in texts(app)


def test_a_dataset_with_dilutions_offers_them(shared_data, monkeypatch):
    monkeypatch.setenv("KCNET_DATA", str(shared_data))
    monkeypatch.setattr(models, "_measure", lambda *args: None)  # minutes
    app = opened(model="keller_2016", dilution="1/1,000")
    assert not app.exception
    said = texts(app).replace("\\", "")
    assert "Keller" in said and " at 1/" in said
    rated = {one.label: int(one.value) for one in app.metric}
    assert list(rated) == ["Intensity, 0 to 100", "Pleasantness, 0 to 100"]
    assert all(0 < value < 100 for value in rated.values())
    assert "people said" in texts(app)
    assert "to begin with add up to" in texts(app)


def test_a_model_file_can_answer_and_a_broken_one_says_what_is_wrong():
    from kcnet_core.experiments import report

    run = Run(dataset="starter", model="KCNet", n_hidden=80)
    steps = train_steps(run, datasets.load("starter"))
    while True:
        try:
            next(steps)
        except StopIteration as end:
            content = report.model_file(end.value)
            break
    app = opened()
    app.selectbox(key=models.CHOICE).set_value(models.FILE).run()
    assert "Give the model file" in texts(app)
    upload = app.file_uploader(key="smell_file_upload")
    upload.set_value(("bad.kcnet", b"not a model", "application/octet-stream")).run()
    assert app.error and not app.exception
    upload = app.file_uploader(key="smell_file_upload")
    upload.set_value(("mine.kcnet", content, "application/octet-stream")).run()
    assert "KCNet from mine.kcnet" in texts(app).replace("\\", "")
    assert "Vanilla" in profile(app)


def test_an_uploaded_csv_takes_the_place_of_the_box_until_it_is_closed():
    app = opened()
    content = b"Name;SMILES\nfirst;CCCC(=O)OCC\nsecond;limonene\nthird;C1CC\n"
    app.file_uploader(key="smell_csv").set_value(("mine.csv", content, "text/csv")).run()
    assert app.selectbox(key="smell_csv_smiles").value == "SMILES"
    app.button(key="smell_csv_go").click().run()
    found = table(app)
    assert list(found["name"]) == ["first", "second", "third"]
    assert "mine.csv: 3 rows" in texts(app) and "ring closure" in found["remark"][2]
    app.button(key="smell_table_close").click().run()
    assert "Vanilla" in profile(app)


def test_a_picture_is_not_a_table():
    app = opened()
    png = b"\x89PNG\r\n\x1a\n" + bytes(50)
    app.file_uploader(key="smell_csv").set_value(("x.csv", png, "text/csv")).run()
    assert app.error and "picture" in app.error[0].value


def test_a_link_searches_by_smell_and_a_hit_is_asked_about_by_a_click():
    app = opened(view="search", want="Musky", avoid="Fruity", mass="200-260")
    assert "molecules meet the wish" in texts(app)
    app.multiselect(key="smell_unwanted").set_value([]).run()
    link = str(dict(app.query_params))
    assert "Musky" in link and "200-260" in link and "avoid" not in link
    app.button(key="smell_hit_ask_0").click().run()
    assert "Musky" in profile(app) and not app.exception
    app.session_state["smell_view"] = "search"
    app.run()
    assert app.session_state["smell_wanted"] == ["Musky"] and "meet the wish" in texts(app)


def test_a_step_that_is_taken_changes_the_question_and_can_be_put_back():
    app = asked(opened(tab="Change it"), "butyric acid")
    app.button(key="smell_edit_take_0").click().run()
    assert "Changed from butyric acid: Cheesy" in texts(app)
    app.button(key="smell_edit_back").click().run()
    assert app.session_state["smell_text"] == "CCCC(=O)O" and not app.exception


def test_four_molecules_stand_side_by_side_each_against_the_first():
    app = asked(opened(tab="Side by side"), "Ambroxan\nhedione\n(R)-carvone\nvanillin")
    said = texts(app)
    for name in ("hedione", "(R)-carvone", "vanillin"):
        assert f"{name} against ambroxide" in said.replace("*", "")
    assert "Something went wrong" not in said and not app.exception


def test_every_line_from_which_on_characters_are_named_is_drawn_and_told():
    figure = figures.odor_profiles(["Sweet"], [[0.3], [0.2]], ["a", "b"], lines=[0.28, 0.22])
    assert sorted(shape.x0 for shape in figure.layout.shapes) == pytest.approx([22, 28])
    told = side_by_side.drawn_lines({True: 0.22, False: 0.28})
    assert told.startswith("28% for ring systems that were taught and 22%")
    assert side_by_side.drawn_lines({True: 0.22}) == "22%"


def test_two_molecules_stand_side_by_side_and_mirror_images_are_called_one():
    app = asked(opened(tab="Side by side"), "(R)-carvone\n(S)-carvone")
    assert "to them they are one molecule" in texts(app) or any(
        "to them they are one molecule" in one.value for one in app.info
    )
    assert not app.exception
