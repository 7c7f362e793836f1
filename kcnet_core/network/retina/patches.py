"""Whitened patches, k-means on the sphere, both signs, pooled in a grid (Coates & Ng 2011)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kcnet_core.errors import DataError
from kcnet_core.network.parameters import Number, Other, check_parameters
from kcnet_core.network.seeds import generator, seed_sequence
from kcnet_core.network.validation import check_rows
from kcnet_core.network.wiring.fields import image_shape_of, is_image_shape

PARAMETERS = {
    "n_patches": Number(int, least=1),
    "patch_size": Number(int, least=2),
    "n_pools": Number(int, least=1),
    "threshold": Number(float, least=0),
    "n_samples": Number(int, least=10),
    "n_iterations": Number(int, least=1),
    "image_shape": Other("(height, width) or (height, width, channels)", is_image_shape),
}
FLAT = 0.03  # share of the mean contrast that is added to a patch's own, so that noise stays small
WHITEN_FLOOR = 0.01  # the same for the variances of a patch's directions
IMAGES_AT_ONCE = 100


class PatchRetina(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Turns images into how much of some learned patches each part of them holds.

    Patches of random images are freed of brightness and contrast and whitened; k-means by angle
    finds `n_patches` typical ones. An image is then seen through all of them at every place: what
    exceeds the threshold, in either sign, is summed in each cell of a grid.

    Parameters
    ----------
    n_patches : int, default=400
    patch_size : int, default=6
        Side of a patch, in pixels.
    n_pools : int, default=2
        The image is pooled in `n_pools` x `n_pools` parts; 2 are quadrants.
    threshold : float, default=0.25
    n_samples : int, default=40_000
        Patches to learn from.
    n_iterations : int, default=10
        Rounds of k-means.
    image_shape : (height, width) or (height, width, channels), optional
        How the inputs are laid out: row by row, the channels of a pixel last. None takes a square,
        or a square with three channels.
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    patches_ : ndarray of shape (n_patches, patch_size * patch_size * channels)
        The typical patches, before whitening: what to show.
    filters_ : ndarray of shape (patch_size * patch_size * channels, n_patches)
        What a patch without brightness and contrast is multiplied with.
    mean_, contrast_ : ndarray, float
        Of the patches that were learned from.
    shape_ : (height, width, channels)
    n_features_in_ : int

    References
    ----------
    Coates, A., Ng, A. Y. (2011). The importance of encoding versus training with sparse coding and
    vector quantization. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kcnet_core.network.retina import PatchRetina
    >>> X, _ = load_digits(return_X_y=True)
    >>> PatchRetina(n_patches=10, patch_size=4, random_state=0).fit_transform(X[:50]).shape
    (50, 80)
    """

    def __init__(
        self,
        n_patches=400,
        patch_size=6,
        n_pools=2,
        threshold=0.25,
        n_samples=40_000,
        n_iterations=10,
        image_shape=None,
        random_state=None,
    ):
        self.n_patches = n_patches
        self.patch_size = patch_size
        self.n_pools = n_pools
        self.threshold = threshold
        self.n_samples = n_samples
        self.n_iterations = n_iterations
        self.image_shape = image_shape
        self.random_state = random_state

    def fit(self, X, y=None):
        """Learn typical patches of images X (n, d); y is not looked at."""
        check_parameters(self, PARAMETERS)
        X = check_rows(self, X, reset=True)
        self.shape_ = image_shape_of(X.shape[1], self.image_shape)
        places = min(self.shape_[:2]) - self.patch_size + 1
        if places < self.n_pools:
            raise DataError(
                f"Patches of {self.patch_size} pixels leave {max(places, 0)} places on images of "
                f"{self.shape_[0]} x {self.shape_[1]}, too few for {self.n_pools} x {self.n_pools} "
                f"parts: lower patch_size or n_pools."
            )
        rng = generator(seed_sequence(self.random_state))
        raw = self._drawn(X, rng)
        self.contrast_ = float(raw.var(1).mean()) or 1.0
        P = self._evened(raw)
        self.mean_ = P.mean(0)
        variances, directions = np.linalg.eigh(np.cov(P - self.mean_, rowvar=False))
        floor = WHITEN_FLOOR * variances.mean() or 1.0
        # Symmetric whitening: a whitened patch still looks like itself.
        whiten = (directions / np.sqrt(np.maximum(variances, 0) + floor)) @ directions.T
        centres = self._typical((P - self.mean_) @ whiten, rng)
        self.filters_ = (whiten @ centres.T).astype(np.float32)
        self.patches_ = (centres @ np.linalg.inv(whiten)).astype(np.float32)
        self.mean_ = self.mean_.astype(np.float32)
        self._n_features_out = 2 * self.n_pools**2 * self.n_patches
        return self

    def transform(self, X) -> np.ndarray:
        """What every part of the images X (n, d) holds: (n, parts x patches x 2), float32."""
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        return np.concatenate(list(self._seen(X)))

    def _seen(self, X: np.ndarray) -> Iterator[np.ndarray]:
        for start in range(0, len(X), IMAGES_AT_ONCE):
            P = self._windows(X[start : start + IMAGES_AT_ONCE])  # (n, rows, columns, p)
            Z = (self._evened(P) - self.mean_) @ self.filters_
            both = np.concatenate([Z - self.threshold, -Z - self.threshold], axis=3)
            np.maximum(both, 0, out=both)
            parts = [
                part.sum((1, 2))
                for band in np.array_split(both, self.n_pools, axis=1)
                for part in np.array_split(band, self.n_pools, axis=2)
            ]
            yield np.concatenate(parts, axis=1)

    def _windows(self, X: np.ndarray) -> np.ndarray:
        """Every patch of some images, (n, rows, columns, p)."""
        images = np.asarray(X, np.float32).reshape(len(X), *self.shape_)
        side = self.patch_size
        found = np.lib.stride_tricks.sliding_window_view(images, (side, side), axis=(1, 2))
        found = np.moveaxis(found, 3, -1)  # the channels of a pixel last
        return found.reshape(*found.shape[:3], -1)

    def _drawn(self, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """`n_samples` patches of random images at random places, (n_samples, p)."""
        height, width, _ = self.shape_
        side = self.patch_size
        rows = rng.integers(0, len(X), self.n_samples)
        top = rng.integers(0, height - side + 1, self.n_samples)
        left = rng.integers(0, width - side + 1, self.n_samples)
        images = X.reshape(len(X), *self.shape_)
        square = np.arange(side)
        down, across = top[:, None, None] + square[:, None], left[:, None, None] + square
        drawn = images[rows[:, None, None], down, across]
        return drawn.reshape(self.n_samples, -1).astype(np.float64)

    def _evened(self, P: np.ndarray) -> np.ndarray:
        """Patches (..., p) without their brightness and contrast."""
        P = P - P.mean(-1, keepdims=True)
        return P / np.sqrt(P.var(-1, keepdims=True) + FLAT * self.contrast_)

    def _typical(self, P: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Unit vectors (k, p) that the patches, in either sign, lie close to."""
        k, p = self.n_patches, P.shape[1]
        D = _unit(rng.standard_normal((k, p)))
        for _ in range(self.n_iterations):
            Z = P @ D.T
            nearest = np.abs(Z).argmax(1)
            weight = np.zeros_like(Z)
            weight[np.arange(len(P)), nearest] = Z[np.arange(len(P)), nearest]
            D = D + weight.T @ P
            lost = np.linalg.norm(D, axis=1) < 1e-9
            D[lost] = rng.standard_normal((lost.sum(), p))
            D = _unit(D)
        return D


def _unit(D: np.ndarray) -> np.ndarray:
    return D / np.linalg.norm(D, axis=1, keepdims=True)
