"""The charts of a run under way: mounted once, then redrawn in place once a second."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from kcnet_core import figures

_HERE = Path(__file__).parent
# One module for the browser, in the order in which its parts need each other.
_SCRIPTS = ("live_charts.words.js", "live_charts.chart.js", "live_charts.js")

_board = st.components.v2.component(
    "kcnet_live_charts",
    html=(_HERE / "live_charts.html").read_text(encoding="utf-8"),
    css=(_HERE / "live_charts.css").read_text(encoding="utf-8"),
    js="\n".join((_HERE / name).read_text(encoding="utf-8") for name in _SCRIPTS),
)


def picture_data(rows) -> dict:
    """What the browser draws, from rows of `kcnet_core.figures.training.Panel`."""
    return {
        "rows": [
            [
                {
                    "key": panel.key,
                    "share": panel.share,
                    "height": panel.height,
                    "figure": None if panel.figure is None else figures.compact(panel.figure),
                }
                for panel in row
            ]
            for row in rows
        ]
    }


def live_charts(data: dict, key: str) -> None:
    """Draw `data` (see `picture_data`); under the same key it changes in place."""
    _board(key=key, data=data)
