"""A page's address as its state: read when somebody opens a link, rewritten on every run."""

from __future__ import annotations

import streamlit as st


def opened(page: str) -> dict[str, str]:
    """What a link asks of `page`, once; empty when the address is one that we wrote ourselves.

    A page switch drops the query, so an empty one means nothing.
    """
    query = st.query_params.to_dict()
    if not query or query in st.session_state.get(_ours(page), []):
        return {}
    st.session_state[_ours(page)] = [query]
    return query


def write(page: str, query: dict[str, str]) -> None:
    """Show `query` in the address.

    A visitor's next click may end the run at the very moment the address changes; so both
    addresses count as ours until it has, and neither is taken for a link that somebody opened.
    """
    now = st.query_params.to_dict()
    if query != now:
        st.session_state[_ours(page)] = [now, query]
        st.query_params.from_dict(query)
    st.session_state[_ours(page)] = [query]


def _ours(page: str) -> str:
    return f"{page}_addresses"
