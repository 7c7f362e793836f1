"""The drawing surface: 28 x 28 pixels by mouse, finger or keyboard."""

from __future__ import annotations

import numpy as np
import streamlit as st

from kcnet_core.lessons import digit_drawing
from pages.ui.shell.component import component

_surface = component(__file__, "kcnet_drawing")


def canvas(key: str, start: np.ndarray | None = None) -> np.ndarray:
    """Show the surface and return what is drawn on it.

    Parameters
    ----------
    key : str
    start : ndarray of shape (28, 28) or None
        A drawing that the surface begins with.

    Returns
    -------
    ndarray of shape (28, 28)
        Brightness from 0 (paper) to 1 (ink), exactly as drawn: not centred.
    """
    state = st.session_state.get(key) or {}
    drawn = state.get("drawing") or {}
    number = drawn.get("number", 0)
    pixels = digit_drawing.read_pixels(drawn["pixels"]) if "pixels" in drawn else start
    _surface(
        key=key,
        # The number tells the surface which of its states this page has answered.
        data={
            "number": number,
            "base": None if start is None else np.rint(255 * start).astype(int).ravel().tolist(),
        },
        default={"drawing": None},
        on_drawing_change=lambda: None,
        height="content",
    )
    return np.zeros((digit_drawing.SIDE, digit_drawing.SIDE)) if pixels is None else pixels
