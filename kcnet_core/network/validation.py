"""Rows, labels, weights and groups as a fit can use them, or an error that names what is wrong."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, validate_data

from kcnet_core.contracts import ResultT, Steps, StepT
from kcnet_core.errors import DataError
from kcnet_core.network.blocked_matmul import run_on_rows
from kcnet_core.network.labels import TargetCode


def check_rows(estimator: BaseEstimator, X, *, reset: bool) -> np.ndarray:
    """X as a finite float32 or float64 array, with errors that name the first bad value."""
    X = validate_data(
        estimator, X, reset=reset, dtype=[np.float32, np.float64], ensure_all_finite=False
    )
    if not _all_finite(X):
        row, column = np.argwhere(~np.isfinite(X))[0]
        value = "NaN (a missing value)" if np.isnan(X[row, column]) else "infinity (inf)"
        names = getattr(estimator, "feature_names_in_", None)
        where = f"column {column}" if names is None else f"column {names[column]!r}"
        raise DataError(
            f"Row {row}, {where} of X is {value}. Fill or drop such values first, for example "
            f"with kcnet_core.network.scaling.FeatureScaler or sklearn.impute.SimpleImputer."
        )
    return X


def _all_finite(X: np.ndarray) -> bool:
    found = []

    def look(rows: slice) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            # A float32 sum may overflow where no value does; only then is each one looked at.
            found.append(np.isfinite(X[rows].sum()) or np.isfinite(X[rows]).all())

    run_on_rows(look, len(X))
    return all(found)


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
    if code is not None and classes is not None:
        _refuse_other_classes(code, classes)
    code = code or estimator._code.learn(y, classes)
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


def _refuse_other_classes(code: TargetCode, classes) -> None:
    given = np.unique(np.asarray(classes))
    if code.kind != "multilabel" and not np.array_equal(given, code.classes):
        raise DataError(
            f"classes={given.tolist()} are not those of the first call, "
            f"{code.classes.tolist()}: name all that will ever come with the first rows."
        )


def all_or_nothing(estimator: BaseEstimator, steps: Steps[StepT, ResultT]) -> Steps[StepT, ResultT]:
    """Pass on the steps of a fit; one that fails or is given up leaves the model as it was."""
    before = dict(vars(estimator))
    try:
        return (yield from steps)
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
