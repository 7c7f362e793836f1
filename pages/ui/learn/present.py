"""Learn on a projector: `?present=1` enlarges every letter and folds away what a class can miss."""

from __future__ import annotations

from pathlib import Path

import plotly.graph_objects as go
import streamlit as st

from pages.ui.shell.chart import chart as shell_chart

STYLE = Path(__file__).with_suffix(".css")
PRESENT = "present"
OFF = ("0", "no", "false")
CHART_LETTERS = 17  # pixels
# Pixels of the window that the walk needs beside its disc of Kenyon cells: what stands above the
# drawing, its titles, and below it the step with its sentence.
AROUND, AROUND_PRESENTED = 470, 440


def presenting() -> bool:
    return st.query_params.get(PRESENT, "no").lower() not in OFF


def around() -> int:
    return AROUND_PRESENTED if presenting() else AROUND


def kept(query: dict[str, str]) -> dict[str, str]:
    """`query` for the address; who presents goes on presenting."""
    return {**query, PRESENT: "1"} if presenting() else query


def switch() -> None:
    """The button that begins or ends it, and the letters that go with it."""
    on = presenting()
    if on:
        st.html(STYLE)
    st.button(
        "End presentation" if on else "Present",
        icon=":material/close_fullscreen:" if on else ":material/present_to_all:",
        type="tertiary",
        key="presenting" if on else "present",
        on_click=_leave if on else _enter,
        help=None if on else "For a projector: larger letters, and only the circuit on the screen.",
    )


def _enter() -> None:
    st.query_params[PRESENT] = "1"


def _leave() -> None:
    st.query_params.pop(PRESENT, None)


def chart(figure: go.Figure, key: str) -> None:
    """A chart of this page; the last row of a class can read its letters."""
    if presenting():
        letters = {"tickfont_size": CHART_LETTERS, "title_font_size": CHART_LETTERS}
        figure.update_layout(font_size=CHART_LETTERS, legend_font_size=CHART_LETTERS)
        figure.update_xaxes(letters).update_yaxes(letters)
        figure.update_annotations(font_size=CHART_LETTERS)
    shell_chart(figure, key=key)
