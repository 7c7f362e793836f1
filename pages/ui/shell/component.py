"""Components of our own: markup, style and script that lie beside the module that uses them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st


def component(module: str, name: str, *before: str) -> Callable[..., Any]:
    """The component of the files beside `module` (its `__file__`), under a name that no other has.

    The scripts named in `before` become part of its module, in the order in which they are needed.
    """

    home = Path(module)

    def text(part: str) -> str:
        return (home.parent / part).read_text(encoding="utf-8")

    return st.components.v2.component(
        name,
        html=text(f"{home.stem}.html"),
        css=text(f"{home.stem}.css"),
        js="\n".join(map(text, (*before, f"{home.stem}.js"))),
    )
