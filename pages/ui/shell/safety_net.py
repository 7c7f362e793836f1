"""The last safety net under pages and fragments: what goes wrong there becomes a sentence."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any

import streamlit as st

from kcnet_core.errors import KCNetError
from pages.ui.shell.escaping import escape_markdown

log = logging.getLogger("kcnet.app")


@contextmanager
def safety_net(where: str) -> Iterator[None]:
    """Show an error as a sentence; a fault of ours as a reference to the log, where it is whole."""
    try:
        yield
    except KCNetError as error:
        st.error(escape_markdown(error), icon=":material/error:")
    except Exception:
        code = secrets.token_hex(3)
        log.exception("%s failed (reference %s)", where, code)
        st.error(
            "Something went wrong on this page that is not your fault. What you had is kept: "
            f"reload the page to continue. If it happens again, report reference {code}.",
            icon=":material/error:",
        )


def fragment(draw: Callable[..., None] | None = None, **options: Any) -> Callable[..., Any]:
    """`st.fragment` with the net under it: the page's own does not reach a part redrawn alone."""
    if draw is None:
        return partial(fragment, **options)

    @wraps(draw)
    def guarded(*args: Any, **kwargs: Any) -> None:
        with safety_net(f"fragment {draw.__name__}"):
            draw(*args, **kwargs)

    return st.fragment(guarded, **options)
