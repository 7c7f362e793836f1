"""A bounded film of S and W during training, at picture size, and the latest full matrices."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from kcnet_core.experiments.block_means import density_and_usage, reduce_matrix
from kcnet_core.limits import MAX_STORED_EPOCHS
from kcnet_core.network.history import EpochRecord

SCORE_BINS = 60  # from -1 to 1
HISTOGRAM_SAMPLE = 50_000
LIVE_FRAMES = 16  # kept for viewers, who look once a second
SECONDS_BETWEEN_LIVE_FRAMES = 0.06
SHARE_FOR_LIVE_FRAMES = 0.05  # of the training time, at most


@dataclass(frozen=True)
class Frame:
    """S and W after one epoch, small enough to keep many; the full matrices only where needed."""

    epoch: int
    S_small: np.ndarray | None  # block means, of a picture's size
    W_small: np.ndarray  # block densities
    S_counts: np.ndarray | None  # in SCORE_BINS equal bins
    usage: np.ndarray  # cells that use each input, (d,)
    shape: tuple[int, int]
    density: float
    S: np.ndarray | None = None
    W: np.ndarray | None = None
    made: float = field(default_factory=time.monotonic)  # tells a viewer which ones are new


class Replay:
    """Collects frames while epochs pass: first and last in full, the others thinned out evenly.

    A record's matrices are those its metrics were measured with, so the first frame shows the
    wiring as it was drawn; the wiring that training ends with comes from `finish`.
    """

    def __init__(self, n_submodels: int = 1, capacity: int = MAX_STORED_EPOCHS):
        self.n_submodels = n_submodels
        self.capacity = capacity
        self.stride = 1
        self.frames: tuple[Frame, ...] = ()  # of the whole run, for replaying it
        self.recent: tuple[Frame, ...] = ()  # of the last second or so; the last is the newest
        self._parts: dict[int, tuple[np.ndarray | None, np.ndarray]] = {}
        self._due = 0.0

    def add(self, record: EpochRecord) -> None:
        if record.W is None:
            return
        self._parts[record.submodel] = (record.S, record.W)
        if len(self._parts) < self.n_submodels:
            return
        round_ended = record.submodel == self.n_submodels - 1
        stored = round_ended and (record.epoch % self.stride == 0 or not self.frames)
        started = time.monotonic()
        if stored or started >= self._due:
            worked = time.thread_time()  # what others do meanwhile on the machine is no cost
            S, W = joined([self._parts[k] for k in sorted(self._parts)])
            self._keep(frame_of(record.epoch, S, W), stored)
            took = time.thread_time() - worked
            self._due = started + max(SECONDS_BETWEEN_LIVE_FRAMES, took / SHARE_FOR_LIVE_FRAMES)

    def finish(self, epoch: int, S: np.ndarray | None, W: np.ndarray) -> None:
        """Add the wiring that training ended with."""
        self._keep(frame_of(epoch, S, W), stored=True, final=True)
        self._parts.clear()

    def _keep(self, frame: Frame, stored: bool, final: bool = False) -> None:
        small = replace(frame, S=None, W=None)
        self.recent = (*self.recent, small)[-LIVE_FRAMES:]
        if not stored:
            return
        in_full = final or not self.frames
        self.frames = (*self.frames, frame if in_full else small)
        if len(self.frames) > self.capacity:
            self.stride *= 2
            self.frames = (self.frames[0], *self.frames[2:-1:2], self.frames[-1])


def joined(
    parts: list[tuple[np.ndarray | None, np.ndarray]],
) -> tuple[np.ndarray | None, np.ndarray]:
    """The submodels' matrices, one below the other, as Ensemble DOA concatenates them."""
    if len(parts) == 1:
        return parts[0]
    scores = [S for S, _ in parts if S is not None]
    return np.concatenate(scores) if scores else None, np.concatenate([W for _, W in parts])


def frame_of(epoch: int, S: np.ndarray | None, W: np.ndarray) -> Frame:
    density, usage = density_and_usage(W)
    return Frame(
        epoch,
        None if S is None else reduce_matrix(S, how="mean"),
        density,
        None if S is None else score_counts(S),
        usage,
        W.shape,
        float(usage.sum() / W.size),
        S,
        W,
    )


def score_counts(S: np.ndarray) -> np.ndarray:
    """Histogram of S; of an even sample of it when S is large, scaled back to all of S."""
    flat = S.ravel()
    stride = max(1, flat.size // HISTOGRAM_SAMPLE)
    # np.histogram takes ten times as long, and this is done for every frame.
    at = np.clip((flat[::stride] + 1) * (SCORE_BINS / 2), 0, SCORE_BINS - 1).astype(np.intp)
    return np.bincount(at, minlength=SCORE_BINS) * stride
