"""Bring descriptors of very different sizes to one scale, learned from training rows only."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kcnet_core.errors import DataError

METHODS = {
    "standard": "subtract the mean and divide by the standard deviation, as in the paper",
    "rank": "replace each value by the normal score of its rank, so that no outlier dominates",
    "none": "leave the values as they are (images arrive standardised)",
}
STATE = {"standard": ("mean_", "scale_"), "rank": ("quantiles_",), "none": ()}  # by method
MAX_QUANTILES = 256
ODOR_CLIP = 5.0  # standard deviations; a few descriptors have tails that drown the other inputs
NAMES_IN_MESSAGE = 5


class FeatureScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Scale columns by what the training rows show, and drop columns that carry nothing.

    A column is dropped when a training row holds a value that is not finite or, except for
    ``method="none"``, when all training rows hold the same value.

    Parameters
    ----------
    method : {"standard", "rank", "none"}, default="standard"
        "standard" gives mean 0 and standard deviation 1. "rank" gives normal scores: a value's
        place among the training rows' quantiles (linear between them, the middle of the tie for
        tied values), sent through the inverse normal distribution. "none" changes no value.
    clip : float or None, default=None
        Bound scaled values to [-clip, clip]: a molecule far outside the training rows then
        cannot drive the network to absurd activity.

    Attributes
    ----------
    kept_ : ndarray of shape (n_features_in_,), bool
        Columns that the output keeps, in order.
    dropped_ : ndarray of str
        Names of the other columns (``x3`` for the fourth when the input had no names).
    mean_, scale_ : ndarray of shape (n_kept,), float64
        For "standard".
    quantiles_ : ndarray of shape (n_quantiles, n_kept), float64
        For "rank": row k holds the training quantiles at level (k + 1/2) / n_quantiles.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only when the input was a DataFrame.

    Examples
    --------
    >>> import numpy as np
    >>> from kcnet_core.network.scaling import FeatureScaler
    >>> scaler = FeatureScaler().fit(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> scaler.transform([[3.0, 5.0]]).tolist(), scaler.dropped_.tolist()
    ([[1.0]], ['x1'])
    """

    def __init__(self, method="standard", clip=None):
        self.method = method
        self.clip = clip

    def fit(self, X, y=None):
        """Learn the scale of every column of `X` (n, d); `y` is not used."""
        self._check_settings()
        X = validate_data(self, X, dtype=[np.float32, np.float64], ensure_all_finite=False)
        with np.errstate(invalid="ignore", over="ignore"):
            mean = X.mean(axis=0, dtype=np.float64)
            scale = X.std(axis=0, dtype=np.float64)
            spread = X.max(axis=0) - X.min(axis=0)
        kept = np.isfinite(X).all(axis=0)
        if self.method != "none":
            kept &= (spread > 0) & np.isfinite(scale) & (scale > 0)
        if not kept.any():
            raise DataError(
                f"None of the {X.shape[1]} columns can be used: in the {len(X)} training rows "
                f"(n_samples = {len(X)}) each is constant or holds a value that is not finite. "
                "Give more varied rows, or other columns."
            )
        self.kept_ = kept
        if self.method == "standard":
            self.mean_, self.scale_ = mean[kept], scale[kept]
        elif self.method == "rank":
            levels = _levels(min(len(X), MAX_QUANTILES))
            # Hazen's rule puts the i-th of n sorted values at level (i - 1/2) / n.
            self.quantiles_ = np.quantile(X[:, kept].astype(float), levels, axis=0, method="hazen")
        self.dropped_ = self._input_names()[~kept]
        return self

    def transform(self, X):
        """Scale `X` (n, d) to float32 of shape (n, n_kept)."""
        check_is_fitted(self, "kept_")
        X = validate_data(
            self, X, dtype=[np.float32, np.float64], ensure_all_finite=False, reset=False
        )
        X = X[:, self.kept_]
        self._check_finite(X)
        if self.method == "standard":
            X = (X - self.mean_) / self.scale_
        elif self.method == "rank":
            X = _normal_scores(X, self.quantiles_)
        if self.clip is not None:
            X = np.clip(X, -self.clip, self.clip)
        return np.ascontiguousarray(X, dtype=np.float32)

    def get_feature_names_out(self, input_features=None):
        """Names of the kept columns."""
        return super().get_feature_names_out(input_features)[self.kept_]

    def get_state(self):
        """Fitted state as named arrays, for `from_state` and for model files."""
        check_is_fitted(self, "kept_")
        return {name: getattr(self, name).copy() for name in ("kept_", *STATE[self.method])}

    @classmethod
    def from_state(cls, params, arrays, feature_names=None):
        """Rebuild a fitted scaler from `get_params()` and `get_state()`.

        `feature_names` only name the columns in `dropped_`; rows may come as plain arrays.
        """
        scaler = cls(**params)
        scaler._check_settings()
        missing = {"kept_", *STATE[scaler.method]} - set(arrays)
        if missing:
            raise DataError(f"The saved scaler lacks {', '.join(sorted(missing))}.")
        kept = np.asarray(arrays["kept_"]).astype(bool)
        scaler.kept_, scaler.n_features_in_ = kept, kept.size
        for name in STATE[scaler.method]:
            value = np.asarray(arrays[name], dtype=np.float64)
            if value.shape[-1] != kept.sum() or not np.isfinite(value).all():
                raise DataError(f"The saved scaler's {name} does not fit its {kept.sum()} columns.")
            setattr(scaler, name, value)
        names = scaler._input_names() if feature_names is None else np.asarray(feature_names)
        scaler.dropped_ = names[~kept]
        return scaler

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # a column with NaN is dropped, not refused
        tags.transformer_tags.preserves_dtype = []  # always float32
        return tags

    def _check_settings(self):
        if self.method not in METHODS:
            raise DataError(f"method is {self.method!r}; it must be one of {', '.join(METHODS)}.")
        if self.clip is not None and not self.clip > 0:
            raise DataError(f"clip is {self.clip!r}; it must be a positive number or None.")

    def _input_names(self):
        default = np.array([f"x{i}" for i in range(self.n_features_in_)], dtype=object)
        return getattr(self, "feature_names_in_", default)

    def _check_finite(self, X):
        bad = ~np.isfinite(X)
        if bad.any():
            rows, columns = np.nonzero(bad)
            names = self._input_names()[self.kept_][np.unique(columns)]
            listed = ", ".join(map(str, names[:NAMES_IN_MESSAGE]))
            more = f" and {len(names) - NAMES_IN_MESSAGE} more" * (len(names) > NAMES_IN_MESSAGE)
            raise DataError(
                f"Row {rows[0]} (counting from 0) has a value that is not finite in {listed}{more}"
                "; leave such rows out or give a number."
            )


