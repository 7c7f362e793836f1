"""Why a network gave a score: the exact share of every input, read off the cells that are active.

A ReLU network is piecewise linear: once it is known which cells are active for a row, every class
score is a weighted sum of that row's inputs. For KCNet (no biases anywhere), with beta the output
weights and C the global inhibition, input i contributes to class k

    x_i * sum_j beta_jk [h_j > 0] (w_ji - C * mean_j' w_j'i)

and these terms add up to the raw score h' beta_k. Nothing is sampled or approximated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from kcnet_core.contracts import Network
from kcnet_core.errors import KCNetError

# Share of ones above which a dense product wins, when there are rows enough to pay for building
# the matrix (measured with 6,500 cells and 784 inputs).
DENSE_ABOVE = 0.08
DENSE_ROWS = 8
BATCH_BYTES = 128 * 2**20  # of the (cells, rows * classes) matrix that a batch of rows needs


def contributions(model: Network, X) -> np.ndarray:
    """Share of every input in every raw class score.

    Parameters
    ----------
    model : fitted KCNetClassifier or FSHNClassifier
    X : array-like of shape (n, d)
        The model's own inputs (scaled, if the model was trained on scaled rows).

    Returns
    -------
    ndarray of shape (n, d, c), float64
        Summed over inputs this is the raw score of each class (or label) before calibration: for
        KCNet, ``model.hidden(X) @ model.coef_``. FSHN's trained biases come on top.
    """
    network, X = _layers(model), np.asarray(X)
    if X.ndim != 2:
        raise KCNetError(f"Rows to explain must be a table (n, d), not of shape {X.shape}.")
    out = np.empty((len(X), X.shape[1], network.coef.shape[1]))
    size = max(1, BATCH_BYTES // (8 * network.coef.size))
    for start in range(0, len(X), size):
        rows = slice(start, start + size)
        active = model.hidden(X[rows]) > 0  # (m, B)
        slopes = network.slopes(active)  # (d, m, c)
        np.multiply(X[rows, :, None], slopes.transpose(1, 0, 2), out=out[rows])
    return out


@dataclass(frozen=True)
class _Layers:
    """The numbers of a one-hidden-layer ReLU network, whatever class they came from."""

    weights: csr_array | np.ndarray  # (B, d)
    coef: np.ndarray  # (B, c)
    inhibition: np.ndarray | None = None  # (d,) what every cell loses per unit of each input

    def slopes(self, active: np.ndarray) -> np.ndarray:
        """d score / d input (d, m, c) where the cells `active` (m, B) answer."""
        (m, B), c = active.shape, self.coef.shape[1]
        through = active.T[:, :, None] * self.coef[:, None, :]  # (B, m, c)
        weights = self.weights
        if not isinstance(weights, np.ndarray) and m >= DENSE_ROWS:
            density = weights.nnz / (B * weights.shape[1])
            weights = weights.toarray() if density > DENSE_ABOVE else weights
        slopes = (weights.T @ through.reshape(B, m * c)).reshape(-1, m, c)
        if self.inhibition is not None:
            slopes -= self.inhibition[:, None, None] * through.sum(0)
        return slopes


def _layers(model: Network) -> _Layers:
    from kcnet_core import ELMClassifier, FSHNClassifier, KCNetClassifier

    if isinstance(model, KCNetClassifier):
        return _kcnet(model)
    if isinstance(model, FSHNClassifier):
        return _Layers(model.weights_, model.coef_)
    if isinstance(model, ELMClassifier):
        raise KCNetError(
            "An ELM's scores cannot be divided among its inputs: its sigmoid bends everywhere, so "
            "no exact linear share exists. Explain a KCNet or an FSHN instead."
        )
    raise KCNetError(f"Only KCNet and FSHN can be explained exactly, not {type(model).__name__}.")


def _kcnet(model) -> _Layers:
    wiring = model.wiring_
    ends = np.append(wiring.offsets.numpy(), wiring.n_ones)
    W = csr_array(
        (np.ones(wiring.n_ones), wiring.indices.numpy(), ends),
        shape=(wiring.n_hidden, wiring.n_inputs),
    )
    used = np.bincount(wiring.indices.numpy(), minlength=wiring.n_inputs)
    return _Layers(W, model.coef_, model.inhibition * used / wiring.n_hidden)
