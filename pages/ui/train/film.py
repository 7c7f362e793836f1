"""S and W as a film: canvases that stay from before the first frame to after the last."""

from __future__ import annotations

from pages.ui.shell.component import component

_film = component(__file__, "kcnet_film", "film_board.js")


def film(data: bytes, key: str) -> None:
    """Play `data` (see `kcnet_core.figures.film_data`); under the same key in the same place."""
    _film(key=key, data=data)
