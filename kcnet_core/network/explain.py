"""Why a network gave a score: the exact share of every input, read off the cells that are active.

A ReLU network is piecewise linear: once it is known which cells are active for a row, every class
score is a weighted sum of that row's inputs. For KCNet (no biases anywhere), with beta the output
weights and C the global inhibition, input i contributes to class k

    x_i * sum_j beta_jk [h_j > 0] (w_ji - C * mean_j' w_j'i)

and these terms add up to the raw score h' beta_k. Nothing is sampled or approximated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from kcnet_core.contracts import Network
from kcnet_core.errors import KCNetError

# Share of ones above which a dense product wins, when there are rows enough to pay for building
# the matrix (measured with 6,500 cells and 784 inputs).
DENSE_ABOVE = 0.08
DENSE_ROWS = 8
BATCH_BYTES = 128 * 2**20  # of the (cells, rows * classes) matrix that a batch of rows needs


def contributions(model: Network, X, column: int | None = None) -> np.ndarray:
    """Share (n, d, c) of every input in every raw class score, or (n, d, 1) in that of a `column`.

    X (n, d) are the model's own inputs (scaled, if it was trained on scaled rows). Summed over
    inputs this is the raw score of each class (or label) before calibration: for KCNet,
    ``model.hidden(X) @ model.coef_``. FSHN's trained biases and a regressor's intercept come on
    top.
    """
    (weights, inhibition), coef, X = _hidden_layer(model), model.coef_, np.asarray(X)
    coef = coef if column is None else coef[:, [column]]
    if X.ndim != 2:
        raise KCNetError(f"Rows to explain must be a table (n, d), not of shape {X.shape}.")
    B, c = coef.shape
    out = np.empty((*X.shape, c))
    size = max(1, BATCH_BYTES // (8 * coef.size))
    for start in range(0, len(X), size):
        rows = X[start : start + size]
        active = model.hidden(rows) > 0  # (m, B)
        through = active.T[:, :, None] * coef[:, None, :]  # (B, m, c)
        many = issparse(weights) and len(rows) >= DENSE_ROWS
        dense = many and weights.nnz / (B * X.shape[1]) > DENSE_ABOVE
        W = weights.toarray() if dense else weights
        slopes = (W.T @ through.reshape(B, -1)).reshape(-1, len(rows), c)
        if inhibition is not None:
            slopes -= inhibition[:, None, None] * through.sum(0)
        np.multiply(rows[:, :, None], slopes.transpose(1, 0, 2), out=out[start : start + size])
    return out


def _hidden_layer(model: Network) -> tuple[Any, np.ndarray | None]:
    """Weights (B, d), and what every cell loses per unit of each input (d,)."""
    from kcnet_core import ELMClassifier, FSHNClassifier
    from kcnet_core.network.circuit import KCNetCircuit

    if isinstance(model, KCNetCircuit):
        wiring = model.wiring_
        indices, ends = wiring.indices.numpy(), np.append(wiring.offsets.numpy(), wiring.n_ones)
        shape = wiring.n_hidden, wiring.n_inputs
        counts = np.ones(wiring.n_ones) if wiring.counts is None else wiring.counts.numpy()
        used = np.bincount(indices, counts, minlength=wiring.n_inputs)
        weights = csr_array((counts.astype(float), indices, ends), shape=shape)
        return weights, model.inhibition_ * used / wiring.n_hidden
    if isinstance(model, FSHNClassifier):
        return model.weights_, None
    if isinstance(model, ELMClassifier):
        raise KCNetError(
            "An ELM's scores cannot be divided among its inputs: its sigmoid bends everywhere, so "
            "no exact linear share exists. Explain a KCNet or an FSHN instead."
        )
    raise KCNetError(f"Only KCNet and FSHN can be explained exactly, not {type(model).__name__}.")
