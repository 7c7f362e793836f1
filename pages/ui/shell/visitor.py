"""Who a visitor is: a token in a cookie, and the theme of their page."""

from __future__ import annotations

import re
import secrets

import streamlit as st

from pages.ui.shell import session_keys
from pages.ui.shell.streamlit_workarounds import set_cookie

OWNER_COOKIE = "kcnet_owner"
COOKIE_SECONDS = 7 * 24 * 3600
TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


def owner() -> str:
    """An unguessable token of this browser; whoever holds it may control its jobs.

    It is kept in a cookie, so that a visitor who reloads can still stop what they started.
    """
    if session_keys.OWNER not in st.session_state:
        token = str(st.context.cookies.get(OWNER_COOKIE, ""))
        known = TOKEN.fullmatch(token) is not None
        st.session_state[session_keys.OWNER] = token if known else secrets.token_urlsafe(32)
    return st.session_state[session_keys.OWNER]


def remember_owner() -> None:
    """Put the owner's token into the browser's cookie (once per page load)."""
    token = owner()
    if st.context.cookies.get(OWNER_COOKIE) != token:
        set_cookie(OWNER_COOKIE, token, COOKIE_SECONDS)


def dark() -> bool:
    return st.context.theme.type == "dark"
