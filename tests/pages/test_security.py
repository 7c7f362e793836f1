"""What links, uploads and errors must never do, whoever sends them."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from streamlit import config as streamlit_config
from streamlit.testing.v1 import AppTest

from kcnet_core import datasets, limits
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import KCNetError
from kcnet_core.experiments import report
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.run import Run
from kcnet_core.storage.safe_csv import csv_text
from pages.ui.compare import downloads
from pages.ui.shell import visitor_jobs

PROJECT = Path(__file__).resolve().parents[2]
HOSTILE_NAMES = (
    "../../etc/passwd", "/etc/passwd", "..", "%2e%2e/secret", "starter/../../x", "C:\\x", "a\x00b",
    "file:///etc/passwd", "kcnet_core.jobs", "__import__('os')", "uploaded",
)  # fmt: skip


def opened(page: str = "", **query) -> AppTest:
    app = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=120)
    if page:
        app.switch_page(f"pages/{page}.py")
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def texts(app: AppTest) -> str:
    parts = [*app.markdown, *app.caption, *app.error, *app.warning, *app.info]
    return "\n".join(element.value for element in parts)


def test_protections_are_on_and_the_upload_limit_is_the_stated_one():
    config = tomllib.loads((PROJECT / ".streamlit" / "config.toml").read_text())
    server, client = config["server"], config["client"]
    assert server["enableXsrfProtection"] is True and server["enableCORS"] is True
    assert server["maxUploadSize"] * limits.MEGABYTE == limits.MAX_UPLOAD_BYTES
    assert server["maxMessageSize"] * limits.MEGABYTE >= limits.MAX_MESSAGE_BYTES
    assert "enableStaticServing" not in server, "no folder is served as it is"
    assert "enableAgentApi" not in server, "programs do not drive the pages unless it is asked for"
    assert streamlit_config.get_option("server.enableAgentApi") is False
    assert client["showErrorDetails"] == "none"
    assert config["browser"]["gatherUsageStats"] is False


# -- links -----------------------------------------------------------------------------------------


@pytest.fixture
def watched_reads(monkeypatch):
    """Every file that is opened while a test runs, outside the project and the installation."""
    import builtins
    import io
    import os

    seen = []
    real = io.open

    def watch(file, *args, **options):
        if isinstance(file, str | os.PathLike):
            seen.append(os.path.realpath(os.fspath(file)) if "\x00" not in str(file) else str(file))
        return real(file, *args, **options)

    monkeypatch.setattr(builtins, "open", watch)
    monkeypatch.setattr(io, "open", watch)
    return seen


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_no_name_in_a_link_reaches_a_file(name, watched_reads, tmp_path, monkeypatch):
    monkeypatch.setenv("KCNET_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path / "cache"))
    if name != "uploaded":
        with pytest.raises(KCNetError, match="There is no dataset"):
            datasets.load(name)
    run, _ = Run.from_query({"dataset": name, "target": name, "model": name, "protocol": name})
    assert run.model == Run().model and run.protocol == Run().protocol
    with pytest.raises(KCNetError):
        Comparison(dataset="starter", options='{"folder": "/etc"}').load()
    assert not [path for path in watched_reads if "passwd" in path or "secret" in path]


PARAMETERS = (
    "dataset", "target", "model", "models", "seed", "job", "options", "settings", "recipe",
    "smiles", "nose", "lesson", "n_hidden", "hidden",
)  # fmt: skip
MARKDOWN = (
    "[Sign in](https://evil.io)", "![x](//evil.io/p.png)", ":red[evil]", ":material/home: evil",
    "$evil$ `evil`", "<b>evil</b>", "www.evil.io",
)  # fmt: skip
LIVE_MARKDOWN = re.compile(
    r"\]\(|https?://|www\.|(?<!\\):red|:material/home|(?<!\\)[$`]evil|(?<!\\)<b"
)


@pytest.mark.parametrize("page", ["", "compare", "smell", "data", "learn", "paper"])
def test_every_page_meets_a_hostile_link_with_sentences(page):
    evil = "../../etc/passwd\"'><script>alert(1)</script>"
    app = opened(page, **dict.fromkeys(PARAMETERS, evil))
    assert not app.exception
    shown = texts(app)
    assert "not your fault" not in shown, "the last safety net was needed"
    assert str(PROJECT) not in shown and "Traceback" not in shown


@pytest.mark.parametrize("evil", MARKDOWN)
@pytest.mark.parametrize(
    ("page", "names"),
    [("", ["seed", "n_hidden"]), ("", ["dataset"]), ("compare", ["models"]),
     ("compare", ["dataset"]), ("learn", ["lesson"])],
)  # fmt: skip
def test_markdown_in_a_link_is_read_not_rendered(page, names, evil):
    app = opened(page, **dict.fromkeys(names, evil))
    shown = [line for line in texts(app).splitlines() if "evil" in line]
    assert shown, "the page does not say what it could not use"
    for line in shown:
        assert not LIVE_MARKDOWN.search(line), line


def test_markdown_in_an_uploaded_file_is_read_not_rendered():
    evil = " ".join(MARKDOWN)
    X = np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32)
    dataset = Dataset(
        "uploaded", evil, X, (X[:, 0] > 0).astype(int), tuple(f"f{i}" for i in range(8)),
        (evil, "other"), groups=np.arange(60), row_names=(evil,) * 60, smiles=("CCO",) * 60,
    )  # fmt: skip
    run = Run(dataset="uploaded", model="KCNet", n_hidden=20, alpha_loo=True)
    app = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=120)
    app.session_state["uploaded"], app.session_state["run"] = dataset, run
    before = texts(app.run())
    app.button(key="start").click().run()
    assert visitor_jobs.jobs().get(app.session_state["job_id"]).wait(60)
    app.session_state["result_tab"] = "Test samples"
    app.session_state["sample_filter"] = "all"
    after = texts(app.run())
    assert not app.exception and "Truth" in after
    for line in (before + "\n" + after).splitlines():
        assert not LIVE_MARKDOWN.search(line), line


def test_a_script_that_visitors_take_home_is_data_and_no_code_from_a_link():
    evil = '"""\nimport os\nos.system("x")\n"""'
    trained = SimpleNamespace(
        run=Run(target=evil), scaler=None, protocol="benchmark", train_rows=[], test_rows=[],
        dataset=SimpleNamespace(groups=None),
    )  # fmt: skip
    allowed = {"kcnet_core", "kcnet_core.experiments", "kcnet_core.experiments.training"}
    assert imports(report.repeat_script(trained)) <= allowed
    found = SimpleNamespace(comparison=Comparison(target=evil[:50]), metric="accuracy")
    assert all(name.startswith("kcnet_core") for name in imports(downloads.script(found, "name")))


def imports(script: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(script)):
        if isinstance(node, ast.ImportFrom):
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found


# -- visitors at the same time ---------------------------------------------------------------------


def test_visitors_never_share_a_page_object():
    """Streamlit marks a page object as run; a shared one fails for whoever comes at that moment."""
    seen = []

    def script():
        import streamlit as st

        from pages.ui.shell import frame

        st.session_state["pages"] = frame.pages()

    app = AppTest.from_function(script)
    for _ in range(2):
        app.run()
        assert not app.exception
        seen.append(app.session_state["pages"])
    hidden = [page.url_path for page in seen[0] if page.visibility == "hidden"]
    assert len(seen[0]) == 7 and hidden == ["train"]  # the first page, found by its name as well
    assert not {id(page) for page in seen[0]} & {id(page) for page in seen[1]}


# -- errors ----------------------------------------------------------------------------------------


def test_a_fault_of_ours_shows_a_reference_and_neither_path_nor_secret(monkeypatch, caplog):
    from pages.ui.train import run_controls

    def broken(_):
        raise RuntimeError(f"token hunter2 in {PROJECT}/pages/train.py")

    monkeypatch.setattr(run_controls, "sidebar", broken)
    app = opened(dataset="digits")
    shown = texts(app)
    reference = re.search(r"report reference (\w+)", shown)[1]
    assert "hunter2" not in shown and str(PROJECT) not in shown
    assert reference in caplog.text and "hunter2" in caplog.text


@pytest.mark.parametrize("name", ["keller_2016", "mnist", "fashion_mnist", "emnist_balanced"])
@pytest.mark.parametrize("content", [b"", b"rubbish\n" * 50, b"\x1f\x8b" + bytes(100)])
def test_damaged_data_files_are_told_without_their_path(name, content, tmp_path, monkeypatch):
    from kcnet_core.datasets import images, keller

    files = keller.FILES if name == "keller_2016" else images.IDX_SETS[name].files()
    folder = tmp_path / "data"
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(content)
    monkeypatch.setenv("KCNET_DATA", str(folder))
    with pytest.raises(KCNetError) as caught:
        datasets.load(name)
    assert str(tmp_path) not in str(caught.value)


# -- downloads -------------------------------------------------------------------------------------


def test_a_table_that_visitors_take_home_calculates_nothing():
    table = pd.DataFrame({"=1+1": ["=cmd()", "-2", "@x"], "value": [1.5, -2.0, 3.0], "@b": None})
    lines = csv_text(table).splitlines()
    assert lines[0] == "'=1+1,value,'@b"
    assert lines[1:] == ["'=cmd(),1.5,", "-2,-2.0,", "'@x,3.0,"]


def test_the_table_of_test_samples_calculates_nothing_when_saved(monkeypatch):
    from pages.ui.shell import escaping
    from pages.ui.train import sample_view

    monkeypatch.setattr(sample_view, "visitor", SimpleNamespace(dark=lambda: False))
    y, predictions = np.array([0, 1]), np.array([1, 0])
    dataset = Dataset(
        "uploaded", "mine", np.zeros((2, 1), np.float32), y, ("f",), ("=1+1", "@b"),
        row_names=("=cmd()", "+x"), smiles=("CCO", "CCC"),
    )  # fmt: skip
    trained = SimpleNamespace(
        dataset=dataset, test_rows=np.arange(2), predictions=predictions,
        probabilities=np.eye(2),
    )  # fmt: skip
    shown = []
    monkeypatch.setattr(escaping.st, "dataframe", lambda data, **options: shown.append(data))
    sample_view.data_table(sample_view.table(trained, np.arange(2)))
    table = shown[0].to_dict("list")
    assert table["Name"] == ["'=cmd()", "'+x"]
    assert table["Truth"] == ["'=1+1", "'@b"] and table["Answer"] == ["'@b", "'=1+1"]


def test_every_table_that_pages_offer_goes_through_the_guard():
    """`to_csv` of pandas writes formulas as they are, so pages must not call it themselves."""
    for path in (PROJECT / "pages").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in ("to_csv", "to_excel"):
                pytest.fail(f"{path.name} line {node.lineno} writes a table without the guard")
