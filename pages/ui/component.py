"""Components of our own: markup, style and script that lie beside the module that uses them."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_HERE = Path(__file__).parent


def component(file: str, name: str, *before: str):
    """The component of `file`.html, .css and .js, under a name that no other has.

    The scripts named in `before` become part of its module, in the order in which they are needed.
    """

    def text(part: str) -> str:
        return (_HERE / part).read_text(encoding="utf-8")

    return st.components.v2.component(
        name,
        html=text(f"{file}.html"),
        css=text(f"{file}.css"),
        js="\n".join(map(text, (*before, f"{file}.js"))),
    )
