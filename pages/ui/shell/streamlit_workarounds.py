"""Where Streamlit does something else than we need: each case with its reason, all in one place.

All were seen in Streamlit 1.67.0. The tests beside this module show that each fault is still there
in the installed version; one that fails says that its workaround can go. Rules for Streamlit's own
elements, which have no names but `data-testid`, are in the style sheet of the same name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import streamlit as st
from streamlit import runtime
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import RerunException
from streamlit.web.server.starlette import starlette_websocket

from pages.ui.shell import session_keys

STYLE = Path(__file__).with_suffix(".css")
P = ParamSpec("P")
T = TypeVar("T")


def ignore_pages_folder() -> None:
    """Until st.navigation has run once, Streamlit takes any folder "pages" for its older kind of
    multi-page app: the first visitor after a start who opens /data would get that page bare.
    """
    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()


def retry_if_interrupted(callback: Callable[P, T]) -> Callable[P, T]:
    """`callback`, done again from the beginning when it was interrupted; it must bear that.

    Streamlit ends a running callback at its next look at the session's state as soon as another
    rerun is asked for, and then takes it for finished: Start, followed at once by a change of the
    pace, would start nothing.
    """

    @wraps(callback)
    def carried_out(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return callback(*args, **kwargs)
        except RerunException:  # the rerun that interrupted still follows
            callback(*args, **kwargs)
            raise

    return carried_out


@retry_if_interrupted
def defer_click(what: str) -> None:
    """For `on_click`: note a click, which the page carries out when it asks `clicked`.

    A callback with arguments has those of the last finished drawing: who moves a slider and presses
    Start at once would train with the old value. The page knows what the controls say now.
    """
    st.session_state[session_keys.clicked(what)] = True


def clicked(what: str) -> bool:
    """Whether there was a deferred click since the last look."""
    return st.session_state.pop(session_keys.clicked(what), False)


def forget_closed_sessions() -> None:
    """Sessions that nobody can come back to stay, each with three open files and all its state,
    until another one is closed; and then, or when more than 128 are closed within two minutes, they
    are dropped without their end. To be called now and then from the server's own loop, as
    Streamlit does.
    """
    if not runtime.exists():
        return
    storage = getattr(runtime.get_instance()._session_mgr, "_session_storage", None)
    kept = getattr(storage, "_cache", None)
    if kept is None:
        return
    if "expire" not in vars(kept):
        _note_what_is_dropped(kept)
    kept.expire()
    while _dropped:
        _dropped.pop().session.shutdown()


_dropped: list[Any] = []  # sessions that have not been ended yet


def _note_what_is_dropped(kept: Any) -> None:
    expire, evict = kept.expire, kept._evict_lru

    def noted(at_time: float | None = None) -> list[tuple[str, Any]]:
        gone = expire(at_time)
        _dropped.extend(closed for _, closed in gone)
        return gone

    def evicted(reason: Any) -> Any:
        _dropped.append(closed := evict(reason))
        return closed

    kept.expire, kept._evict_lru = noted, evicted


def held_files(session: str) -> tuple[int, int]:
    """Files that were sent for a session, which Streamlit keeps in memory however many they are,
    and the bytes of those of all sessions."""
    if not runtime.exists():
        return 0, 0
    kept = runtime.get_instance()._uploaded_file_mgr
    files = getattr(kept, "file_storage", {})
    return len(files.get(session, ())), getattr(kept, "_total_bytes", 0)


def host_allowed(host: str | None) -> bool:
    """Streamlit looks at the host of its own connections only, not at that of routes beside them;
    what it looks with has no public name."""
    return starlette_websocket.is_host_allowed(host)
