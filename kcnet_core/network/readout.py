"""What every network with a random hidden layer and ridge output weights has in common.

`KCNetClassifier` and `ELMClassifier` differ only in how rows become hidden activity; sums, solve,
lambda path, calibration, prediction and incremental fitting are here.
"""

from __future__ import annotations

import time

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from kcnet_core.errors import DataError, KCNetError
from kcnet_core.network.calibration import Calibration, CalibrationRows
from kcnet_core.network.devices import choose_device, computing, float64_device
from kcnet_core.network.history import Progress, time_at_work
from kcnet_core.network.labels import DEFAULT_METRIC, TargetCode, score_outputs
from kcnet_core.network.ridge import RidgeSums, Rows, rows_per_chunk
from kcnet_core.network.ridge_path import ALPHA_GRID, RidgePath
from kcnet_core.network.seeds import generator

# Activities (rows x cells) up to which float64 data is computed in float64; it costs nothing there.
SMALL_PROBLEM = 2**22
CALIBRATION_VALUES = 2_600_000  # activities of the calibration rows
CALIBRATION_ROWS = (400, 2000)  # fewest and most

# Purposes of random numbers; each has its own stream, so that adding one never moves another.
STREAM_HIDDEN, STREAM_CALIBRATION, STREAM_SEARCH, STREAM_CHOICES = range(4)


class RowsForgotten(KCNetError, NotFittedError):
    """The sums over training rows are needed, and the model no longer has them."""


def check_rows(estimator, X, *, reset: bool) -> np.ndarray:
    """X as a finite float32 or float64 array, with errors that name the first bad value."""
    X = validate_data(
        estimator, X, reset=reset, dtype=[np.float32, np.float64], ensure_all_finite=False
    )
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(X.sum(dtype=np.float64)) or np.isfinite(X).all()
    if not finite:
        row, column = np.argwhere(~np.isfinite(X))[0]
        value = "NaN (a missing value)" if np.isnan(X[row, column]) else "infinity (inf)"
        name = getattr(estimator, "feature_names_in_", None)
        where = f"column {column}" if name is None else f"column {name[column]!r}"
        raise DataError(
            f"Row {row}, {where} of X is {value}. Fill or drop such values first, for example "
            f"with kcnet_core.network.scaling.FeatureScaler or sklearn.impute.SimpleImputer."
        )
    return X


def check_weights(sample_weight, X) -> np.ndarray:
    """Row weights as float64, with at least one above zero."""
    w = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True, allow_all_zero_weights=True
    )
    if not (w > 0).any():
        raise DataError("Every sample_weight is zero: nothing is left to learn from.")
    return w


def prepare(estimator, X, y, sample_weight, groups=None, classes=None, code=None):
    """Checked rows, targets, weights and groups of the rows that count, and the code of y.

    A `code` from an earlier call means that the rows must fit what was seen before.
    """
    X = check_rows(estimator, X, reset=code is None)
    if y is None:
        raise DataError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    y = y if hasattr(y, "shape") else np.asarray(y)
    if y.shape[0] != len(X):
        raise DataError(
            f"X has {len(X)} rows, but y has {y.shape[0]}: one label per row is needed."
        )
    code = code or TargetCode.learn(y, classes)
    Y = code.encode(y)
    w = check_weights(sample_weight, X)
    if groups is not None:
        groups = np.asarray(groups)
        if len(groups) != len(X):
            raise DataError(f"X has {len(X)} rows, but groups has {len(groups)}.")
    if (w == 0).any():  # a weight of zero means that the row is not there
        there = w > 0
        X, Y, w = X[there], Y[there], w[there]
        groups = None if groups is None else groups[there]
    return X, Y, w, groups, code


def as_tensor(array: np.ndarray) -> torch.Tensor:
    """A tensor on the same memory, or on a copy when torch could not promise to leave it alone."""
    return torch.from_numpy(np.require(array, requirements=["C", "W"]))


def feature_dtype(X: np.ndarray, n_hidden: int, device: torch.device) -> torch.dtype:
    """float32, for speed; float64 for float64 data while that is just as quick."""
    small = X.dtype == np.float64 and len(X) * n_hidden <= SMALL_PROBLEM
    return torch.float64 if small and device.type != "mps" else torch.float32


def metric_for(estimator, code: TargetCode) -> str:
    """The metric asked for, or the usual one for this kind of target."""
    return estimator.metric or DEFAULT_METRIC[code.kind]


