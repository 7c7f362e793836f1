"""The Data page without a browser: choosing, looking and uploading."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kcnet_core.contracts import Counted
from kcnet_core.experiments.run import Run
from pages.ui.shell import visitor_jobs
from tests.pages.as_read import as_read

APP = str(Path(__file__).resolve().parents[2] / "app.py")
TABLE = b"name;smiles;odor\nvanillin;COc1cc(C=O)ccc1O;sweet,vanilla\n" + b"".join(
    f"ester {k};{'C' * k}OC(C)=O;fruity\nacid {k};{'C' * k}C(=O)O;cheesy\n".encode()
    for k in range(2, 9)
)


@pytest.fixture
def data_page():
    app = AppTest.from_file(APP, default_timeout=120)
    app.session_state["run"] = Run(dataset="digits")
    return app.switch_page("pages/data.py").run()


def labels(app) -> str:
    return "\n".join(e.value for e in [*app.markdown, *app.caption, *app.header, *app.subheader])


def test_every_dataset_has_a_card_with_its_licence(data_page):
    from kcnet_core import datasets

    assert not data_page.exception
    shown = labels(data_page)
    for info in datasets.available():
        assert info.title in shown
        assert info.licence in shown


def test_checksums_are_shown_before_a_download(data_page, monkeypatch, tmp_path):
    from kcnet_core.datasets.fly.door import PUBLISHED

    monkeypatch.setenv("KCNET_DATA", str(tmp_path))
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path))
    page = data_page.run()
    told = {each.value: each.help for each in page.caption}
    door = told["Checked on arrival: three files of DoOR.data, each by its SHA-256."]
    assert all(digest in door for _, _, digest in PUBLISHED)
    assert "Checked on arrival: MD5 ec1e076d15442f368fa5978b00f4a61c." in told
    assert {"Download 46 MB", "Download 0.5 MB"} <= {each.label for each in page.button}


def test_a_download_under_way_is_shown_after_a_reload(data_page, monkeypatch, tmp_path):
    monkeypatch.setenv("KCNET_DATA", str(tmp_path))
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path))
    page, go_on = data_page.run(), threading.Event()

    def steps():
        while not go_on.wait(0.02):
            yield Counted(1_000_000, 45_872_577)

    job = visitor_jobs.jobs().submit(
        page.session_state["owner"], "download", {"dataset": "hemibrain"}, steps
    )
    try:
        keys = {button.key for button in page.run().button}
    finally:
        go_on.set()
        job.wait(60)
    assert "cancel_hemibrain" in keys and "download_hemibrain" not in keys
    assert "download_door" in keys


def test_a_part_of_a_published_set_is_called_one(data_page, monkeypatch):
    from dataclasses import replace

    from kcnet_core import datasets
    from kcnet_core.datasets.catalogue import CATALOGUE

    part = replace(CATALOGUE["emnist_balanced"], n_rows=9_424, status="present")
    whole = replace(CATALOGUE["mnist"], status="present")
    monkeypatch.setattr(datasets, "available", lambda: [part, whole])
    shown = labels(data_page.run())
    assert "9,424 of 131,600 rows, a part of the set · 47 classes" in shown
    assert "70,000 rows · 10 classes" in shown
    for n in ("112,800", "18,800", "60,000"):
        assert n not in shown, "sizes of a whole set are no sizes of its part"


def test_the_choice_is_remembered_on_the_train_page(data_page):
    data_page.button(key="use_starter").click().run()
    assert data_page.session_state["run"].dataset == "starter"
    train = data_page.switch_page("pages/train.py").run()
    assert not train.exception
    assert train.session_state["run"].dataset == "starter"


def test_images_stand_in_as_many_columns_as_fit_with_their_labels_as_text(data_page, monkeypatch):
    import re
    from dataclasses import replace

    from pages.ui.shell import visitor_data

    data = visitor_data.dataset(data_page.session_state["run"])
    named = replace(data, target_names=("<script>x</script>", *data.target_names[1:]))
    monkeypatch.setattr(visitor_data, "dataset", lambda *_: named)
    data_page.run()
    (tiles,) = (e.proto.body for e in data_page.get("html") if "<figure" in e.proto.body)
    assert "repeat(auto-fill," in tiles
    assert "height:" not in tiles.replace("line-height:", "")
    captions = re.findall(r"<figcaption[^>]*>(.*?)</figcaption>", tiles)
    shown = [named.target_names[k] for k in data.y[:80]]
    assert captions == [name.replace("<", "&lt;").replace(">", "&gt;") for name in shown]
    assert "<script>" not in tiles
    assert tiles.count("data:image/png;base64,") == 80


def test_long_lists_of_the_loader_are_folded_away_under_what_they_list(data_page):
    data_page.session_state["look_tab"] = "Decisions and source"
    data_page.button(key="use_starter").click().run()
    assert not data_page.exception
    folded = {as_read(box.label): box.text[0].value for box in data_page.expander if box.text}
    assert folded["Positives among 1,398 rows"].startswith("Sweet 619 (44.3%), ")
    dropped = "29 of 215 descriptors are the same for every molecule and were dropped"
    assert "fr_azide" in folded[dropped]
    sentences = [e.value for e in data_page.text if e.value.startswith("•")]
    assert sentences and all(len(sentence) < 300 for sentence in sentences)


def test_a_fault_in_a_part_that_is_redrawn_alone_becomes_a_sentence(data_page, monkeypatch):
    from pages.ui.data import rows

    def fault(*_, **__):
        raise RuntimeError("hidden detail")

    monkeypatch.setattr(rows, "members", fault)
    data_page.run()
    assert not data_page.exception
    (shown,) = (tab for tab in data_page.tabs if tab.label == "Rows")
    assert "not your fault" in shown.error[0].value


def test_an_uploaded_table_becomes_the_dataset_of_this_session_only(data_page):
    from pages.ui.shell import visitor_jobs

    data_page.session_state["data_tab"] = "Upload your own"
    data_page.run()
    data_page.file_uploader(key="table_file").upload("mine.csv", TABLE, "text/csv").run()
    assert not data_page.exception
    data_page.button(key="table_go").click().run()
    assert visitor_jobs.jobs().get(data_page.session_state["upload_job"]).wait(60)
    data_page.run()
    assert data_page.session_state["run"].dataset == "uploaded"
    assert set(data_page.session_state["uploaded"].target_names) >= {"fruity", "cheesy"}
    other = AppTest.from_file(APP, default_timeout=120)
    other.query_params["dataset"] = "uploaded"
    other.run()
    assert "uploaded in another session" in "\n".join(e.value for e in other.error)


def test_rows_left_out_are_shown_with_what_is_offered_instead(data_page):
    from pages.ui.shell import visitor_jobs

    data_page.session_state["data_tab"] = "Upload your own"
    data_page.run()
    content = TABLE + b"salt;CC(=O)[O-].[Na+];cheesy\nbroken;C1CC;cheesy\n"
    data_page.file_uploader(key="table_file").upload("mine.csv", content, "text/csv").run()
    data_page.button(key="table_go").click().run()
    assert visitor_jobs.jobs().get(data_page.session_state["upload_job"]).wait(60)
    data_page.run()
    left_out = next(t.value for t in data_page.dataframe if "Reason" in t.value)
    assert list(left_out["Where"])[-2:] == ["line 17", "line 18"]
    assert list(left_out["Offered instead"])[-2:] == ["CC(=O)O", ""]


def test_tables_of_an_upload_hold_no_formula_that_a_spreadsheet_would_calculate(data_page):
    from pages.ui.shell import visitor_jobs

    data_page.session_state["data_tab"] = "Upload your own"
    data_page.run()
    head, rows = TABLE.split(b"\n", 1)
    content = b"\n".join([head + b";=1+1;'=1+1", rows.rstrip(), b"x;=2+2;cheesy;@y;-1", b""])
    data_page.file_uploader(key="table_file").upload("mine.csv", content, "text/csv").run()
    (preview,) = (t.value for t in data_page.dataframe)
    assert list(preview.columns) == ["name", "smiles", "odor", "'=1+1", "'=1+1 "]
    data_page.button(key="table_go").click().run()
    assert visitor_jobs.jobs().get(data_page.session_state["upload_job"]).wait(60)
    data_page.run()
    left_out = next(t.value for t in data_page.dataframe if "Reason" in t.value)
    assert list(left_out["Text"])[-1] == "'=2+2"


def box(app, label: str):
    return next(widget for widget in app.selectbox if widget.label == label)


def test_separator_encoding_and_header_can_be_corrected(data_page):
    rows = [f"{'C' * k}O;süß {k % 2}" for k in range(1, 9)]
    data_page.session_state["data_tab"] = "Upload your own"
    data_page.run()
    content = "\n".join(["Meine Stoffe, 2021", *rows]).encode("cp1252")
    data_page.file_uploader(key="table_file").upload("mine.csv", content, "text/csv").run()
    box(data_page, "Separator").select(",").run()
    assert box(data_page, "SMILES").value == "(none)"
    box(data_page, "Separator").select(";").run()
    assert not data_page.exception
    assert box(data_page, "SMILES").value == "column 1"
    assert "separator semicolon and the encoding cp1252; the first row is data" in labels(data_page)
    box(data_page, "First row").select(True).run()
    assert box(data_page, "SMILES").value == "CO"
    box(data_page, "Encoding").select("utf-8").run()
    assert "not utf-8 text; choose another encoding" in as_read(data_page.error[0].value)
    box(data_page, "Encoding").select("latin-1").run()
    assert data_page.multiselect[0].value == ["süß 1"]


def test_a_second_table_starts_with_its_own_guesses_and_says_what_it_lacks(data_page):
    data_page.session_state["data_tab"] = "Upload your own"
    data_page.run()
    data_page.file_uploader(key="table_file").upload("mine.csv", TABLE, "text/csv").run()
    box(data_page, "Name").select("(none)").run()
    second = b"Structure,Label\n" + b"".join(
        f"{'C' * k}O,{'green' if k % 2 else 'fatty'}\n".encode() for k in range(1, 9)
    )
    data_page.file_uploader(key="table_file").upload("other.csv", second, "text/csv").run()
    assert box(data_page, "SMILES").value == "Structure"
    assert data_page.multiselect[0].value == ["Label"]
    assert not data_page.button(key="table_go").disabled
    assert "No label column" not in as_read(labels(data_page))

    data_page.multiselect[0].set_value([]).run()
    assert data_page.button(key="table_go").disabled
    assert "No label column is chosen. Choose the column" in as_read(labels(data_page))
    data_page.multiselect[0].set_value(["Label", "Structure"]).run()
    assert data_page.button(key="table_go").disabled
    assert "Structure cannot be both the structure and a label" in as_read(labels(data_page))
    data_page.multiselect[0].set_value(["Label"]).run()
    assert not data_page.button(key="table_go").disabled


def test_a_table_is_looked_through_once_however_often_the_page_is_drawn(data_page, monkeypatch):
    from pages.ui.data import upload

    seen, guess_table = [], upload.guess_table
    monkeypatch.setattr(
        upload, "guess_table", lambda *a, **k: seen.append(a[0]) or guess_table(*a, **k)
    )
    data_page.session_state["data_tab"] = "Upload your own"
    data_page.run()
    for content in (TABLE, b"", TABLE):
        data_page.file_uploader(key="table_file").upload("mine.csv", content, "text/csv").run()
        data_page.run()
        data_page.run()
    assert seen == [TABLE, b"", TABLE]


def image_zip(more: dict[str, bytes] | None = None) -> bytes:
    import io
    import zipfile

    import numpy as np
    from PIL import Image

    out, rng = io.BytesIO(), np.random.default_rng(0)
    with zipfile.ZipFile(out, "w") as pack:
        for name, shift in (("dark", 0), ("light", 120)):
            for k in range(6):
                picture = io.BytesIO()
                pixels = rng.integers(shift, shift + 100, (20, 20), dtype=np.uint8)
                Image.fromarray(pixels).save(picture, "PNG")
                pack.writestr(f"{name}/{k}.png", picture.getvalue())
        for name, content in (more or {}).items():
            pack.writestr(name, content)
    return out.getvalue()


def upload_images(page, content: bytes, name: str = "mine.zip"):
    page.session_state["data_tab"] = "Upload your own"
    page.session_state["upload_kind"] = "images"
    page.run()
    page.file_uploader(key="image_file").upload(name, content, "application/zip").run()
    return page.button(key="images_go").click().run()


def test_a_zip_of_images_becomes_a_dataset(data_page):
    from pages.ui.shell import visitor_jobs

    upload_images(data_page, image_zip())
    assert visitor_jobs.jobs().get(data_page.session_state["upload_job"]).wait(60)
    data_page.run()
    assert not data_page.exception
    assert data_page.session_state["uploaded"].target_names == ("dark", "light")


def test_one_image_left_out_is_one_image_with_its_place_and_reason(data_page):
    from pages.ui.shell import visitor_jobs

    upload_images(data_page, image_zip({"dark/broken.png": b"no picture"}))
    assert visitor_jobs.jobs().get(data_page.session_state["upload_job"]).wait(60)
    data_page.run()
    assert "**1 image was left out**" in labels(data_page)
    left_out = next(t.value for t in data_page.dataframe if "Reason" in t.value)
    assert list(left_out.columns) == ["Where", "Reason"]
    assert list(left_out["Where"]) == ["dark/broken.png"]
    report = data_page.session_state["uploaded"].report
    assert "1 image was left out; the reasons are listed with the upload." in report


def test_a_file_name_is_shown_as_text_and_never_as_markdown(data_page):
    from pages.ui.shell import visitor_jobs

    name = "![x](//evil.io) [in](https://evil.io).zip"
    upload_images(data_page, image_zip(), name)
    assert visitor_jobs.jobs().get(data_page.session_state["upload_job"]).wait(60)
    data_page.run()
    for element in (data_page.header[0], data_page.success[0]):
        assert as_read(element.value).startswith(name)
        assert "](" not in element.value


def test_images_that_need_more_memory_than_there_is_are_refused_before_they_are_unpacked(
    data_page, monkeypatch
):
    from kcnet_core.errors import OutOfMemory
    from pages.ui.shell import visitor_jobs

    def submit(*_, estimate, **__):
        assert estimate.bytes > 6 * 12 * 28 * 28
        raise OutOfMemory("no room")

    monkeypatch.setattr(visitor_jobs.jobs(), "submit", submit)
    upload_images(data_page, image_zip())
    assert "upload_job" not in data_page.session_state
    assert "needs about 0.1 GB of memory, more than this server can spare" in (
        data_page.error[0].value
    )
    assert "smaller size in pixels" in data_page.error[0].value


def test_the_name_of_an_upload_is_in_no_log_and_no_journal(data_page, caplog):
    from kcnet_core.jobs.interruptions import _note
    from pages.ui.shell import visitor_jobs

    with caplog.at_level("INFO", "kcnet"):
        upload_images(data_page, image_zip(), "secret name.zip")
        job = visitor_jobs.jobs().get(data_page.session_state["upload_job"])
        assert job.wait(60)
    assert '"kind": "upload"' in caplog.text
    assert "secret" not in caplog.text
    assert "secret" not in str(_note(job, 0.0))
    assert job.title == "Read uploaded images"


def test_an_upload_is_refused_when_those_of_everybody_hold_too_much(data_page, monkeypatch):
    from kcnet_core.datasets.uploads import quota
    from pages.ui.shell import visitor_data, visitor_jobs

    room = 4 * 12 * 28 * 28  # for the twelve images, and no more
    gc.collect()  # what earlier visitors held goes now, and not between the two uploads
    held = sum(one.X.nbytes for one in visitor_data.uploads()._held.values())
    monkeypatch.setattr(quota, "MAX_HELD_UPLOAD_BYTES", held + room)
    other = AppTest.from_file(APP, default_timeout=120)
    other.session_state["run"] = Run(dataset="digits")
    other.switch_page("pages/data.py").run()
    upload_images(other, image_zip())
    assert visitor_jobs.jobs().get(other.session_state["upload_job"]).wait(60)
    other.run()
    assert other.session_state["run"].dataset == "uploaded"

    upload_images(data_page, image_zip())
    assert "upload_job" not in data_page.session_state
    assert "The uploads of all visitors hold" in as_read(data_page.error[0].value)
    assert "try again later" in as_read(data_page.error[0].value)

    first = other.session_state["upload_job"]
    upload_images(other, image_zip())  # takes the place of the first
    assert other.session_state["upload_job"] != first
    assert visitor_jobs.jobs().get(other.session_state["upload_job"]).wait(60)
    other.run()
    assert not other.error
    assert "are ready and in use" in other.success[0].value


def test_a_table_that_needs_more_memory_than_there_is_is_refused(data_page, monkeypatch):
    from kcnet_core.errors import OutOfMemory
    from pages.ui.shell import visitor_jobs

    def submit(*_, estimate, **__):
        assert estimate.bytes > len(TABLE)
        raise OutOfMemory("no room")

    monkeypatch.setattr(visitor_jobs.jobs(), "submit", submit)
    data_page.session_state["data_tab"] = "Upload your own"
    data_page.run()
    data_page.file_uploader(key="table_file").upload("mine.csv", TABLE, "text/csv").run()
    data_page.button(key="table_go").click().run()
    assert "Bring fewer rows or columns, or try again later." in data_page.error[0].value


def test_a_file_that_is_no_archive_is_told_before_it_is_queued(data_page):
    upload_images(data_page, b"PK nonsense")
    assert "upload_job" not in data_page.session_state
    assert "no zip archive" in data_page.error[0].value
