"""The row of numbers of a run, as the browser was sent it."""

from __future__ import annotations

import json
import zlib

from streamlit.testing.v1 import AppTest

from pages.ui.shell import session_keys


def live_numbers(app: AppTest) -> dict[str, str]:
    """Names and values, in their order."""
    line, _ = zlib.decompress(app.session_state[session_keys.LIVE_DRAWN].film).split(b"\n", 1)
    return {name: value for name, value, _ in json.loads(line)["now"]["numbers"]}
