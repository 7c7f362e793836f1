"""The structure editor's files come from this server, and from nowhere else."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from streamlit import config

from pages.ui.api import server
from pages.ui.shell.draw import editor
from tests.pages.ui.api.test_api import ask


@pytest.fixture
def app():
    return Starlette(routes=server.routes())


def test_every_script_of_the_editor_is_served_and_lasts_if_its_name_changes_with_it(app):
    scripts = list(editor.files().rglob("*.js"))
    assert len(scripts) > 10
    for path in scripts:
        name = path.relative_to(editor.files()).as_posix()
        status, head, _ = ask(app, "GET", f"{editor.PATH}/{name}")
        assert status == 200 and int(head["content-length"]) == path.stat().st_size
        assert ("max-age" in head["cache-control"]) == (".cache." in name)


def test_what_its_wheel_leaves_out_is_nothing_and_what_is_not_its_own_is_not_there(app):
    assert ask(app, "GET", f"{editor.PATH}/jsa.css")[0] == 204
    assert ask(app, "GET", f"{editor.PATH}/none.js")[0] == 404
    for path in ("../__init__.py", "../../../../etc/passwd", "/etc/passwd"):
        assert ask(app, "GET", f"{editor.PATH}/{path}")[0] == 404


def test_without_the_package_there_is_no_editor_and_no_file(app, monkeypatch):
    monkeypatch.setattr(editor, "find_spec", lambda name: None)
    editor.files.cache_clear()
    try:
        assert editor.files() is None
        assert ask(app, "GET", f"{editor.PATH}/jsme.nocache.js")[0] == 404
    finally:
        editor.files.cache_clear()


def test_behind_a_proxy_the_files_have_the_folder_of_the_app(monkeypatch):
    get = config.get_option
    monkeypatch.setattr(
        config, "get_option", lambda name: "/lab/" if name == "server.baseUrlPath" else get(name)
    )
    behind = Starlette(routes=server.routes())
    assert ask(behind, "GET", f"/lab{editor.PATH}/jsme.nocache.js")[0] == 200


def test_our_script_names_no_other_server():
    ours = [path.with_suffix(f".{part}") for part in ("js", "html", "css")
            for path in [editor.Path(editor.__file__)]]  # fmt: skip
    assert not any(re.search(r"https?://", path.read_text()) for path in ours)


def test_files_are_found_through_a_linked_environment(tmp_path, monkeypatch):
    real = tmp_path / "real" / "streamlit_jsme"
    (real / "jsme").mkdir(parents=True)
    (real / "__init__.py").touch()
    (real / "jsme" / "jsme.nocache.js").touch()
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    linked = SimpleNamespace(origin=str(tmp_path / "linked" / "streamlit_jsme" / "__init__.py"))
    monkeypatch.setattr(editor, "find_spec", lambda name: linked)
    assert editor.files.__wrapped__() == (real / "jsme").resolve()
