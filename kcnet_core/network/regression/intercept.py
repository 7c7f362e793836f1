"""An intercept that ridge does not shrink, from what it makes of a target that is 1 throughout.

Without an intercept ridge turns targets t into outputs S t. Beside an unpenalised constant b the
outputs are S (y - b 1) + b 1, and the residuals of all rows add up to zero, which gives

    b = 1'(y - S y) / D        with  D = 1'(1 - S 1).

Its hat matrix is S + (1 - S 1)(1 - S 1)' / D. So leverages, and with them the leave-one-out
outputs, follow from what is known of y and of 1 without it: with v = (y - S y)_i / (1 - S_ii) and
u = (1 - S 1)_i / (1 - S_ii), the left-out residuals of the two,

    y_i - yhat_i = (v - b u) / (1 - u (1 - S 1)_i / D).
"""

from __future__ import annotations

import numpy as np
import torch

from kcnet_core.network.ridge import LeaveOneOut, RidgeSums, Rows
from kcnet_core.network.ridge_path import RidgePath

LEAST_REST = 1e-9  # of the rows: with less left of the 1, the cells are an intercept themselves


def activity_sum(sums: RidgeSums) -> np.ndarray:
    """The sum of w H over all rows, (B,)."""
    if sums.gram is not None:
        return sums.gram.HY[:, -1].cpu().numpy()
    rows = sums.rows()
    return (rows.H.to(rows.w) @ rows.w).cpu().numpy()


class Intercept:
    """From the sums over all rows of residuals without an intercept, `rest` (c + 1,)."""

    def __init__(self, rest: np.ndarray, n_rows: float):
        self.needed = rest[-1] > LEAST_REST * n_rows
        self.rest = rest
        self.value = rest[:-1] / rest[-1] if self.needed else np.zeros(len(rest) - 1)  # b (c,)

    def weights(self, beta: np.ndarray) -> np.ndarray:
        """Output weights (B, c) beside the intercept, from those of y and 1."""
        return beta[:, :-1] - beta[:, -1:] * self.value

    def outputs(self, without: np.ndarray) -> np.ndarray:
        """Outputs (n, c) from those of y and 1 without the intercept."""
        return without[:, :-1] + (1 - without[:, -1:]) * self.value

    def left_out(self, loo: LeaveOneOut, fitted_one: np.ndarray) -> LeaveOneOut:
        """Leave-one-out outputs from those of y and 1, and from the fitted ones of 1, (n,)."""
        residual = (loo.targets - loo.outputs).cpu().numpy()
        v, u = residual[:, :-1], residual[:, -1]
        share = np.ones(len(u))
        if self.needed:
            one_copy = np.minimum(loo.weights.cpu().numpy(), 1)
            share = np.maximum(1 - one_copy * u * (1 - fitted_one) / self.rest[-1], 1e-12)
        out = torch.from_numpy((v - self.value * u[:, None]) / share[:, None]).to(loo.targets)
        Y = loo.targets[:, :-1]
        return LeaveOneOut(Y - out, Y, loo.weights)


class InterceptPath(RidgePath):
    """The lambda path of a ridge with an intercept; its targets end with a column of 1."""

    def __init__(self, sums: RidgeSums, probe: Rows, alphas, metric: str, kind: str):
        self._totals, self._activity = sums.totals.cpu().numpy(), activity_sum(sums)
        super().__init__(sums, probe, alphas, metric, kind)

    def _measure(self, alphas) -> None:
        if not hasattr(self, "_ones"):
            self._ones = self._activity @ self._basis
        super()._measure(alphas)

    def intercept(self, alpha: float) -> Intercept:
        return Intercept(self._totals - self._ones @ self._weights(alpha), self._totals[-1])

    def coef(self, alpha: float) -> np.ndarray:
        return self.intercept(alpha).weights(super().coef(alpha))

    def leave_one_out(self, alpha: float) -> LeaveOneOut:
        fitted_one = self._fitted @ self._weights(alpha)[:, -1]
        return self.intercept(alpha).left_out(super().leave_one_out(alpha), fitted_one)

    def decision(self, projected: np.ndarray, alpha: float) -> np.ndarray:
        """Predictions (n, c) of rows given by `project`, for one lambda."""
        return self.intercept(alpha).outputs(super().decision(projected, alpha))

    def best_alphas(self) -> np.ndarray:
        """For each output the lambda with its smallest leave-one-out error, (c,)."""
        errors = np.stack([self.leave_one_out(alpha).errors for alpha in self.alphas])
        return self.alphas[np.argmin(errors, axis=0)]
