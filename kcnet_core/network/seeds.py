"""Where every random choice comes from: one seed per fit, split into independent children."""

from __future__ import annotations

import numbers

import numpy as np

# Purposes of random numbers; each has its own stream, so that adding one never moves another.
STREAM_HIDDEN, STREAM_CALIBRATION, STREAM_SEARCH, STREAM_CHOICES = range(4)


def seed_sequence(random_state) -> np.random.SeedSequence:
    """Turn scikit-learn's `random_state` into a seed that can be split.

    Nothing here reads or changes a global generator, so that fits running at the same time do not
    disturb each other. A `RandomState` or `Generator` is advanced by one draw.
    """
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, numbers.Integral):
        return np.random.SeedSequence(int(random_state))
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(int(random_state.randint(2**31 - 1)))
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(int(random_state.integers(2**63 - 1)))
    raise ValueError(
        f"random_state must be None, a whole number, a RandomState or a Generator; "
        f"got {random_state!r}."
    )


def generator(seed: np.random.SeedSequence, *path: int) -> np.random.Generator:
    """An independent generator for the purpose `path`, the same for the same seed and path."""
    child = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *path))
    return np.random.Generator(np.random.PCG64(child))
