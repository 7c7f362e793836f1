"""Components of our own: markup, style and script that lie beside the module that uses them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st


def component(module: str, name: str, *scripts: str, **options: Any) -> Callable[..., Any]:
    """The component of the files beside `module` (its `__file__`), under a name of its own.

    `scripts` lie there too and stand before its own.
    """
    parts = {
        part: Path(module).with_suffix(f".{part}").read_text(encoding="utf-8")
        for part in ("html", "css", "js")
    }
    for script in reversed(scripts):
        parts["js"] = Path(module).with_name(script).read_text(encoding="utf-8") + parts["js"]
    return st.components.v2.component(name, **parts, **options)
