"""Each workaround works, and is still needed: a test that finds a fault gone says what can go."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit
from streamlit import runtime
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import RerunException, script_runner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.runtime.session_manager import SessionInfo
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.testing.v1 import AppTest

from pages.ui.learn import present
from pages.ui.shell import streamlit_workarounds
from pages.ui.shell.streamlit_workarounds import (
    STYLE,
    forget_closed_sessions,
    held_files,
    retry_if_interrupted,
)

ROOT = Path(__file__).resolve().parents[4]
SHEETS = (STYLE, present.STYLE)  # what is said only while one presents
TEST_ID = re.compile(r'data-testid="([\w-]+)"')


# -- the folder "pages" ----------------------------------------------------------------------------


def test_streamlit_still_takes_the_folder_for_its_older_kind_of_app(monkeypatch):
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    PagesManager(str(ROOT / "app.py"))
    assert PagesManager.uses_pages_directory
    assert "PagesManager.uses_pages_directory" in inspect.getsource(script_runner)


def test_a_page_that_would_be_shown_bare_is_drawn_again_inside_the_frame(monkeypatch):
    monkeypatch.setattr(PagesManager, "uses_pages_directory", True)
    reruns = []
    monkeypatch.setattr(streamlit_workarounds.st, "rerun", lambda: reruns.append(1))
    for _ in range(2):
        streamlit_workarounds.ignore_pages_folder()
    assert len(reruns) == 1


# -- callbacks -------------------------------------------------------------------------------------


def test_streamlit_still_takes_an_interrupted_callback_for_finished():
    def script():
        import streamlit as st
        from streamlit.runtime.scriptrunner import RerunException
        from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

        def click():
            st.session_state["calls"] = st.session_state.get("calls", 0) + 1
            raise RerunException(RerunData())  # as another click does at the next look

        st.button("any", on_click=click)

    app = AppTest.from_function(script).run()
    app.button[0].click().run()
    assert app.session_state["calls"] == 1 and not app.exception
    assert "_yield_callback()" in inspect.getsource(SafeSessionState.__getitem__)


def test_an_interrupted_callback_is_done_again_and_the_rerun_still_follows():
    calls = []

    @retry_if_interrupted
    def click(name):
        calls.append(name)
        if len(calls) == 1:
            raise RerunException(RerunData())
        calls.append("done")

    with pytest.raises(RerunException):
        click("start")
    assert calls == ["start", "start", "done"]
    assert click("again") is None and calls[-2:] == ["again", "done"]


def test_other_errors_are_not_repeated():
    calls = []

    @retry_if_interrupted
    def click():
        calls.append(1)
        raise ValueError

    with pytest.raises(ValueError):
        click()
    assert len(calls) == 1


def test_a_callback_still_has_the_last_drawings_arguments_but_a_deferred_click_the_latest():
    def script():
        import streamlit as st

        from pages.ui.shell.streamlit_workarounds import clicked, defer_click

        def start(value):
            st.session_state["by_callback"] = value

        value = st.slider("any", 0, 9)
        st.button("callback", on_click=start, args=(value,))
        st.button("deferred", on_click=defer_click, args=("start",))
        if clicked("start"):
            st.session_state["by_page"] = value

    app = AppTest.from_function(script).run()
    app.slider[0].set_value(5)
    app.button[0].click()
    app.button[1].click()
    app.run()
    assert app.session_state["by_callback"] == 0
    assert app.session_state["by_page"] == 5
    app.slider[0].set_value(6).run()
    assert app.session_state["by_page"] == 5, "a click counts once"


# -- sessions -------------------------------------------------------------------------------------


def server_with(monkeypatch, **parts) -> None:
    monkeypatch.setattr(runtime, "exists", lambda: True)
    monkeypatch.setattr(runtime, "get_instance", lambda: SimpleNamespace(**parts))


@pytest.mark.parametrize("limit", [{"ttl_seconds": 0}, {"maxsize": 1}])
def test_streamlit_still_drops_sessions_without_their_end(limit, monkeypatch):
    storage, ended = MemorySessionStorage(**limit), []

    def close(names: str) -> None:
        for name in names:
            session = SimpleNamespace(id=name, shutdown=lambda name=name: ended.append(name))
            storage.save(SessionInfo(client=None, session=session))

    close("ab")
    assert len(storage._cache._data) == 1 and ended == []
    server_with(monkeypatch, _session_mgr=SimpleNamespace(_session_storage=storage))
    forget_closed_sessions()
    close("cde")
    forget_closed_sessions()
    kept = {info.session.id for info in storage.list()}
    assert {*ended, *kept} == {*"bcde"} and len(ended) == 4 - len(kept)


def test_streamlit_still_keeps_however_many_files_a_browser_sends(monkeypatch):
    kept = MemoryUploadedFileManager("/upload")
    for k in range(100):
        kept.add_file("mine", UploadedFileRec(str(k), "a.csv", "text/csv", b"123"))
    server_with(monkeypatch, _uploaded_file_mgr=kept)
    assert held_files("mine") == (100, 300) and held_files("other") == (0, 300)


def test_streamlit_still_looks_at_the_host_of_its_own_connections_only():
    from streamlit.web.server.starlette import starlette_app, starlette_routes

    asked = "is_host_allowed"
    assert asked in inspect.getsource(streamlit_workarounds.starlette_websocket)
    for module in (starlette_app, starlette_routes):
        assert asked not in inspect.getsource(module)


# -- the browser -----------------------------------------------------------------------------------


def test_streamlit_still_has_every_element_that_is_styled():
    folder = Path(streamlit.__file__).parent / "static"
    shipped = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.js"))
    style = "".join(sheet.read_text(encoding="utf-8") for sheet in SHEETS)
    # A kind of button is put together: `stBaseButton-${kind}`.
    gone = [
        name
        for name in {*TEST_ID.findall(style), "data-stale"}
        if f"`{name}`" not in shipped
        and f'"{name}"' not in shipped
        and f"`{name.split('-')[0]}-${{" not in shipped
    ]
    assert not gone


def test_rules_on_streamlits_own_names_stand_in_one_file():
    elsewhere = [
        path.name
        for path in (ROOT / "pages").rglob("*")
        if path.suffix in (".css", ".py", ".js", ".html")
        and path not in SHEETS
        and TEST_ID.search(path.read_text(encoding="utf-8"))
    ]
    assert not elsewhere
