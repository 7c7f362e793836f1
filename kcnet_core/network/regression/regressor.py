"""KCNet for numbers: the same circuit, whose ridge predicts one number or several."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from sklearn.base import RegressorMixin

from kcnet_core.errors import KCNetError
from kcnet_core.network.circuit import PARAMETERS as CIRCUIT_PARAMETERS
from kcnet_core.network.circuit import KCNetCircuit
from kcnet_core.network.parameters import Choice
from kcnet_core.network.regression.intercept import Intercept, InterceptPath, activity_sum
from kcnet_core.network.regression.number_code import NumberCode
from kcnet_core.network.ridge import LeaveOneOut, RidgeSums, Rows
from kcnet_core.network.ridge_path import ALPHA_GRID
from kcnet_core.network.scores import NUMBER_KEYWORDS

PARAMETERS = {
    **CIRCUIT_PARAMETERS,
    "doa_rule": Choice("varpro"),  # the paper's rule descends a loss of classes
    "metric": Choice(None, *NUMBER_KEYWORDS),
}


class KCNetRegressor(RegressorMixin, KCNetCircuit):
    """A fruit fly's olfactory circuit that predicts numbers.

    The circuit of `KCNetClassifier`, with the same parameters; ridge has an intercept that is not
    shrunk. y is one number per row, or a table of several, which all share the Kenyon cells.
    Missing numbers are refused: each output would need sums over other rows.

    Parameters
    ----------
    n_hidden, fan_in, inhibition, n_epochs, n_submodels, learning_rate, stop_metric
    validation_fraction, batch_rows, gradient_rows, gradient_mask, stop_rule, restore_best
    fan_in_penalty, fan_in_target, keep_fan_in, wiring, image_shape, min_field, max_field
    local_share, connectome, min_synapses, synapse_counts, n_jobs, device, random_state
        As in `KCNetClassifier`. DOA sees outputs of mean 0 and variance 1, so that all count alike.
    alpha : float or "loo", default=1.0
        Ridge regularisation lambda, added to sums over rows; "loo" takes for each output the
        lambda with its smallest leave-one-out error.
    doa_rule : {"varpro"}
        The paper's rule is for classes only.
    metric : {"r2", "pearson"}, optional
        Measured on validation rows and by leave-one-out, mean over the outputs. None: R².

    Attributes
    ----------
    weights_, wiring_, fields_, scores_, device_, dtype_, history_, stopped_, doa_notes_, timings_
    inhibition_, metric_, n_trained_parameters_, n_features_in_
        As in `KCNetClassifier`.
    coef_ : ndarray of shape (B, c)
        Output weights beta, one column per output.
    intercept_ : ndarray of shape (c,)
    alpha_ : float or ndarray of shape (c,)
        Lambda used, one per output where "loo" chose them.
    loo_error_, loo_score_ : float
        Leave-one-out mean squared error (summed over the outputs) and metric.
    loo_predictions_ : ndarray of shape (n, c)
        Outputs for training rows that were left out (for a sample of them when there are many), and
    loo_residuals_ : ndarray of shape (n, c)
        how far above these the truth is.
    target_code_ : NumberCode

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kcnet_core import KCNetRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> net = KCNetRegressor(n_hidden=300, fan_in=4, alpha="loo", random_state=0)
    >>> bool(net.fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.4)
    True
    """

    alpha_: Any  # a number, or one per output
    _parameters = PARAMETERS
    _code = NumberCode

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def partial_fit(self, X, y, sample_weight=None):
        """Add rows; the result equals one `fit` on all rows, in any order and chunking.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.

        Returns
        -------
        self
        """
        return self._add_rows(X, y, None, sample_weight)

    def predict(self, X) -> np.ndarray:
        """Numbers of shape (n,), or (n, c) where y was a table."""
        Z = self._numbers(X)
        return self.target_code_.decode(Z)

    def predict_interval(self, X, coverage: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest number that rows like the training rows have with this `coverage`.

        Conformal (the jackknife): as far from the prediction as the truth of training rows was from
        theirs when they were left out. Infinite where there are too few rows for the coverage.

        Parameters
        ----------
        X : array of shape (n, d)
        coverage : float, default=0.9

        Returns
        -------
        low, high : ndarrays of the shape that `predict` gives
        """
        if not 0 < coverage < 1:
            raise KCNetError(f"coverage must lie between 0 and 1; got {coverage}.")
        Z, far = self._numbers(X), np.sort(np.abs(self.loo_residuals_), axis=0)
        place = math.ceil(coverage * (len(far) + 1)) - 1
        margin = far[place] if place < len(far) else np.inf
        return self.target_code_.decode(Z - margin), self.target_code_.decode(Z + margin)

    def _numbers(self, X) -> np.ndarray:
        """(n, c)"""
        return self._outputs(X).astype(np.float64) + self.intercept_

    def _solve(self, sums: RidgeSums, probe: Rows) -> tuple[np.ndarray, LeaveOneOut]:
        if self.alpha == "loo":
            return self._solve_each(self._path_of(sums, probe, ALPHA_GRID), probe)
        self.alpha_ = float(self.alpha)
        solved, loo = sums.solve(self.alpha_, probe)
        without = torch.mm(probe.H.T.to(solved), solved).cpu().numpy()
        beta, totals = solved.cpu().numpy(), sums.totals.cpu().numpy()
        intercept = Intercept(totals - activity_sum(sums) @ beta, totals[-1])
        self.coef_, self.intercept_ = intercept.weights(beta), intercept.value
        return intercept.outputs(without), intercept.left_out(loo, without[:, -1])

    def _solve_each(self, path: InterceptPath, probe: Rows) -> tuple[np.ndarray, LeaveOneOut]:
        """Each output with a lambda of its own."""
        self.alpha_ = alphas = path.best_alphas()
        solved = [
            (path.coef(alpha)[:, k], path.intercept(alpha).value[k], path.leave_one_out(alpha))
            for k, alpha in enumerate(alphas.tolist())
        ]
        self.coef_ = np.stack([beta for beta, _, _ in solved], axis=1)
        self.intercept_ = np.array([b for _, b, _ in solved])
        outputs = torch.stack([loo.outputs[:, k] for k, (*_, loo) in enumerate(solved)], dim=1)
        loo = LeaveOneOut(outputs, solved[0][2].targets, solved[0][2].weights)
        return probe.H.T.cpu().numpy() @ self.coef_ + self.intercept_, loo

    def _path_of(self, sums, probe, alphas) -> InterceptPath:
        return InterceptPath(sums, probe, alphas, self.metric_, self.target_code_.kind)

    def _keep_left_out(self, Z, Y, w):
        self.loo_predictions_, self.loo_residuals_ = Z, Y - Z

    def _search_targets(self, Y, w):
        Y = Y[:, :-1]
        middle = np.average(Y, axis=0, weights=w)
        spread = np.sqrt(np.average((Y - middle) ** 2, axis=0, weights=w))
        return (Y - middle) / np.where(spread > 0, spread, 1)
