"""Extreme learning machine as in the paper: random sigmoid units, least-squares readout."""

from __future__ import annotations

import time

import numpy as np
import torch

from kcnet_core.network.classification import RidgeClassifier
from kcnet_core.network.linear_algebra import product
from kcnet_core.network.parameters import Choice, Number, check_parameters
from kcnet_core.network.scores import KEYWORDS
from kcnet_core.network.seeds import STREAM_HIDDEN, generator, seed_sequence
from kcnet_core.network.validation import all_or_nothing, prepare

# Moore-Penrose means lambda -> 0. The products are float32, whose rounding is about 1e-6 of the
# mean diagonal of the Gram matrix; a lambda of that size is the smallest that is not lost in it.
RELATIVE_ALPHA = 1e-6

PARAMETERS = {
    "n_hidden": Number(int, least=1),
    "alpha": Number(float, least=0, words=(None, "loo")),
    "metric": Choice(None, *KEYWORDS),
}


def random_units(
    n_hidden: int, n_inputs: int, seed: np.random.SeedSequence
) -> tuple[np.ndarray, np.ndarray]:
    """Weights a ~ U(-1, 1) of shape (B, d) and biases b ~ U(0, 1) of shape (B,)."""
    rng = generator(seed, STREAM_HIDDEN)
    A = 2 * rng.random((n_hidden, n_inputs), dtype=np.float32) - 1
    return A, rng.random(n_hidden, dtype=np.float32)


def unit_activity(
    A: np.ndarray, b: np.ndarray, X: torch.Tensor, out: torch.Tensor | None = None
) -> torch.Tensor:
    """sigmoid(A x + b) of rows X (n, d), as (B, n)."""
    biases = torch.from_numpy(b).to(X)
    return product(torch.from_numpy(A).to(X), X.T, out).add_(biases[:, None]).sigmoid_()


class ELMClassifier(RidgeClassifier):
    """Extreme learning machine: sigmoid(A x + b) with random A and b, read out by least squares.

    Parameters
    ----------
    n_hidden : int, default=2000
        Hidden units B.
    alpha : float, "loo" or None, default=None
        None stands for the paper's Moore-Penrose inverse, computed as ridge with a lambda of 1e-6
        times the mean diagonal of H'H (`alpha_` holds its value). A number is used as it is;
        "loo" takes the lambda with the smallest leave-one-out error.
    metric : {"accuracy", "weighted_f1", "auroc"}, optional
        As in `KCNetClassifier`.
    device : {"auto", "cpu", "cuda", "mps"}, default="auto"
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    weights_ : ndarray of shape (B, d)
        a ~ U(-1, 1).
    biases_ : ndarray of shape (B,)
        b ~ U(0, 1).
    coef_, classes_, alpha_, history_, timings_, loo_error_, loo_score_, metric_, calibration_
    target_code_, device_, dtype_
        As in `KCNetClassifier`.
    n_trained_parameters_, n_features_in_ : int

    References
    ----------
    Huang, G.-B., Zhu, Q.-Y. & Siew, C.-K. (2006). Extreme learning machine: theory and
    applications. Neurocomputing 70.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kcnet_core import ELMClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> net = ELMClassifier(n_hidden=300, random_state=0).fit(X[:1200] / 16, y[:1200])
    >>> bool(net.score(X[1200:] / 16, y[1200:]) > 0.85)
    True
    """

    def __init__(self, n_hidden=2000, alpha=None, metric=None, device="auto", random_state=None):
        self.n_hidden = n_hidden
        self.alpha = alpha
        self.metric = metric
        self.device = device
        self.random_state = random_state

    def fit_steps(self, X, y, sample_weight=None, groups=None, *, matrices=False, progress=False):
        """As `KCNetClassifier.fit_steps`; an ELM has one record, of epoch 0. `groups` has no use
        here (nothing is held out) and is accepted so that all models are called alike."""
        return all_or_nothing(self, self._steps(X, y, sample_weight, groups, progress))

    def _steps(self, X, y, sample_weight, groups, progress):
        check_parameters(self, PARAMETERS)
        X, Y, w, _, code = prepare(self, X, y, sample_weight, groups)
        self._draw(X, code)
        record = yield from self._read_out(X, Y, w, progress=progress)
        self.history_ = [record]
        yield record

    def _draw(self, X, code):
        """Random hidden layer: a ~ U(-1, 1), b ~ U(0, 1)."""
        started = time.perf_counter()
        seed = seed_sequence(self.random_state)
        A, b = random_units(self.n_hidden, X.shape[1], seed)
        self._begin(X, code, seed, {"wiring": time.perf_counter() - started})
        self.weights_, self.biases_ = A, b

    def _start_partial(self, X, code):
        check_parameters(self, PARAMETERS)
        self._draw(X, code)
        self.history_ = []

    def _alpha_for(self, sums):
        return RELATIVE_ALPHA * sums.mean_diagonal() if self.alpha is None else self.alpha

    def _activity(self, X, out=None):
        return unit_activity(self.weights_, self.biases_, X, out)
