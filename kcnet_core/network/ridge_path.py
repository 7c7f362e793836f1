"""The lambda path: one eigendecomposition, then any lambda at the cost of a small product."""

from __future__ import annotations

from copy import copy

import numpy as np
import torch

from kcnet_core.network.devices import computing
from kcnet_core.network.linear_algebra import eigenvectors, product, self_product
from kcnet_core.network.ridge import LeaveOneOut, RidgeSums, Rows, left_out
from kcnet_core.network.scores import score_outputs

# Where alpha="loo" looks: lambda counts against sums over rows, as in the paper.
ALPHA_GRID = np.logspace(-3, 5, 33)


class RidgePath:
    """Coefficients and leave-one-out results for many lambdas from one factorisation.

    With H H' = Q diag(s) Q' the output weights are beta(lambda) = Q (Q'HY / (s + lambda)); while
    there are fewer rows than cells the same form follows from H'H = U diag(s) U' with Q = H U.
    The leave-one-out outputs of `probe` are followed when the sums no longer hold rows. For each of
    `alphas`, `loo_error` is their mean squared error per row and `loo_score` their `metric`.
    """

    def __init__(self, sums: RidgeSums, probe: Rows, alphas, metric: str, kind: str):
        self.metric, self.kind = metric, kind
        gram = sums.gram
        if gram is None:
            rows = sums.rows()
            H, Y = rows.weighted()
            H = H.to(Y)
            s, U = eigenvectors(self_product(H.T))
            s.clamp_(min=0)
            basis = product(H, U)  # (B, n)
            target = U.T @ Y
            fitted = U * s / rows.w.sqrt()[:, None]
            leverage = U.square() * s / rows.w[:, None]
        else:
            rows = Rows(*(part.to(gram.HY) for part in (probe.H, probe.Y, probe.w)))
            s, basis = eigenvectors(gram.HH)
            s.clamp_(min=0)
            target = basis.T @ gram.HY
            fitted = product(rows.H.T, basis)
            leverage = fitted.square()
        self._rows = Rows(rows.H[:0].cpu(), rows.Y.cpu(), rows.w.cpu())
        self._s, self._basis, self._target, self._fitted, self._leverage = (
            part.cpu().numpy() for part in (s, basis, target, fitted, leverage)
        )
        self._measure(alphas)

    def at(self, alphas) -> RidgePath:
        """The same path measured at other lambdas."""
        other = copy(self)
        other._measure(alphas)
        return other

    def _measure(self, alphas) -> None:
        self.alphas = np.atleast_1d(np.asarray(alphas, float))
        results = [self.evaluate(alpha) for alpha in self.alphas]
        self.loo_error, self.loo_score = (np.array(column) for column in zip(*results, strict=True))

    def _shrink(self, alpha: float) -> np.ndarray:
        total = self._s + alpha
        floor = np.finfo(float).eps * len(total) * self._s.max()
        return np.divide(1.0, total, out=np.zeros_like(total), where=total > floor)

    def _weights(self, alpha: float) -> np.ndarray:
        return self._target * self._shrink(alpha)[:, None]

    def coef(self, alpha: float) -> np.ndarray:
        """Output weights (B, c) for one lambda; 0 gives the pseudo-inverse."""
        return _times(self._basis, self._weights(alpha))

    def leave_one_out(self, alpha: float) -> LeaveOneOut:
        """Leave-one-out outputs of the followed rows for one lambda."""
        yhat = _times(self._fitted, self._weights(alpha))
        leverage = _times(self._leverage, self._shrink(alpha)[:, None])[:, 0]
        return left_out(torch.from_numpy(yhat), torch.from_numpy(leverage), self._rows)

    def evaluate(self, alpha: float) -> tuple[float, float]:
        """Leave-one-out error and score for one lambda."""
        loo = self.leave_one_out(alpha)
        return loo.error, score_outputs(
            self.metric, loo.outputs.numpy(), loo.targets.numpy(), self.kind
        )

    def project(self, H: np.ndarray) -> np.ndarray:
        """Activities H (n, B) of other rows in the path's own basis; once per set of rows."""
        return _times(np.asarray(H, np.float64), self._basis)

    def decision(self, projected: np.ndarray, alpha: float) -> np.ndarray:
        """Raw class scores (n, c) of rows given by `project`, for one lambda."""
        return _times(projected, self._weights(alpha))

    @property
    def best_alpha(self) -> float:
        """The lambda with the smallest leave-one-out error."""
        return float(self.alphas[np.nanargmin(self.loo_error)])


def _times(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A B; most are so small that waking more threads would take longer than the product."""
    with computing(len(A), "cpu"):
        return product(torch.from_numpy(A), torch.from_numpy(B)).numpy()
