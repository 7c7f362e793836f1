"""Components of our own: markup, style and script that lie beside the module that uses them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import streamlit as st


def component(module: str, name: str, also: Sequence[str] = ()) -> Callable[..., Any]:
    """The component of the files beside `module` (its `__file__`), under a name of its own.

    A long script may lie in several files: those in `also` go before the one that exports.
    """
    parts = {
        part: Path(module).with_suffix(f".{part}").read_text(encoding="utf-8")
        for part in ("html", "css", "js")
    }
    scripts = [Path(module).with_name(file).read_text(encoding="utf-8") for file in also]
    parts["js"] = "\n".join([*scripts, parts["js"]])
    return st.components.v2.component(name, **parts)
