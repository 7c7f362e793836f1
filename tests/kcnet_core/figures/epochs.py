"""Records of epochs, scores and frames, made up for tests of what a run shows."""

from __future__ import annotations

import numpy as np

from kcnet_core.experiments.frames import frame_of
from kcnet_core.network.history import EpochRecord


def records(n_epochs=5, n_submodels=1):
    return [
        EpochRecord(
            epoch=epoch,
            submodel=k,
            train_metric=0.6 + 0.05 * epoch,
            validation_metric=0.5 + 0.05 * epoch + 0.01 * k,
            flips_on=10 * epoch + k,
            flips_off=3 * epoch,
            density=0.01 * epoch,
            seconds=0.1,
        )
        for epoch in range(1, n_epochs + 1)
        for k in range(n_submodels)
    ]


def scores(shape=(60, 49), seed=0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.clip(rng.normal(-0.4, 0.4, shape), -1, 1).astype(np.float32)


def frame(S: np.ndarray, epoch: int = 1, tuned: bool = True):
    return frame_of(epoch, S if tuned else None, (S > 0).astype(np.uint8))
