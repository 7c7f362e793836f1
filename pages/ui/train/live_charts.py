"""The charts of a run under way: mounted once, then redrawn in place once a second."""

from __future__ import annotations

from kcnet_core import figures
from pages.ui.shell.component import component

_board = component(
    __file__, "kcnet_live_charts", "../learn/svg.js", "live_charts.words.js", "live_charts.chart.js"
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
