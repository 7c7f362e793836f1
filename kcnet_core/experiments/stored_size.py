"""How many bytes a trained network takes when it is stored, and what rounding to 8 bits costs.

A wiring of 0/1 is stored in whichever of three ways is smallest: one bit for every possible
connection; the number of every connected input; or, for images, one bit for every pixel of the
rectangle around a cell's inputs, and that rectangle. Output weights take 32 bits each, or 8 bits
and, for each hidden unit, 8 bits for the power of two that they are multiplied with: weights of
cells that are seldom active are far larger than those of others. What turns scores into
probabilities is left out everywhere.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

COUNT_BITS = 16  # of how many inputs a cell has
FLOAT_BITS = 32
SMALL_BITS = 8
STEPS = 2 ** (SMALL_BITS - 1) - 1  # on either side of zero


@dataclass(frozen=True)
class StoredSize:
    """Bytes of a network's two layers."""

    hidden: int  # wiring, or weights in float32
    hidden_form: str  # how the hidden layer is stored
    output: int  # in float32
    hidden_8bit: int
    output_8bit: int

    @property
    def total(self) -> int:
        return self.hidden + self.output

    @property
    def total_8bit(self) -> int:
        return self.hidden_8bit + self.output_8bit


def stored_size(model: Any, image_shape: tuple[int, ...] | None = None) -> StoredSize | None:
    """Of a fitted network; None for a model that is none."""
    coef = getattr(model, "coef_", None)
    if coef is None or not hasattr(model, "weights_") or not hasattr(model, "n_hidden"):
        return None
    n_hidden = len(coef)
    further = np.size(getattr(model, "intercept_", ()))
    output = _bytes(FLOAT_BITS * (coef.size + further))
    output_8bit = _bytes(SMALL_BITS * (coef.size + n_hidden) + FLOAT_BITS * further)
    if hasattr(model, "wiring_"):
        bits = wiring_bits(model.weights_, image_shape)
        form = min(bits, key=lambda name: bits[name])
        hidden = _bytes(bits[form])
        return StoredSize(hidden, form, output, hidden, output_8bit)
    weights, biases = model.weights_.size, model.biases_.size
    return StoredSize(
        _bytes(FLOAT_BITS * (weights + biases)),
        "float32",
        output,
        _bytes(SMALL_BITS * (weights + n_hidden) + FLOAT_BITS * biases),
        output_8bit,
    )


def wiring_bits(W: np.ndarray, image_shape: tuple[int, ...] | None = None) -> dict[str, int]:
    """Bits of a 0/1 matrix (B, d), by how it is stored."""
    n_hidden, n_inputs = W.shape
    n_ones = int(np.count_nonzero(W))
    bits = {
        "bits": n_hidden * n_inputs,
        "indices": n_hidden * COUNT_BITS + n_ones * _width(n_inputs),
    }
    if W.max(initial=0) > 1:  # numbers of synapses
        return {"indices": bits["indices"] + n_ones * SMALL_BITS}
    if image_shape is not None:
        height, width = image_shape[:2]
        cells = W.reshape(n_hidden, height, width, -1)
        rows, columns = (_span(np.asarray(cells.any(axes))) for axes in ((2, 3), (1, 3)))
        place = 2 * _width(height) + 2 * _width(width)
        area = int((rows * columns).sum()) * cells.shape[3]
        bits["rectangles"] = n_hidden * place + area
    return bits


def rounded(model: Any) -> Any:
    """The same network with every weight that is no 0/1 rounded to 8 bits."""
    small = copy.copy(model)
    small.coef_ = _rounded(model.coef_)
    if not hasattr(model, "wiring_"):
        small.weights_ = _rounded(model.weights_)
    return small


def _rounded(weights: np.ndarray) -> np.ndarray:
    """Whole steps of a power of two, one for each row, that reach its largest weight."""
    largest = np.abs(weights).max(axis=1, keepdims=True).astype(np.float64)
    largest[largest == 0] = 1
    step = 2.0 ** np.ceil(np.log2(largest / STEPS))
    return (np.round(weights / step) * step).astype(weights.dtype)


def _span(used: np.ndarray) -> np.ndarray:
    """From the first to the last True of each row; 0 where there is none."""
    n = used.shape[1]
    first, last = used.argmax(1), n - used[:, ::-1].argmax(1)
    return np.where(used.any(1), last - first, 0)


def _width(n: int) -> int:
    """Bits that tell n things apart."""
    return max(1, math.ceil(math.log2(n)))


def _bytes(bits: int) -> int:
    return -(-bits // 8)