class RateScaler(FeatureScaler):
    """Columns as the firing rates of glomeruli: by rank among training rows, float32 in (0, 1).

    The share of training rows with a smaller value, ties counted half. Global inhibition subtracts
    C times the mean over the Kenyon cells. With rates, which are never negative, a C above 1 leaves
    only the strongest cells active, as in a fly, and molecules share cells only with molecules that
    are much alike; standardised descriptors have mean 0, and C does nothing.
    """

    def __init__(self, method="rank", clip=None):
        super().__init__(method=method, clip=clip)

    def transform(self, X):
        """Rates of shape (n, n_kept)."""
        return ndtr(super().transform(X)).astype(np.float32)


def default_scaler(dataset):
    """An unfitted scaler for this kind of data, or None for images, which arrive standardised."""
    return FeatureScaler(clip=ODOR_CLIP) if dataset.kind == "odor" else None


def _levels(count):
    return (np.arange(count) + 0.5) / count


def _normal_scores(X, quantiles):
    """Place of each value among its column's quantiles, as a standard normal value."""
    levels = _levels(len(quantiles))
    scores = np.empty(X.shape)
    for j, column in enumerate(quantiles.T):
        x = X[:, j]
        # Interpolating from both sides gives a tied value the middle of its tie.
        last = np.interp(x, column, levels)
        first = -np.interp(-x, -column[::-1], -levels[::-1])
        scores[:, j] = ndtri((first + last) / 2)
    return scores
