"""What a session remembers so as not to make it again at every redrawing.

For what belongs to one visitor; what all have in common is kept by `st.cache_resource`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

import streamlit as st

from pages.ui.shell import session_keys

T = TypeVar("T")


def memo(slot: str, key: Hashable, make: Callable[[], T], size: int = 1) -> T:
    """What `make` gave for `key` before; a slot keeps the `size` values that were used last."""
    kept = st.session_state.setdefault(session_keys.MEMO, {}).setdefault(slot, {})
    kept[key] = kept.pop(key) if key in kept else make()  # the latest is last
    while len(kept) > size:
        del kept[next(iter(kept))]
    return kept[key]
