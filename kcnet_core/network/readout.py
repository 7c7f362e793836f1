"""What the networks have in common: how a fit begins, and ridge output weights.

`KCNetClassifier`, `KCNetRegressor` and `ELMClassifier` differ in how rows become hidden activity
and outputs become answers; sums, solve, lambda path and incremental fitting are `RidgeReadout`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from kcnet_core.contracts import Steps
from kcnet_core.errors import KCNetError
from kcnet_core.network.calibration import CalibrationRows
from kcnet_core.network.devices import (
    as_tensor,
    choose_device,
    computing,
    feature_dtype,
    float64_device,
)
from kcnet_core.network.history import EpochRecord, Progress, time_at_work
from kcnet_core.network.labels import TargetCode
from kcnet_core.network.ridge import LeaveOneOut, RidgeSums, Rows, rows_per_chunk
from kcnet_core.network.ridge_path import ALPHA_GRID, RidgePath
from kcnet_core.network.scores import DEFAULT_METRIC, score_outputs
from kcnet_core.network.seeds import STREAM_CALIBRATION, generator
from kcnet_core.network.validation import check_rows, prepare

CALIBRATION_VALUES = 2_600_000  # activities of the calibration rows
CALIBRATION_ROWS = (400, 2000)  # fewest and most


class RowsForgotten(KCNetError, NotFittedError):
    """The sums over training rows are needed, and the model no longer has them."""


class NetworkEstimator(BaseEstimator):
    """Base of all networks. Subclasses give `fit_steps`."""

    _code: Any = TargetCode  # which learns how targets stand for columns

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    @property
    def has_sums(self) -> bool:
        """Whether the sums over training rows, from which any lambda can be solved, are there."""
        return False

    def fit(self, X, y, sample_weight=None, groups=None):
        """Fit to rows X (n, d) and targets y.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,), or (n, c): 0/1 for multi-label data, or several numbers to predict
        sample_weight : array of shape (n,), optional
            A weight of 2 counts like two equal rows.
        groups : array of shape (n,), optional
            Rows of one group stay on one side of a split into training and validation rows.

        Returns
        -------
        self
        """
        for _ in self.fit_steps(X, y, sample_weight, groups):
            pass
        return self

    def _forget_fit(self, code) -> None:
        """Begin anew for targets of this kind; the model is not fitted until it has `coef_`."""
        self.__dict__.pop("coef_", None)
        self.device_ = choose_device(self.device)
        self.target_code_ = code
        self.metric_ = self._metric_for(code)

    def _metric_for(self, code) -> str:
        """The metric asked for, or the usual one for this kind of target."""
        return self.metric or DEFAULT_METRIC[code.kind]

    def forget_rows(self):
        """Drop what only more rows and other lambdas need; predictions stay the same.

        Returns
        -------
        self
        """
        return self


class RidgeReadout(NetworkEstimator):
    """Base of the networks with a fixed hidden layer. Subclasses give `_activity` and
    `_start_partial`."""

    _sums: RidgeSums | None = None
    _calibration_rows: CalibrationRows | None = None
    _path: RidgePath | None = None

    # -- to be given by subclasses -------------------------------------------------------------

    def _activity(self, X: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        """Hidden activity (B, n) of rows X (n, d), written into `out` when given."""
        raise NotImplementedError

    def _alpha_for(self, sums: RidgeSums) -> float | str:
        """Lambda, or "loo"."""
        return self.alpha

    # -- fitting -------------------------------------------------------------------------------

    def __getstate__(self):
        state = super().__getstate__()
        return {key: value for key, value in state.items() if key != "_path"}

    def _begin(self, X, code, seed, timings: dict[str, float]) -> None:
        """Forget an earlier fit and lay out the sums for a new one."""
        self._forget_fit(code)
        self.dtype_ = feature_dtype(X, self.n_hidden, self.device_)
        self._path = None
        self._sums = RidgeSums(self.n_hidden, code.n_columns, float64_device(self.device_))
        capacity = int(np.clip(CALIBRATION_VALUES // self.n_hidden, *CALIBRATION_ROWS))
        rng = generator(seed, STREAM_CALIBRATION)
        self._calibration_rows = CalibrationRows(capacity, X.shape[1], rng)
        stages = ("wiring", "doa", "gram", "solve", "calibrate")
        self.timings_ = {**dict.fromkeys(stages, 0.0), **timings}

    def _read_out(self, X, Y, w, density=1.0, progress=False) -> Steps[Progress, EpochRecord]:
        """Add rows to the sums, solve and calibrate; returns the record of a plain network."""
        for step in time_at_work(self._add_chunks(X, Y, w), self.timings_, "gram"):
            if progress:
                yield step
        if progress:
            yield Progress("solve", 0, 1, 0.0)
        train, left_out = self._finish()
        return EpochRecord(
            epoch=0,
            train_metric=train,
            validation_metric=left_out,
            density=density,
            seconds=sum(self.timings_.values()),
        )

    def _add_chunks(self, X, Y, w, more=False) -> Steps[Progress, None]:
        """`more` rows will come at once, so that memory is kept for them."""
        sums, sample = self._remembered("rows cannot be added")
        sums.expect(len(X))
        started = time.perf_counter()
        size = rows_per_chunk(sums.n_hidden)
        H = sums.activities
        for start in range(0, len(X), size):
            stop = min(start + size, len(X))
            part = slice(start, stop)
            with computing(sums.n_hidden, self.device_, stop - start):
                # The sums keep H itself while they are dual; else its memory serves again.
                fits = not sums.dual and H is not None and H.shape[1] == stop - start
                H = self._activity(self._rows_on_device(X[part]), H if fits else None)
                sums.activities = None if sums.dual else H
                sums.add(H, torch.from_numpy(Y[part]), torch.from_numpy(w[part]))
            yield Progress("gram", stop, len(X), time.perf_counter() - started)
        if not more:
            sums.settle()
        sample.add(X, Y, w)

    def _rows_on_device(self, X: np.ndarray) -> torch.Tensor:
        return as_tensor(X).to(self.device_, self.dtype_)

    def _finish(self) -> tuple[float, float]:
        """Solve, calibrate, and return the (training, leave-one-out) metric."""
        (sums, sample), kind = self._remembered("it cannot be solved"), self.target_code_.kind
        started = time.perf_counter()
        with computing(sums.n_hidden, self.device_, sums.n_hidden):
            fitted, loo = self._solve(sums, self._probe(sums, sample))
        solved = time.perf_counter()
        Z, Y, w = (t.cpu().numpy() for t in (loo.outputs, loo.targets, loo.weights))
        self._keep_left_out(Z, Y, w)
        self.loo_error_ = loo.error
        self.loo_score_ = score_outputs(self.metric_, Z, Y, kind)
        train = score_outputs(self.metric_, fitted, Y, kind)
        self.n_trained_parameters_ = self.coef_.size
        self.timings_["solve"] += solved - started
        self.timings_["calibrate"] += time.perf_counter() - solved
        return train, self.loo_score_

    def _solve(self, sums: RidgeSums, probe: Rows) -> tuple[np.ndarray, LeaveOneOut]:
        """Choose lambda and the output weights; what these give for the probe rows, and what they
        would if each were left out."""
        alpha = self._alpha_for(sums)
        if alpha == "loo":
            alpha = self._path_of(sums, probe, ALPHA_GRID).best_alpha
        self.alpha_ = float(alpha)
        beta, loo = sums.solve(self.alpha_, probe)
        self.coef_ = beta.cpu().numpy()
        return torch.mm(probe.H.T.to(beta), beta).cpu().numpy(), loo

    def _path_of(self, sums: RidgeSums, probe: Rows, alphas) -> RidgePath:
        return RidgePath(sums, probe, alphas, self.metric_, self.target_code_.kind)

    def _keep_left_out(self, Z: np.ndarray, Y: np.ndarray, w: np.ndarray) -> None:
        """Learn from leave-one-out outputs Z (n, c), targets Y and weights w of some rows."""
        raise NotImplementedError

    def _probe(self, sums: RidgeSums, sample: CalibrationRows) -> Rows:
        """Rows with their activities: those in the sums or, once these hold none, a sample."""
        if sums.dual:
            return sums.rows()
        H = self._activity(self._rows_on_device(sample.X)).to(sums.device)
        Y, w = (torch.from_numpy(part).to(sums.device) for part in (sample.Y, sample.w))
        return Rows(H, Y, w)

    def _add_rows(self, X, y, classes, sample_weight):
        """Add rows and solve again."""
        first = not self.__sklearn_is_fitted__()
        if not first:
            self._remembered("rows cannot be added")
        code = None if first else self.target_code_
        X, Y, w, _, code = prepare(self, X, y, sample_weight, None, classes, code)
        if first:
            self._start_partial(X, code)
        self._path = None
        for _ in self._read_out(X, Y, w):
            pass
        return self

    def forget_rows(self):
        """Drop the sums over training rows (8 B^2 bytes); predictions stay the same.

        `partial_fit` and `ridge_path` are then no longer possible, as for a model from a file.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self._sums = self._calibration_rows = self._path = None
        return self

    @property
    def has_sums(self) -> bool:
        return self._sums is not None

    def _remembered(self, wish: str) -> tuple[RidgeSums, CalibrationRows]:
        if self._sums is None or self._calibration_rows is None:
            raise RowsForgotten(
                f"This model is without the sums over its training rows (it was loaded from a "
                f"file, or told to forget them), so {wish}. Fit it anew on all rows."
            )
        return self._sums, self._calibration_rows

    # -- prediction ----------------------------------------------------------------------------

    def _chunks(self, X, sound: bool = False) -> Iterator[torch.Tensor]:
        """Activities (B, n) of X, chunk by chunk."""
        if not sound:
            check_is_fitted(self)
            X = check_rows(self, X, reset=False)
        size = rows_per_chunk(len(self.coef_))
        for start in range(0, len(X), size):
            part = X[start : start + size]
            with computing(len(self.coef_), self.device_, len(part)):
                H = self._activity(self._rows_on_device(part))
            yield H

    def _outputs(self, X) -> np.ndarray:
        """H beta of shape (n, c)."""
        check_is_fitted(self)
        beta = torch.from_numpy(self.coef_).to(self.device_, self.dtype_)
        return np.concatenate([torch.mm(beta.T, H).T.cpu().numpy() for H in self._chunks(X)])

    def hidden(self, X) -> np.ndarray:
        """Activity of the hidden units, (n, B)."""
        return np.concatenate([H.T.cpu().numpy() for H in self._chunks(X)])

    def hidden_of_sound(self, X: np.ndarray) -> np.ndarray:
        """`hidden` of float32 rows that were checked before: for one row the checks cost most."""
        return np.concatenate([H.T.cpu().numpy() for H in self._chunks(X, sound=True)])

    def ridge_path(self, alphas) -> RidgePath:
        """Coefficients, leave-one-out error and score for many lambdas from one factorisation.

        The factorisation is kept, so a later call with other lambdas is quick.
        """
        check_is_fitted(self)
        sums, sample = self._remembered("other lambdas cannot be tried")
        if self._path is not None:
            return self._path.at(alphas)
        with computing(len(self.coef_), self.device_):
            probe = self._probe(sums, sample)
            self._path = self._path_of(sums, probe, alphas)
        return self._path
