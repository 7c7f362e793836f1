"""Small made datasets for the tests of experiments."""

import numpy as np

from kcnet_core.datasets.dataset import Dataset


def made_dataset(X, y, *, groups=None, n_train=None, image_shape=None, name="made"):
    X = np.asarray(X, dtype=np.float32)
    y = np.asarray(y)
    n_targets = y.shape[1] if y.ndim == 2 else int(y.max()) + 1
    return Dataset(
        name,
        "Made data",
        X,
        y,
        tuple(f"f{i}" for i in range(X.shape[1])),
        tuple(f"t{k}" for k in range(n_targets)),
        groups=groups,
        n_train=n_train,
        image_shape=image_shape,
    )


def blobs(n=120, d=10, c=2, seed=0, **about):
    """Classes that lie apart, `n` rows, every two rows one molecule."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) // 2 % c
    centres = rng.normal(size=(c, d)) * 2
    X = centres[y] + rng.normal(size=(n, d))
    return made_dataset(X, y, groups=np.arange(n) // 2, **about)


def labelled(n=120, d=10, c=3, seed=0):
    """Multi-label rows that a linear model can learn, every two rows one molecule."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(n // 2, d)), 2, axis=0) + rng.normal(size=(n, d)) * 0.1
    y = (X @ rng.normal(size=(d, c)) > 0.5).astype(np.int64)
    return made_dataset(X, y, groups=np.arange(n) // 2)
