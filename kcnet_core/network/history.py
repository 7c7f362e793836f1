"""What training reports while it runs: small immutable records, one per epoch or piece of work."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from kcnet_core.contracts import ResultT, Steps, StepT


@dataclass(frozen=True)
class EpochRecord:
    """One epoch of DOA (or of FSHN's gradient descent; or the single solve of a plain network).

    Metrics are measured with output weights fitted to the wiring that the record describes.
    """

    epoch: int  # 0: the initial wiring, or a network without epochs; k: after k updates
    submodel: int = 0
    train_metric: float | None = None
    validation_metric: float | None = None
    flips_on: int = 0  # connections that went 0 -> 1 in this epoch
    flips_off: int = 0  # connections that went 1 -> 0
    density: float = 1.0  # share of ones in W
    seconds: float = 0.0
    W: np.ndarray | None = None  # (B, d) uint8, only on request
    S: np.ndarray | None = None  # (B, d) float32, only on request


@dataclass(frozen=True)
class Progress:
    """A piece of work inside a stage ('doa', 'gram', 'solve', ...); with DOA, inside an epoch."""

    stage: str
    done: int
    total: int
    seconds: float
    says: str = ""  # which piece it was


def time_at_work(
    steps: Steps[StepT, ResultT], timings: dict[str, float], stage: str
) -> Steps[StepT, ResultT]:
    """Pass on what `steps` yields and returns, adding to `timings` how long it works.

    Time between two steps, when a viewer has paused the training or slowed it down, is not work.
    """
    while True:
        started = time.perf_counter()
        try:
            item = next(steps)
        except StopIteration as ended:
            return ended.value
        finally:
            timings[stage] = timings.get(stage, 0.0) + time.perf_counter() - started
        yield item
