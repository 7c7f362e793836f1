"""Whitened patches, k-means on the sphere, both signs, pooled in a grid (Coates & Ng 2011)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import torch
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from kcnet_core.errors import DataError
from kcnet_core.network.parameters import Number, Other
from kcnet_core.network.retina.retina import Retina
from kcnet_core.network.seeds import generator, seed_sequence
from kcnet_core.network.wiring.fields import is_image_shape

PARAMETERS = {
    "n_patches": Number(int, least=1),
    "patch_size": Number(int, least=2),
    "n_pools": Number(int, least=1),
    "threshold": Number(float, least=0),
    "n_samples": Number(int, least=10),
    "n_iterations": Number(int, least=1),
    "scaled": Other("True or False", lambda value: isinstance(value, bool)),
    "image_shape": Other("(height, width) or (height, width, channels)", is_image_shape),
}
FLAT = 0.03  # share of the mean contrast that is added to a patch's own, so that noise stays small
WHITEN_FLOOR = 0.01  # the same for the variances of a patch's directions
IMAGES_FOR_SCALE = 5_000  # by which the outputs are scaled
STATE = ("patches_", "filters_", "mean_", "center_", "spread_")


class PatchRetina(Retina):
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
    scaled : bool, default=False
        Give square roots of the sums, each with mean 0 and deviation 1 over (at most 5,000 of)
        the images that were learned from: what a network wants.
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
    center_, spread_ : ndarray of shape (n_pools * n_pools * 2 * n_patches,)
        Mean and deviation of the square roots; 0 and 1 unless `scaled`.
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

    _state = STATE

    def __init__(
        self,
        n_patches=400,
        patch_size=6,
        n_pools=2,
        threshold=0.25,
        n_samples=40_000,
        n_iterations=10,
        scaled=False,
        image_shape=None,
        random_state=None,
    ):
        self.n_patches = n_patches
        self.patch_size = patch_size
        self.n_pools = n_pools
        self.threshold = threshold
        self.n_samples = n_samples
        self.n_iterations = n_iterations
        self.scaled = scaled
        self.image_shape = image_shape
        self.random_state = random_state

    def fit(self, X, y=None):
        """Learn typical patches of images X (n, d); y is not looked at."""
        X = self._checked(X, PARAMETERS)
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
        self._unscaled(2 * self.n_pools**2 * self.n_patches)
        if self.scaled:
            self._learn_scale(X, IMAGES_FOR_SCALE, rng)
        return self

    def _sight(self) -> Callable[[np.ndarray], np.ndarray]:
        side = self.patch_size
        # From (rows, columns, channels; patches) to what a convolution wants.
        F = torch.from_numpy(self.filters_)
        kernels = F.reshape(side, side, -1, F.shape[1]).permute(3, 2, 0, 1).contiguous()
        of_brightness = F.sum(0).reshape(-1, 1, 1)
        of_mean = (torch.from_numpy(self.mean_) @ F).reshape(-1, 1, 1)
        return lambda X: self._seen(X, kernels, of_brightness, of_mean)

    def _scale(self, out: np.ndarray) -> None:
        if self.scaled:
            np.sqrt(out, out=out)
            super()._scale(out)

    def _seen(self, X, kernels, of_brightness, of_mean) -> np.ndarray:
        """Sums of some images, (n, parts x 2 x patches).

        A patch without brightness and contrast times a filter is what the raw patch gives, less
        its mean times the filter's sum, over its deviation: one convolution for all patches.
        """
        images = torch.from_numpy(np.ascontiguousarray(X, np.float32)).reshape(-1, *self.shape_)
        images = (images - images.mean((1, 2, 3), keepdim=True)).permute(0, 3, 1, 2)
        ones = torch.ones_like(kernels[:1]) / kernels[0].numel()
        mean = torch.conv2d(images, ones)
        variance = (torch.conv2d(images * images, ones) - mean * mean).clamp_(min=0)
        Z = torch.conv2d(images, kernels).sub_(mean * of_brightness)  # (n, k, rows, columns)
        Z = Z.div_((variance + FLAT * self.contrast_).sqrt_()).sub_(of_mean)
        parts = [
            torch.cat([(seen - self.threshold).relu_().sum((2, 3)) for seen in (part, -part)], 1)
            for band in torch.tensor_split(Z, self.n_pools, 2)
            for part in torch.tensor_split(band, self.n_pools, 3)
        ]
        return torch.cat(parts, 1).numpy()

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Which patch, in which sign and part of the image."""
        check_is_fitted(self)
        places = product(range(self.n_pools), range(self.n_pools), "+−", range(self.n_patches))
        return np.array([f"patch {k}{sign} [{r}, {c}]" for r, c, sign, k in places], dtype=object)

    def pictures(self, which) -> tuple[np.ndarray, tuple[int, ...]]:
        """Some patches as images in [0, 1], (n, values), and the shape of each."""
        shown = self.patches_[which]
        low, high = shown.min(1, keepdims=True), shown.max(1, keepdims=True)
        sides = (self.patch_size, self.patch_size)
        return (shown - low) / (high - low), sides if self.shape_[2] == 1 else (*sides, 3)

    @property
    def stored_bytes(self) -> int:
        """What must be stored to see through it; the patches themselves are only to look at."""
        return sum(part.nbytes for name, part in self.get_state().items() if name != "patches_")

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
        (n, p), k = P.shape, self.n_patches
        P = P.astype(np.float32)
        D = _unit(rng.standard_normal((k, p)))
        for _ in range(self.n_iterations):
            Z = P @ D.T.astype(np.float32)
            nearest = np.abs(Z).argmax(1)
            places = nearest, np.arange(n)
            weight = csr_array((Z[places[::-1]], places), shape=(k, n))
            D = D + weight @ P
            lost = np.linalg.norm(D, axis=1) < 1e-9
            D[lost] = rng.standard_normal((lost.sum(), p))
            D = _unit(D)
        return D


def _unit(D: np.ndarray) -> np.ndarray:
    return D / np.linalg.norm(D, axis=1, keepdims=True)
