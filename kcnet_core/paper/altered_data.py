"""Changes to a whole dataset before it is split, for questions that need one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments.oversampling import oversample
from kcnet_core.network.scaling import default_scaler


def oversampled(dataset: Dataset, _value: float, seed: int) -> Dataset:
    """Scale and oversample all rows at once, test rows to be included: the mistake, on purpose."""
    scaler = default_scaler(dataset)
    X = scaler.fit_transform(dataset.X)
    more = oversample(X, dataset.y, seed, dataset.groups)
    return replace(
        dataset,
        X=more.X,
        y=more.y,
        groups=more.groups,
        feature_names=tuple(scaler.get_feature_names_out(dataset.feature_names)),
        row_names=None,
        smiles=None,
        report=(*dataset.report, more.note),
    )


def background(dataset: Dataset, brightness: float, seed: int) -> Dataset:
    """Images over random pixels between black and `brightness`, standardised again."""
    if brightness == 0:
        return dataset
    rng = np.random.default_rng(seed)
    pixels = dataset.raw_pixels(dataset.X)
    clutter = rng.random(pixels.shape, dtype=np.float32)
    clutter *= np.float32(brightness)
    np.maximum(pixels, clutter, out=pixels)
    train = pixels[: dataset.n_train]
    mean, std = float(train.mean(dtype=np.float64)), float(train.std(dtype=np.float64))
    pixels -= np.float32(mean)
    pixels /= np.float32(std)
    return replace(dataset, X=pixels, pixel_mean=mean, pixel_std=std, input_std=1.0)


ALTERATIONS: dict[str, Callable[[Dataset, float, int], Dataset]] = {
    "oversampled": oversampled,
    "background": background,
}
