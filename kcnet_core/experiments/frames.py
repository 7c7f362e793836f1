"""A bounded film of S and W during training, at picture size, and the latest full matrices."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from kcnet_core.experiments.block_means import reduce_matrix
from kcnet_core.limits import MAX_STORED_EPOCHS
from kcnet_core.network.history import EpochRecord

HISTOGRAM_EDGES = np.linspace(-1, 1, 61)
HISTOGRAM_SAMPLE = 200_000
SECONDS_BETWEEN_LIVE_FRAMES = 0.4  # a viewer polls once a second; more frames would be waste


@dataclass(frozen=True)
class Frame:
    """S and W after one epoch, small enough to keep many; the full matrices only where needed."""

    epoch: int
    S_small: np.ndarray | None  # block means, at most 400 x 400
    W_small: np.ndarray  # block densities
    S_counts: np.ndarray | None  # histogram over HISTOGRAM_EDGES
    usage: np.ndarray  # cells that use each input, (d,)
    shape: tuple[int, int]
    density: float
    S: np.ndarray | None = None
    W: np.ndarray | None = None

    def without_matrices(self) -> Frame:
        return Frame(self.epoch, self.S_small, self.W_small, self.S_counts, self.usage,
                     self.shape, self.density)  # fmt: skip


class Replay:
    """Collects frames while epochs pass: first and last in full, the others thinned out evenly.

    A record's matrices are those its metrics were measured with, so the first frame shows the
    wiring as it was drawn; the wiring that training ends with comes from `finish`.
    """

    def __init__(self, n_submodels: int = 1, capacity: int = MAX_STORED_EPOCHS):
        self.n_submodels = n_submodels
        self.capacity = capacity
        self.stride = 1
        self.frames: tuple[Frame, ...] = ()
        self.latest: Frame | None = None
        self._parts: dict[int, tuple[np.ndarray | None, np.ndarray]] = {}
        self._made = 0.0

    def add(self, record: EpochRecord) -> None:
        if record.W is None:
            return
        self._parts[record.submodel] = (record.S, record.W)
        if len(self._parts) < self.n_submodels:
            return
        due = time.monotonic() - self._made >= SECONDS_BETWEEN_LIVE_FRAMES
        round_ended = record.submodel == self.n_submodels - 1
        stored = round_ended and (record.epoch % self.stride == 0 or not self.frames)
        if due or stored:
            S, W = joined([self._parts[k] for k in sorted(self._parts)])
            self.latest = frame_of(record.epoch, S, W)
            self._made = time.monotonic()
            if stored:
                self._store(self.latest)

    def finish(self, epoch: int, S: np.ndarray | None, W: np.ndarray) -> None:
        """Add the wiring that training ended with."""
        self.latest = frame_of(epoch, S, W)
        self._store(self.latest, final=True)
        self._parts.clear()

    def _store(self, frame: Frame, final: bool = False) -> None:
        in_full = final or not self.frames
        self.frames = (*self.frames, frame if in_full else frame.without_matrices())
        if len(self.frames) > self.capacity:
            self.stride *= 2
            self.frames = (self.frames[0], *self.frames[2:-1:2], self.frames[-1])


def joined(parts: list[tuple[np.ndarray | None, np.ndarray]]):
    """The submodels' matrices, one below the other, as Ensemble DOA concatenates them."""
    if len(parts) == 1:
        return parts[0]
    S = None if parts[0][0] is None else np.concatenate([S for S, _ in parts])
    return S, np.concatenate([W for _, W in parts])


def frame_of(epoch: int, S: np.ndarray | None, W: np.ndarray) -> Frame:
    return Frame(
        epoch,
        None if S is None else reduce_matrix(S, how="mean"),
        reduce_matrix(W, how="density"),
        None if S is None else score_counts(S),
        W.sum(axis=0, dtype=np.int64),
        W.shape,
        float(W.mean()),
        S,
        W,
    )


def score_counts(S: np.ndarray) -> np.ndarray:
    """Histogram of S; of an even sample of it when S is large, scaled back to all of S."""
    flat = S.ravel()
    stride = max(1, flat.size // HISTOGRAM_SAMPLE)
    counts = np.histogram(flat[::stride], HISTOGRAM_EDGES)[0]
    return counts * stride
