"""S and W of a run under way, for canvases that play them: a few frames in few bytes."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
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
    on_pixels,
    scale_end,
    shade_table,
)
from kcnet_core.palette import theme

MOST_FRAMES = 12  # of one look; with one look a second the eye sees a smooth change
MOST_BYTES = 140_000  # of one look; a single frame may take more
MOST_BYTES_AT_ONCE = 600_000  # of all stored frames, which a browser gets once or twice
MOST_NAMES = 4_000  # of inputs
PASSING = 0xFE  # of scores that the next look replaces, every second shade: half of the bytes
QUICK = 2  # zlib's level: half the time of its default for a few per cent more bytes


def film_data(
    kinds: Sequence[str],
    frames: Sequence[Frame],
    *,
    film: str = "",
    whole: bool = False,
    says: Mapping[int, str] | None = None,
    n_submodels: int = 1,
    names: Sequence[str] = (),
    image_shape: tuple[int, ...] | None = None,
    seconds: float = 1.0,
    dark: bool = False,
) -> bytes:
    """What `pages/ui/train/film.js` plays: one line of JSON, then shades; all deflated.

    For each of `kinds` ("S", "W", "usage") the shades of the first frame are followed, for each
    other one, by the difference (modulo 256) to the one before: most connections stay as they are,
    which takes almost no bytes. Only some of many frames are sent, always with the last; without
    any the canvases wait. They continue `film` and are to be played in so many `seconds`; `whole`
    ones take the place of all that were sent before. `says` has words for an epoch, `names` are
    those of the inputs, for the words under the pointer.
    """
    ink = theme(dark)
    about: dict[str, Any] = {
        "film": f"{film} {dark}",
        # The browser may get to a later one first; a whole film is later than its last frame.
        "order": frames[-1].made + 1e-6 * whole if frames else 0.0,
        "whole": whole,
        "seconds": seconds,
        "ink": {"text": ink.text, "muted": ink.muted, "grid": ink.grid, "paper": ink.background},
        "moments": [],
        "boards": [_board(kind, frames, n_submodels, names, image_shape, dark) for kind in kinds],
    }
    if not frames:
        return _deflated(about, b"")
    budget = MOST_BYTES_AT_ONCE if whole else MOST_BYTES
    most = len(frames) if whole else MOST_FRAMES
    n = min(len(frames), most)
    while True:
        # The last, and of what is sent at once the first, to which all else is compared.
        first = 0 if whole else len(frames) / n - 1
        at = np.linspace(first, len(frames) - 1, n)
        sent = [frames[k] for k in at.round().astype(int)] if n > 1 else [frames[-1]]
        shades = b"".join(
            _changes(board, kind, sent, image_shape, passing=not whole)
            for board, kind in zip(about["boards"], kinds, strict=True)
        )
        moments = [{"epoch": f.epoch, "text": _moment(f, says or {})} for f in sent]
        data = _deflated(about | {"moments": moments}, shades)
        if len(data) <= budget or n == 1:
            return data
        n = max(1, min(n - 1, int(n * budget / len(data))))


def _board(
    kind: str,
    frames: Sequence[Frame],
    n_submodels: int,
    names: Sequence[str],
    image_shape: tuple[int, ...] | None,
    dark: bool,
) -> dict[str, Any]:
    """What a canvas must know of its matrix besides the shades."""
    scale, unit, title = KINDS[kind]
    n_shades = 256 if kind == "usage" else LEVELS  # counts can be read off exactly
    board: dict[str, Any] = {
        "title": title,
        "unit": unit,
        "rows": "Pixel row" if kind == "usage" else "Kenyon cell",
        "columns": "Pixel column" if kind == "usage" else "Input",
        "square": kind == "usage",
        "shades": shade_table(scale, dark, n_shades).tobytes().hex(),
        "change_shades": shade_table("diverging", dark).tobytes().hex(),
        "flash": theme(dark).good if kind == "W" else None,  # where connections were flipped
        "alt": f"{title}: waiting for the first numbers.",
    }
    if not frames:
        return board
    when = _moment(frames[-1], {})
    last = _values(frames[-1], kind, image_shape)
    shape = last.shape if kind == "usage" else frames[-1].shape
    high = nice_ceiling(float(last.max())) if kind == "usage" else scale_end(last, kind)
    cells = "rows of pixels" if kind == "usage" else "Kenyon cells"
    return board | {
        "alt": in_words(last, shape, f"{title}{when and f', {when}'}", cells, unit),
        "shape": shape,
        "size": last.shape,
        "blocks": [block_size(side) for side in shape],
        "low": -high if scale == "diverging" else 0.0,
        "high": high,
        "borders": [int(at) for at in np.arange(1, n_submodels) * shape[0] // n_submodels],
        "names": list(names) if len(names) == shape[1] <= MOST_NAMES else [],
    }


def _changes(
    board: Mapping[str, Any],
    kind: str,
    frames: Sequence[Frame],
    image_shape: tuple[int, ...] | None,
    passing: bool,
) -> bytes:
    n_shades = len(board["shades"]) // 6
    values = (_values(frame, kind, image_shape) for frame in frames)
    shown = np.stack([levels(M, KINDS[kind][0], board["high"], n_shades) for M in values])
    if passing and kind == "S":
        shown &= PASSING
    return np.concatenate([shown[:1], shown[1:] - shown[:-1]]).tobytes()


def _values(frame: Frame, kind: str, image_shape: tuple[int, ...] | None) -> np.ndarray:
    if kind == "usage":
        return on_pixels(frame.usage, image_shape or (1, frame.usage.size))
    small = frame.S_small if kind == "S" else frame.W_small
    if small is None:
        raise ValueError("a frame of a wiring that is not tuned has no scores")
    return small


def _moment(frame: Frame, says: Mapping[int, str]) -> str:
    """Of a wiring that is not tuned there are no epochs."""
    if frame.S_small is None:
        return ""
    return f"epoch {frame.epoch}" + (f" · {says[frame.epoch]}" if frame.epoch in says else "")


def _deflated(about: dict, shades: bytes) -> bytes:
    return zlib.compress(json.dumps(about).encode() + b"\n" + shades, QUICK)
