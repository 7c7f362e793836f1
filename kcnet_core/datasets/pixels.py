"""From byte images to a standardised `Dataset`: class-balanced choice of rows, pixel statistics."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import DataError
from kcnet_core.network.wiring.fields import is_image_shape

SOFT = "soft"
# What a sentence says of each; the first is the paper's, which titles leave unsaid.
NORMALISATIONS = {
    "global": "pixels standardised",
    "per_pixel": "each pixel standardised by itself",
    "none": "pixels from 0 to 1",
    "half": "pixels from −1 to 1",
    SOFT: "pixels softened and standardised",
}
FIXED = {"none": (0.0, 1.0), "half": (0.5, 0.5)}  # mean and deviation that no image decides
COLOURS = (" red", " green", " blue")
_CHUNK_ROWS = 512  # keeps every wider-than-byte intermediate small
_SOFT_SHARES = 16  # of which a pixel keeps four, gives its sides two each and its corners one


def softened(images: np.ndarray) -> np.ndarray:
    """Images (n, height, width, ...), each pixel mixed with its eight neighbours as by a soft lens,
    times 16: weights 1, 2, 1 down and across, whole numbers. Beyond an edge its pixel goes on.

    A cell that sums a few single pixels is at the mercy of where a stroke lies exactly; softened,
    each tells of its neighbourhood. Nothing is learned, so no row can leak into another.
    """
    wide = np.pad(images, [(0, 0), (1, 1), (1, 1), *[(0, 0)] * (images.ndim - 3)], mode="edge")
    rows = wide[:, :-2] + 2 * wide[:, 1:-1] + wide[:, 2:]
    return rows[:, :, :-2] + 2 * rows[:, :, 1:-1] + rows[:, :, 2:]


def softening(shape, n_inputs: int) -> Callable[[np.ndarray], np.ndarray]:
    """What softens rows (n, d) of images of this shape as a model file names it; None: nothing.

    Raises ValueError where the inputs are no such images.
    """
    if shape is None:
        return lambda rows: rows
    image = tuple(shape)
    if not is_image_shape(image) or math.prod(image) != n_inputs:
        raise ValueError(f"{n_inputs} inputs are no image of {shape}")
    return lambda rows: softened(rows.reshape(-1, *image)).reshape(rows.shape) / _SOFT_SHARES


def stratified_rows(y: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Choose `n` rows with the class shares of `y` (largest remainders), one per class at least.

    Returns sorted row numbers.
    """
    classes, y, counts = np.unique(y, return_inverse=True, return_counts=True)
    if not len(classes) <= n <= len(y):
        raise DataError(
            f"{n:,} rows were asked for; choose between {len(classes):,} (one per class) "
            f"and {len(y):,} (all there are)."
        )
    share = n * counts / len(y)
    take = np.maximum(1, np.floor(share)).astype(int)
    while take.sum() < n:
        take[np.argmax(np.where(take < counts, share - take, -np.inf))] += 1
    while take.sum() > n:
        take[np.argmax(np.where(take > 1, take - share, -np.inf))] -= 1
    chosen = [
        rng.choice(np.flatnonzero(y == k), size=take[k], replace=False) for k in range(len(classes))
    ]
    return np.sort(np.concatenate(chosen))


def training_rows_first(y: np.ndarray, n_train: int, seed: int) -> np.ndarray:
    """A fixed shuffled order of all rows whose first `n_train` keep the class shares of `y`."""
    rng = np.random.default_rng(seed)
    train = stratified_rows(y, n_train, rng)
    test = np.setdiff1d(np.arange(len(y)), train)
    return np.concatenate([rng.permutation(train), rng.permutation(test)])


def image_dataset(
    pixels: np.ndarray,
    y: np.ndarray,
    *,
    n_train: int | None,
    title: str,
    normalise: str = "global",
    white: int = 255,
    **fields,
) -> Dataset:
    """Standardise byte images and wrap them up with the other `fields`.

    `pixels` are (n, height, width), or (n, height, width, 3) in colour.

    Parameters
    ----------
    n_train : int or None
        The mean and standard deviation come from these first rows (from all when None).
    title : str
        Of the images; another scale than the paper's is added to it.
    normalise : {"global", "per_pixel", "none", "half", "soft"}
        One mean and deviation for all pixels, as in the paper, or one for each; "none" leaves
        pixels from 0 to 1, "half" stretches them from -1 to 1; "soft" standardises softened ones.
    white : int
        The byte that means full ink; raw pixels are bytes / white.
    """
    shape = pixels.shape[1:]
    if normalise == SOFT:
        pixels, white = softened(pixels.astype(np.uint16)), _SOFT_SHARES * white
    pixels = pixels.reshape(len(pixels), -1)
    mean, std = _pixel_statistics(pixels[:n_train], normalise, white)
    input_std = 1.0
    if normalise in FIXED:
        input_std = float(_pixel_statistics(pixels[:n_train], "global", white)[1] / std)
    X = pixels.astype(np.float32)
    X *= (1.0 / (white * std)).astype(np.float32)
    X -= (mean / std).astype(np.float32)
    return Dataset(
        X=X,
        y=y.astype(np.int64),
        feature_names=tuple(
            f"pixel [{r}, {c}]{colour}"
            for r in range(shape[0])
            for c in range(shape[1])
            for colour in ("", *COLOURS)[slice(1) if len(shape) == 2 else slice(1, None)]
        ),
        image_shape=shape,
        n_train=n_train,
        title=title if normalise == "global" else f"{title}, {NORMALISATIONS[normalise]}",
        input_std=input_std,
        pixel_mean=mean.astype(np.float32) if normalise == "per_pixel" else float(mean),
        pixel_std=std.astype(np.float32) if normalise == "per_pixel" else float(std),
        softened=normalise == SOFT,
        **fields,
    )


def _pixel_statistics(pixels, normalise, white):
    """Mean and deviation of bytes / white, from exact integer sums."""
    if normalise not in NORMALISATIONS:
        raise DataError(f"normalise is {normalise!r}; choose one of {', '.join(NORMALISATIONS)}.")
    if normalise in FIXED:
        return tuple(map(np.array, FIXED[normalise]))
    total = np.zeros(pixels.shape[1], dtype=np.int64)
    squares = np.zeros_like(total)
    for start in range(0, len(pixels), _CHUNK_ROWS):
        chunk = pixels[start : start + _CHUNK_ROWS].astype(np.uint32)
        total += chunk.sum(axis=0, dtype=np.int64)
        squares += (chunk * chunk).sum(axis=0, dtype=np.int64)
    count = len(pixels)
    if normalise != "per_pixel":
        count, total, squares = pixels.size, total.sum(), squares.sum()
    mean = total / count
    std = np.sqrt(np.maximum(squares / count - mean**2, 0.0))
    # A pixel that never changes carries nothing; dividing by 1 leaves it at 0 after centring.
    std = np.where(std > 0, std, white)
    return mean / white, std / white
