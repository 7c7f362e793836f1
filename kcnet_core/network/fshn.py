"""Fully trained single-hidden-layer network: the gradient-descent yardstick of the paper."""

from __future__ import annotations

import time

import numpy as np
import torch
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from kcnet_core.errors import KCNetError
from kcnet_core.network.calibration import Calibration
from kcnet_core.network.classification import NetworkClassifier
from kcnet_core.network.devices import as_tensor, computing, feature_dtype
from kcnet_core.network.doa import split_rows
from kcnet_core.network.history import EpochRecord
from kcnet_core.network.parameters import Choice, Number, check_parameters
from kcnet_core.network.ridge import rows_per_chunk
from kcnet_core.network.scores import KEYWORDS, score_outputs
from kcnet_core.network.seeds import generator, seed_sequence
from kcnet_core.network.validation import all_or_nothing, check_rows, prepare

MEASURED_ROWS = 5000  # training rows on which an epoch's metric is measured

PARAMETERS = {
    "n_hidden": Number(int, least=1),
    "n_epochs": Number(int, least=1),
    "learning_rate": Number(float, above=0),
    "batch_rows": Number(int, least=1),
    "validation_fraction": Number(float, least=0, below=1),
    "metric": Choice(None, *KEYWORDS),
}


class FSHNClassifier(NetworkClassifier):
    """Linear, ReLU, Linear, trained by stochastic gradient descent on cross-entropy.

    Multi-label targets use one sigmoid cross-entropy per label, summed over labels.

    Parameters
    ----------
    n_hidden : int, default=82
        Hidden units; 82, 89 and 254 give about as many parameters as the paper's KCNet on MNIST,
        Fashion-MNIST and EMNIST-Balanced.
    n_epochs : int, default=5
    learning_rate : float, default=0.1
    batch_rows : int, default=64
    validation_fraction : float, default=0.0
        Share of rows (or groups) that is not trained on but measured after each epoch.
    metric : {"accuracy", "weighted_f1", "auroc"}, optional
        As in `KCNetClassifier`.
    device : {"auto", "cpu", "cuda", "mps"}, default="auto"
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    weights_, biases_ : ndarrays of shape (B, d), (B,)
        Hidden layer.
    coef_, intercept_ : ndarrays of shape (B, c), (c,)
        Output layer.
    classes_, history_, timings_, metric_, n_trained_parameters_, n_features_in_
    target_code_, device_, dtype_
        As in `KCNetClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kcnet_core import FSHNClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> net = FSHNClassifier(n_epochs=20, random_state=0).fit(X[:1200] / 16, y[:1200])
    >>> bool(net.score(X[1200:] / 16, y[1200:]) > 0.85)
    True
    """

    dtype_ = torch.float64  # keeps a row's answer independent of the rows asked about with it

    def __init__(
        self,
        n_hidden=82,
        n_epochs=5,
        learning_rate=0.1,
        batch_rows=64,
        validation_fraction=0.0,
        metric=None,
        device="auto",
        random_state=None,
    ):
        self.n_hidden = n_hidden
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.batch_rows = batch_rows
        self.validation_fraction = validation_fraction
        self.metric = metric
        self.device = device
        self.random_state = random_state

    # -- fitting -------------------------------------------------------------------------------

    def fit_steps(self, X, y, sample_weight=None, groups=None, *, matrices=False, progress=False):
        """Fit step by step: a generator of one `EpochRecord` per pass over the rows.

        The model is fitted once the generator is exhausted. The last record's metrics are those of
        the finished model. There is no W or S to give (`matrices`), and an epoch is short enough
        to need no `progress`.
        """
        return all_or_nothing(self, self._steps(X, y, sample_weight, groups))

    def _steps(self, X, y, sample_weight, groups):
        check_parameters(self, PARAMETERS)
        X, Y, w, groups, code = prepare(self, X, y, sample_weight, groups)
        self._forget_fit(code)
        rng = generator(seed_sequence(self.random_state))
        train, held = np.arange(len(X)), None
        if self.validation_fraction:
            train, held = split_rows(train, self.validation_fraction, groups, rng)
        dtype = feature_dtype(X, self.n_hidden, self.device_)
        X, Y, w = (as_tensor(a).to(dtype) for a in (X, Y, w))
        w = w * (len(w) / w.sum())  # a common factor of the weights must not change the step
        layers = self._draw_layers(X.shape[1], Y.shape[1], dtype, rng)
        history = []
        for epoch in range(1, self.n_epochs + 1):
            begun = time.perf_counter()
            with computing(self.n_hidden, self.device_):
                self._descend(layers, X, Y, w, rng.permutation(train))
            if not all(layer.isfinite().all() for layer in layers):
                raise KCNetError(
                    f"The weights of FSHN grew beyond all bounds in epoch {epoch}: a learning rate "
                    f"of {self.learning_rate:g} is too large for these data; choose a smaller one."
                )
            history.append(
                EpochRecord(
                    epoch=epoch,
                    train_metric=self._measure(layers, X, Y, train[:MEASURED_ROWS]),
                    validation_metric=None if held is None else self._measure(layers, X, Y, held),
                    seconds=time.perf_counter() - begun,
                )
            )
            if epoch == self.n_epochs:
                self._keep(layers)
                self.history_ = history
                self.timings_ = {"descent": sum(record.seconds for record in history)}
            yield history[-1]

    def _draw_layers(self, n_inputs, n_outputs, dtype, rng):
        """Weights and biases U(-1/sqrt(n), 1/sqrt(n)) for n inputs, as torch.nn.Linear."""

        def uniform(shape, n):
            values = (2 * rng.random(shape, dtype=np.float32) - 1) / np.float32(np.sqrt(n))
            return torch.from_numpy(values).to(self.device_, dtype)

        B = self.n_hidden
        return [
            uniform((n_inputs, B), n_inputs),
            uniform(B, n_inputs),
            uniform((B, n_outputs), B),
            uniform(n_outputs, B),
        ]

    def _descend(self, layers, X, Y, w, order):
        """One pass over the rows in the given order, changing the layers in place."""
        A, a, C, c = layers
        sigmoid = self.multilabel
        order = torch.from_numpy(order)
        for start in range(0, len(order), self.batch_rows):
            chosen = order[start : start + self.batch_rows]
            x = X.index_select(0, chosen).to(self.device_)
            y = Y.index_select(0, chosen).to(self.device_)
            step = (w.index_select(0, chosen) * (-self.learning_rate / len(chosen))).to(
                self.device_
            )
            h = torch.addmm(a, x, A).relu_()
            z = torch.addmm(c, h, C)
            p = z.sigmoid() if sigmoid else z.softmax(1)
            dz = (p - y) * step[:, None]  # -learning rate * gradient, by hand: autograd costs more
            dh = torch.mm(dz, C.T) * (h > 0)
            C.addmm_(h.T, dz)
            c += dz.sum(0)
            A.addmm_(x.T, dh)
            a += dh.sum(0)

    def _measure(self, layers, X, Y, rows) -> float:
        rows = torch.from_numpy(rows)
        Z = _outputs(layers, X.index_select(0, rows).to(self.device_))
        Z = expit(Z) if self.multilabel else Z
        truth = Y.index_select(0, rows).numpy()
        return score_outputs(self.metric_, Z, truth, self.target_code_.kind)

    def _keep(self, layers):
        A, a, C, c = (t.cpu().numpy() for t in layers)
        self.weights_, self.biases_, self.coef_, self.intercept_ = A.T.copy(), a, C, c
        self.n_trained_parameters_ = sum(t.size for t in (A, a, C, c))

    # -- prediction ----------------------------------------------------------------------------

    def hidden(self, X) -> np.ndarray:
        """Activity of the hidden units, (n, B)."""
        check_is_fitted(self)
        X = check_rows(self, X, reset=False).astype(np.float64)
        return np.maximum(X @ self.weights_.T + self.biases_, 0)

    def class_scores(self, X) -> np.ndarray:
        """Raw outputs (n, c), one column per class or label."""
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        layers = [
            torch.from_numpy(np.asarray(t, np.float64))
            for t in (self.weights_.T, self.biases_, self.coef_, self.intercept_)
        ]
        size = rows_per_chunk(self.n_hidden)
        parts = [X[k : k + size].astype(np.float64) for k in range(0, len(X), size)]
        return np.concatenate([_outputs(layers, torch.from_numpy(part)) for part in parts])

    @property
    def _calibration(self) -> Calibration:
        """None is needed: cross-entropy trains the raw scores to be log-odds."""
        return Calibration(self.target_code_.kind, np.ones(1), np.zeros(1))


def _outputs(layers, X) -> np.ndarray:
    A, a, C, c = layers
    return torch.addmm(c, torch.addmm(a, X, A).relu_(), C).cpu().numpy()
