"""From raw class scores to probabilities, fitted on leave-one-out outputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, softmax

from kcnet_core.network.blocked_matmul import run_on_rows

SHARPEST = 1e3  # rows told apart perfectly would ask for infinite slopes
SMALLEST_SLOPE = 1e-3  # a label that nothing predicts keeps its ranking and its base rate
HASHED_COLUMNS = 64


@dataclass(frozen=True)
class Calibration:
    """softmax(slope * z) over classes (temperature scaling), or sigmoid(slope_k z_k + bias_k) per
    label (Platt scaling).

    Temperature scaling keeps the order of the classes, so the most probable class is also the one
    with the highest score.
    """

    kind: str
    slope: np.ndarray  # (1,) or (c,)
    bias: np.ndarray  # (1,) or (c,)

    @classmethod
    def fit(cls, Z: np.ndarray, Y: np.ndarray, w: np.ndarray, kind: str) -> Calibration:
        """Minimise the log loss of Z (n, c) against Y (n, c) with row weights w (n,)."""
        if kind == "multilabel":
            slopes, biases = zip(
                *(_platt(z, y, w) for z, y in zip(Z.T, Y.T, strict=True)), strict=True
            )
            return cls(kind, np.array(slopes), np.array(biases))
        return cls(kind, np.array([_inverse_temperature(Z, Y, w)]), np.zeros(1))

    def log_odds(self, Z: np.ndarray) -> np.ndarray:
        return Z * self.slope + self.bias

    def probabilities(self, Z: np.ndarray) -> np.ndarray:
        """Probabilities (n, c); they add up to one per row unless labels are independent."""
        if self.kind == "multilabel":
            return expit(self.log_odds(Z))
        return softmax(self.log_odds(Z), axis=1)


def _inverse_temperature(Z, Y, w) -> float:
    """The log loss is convex in the slope: find where its derivative changes sign."""
    if Z.shape[1] < 2:
        return 1.0

    def derivative(slope):
        P = softmax(slope * Z, axis=1)
        return w @ ((P - Y) * Z).sum(1)

    if derivative(SHARPEST) <= 0:
        return SHARPEST
    if derivative(SMALLEST_SLOPE) >= 0:
        return SMALLEST_SLOPE
    return brentq(derivative, SMALLEST_SLOPE, SHARPEST, xtol=1e-12, rtol=1e-12)


def _platt(z, y, w) -> tuple[float, float]:
    """Newton's method on slope and bias, with Platt's smoothed targets so that both stay finite."""
    positive, negative = w @ y, w @ (1 - y)
    target = np.where(y > 0.5, (positive + 1) / (positive + 2), 1 / (negative + 2))
    base = (positive + 1) / (positive + negative + 2)
    centre = np.average(z, weights=w)
    spread = np.sqrt(np.average((z - centre) ** 2, weights=w))
    prior = np.log(base / (1 - base))
    if spread < 1e-12:
        return SMALLEST_SLOPE, prior - SMALLEST_SLOPE * centre
    A = np.stack([(z - centre) / spread, np.ones_like(z)], 1)

    def loss(theta):
        score = A @ theta
        return w @ (np.logaddexp(0, score) - target * score)

    theta = np.array([0.0, prior])
    for _ in range(50):
        p = expit(A @ theta)
        gradient = A.T @ (w * (p - target))
        hessian = (A.T * (w * np.maximum(p * (1 - p), 1e-12))) @ A
        step = np.linalg.solve(hessian + 1e-10 * np.trace(hessian) * np.eye(2), gradient)
        scale, here = 1.0, loss(theta)
        while loss(theta - scale * step) > here and scale > 1e-6:
            scale /= 2
        theta = theta - scale * step
        if np.abs(step).max() < 1e-12:
            break
    slope = theta[0] / spread
    if slope < SMALLEST_SLOPE:
        return SMALLEST_SLOPE, prior - SMALLEST_SLOPE * centre
    return slope, theta[1] - slope * centre


class CalibrationRows:
    """A random sample of the rows seen so far that does not depend on their order or chunking.

    Each row gets a random key computed from its content; the rows with the smallest keys stay.
    """

    def __init__(self, capacity: int, n_inputs: int, rng: np.random.Generator):
        self.capacity = capacity
        self._columns = np.sort(rng.choice(n_inputs, min(n_inputs, HASHED_COLUMNS), replace=False))
        self._factors = rng.integers(2**32, size=len(self._columns), dtype=np.uint32) | np.uint32(1)
        self.X, self.Y, self.w = (np.empty(0, np.float32) for _ in range(3))
        self._keys = np.empty(0, np.uint32)

    def add(self, X: np.ndarray, Y: np.ndarray, w: np.ndarray) -> None:
        self._take(X, Y, w, self._content_keys(X))

    def merge(self, other: CalibrationRows) -> None:
        """Add the rows that another, drawn by the same generator, has seen."""
        if len(other._keys):
            self._take(other.X, other.Y, other.w, other._keys)

    def _take(self, X, Y, w, keys) -> None:
        if not len(self._keys):
            self.X, self.Y, self.w = X[:0], Y[:0], w[:0]
        if len(self._keys) == self.capacity:  # most rows of a long stream end here, uncopied
            near = np.flatnonzero(keys < self._keys.max())
            X, Y, w, keys = X[near], Y[near], w[near], keys[near]
        all_keys = np.concatenate([self._keys, keys])
        chosen = np.sort(np.argsort(all_keys, kind="stable")[: self.capacity])
        old, new = chosen[chosen < len(self._keys)], chosen[chosen >= len(self._keys)]
        new = new - len(self._keys)
        self.X = np.concatenate([self.X[old], X[new]])
        self.Y = np.concatenate([self.Y[old], Y[new]])
        self.w = np.concatenate([self.w[old], w[new]])
        self._keys = all_keys[chosen]

    def _content_keys(self, X: np.ndarray) -> np.ndarray:
        keys = np.empty(len(X), np.uint32)

        def some(rows: slice) -> None:
            # Whole numbers modulo 2^32 are exact in any order, which sums of floats would not be.
            bits = np.ascontiguousarray(X[rows, self._columns], np.float32).view(np.uint32)
            part = (bits * self._factors).sum(1, dtype=np.uint32)
            part ^= part >> np.uint32(16)
            part *= np.uint32(0x85EBCA6B)
            keys[rows] = part ^ (part >> np.uint32(13))

        run_on_rows(some, len(X))
        return keys
