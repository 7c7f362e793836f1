"""The one form in which data reaches models and pages, for odors and images alike."""

from __future__ import annotations

import weakref
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

UPLOADED: dict[str, Any] = {  # the fields of a visitor's own data
    "name": "uploaded",
    "citation": "Uploaded by its owner",
    "licence": "As its owner decides",
}
_CHECKSUMS: dict[int, tuple[weakref.ref, int]] = {}  # of arrays that are still in use, by id


@dataclass(frozen=True)
class Dataset:
    """Rows, labels and where they came from.

    Parameters
    ----------
    name : str
        Key in `kcnet_core.datasets.available()`, or "uploaded".
    title, citation, licence : str
        What a page prints beside every figure made from this data.
    X : ndarray of shape (n, d), float32
        Image sets are standardised with constants from their training part, as in the paper,
        unless another scale is asked for; odor sets carry raw descriptors, because scaling belongs
        to the training rows of a split.
    y : ndarray
        Class indices of shape (n,), or an (n, c) 0/1 matrix for multi-label data; numbers (n, c)
        where people rated on a scale, NaN where nobody did.
    feature_names, target_names : tuple of str
        `target_names[k]` names class k, or column k of a multi-label `y`.
    groups : ndarray of shape (n,) or None
        Molecule id, so that a split can keep a molecule's rows together.
    image_shape : (height, width), (height, width, 3) in colour, or None
        Inputs are row by row, the colours of a pixel side by side.
    n_train : int or None
        Rows before it are a benchmark's own training part, the rest its test part.
    row_names : tuple of str or None
        What a person calls each row (the molecule's name).
    smiles : tuple of str or None
        Canonical SMILES per row, for odor data.
    report : tuple of str
        Sentences that say what the loader dropped or decided, and why.
    pixel_mean, pixel_std : float or ndarray of shape (d,)
        Scaling already applied to images; `raw_pixels` undoes it.
    softened : bool
        Whether each pixel was mixed with its neighbours before; that stays.
    input_std : float
        Standard deviation of the inputs that models get: 1 unless images keep a scale of their own.
    """

    name: str
    title: str
    X: np.ndarray
    y: np.ndarray
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    groups: np.ndarray | None = None
    image_shape: tuple[int, ...] | None = None
    n_train: int | None = None
    citation: str = ""
    licence: str = ""
    row_names: tuple[str, ...] | None = None
    smiles: tuple[str, ...] | None = None
    report: tuple[str, ...] = ()
    pixel_mean: float | np.ndarray = 0.0
    pixel_std: float | np.ndarray = 1.0
    softened: bool = False
    input_std: float = 1.0

    def __post_init__(self):
        n, d = self.X.shape
        if len(self.y) != n:
            raise ValueError(f"{n} rows of X but {len(self.y)} labels")
        if len(self.feature_names) != d:
            raise ValueError(f"{d} columns of X but {len(self.feature_names)} feature names")
        for field in ("groups", "row_names", "smiles"):
            value = getattr(self, field)
            if value is not None and len(value) != n:
                raise ValueError(f"{n} rows of X but {len(value)} {field}")

    @property
    def kind(self) -> str:
        return "odor" if self.image_shape is None else "image"

    @property
    def multilabel(self) -> bool:
        return self.y.ndim == 2

    def raw_pixels(self, X: np.ndarray) -> np.ndarray:
        """Inputs (..., d) of this image set as pixels from 0 (paper) to 1 (ink)."""
        return X * self.pixel_std + self.pixel_mean

    def scaled_pixels(self, raw: np.ndarray | float) -> np.ndarray | float:
        """The way back: pixels from 0 to 1 as inputs of this image set."""
        return (raw - self.pixel_mean) / self.pixel_std

    def fingerprint(self, n_sampled: int | None = None) -> tuple[int, int, int, int]:
        """Rows, inputs, and checksums of X and y: by these, stored results know their data.

        X counts with every byte, or with about `n_sampled` rows where it may not take long.
        """
        X = self.X if n_sampled is None else self.X[:: max(1, len(self.X) // n_sampled)]
        return (*self.X.shape, _checksum(X), _checksum(self.y))


def _checksum(values: np.ndarray) -> int:
    """Of every byte; remembered with the array, because pages ask whenever they are redrawn."""
    key = id(values)
    if key not in _CHECKSUMS:
        gone = weakref.ref(values, lambda _: _CHECKSUMS.pop(key, None))
        _CHECKSUMS[key] = gone, zlib.crc32(np.ascontiguousarray(values).data)
    return _CHECKSUMS[key][1]


@dataclass(frozen=True)
class RowError:
    """A row of an upload that could not be used; the others go on without it.

    `where` is how a person finds it ("line 17", "cats/x.png"), `text` what stood there;
    `suggestion` is a SMILES that may be put there instead.
    """

    where: str
    text: str
    reason: str
    suggestion: str = ""


def left_out(n: int, what: str) -> str:
    """'1 row was left out', '3 files were left out'; `what` is one of them."""
    return f"1 {what} was left out" if n == 1 else f"{n:,} {what}s were left out"
