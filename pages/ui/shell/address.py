"""A page's address as its state: read when somebody opens a link, rewritten on every run.

Train, Compare and Smell own their whole address (`adopt`, `write`). Paper, and Learn for a drawing,
have one parameter that must outlive a visit to another page (`remembered`, `remember`); the other
controls of Learn are bound to the address by Streamlit itself.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from urllib.parse import urlencode

import streamlit as st
from streamlit import config

from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.session_keys import addresses, parameter

LATE_SECONDS = 5.0  # for which a browser may still name an address that we have replaced


def opened(page: str) -> dict[str, str]:
    """What a link asks of `page`, once; empty when the address is one that we wrote ourselves.

    A page switch drops the query, so an empty one means nothing.
    """
    query = st.query_params.to_dict()
    if not query or any(query == ours for ours, _ in _ours(page)):
        return {}
    st.session_state[addresses(page)] = [(query, math.inf)]
    return query


def _ours(page: str) -> list[tuple[dict[str, str], float]]:
    """The addresses that we wrote, and until when each counts as ours."""
    now = time.monotonic()
    return [each for each in st.session_state.get(addresses(page), []) if now < each[1]]


def adopt(page: str, take: Callable[[dict[str, str]], list[str]]) -> list[str]:
    """Let `take` use what a link asks of `page`, once; its sentences for what was unusable."""
    query = opened(page)
    return take(query) if query else []


def warn(sentences: list[str]) -> None:
    """Say what of a link was unusable."""
    for sentence in sentences:
        st.warning(escape_markdown(sentence), icon=":material/link_off:")


def write(page: str, query: dict[str, str]) -> None:
    """Show `query` in the address.

    A visitor's next click may end the run at the very moment the address changes, and a busy
    browser sends the next click with the address before it: so what was replaced counts as ours a
    little longer, and is not taken for a link that somebody opened.
    """
    now, late = st.query_params.to_dict(), time.monotonic() + LATE_SECONDS
    before = [(each, min(until, late)) for each, until in [*_ours(page), (now, late)]]
    st.session_state[addresses(page)] = [*before, (query, math.inf)]
    if query != now:
        st.query_params.from_dict(query)


def remembered(name: str) -> str:
    """One parameter: what the address says, or what it said before a page switch dropped it."""
    return st.query_params.get(name, st.session_state.get(parameter(name), ""))


def remember(name: str, value: str) -> None:
    """Keep one parameter, in the session and in the address; empty takes it out of there."""
    st.session_state[parameter(name)] = value
    if not value:
        st.query_params.pop(name, None)
    elif st.query_params.get(name) != value:
        st.query_params[name] = value


def prefix() -> str:
    """What stands before every path: behind a proxy the app may have a folder of its own."""
    base = config.get_option("server.baseUrlPath").strip("/")
    return f"/{base}" if base else ""


def link(query: dict[str, str]) -> str:
    """The whole address of this page with `query`, to be given to somebody."""
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(query)}"
