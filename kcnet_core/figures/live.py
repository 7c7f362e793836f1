"""S and W of a run under way, for a canvas that plays them: a few frames in few bytes."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from kcnet_core.experiments.block_means import block_size
from kcnet_core.experiments.frames import Frame
from kcnet_core.figures.axes import nice_ceiling
from kcnet_core.figures.reduction import (
    KINDS,
    LEVELS,
    in_words,
    levels,
    scale_end,
    shade_table,
)
from kcnet_core.palette import theme

MOST_FRAMES = 12  # of one look; with one look a second the eye sees a smooth change
MOST_BYTES = 90_000  # of one look; a single frame may take more
MOST_NAMES = 4_000  # of inputs
QUICK = 2  # zlib's level: half the time of its default for a few per cent more bytes


def canvas_data(
    kind: str,
    frames: Sequence[Frame],
    *,
    n_submodels: int = 1,
    names: Sequence[str] = (),
    image_shape: tuple[int, int] | None = None,
    seconds: float = 1.0,
    dark: bool = False,
) -> bytes:
    """What `pages/ui/train/matrix_canvas.js` draws: one line of JSON, then shades; all deflated.

    The shades of the first frame are followed, for each other one, by the difference (modulo 256)
    to the one before: most connections stay as they are, which takes almost no bytes. Only some of
    many frames are sent, always with the last; without any the canvas waits. They are to be played
    in so many `seconds`; `names` of the inputs are for the words under the pointer.
    """
    ink, (scale, unit, title) = theme(dark), KINDS[kind]
    n_shades = 256 if kind == "usage" else LEVELS  # counts can be read off exactly
    about: dict[str, Any] = {
        "title": title,
        "unit": unit,
        "rows": "Pixel row" if kind == "usage" else "Kenyon cell",
        "columns": "Pixel column" if kind == "usage" else "Input",
        "square": kind == "usage",
        "seconds": seconds,
        "shades": shade_table(scale, dark, n_shades).tobytes().hex(),
        "ink": {"text": ink.text, "muted": ink.muted, "grid": ink.grid, "paper": ink.background},
        "flash": ink.good if kind == "W" else None,  # where connections were flipped
        "alt": f"{title}: waiting for the first numbers.",
        "moments": [],
    }
    if not frames:
        return _deflated(about, b"")
    when = _moment(frames[-1])
    last = _values(frames[-1], kind, image_shape)
    shape = last.shape if kind == "usage" else frames[-1].shape
    high = nice_ceiling(float(last.max())) if kind == "usage" else scale_end(last, kind)
    cells = "rows of pixels" if kind == "usage" else "Kenyon cells"
    about |= {
        "alt": in_words(last, shape, f"{title}{when and f', {when}'}", cells, unit),
        "made": frames[-1].made,
        "shape": shape,
        "size": last.shape,
        "blocks": [block_size(side) for side in shape],
        "low": -high if scale == "diverging" else 0.0,
        "high": high,
        "borders": [int(at) for at in np.arange(1, n_submodels) * shape[0] // n_submodels],
        "names": list(names) if len(names) == shape[1] <= MOST_NAMES else [],
    }
    sent = list(frames[:: -max(1, -(-len(frames) // MOST_FRAMES))])[::-1]
    while True:
        values = (_values(frame, kind, image_shape) for frame in sent)
        shown = np.stack([levels(M, scale, high, n_shades) for M in values])
        changes = np.concatenate([shown[:1], shown[1:] - shown[:-1]])
        data = _deflated(about | {"moments": [_moment(frame) for frame in sent]}, changes.tobytes())
        if len(data) <= MOST_BYTES or len(sent) == 1:
            return data
        sent = sent[::-2][::-1]


def _values(frame: Frame, kind: str, image_shape: tuple[int, int] | None) -> np.ndarray:
    if kind == "usage":
        return frame.usage.reshape(image_shape or (1, -1))
    small = frame.S_small if kind == "S" else frame.W_small
    if small is None:
        raise ValueError("a frame of a wiring that is not tuned has no scores")
    return small


def _moment(frame: Frame) -> str:
    """Of a wiring that is not tuned there are no epochs."""
    return "" if frame.S_small is None else f"epoch {frame.epoch}"


def _deflated(about: dict, shades: bytes) -> bytes:
    return zlib.compress(json.dumps(about).encode() + b"\n" + shades, QUICK)
