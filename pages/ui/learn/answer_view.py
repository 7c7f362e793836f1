"""The live answer to a drawing: bars and a pixel map that change in place while one draws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kcnet_core.palette import colour_table, colourscale, theme
from pages.ui.shell.component import component

_view = component(__file__, "kcnet_answer")


def answer_view(
    names: Sequence[str],
    probabilities: np.ndarray,  # (c,)
    contribution: np.ndarray,  # (d,), exact shares of the pixels in the leading answer's score
    image_shape: tuple[int, ...],
    *,
    dark: bool,
    key: str,
) -> None:
    """Show how likely every answer is, and what every pixel contributed to the likeliest."""
    best = int(np.argmax(probabilities))
    limit = max(float(np.abs(contribution).max()), 1e-9)
    shade = np.rint(127.5 + 127.5 * np.asarray(contribution) / limit).astype(int)
    percent = [round(100 * float(p)) for p in probabilities]
    _view(
        key=key,
        data={
            "answers": [
                {
                    "name": str(name),
                    "probability": percent[k],
                    "winner": k == best and percent[k] > 0,
                }
                for k, name in enumerate(names)
            ],
            "map": {
                "shape": list(image_shape),
                "pixels": colour_table("diverging", dark)[shade].ravel().tolist(),
            },
            "colours": {
                "hot": theme(dark).primary,
                "scale": [colour for _, colour in colourscale("diverging", dark)],
            },
            "labels": {
                "bars": "Probability of every digit: "
                + ", ".join(f"{name} {p}%" for name, p in zip(names, percent, strict=True)),
                "map": f"Map of what every pixel contributed to the answer {names[best]}.",
            },
        },
    )
