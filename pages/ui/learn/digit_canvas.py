"""The drawing surface: 28 x 28 pixels by mouse, finger or keyboard."""

from __future__ import annotations

import numpy as np
import streamlit as st

from kcnet_core.lessons import digit_drawing
from pages.ui.shell.component import component

_surface = component(__file__, "kcnet_drawing")


def canvas(key: str, start: np.ndarray | None = None) -> np.ndarray:
    """Show the surface, which begins with `start` (28, 28), and return what is drawn on it.

    Brightness goes from 0 (paper) to 1 (ink), exactly as drawn: not centred.
    """
    drawn = (st.session_state.get(key) or {}).get("drawing") or {}
    pixels = digit_drawing.read_pixels(drawn["pixels"]) if "pixels" in drawn else start
    _surface(
        key=key,
        # The number tells the surface which of its states this page has answered.
        data={
            "number": drawn.get("number", 0),
            "base": None if start is None else np.rint(255 * start).astype(int).ravel().tolist(),
        },
        default={"drawing": None},
        on_drawing_change=lambda: None,
        height="content",
    )
    return np.zeros((digit_drawing.SIDE, digit_drawing.SIDE)) if pixels is None else pixels
