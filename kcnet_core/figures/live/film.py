"""What the live view plays of a run under way: a few frames of S and W, curves and numbers."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np

from kcnet_core.experiments.block_means import block_size
from kcnet_core.experiments.frames import Frame
from kcnet_core.figures.axes import nice_ceiling
from kcnet_core.figures.live.charts import score_shares
from kcnet_core.figures.reduction import (
    KINDS,
    LEVELS,
    in_words,
    levels,
    on_pixels,
    scale_end,
    shade_table,
)
from kcnet_core.network.history import EpochRecord
from kcnet_core.palette import theme

MOST_MOMENTS = 12  # of one look; with one look a second the eye sees a smooth change
MOST_MOMENTS_AT_ONCE = 64
MOST_BYTES = 140_000  # of a second; a single frame may take more
MOST_BYTES_AT_ONCE = 600_000  # of all stored frames, which a browser gets once or twice
MOST_NAMES = 4_000  # of inputs
PASSING = 0xFE  # of scores that the next look replaces, every second shade: half of the bytes
QUICK = 2  # zlib's level: half the time of its default for a few per cent more bytes


@dataclass(frozen=True)
class Now:
    """How a run stands when somebody looks, besides its pictures and curves."""

    numbers: Sequence[tuple[str, str, str]] = ()  # name, value, and what more is to be said of it
    seconds: float | None = None  # so far, where the run's clock is among the numbers
    runs: bool = False  # whether it goes on
    ended: bool = False  # the numbers are those of the result, whichever moment is looked at


def film_data(
    kinds: Sequence[str],
    instants: Sequence[Frame | EpochRecord],
    *,
    film: str = "",
    order: float = 0.0,
    whole: bool = False,
    now: Now | None = None,
    numbers: Callable[[int], Mapping[str, str]] = lambda epoch: {},
    charts: Sequence[Mapping[str, Any]] = (),
    n_submodels: int = 1,
    names: Sequence[str] = (),
    image_shape: tuple[int, ...] | None = None,
    seconds: float = 1.0,
    play: float | None = None,
    begins: bool = False,
    dark: bool = False,
) -> bytes:
    """What `pages/ui/train/film.js` plays: one line of JSON, then shades; all deflated.

    `instants` are frames or, of a network without wiring, records of epochs. For each of `kinds`
    ("S", "W", "usage") the shades of the first frame are followed, for each other one, by the
    difference (modulo 256) to the one before: most connections stay as they are, which takes almost
    no bytes. Only some of many are sent, always with the last; without any the canvases wait. They
    continue `film`, the next come in so many `seconds`, and these are to `play` as long unless
    told otherwise; they are newer than any of a lower `order`. `whole` ones take the place of all
    that were sent before. Who had none before is shown the last, or the first if the run `begins`.
    `numbers` are those of an epoch, under the names that `now` has for them; `charts` (see
    `charts`) are drawn as far as the epoch shown. `names` are those of the inputs, for the words
    under the pointer.
    """
    ink, now = theme(dark), now or Now()
    about: dict[str, Any] = {
        "film": f"{film} {dark}",
        "order": order,
        "whole": whole,
        "seconds": seconds if play is None else play,
        "begins": begins,
        "now": asdict(now),
        "charts": list(charts),
        "ink": {"text": ink.text, "muted": ink.muted, "grid": ink.grid, "paper": ink.background},
        "moments": [],
    }
    frames = [one for one in instants if isinstance(one, Frame)]
    about["boards"] = [
        _board(kind, frames, n_submodels, names, image_shape, dark) for kind in kinds
    ]
    if not instants:
        return _deflated(about, b"")
    budget = MOST_BYTES_AT_ONCE if whole else MOST_BYTES * min(1.0, seconds)
    n = min(len(instants), MOST_MOMENTS_AT_ONCE if whole else MOST_MOMENTS)
    while True:
        # The last, and of what is sent at once the first, to which all else is compared.
        first = 0 if whole else len(instants) / n - 1
        at = np.linspace(first, len(instants) - 1, n).round().astype(int)
        sent = [instants[k] for k in at] if n > 1 else [instants[-1]]
        shades = b"".join(
            _changes(board, kind, cast(list[Frame], sent), image_shape, passing=not whole)
            for board, kind in zip(about["boards"], kinds, strict=True)
        )
        moments = [_moment(instant, numbers(instant.epoch), bool(charts)) for instant in sent]
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
    when = _when(frames[-1])
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


def _moment(
    instant: Frame | EpochRecord, numbers: Mapping[str, str], with_scores: bool
) -> dict[str, Any]:
    moment: dict[str, Any] = {"epoch": instant.epoch, "text": _when(instant), "numbers": numbers}
    if isinstance(instant, Frame):
        moment["made"] = instant.made
        if with_scores and instant.S_counts is not None:
            moment["scores"] = score_shares(instant.S_counts).round(2).tolist()
    return moment


def _when(instant: Frame | EpochRecord) -> str:
    """Of a wiring that is not tuned there are no epochs."""
    untuned = isinstance(instant, Frame) and instant.S_small is None
    return "" if untuned else f"epoch {instant.epoch}"


def _deflated(about: dict, shades: bytes) -> bytes:
    return zlib.compress(json.dumps(about).encode() + b"\n" + shades, QUICK)
