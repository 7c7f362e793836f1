"""Test score and leave-one-out error of a trained run for any lambda, from one factorisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from kcnet_core.experiments import metrics
from kcnet_core.experiments.training import TrainedRun
from kcnet_core.network import scores

if TYPE_CHECKING:
    from kcnet_core.network.readout import RidgeReadout

ALPHAS = np.logspace(-3, 4, 71)
MAX_TEST_ROWS = 4_000  # the hidden activity of the test rows is held while the slider is used


@dataclass(frozen=True)
class AtLambda:
    alpha: float
    test_score: float
    loo_error: float
    coef_norm: float


class LambdaPath:
    """The ridge path of a trained run, with its test rows projected once."""

    def __init__(self, trained: TrainedRun, alphas: np.ndarray = ALPHAS):
        self.alphas = alphas
        self._path = cast("RidgeReadout", trained.model).ridge_path(alphas)
        self._metric = metrics.headline_metric(trained.dataset)
        rows = trained.test_rows[:MAX_TEST_ROWS]
        self._y = trained.dataset.y[rows]
        self._H = self._path.project(trained.model.hidden(trained.inputs(rows)))
        self.loo_error = self._path.loo_error
        self.test_scores = np.array([self._test_score(alpha) for alpha in alphas])
        self.best_alpha = self._path.best_alpha

    def at(self, alpha: float) -> AtLambda:
        error, _ = self._path.evaluate(alpha)
        norm = float(np.linalg.norm(self._path.coef(alpha)))
        return AtLambda(alpha, self._test_score(alpha), error, norm)

    def _test_score(self, alpha: float) -> float:
        decision = self._path.decision(self._H, alpha)  # (n, c)
        if self._metric == "AUROC":
            return scores.auroc(self._y, decision)
        measure = scores.accuracy if self._metric == "accuracy" else scores.weighted_f1
        return measure(self._y, decision.argmax(axis=1))