class RidgeReadout(ClassifierMixin, BaseEstimator):
    """Base of the classifiers with a fixed hidden layer. Subclasses give `_activity`."""

    # -- to be given by subclasses -------------------------------------------------------------

    def _activity(self, X: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        """Hidden activity (B, n) of rows X (n, d), written into `out` when given."""
        raise NotImplementedError

    def _alpha_for(self, sums: RidgeSums) -> float | str:
        """Lambda, or "loo"."""
        return self.alpha

    # -- scikit-learn --------------------------------------------------------------------------

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def __sklearn_is_fitted__(self):
        return hasattr(self, "coef_")

    def __getstate__(self):
        state = super().__getstate__()
        return {key: value for key, value in state.items() if key != "_path"}

    # -- fitting -------------------------------------------------------------------------------

    def fit(self, X, y, sample_weight=None, groups=None):
        """Fit to rows X (n, d) and labels y.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,), or (n, c) of 0/1 for multi-label data
        sample_weight : array of shape (n,), optional
            A weight of 2 counts like two equal rows.
        groups : array of shape (n,), optional
            Rows of one group stay on one side of DOA's inner validation split.

        Returns
        -------
        self
        """
        for _ in self.fit_steps(X, y, sample_weight, groups):
            pass
        return self

    def _prepare(self, X, y, sample_weight, groups=None, classes=None, reset=True):
        code = None if reset else self._code
        return prepare(self, X, y, sample_weight, groups, classes, code)

    def _metric_for(self, code: TargetCode) -> str:
        return metric_for(self, code)

    def _begin(self, X, code, seed, n_hidden, timings):
        """Forget an earlier fit and lay out the sums for a new one."""
        vars(self).pop("coef_", None)  # not fitted again until `_finish`
        self._device = choose_device(self.device)
        self._dtype = feature_dtype(X, n_hidden, self._device)
        self._code, self.classes_ = code, code.classes
        self.metric_ = self._metric_for(code)
        self._path = None
        self._sums = RidgeSums(n_hidden, code.n_columns, float64_device(self._device))
        lowest, highest = CALIBRATION_ROWS
        capacity = int(np.clip(CALIBRATION_VALUES // n_hidden, lowest, highest))
        self._calibration_rows = CalibrationRows(
            capacity, X.shape[1], generator(seed, STREAM_CALIBRATION)
        )
        self.timings_ = {
            "wiring": 0.0,
            "doa": 0.0,
            "gram": 0.0,
            "solve": 0.0,
            "calibrate": 0.0,
            **timings,
        }

    def _accumulate(self, X, Y, w):
        """Add rows to the sums, yielding `Progress` after each chunk."""
        return time_at_work(self._add_chunks(X, Y, w), self.timings_, "gram")

    def _add_chunks(self, X, Y, w):
        sums = self._sums
        sums.expect(len(X))
        started = time.perf_counter()
        size = rows_per_chunk(sums.n_hidden)
        H = None
        for start in range(0, len(X), size):
            stop = min(start + size, len(X))
            part = slice(start, stop)
            with computing(sums.n_hidden, self._device, stop - start):
                # The sums keep H itself while they are dual; else its memory serves again.
                again = H if not sums.dual and H is not None and stop - start == size else None
                H = self._activity(self._rows_on_device(X[part]), again)
                sums.add(H, torch.from_numpy(Y[part]), torch.from_numpy(w[part]))
            yield Progress("gram", stop, len(X), time.perf_counter() - started)
        sums.settle()
        self._calibration_rows.add(X, Y, w)

    def _rows_on_device(self, X: np.ndarray) -> torch.Tensor:
        return as_tensor(X).to(self._device, self._dtype)

    def _finish(self):
        """Solve, calibrate, and return the (training, leave-one-out) metric."""
        sums, kind = self._sums, self._code.kind
        started = time.perf_counter()
        with computing(sums.n_hidden, self._device, sums.n_hidden):
            probe = self._probe()
            alpha = self._alpha_for(sums)
            if alpha == "loo":
                alpha = RidgePath(sums, probe, ALPHA_GRID, self.metric_, kind).best_alpha
            beta, loo = sums.solve(alpha, probe)
        self.alpha_ = float(alpha)
        self.coef_ = beta.cpu().numpy()
        solved = time.perf_counter()
        Z, Y, w = (t.cpu().numpy() for t in (loo.outputs, loo.targets, loo.weights))
        self.calibration_ = Calibration.fit(Z, Y, w, kind)
        self.loo_error_ = loo.error
        self.loo_score_ = score_outputs(self.metric_, Z, Y, kind)
        rows = probe if probe is not None else sums.rows()
        fitted = torch.mm(rows.H.T.to(beta), beta).cpu().numpy()
        train = score_outputs(self.metric_, fitted, rows.Y.cpu().numpy(), kind)
        self.n_trained_parameters_ = self.coef_.size
        self.timings_["solve"] += solved - started
        self.timings_["calibrate"] += time.perf_counter() - solved
        return train, self.loo_score_

    def _probe(self) -> Rows | None:
        """The calibration rows with their activities, once the sums no longer hold rows."""
        if self._sums.dual:
            return None
        sample, device = self._calibration_rows, self._sums.device
        H = self._activity(self._rows_on_device(sample.X)).to(device)
        return Rows(H, torch.from_numpy(sample.Y).to(device), torch.from_numpy(sample.w).to(device))

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Add rows; the result equals one `fit` on all rows, in any order and chunking.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array, optional
            All classes that will ever come; needed with the first call when the first rows do not
            hold every class.

        Returns
        -------
        self
        """
        first = not hasattr(self, "coef_")
        if not first:
            self._sums_needed("rows cannot be added")
        X, Y, w, _, code = self._prepare(X, y, sample_weight, None, classes, reset=first)
        if first:
            self._start_partial(X, code)
        self._path = None
        for _ in self._accumulate(X, Y, w):
            pass
        self._finish()
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

    def _sums_needed(self, wish: str) -> None:
        if getattr(self, "_sums", None) is None:
            raise RowsForgotten(
                f"This model is without the sums over its training rows (it was loaded from a "
                f"file, or told to forget them), so {wish}. Fit it anew on all rows."
            )

    # -- prediction ----------------------------------------------------------------------------

    def _chunks(self, X):
        """Activities (B, n) of X, chunk by chunk."""
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        size = rows_per_chunk(len(self.coef_))
        for start in range(0, len(X), size):
            part = X[start : start + size]
            with computing(len(self.coef_), self._device, len(part)):
                H = self._activity(self._rows_on_device(part))
            yield H

    def class_scores(self, X) -> np.ndarray:
        """Raw outputs H beta of shape (n, c), one column per class or label."""
        check_is_fitted(self)
        beta = torch.from_numpy(self.coef_).to(self._device, self._dtype)
        return np.concatenate([torch.mm(beta.T, H).T.cpu().numpy() for H in self._chunks(X)])

    def decision_function(self, X) -> np.ndarray:
        """How far each row is on the side of a class.

        Binary: (n,), the score of `classes_[1]` minus that of `classes_[0]`. Multi-class: the raw
        class scores (n, c). Multi-label: log-odds (n, c), above 0 where the label is predicted.
        """
        Z = self.class_scores(X)
        if self._code.kind == "multilabel":
            return self.calibration_.log_odds(Z.astype(np.float64))
        if Z.shape[1] == 1:
            return Z[:, 0]
        return Z[:, 1] - Z[:, 0] if Z.shape[1] == 2 else Z

    def predict(self, X) -> np.ndarray:
        """The most probable class, or for multi-label data every label with probability >= 0.5."""
        Z = self.class_scores(X)
        if self._code.kind == "multilabel":
            return self._code.decode(self.calibration_.log_odds(Z.astype(np.float64)) >= 0)
        return self._code.decode(Z.argmax(1))

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities (n, c), calibrated on leave-one-out outputs of the training rows."""
        Z = self.class_scores(X)
        return self.calibration_.probabilities(Z.astype(np.float64))

    def hidden(self, X) -> np.ndarray:
        """Activity of the hidden units, (n, B)."""
        return np.concatenate([H.T.cpu().numpy() for H in self._chunks(X)])

    def ridge_path(self, alphas) -> RidgePath:
        """Coefficients, leave-one-out error and score for many lambdas from one factorisation.

        The factorisation is kept, so a later call with other lambdas is quick.
        """
        check_is_fitted(self)
        self._sums_needed("other lambdas cannot be tried")
        if getattr(self, "_path", None) is None:
            with computing(len(self.coef_), self._device):
                self._path = RidgePath(
                    self._sums, self._probe(), alphas, self.metric_, self._code.kind
                )
            return self._path
        return self._path.at(alphas)
