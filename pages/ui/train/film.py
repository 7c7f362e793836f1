"""A run's numbers, S, W and curves as a film, in places that stay from its start to its result."""

from __future__ import annotations

from pages.ui.shell.component import component

_film = component(__file__, "kcnet_film", "film_sheet.js", "film_board.js", "film_chart.js")


def film(data: bytes, key: str) -> None:
    """Play `data` (see `kcnet_core.figures.film_data`); under the same key in the same place."""
    _film(key=key, data=data)
