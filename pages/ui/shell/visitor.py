"""Who a visitor is: a token in a cookie, and the theme of their page."""

from __future__ import annotations

import re
import secrets

import streamlit as st

from pages.ui.shell import session_keys

OWNER_COOKIE = "kcnet_owner"
COOKIE_SECONDS = 7 * 24 * 3600
TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


def owner() -> str:
    """An unguessable token of this browser; whoever holds it may control its jobs.

    It comes from the cookie that the server sets with each page (`api.gate`), so that a visitor
    who reloads can still stop what they started.
    """
    if session_keys.OWNER not in st.session_state:
        token = str(st.context.cookies.get(OWNER_COOKIE, ""))
        known = TOKEN.fullmatch(token) is not None
        st.session_state[session_keys.OWNER] = token if known else secrets.token_urlsafe(32)
    return st.session_state[session_keys.OWNER]


def dark() -> bool:
    return st.context.theme.type == "dark"
