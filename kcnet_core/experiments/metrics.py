"""What to say of scores: all of them at once, how sure we can be of them, and which differ."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from kcnet_core.network.scores import (
    METRICS,
    accuracy,
    auroc,
    auroc_by_label,
    calibration_error,
    weighted_f1,
)

EXACT_SIGN_FLIPS = 16  # 2^16 sign patterns are quickly enumerated; beyond, they are sampled
SAMPLED_SIGN_FLIPS = 20_000
LEVEL = 0.95


def headline_metric(dataset) -> str:
    """The metric by which this kind of data is judged."""
    if dataset.multilabel:
        return "AUROC"
    return "weighted F1" if dataset.kind == "odor" else "accuracy"


def all_scores(y_true, y_pred, scores=None, *, probabilities=True) -> dict[str, float]:
    """Every metric that the outputs allow.

    `scores` are (n,) or (n, 2) for two classes, (n, c) for more or for labels; column k belongs to
    class k. Those that are no probabilities, but decision values, have no calibration error.
    """
    result = {"accuracy": accuracy(y_true, y_pred), "weighted F1": weighted_f1(y_true, y_pred)}
    if scores is not None:
        result["AUROC"] = auroc(y_true, scores)
        if probabilities:
            result["calibration error"] = calibration_error(y_true, scores)
    return result


def auroc_note(y_true, scores, names=None) -> str:
    """A sentence naming the labels that `auroc` left out, or an empty string."""
    left_out = np.flatnonzero(np.isnan(auroc_by_label(y_true, scores)))
    if left_out.size == 0:
        return ""
    listed = ", ".join(str(k) if names is None else names[k] for k in left_out)
    return f"AUROC leaves out {listed}: these test rows have only one side of it."


def confusion(y_true, y_pred, n_classes=None) -> np.ndarray:
    """Counts with truth in rows and prediction in columns.

    (c, c) for classes; (c, 2, 2) for labels, one table [[TN, FP], [FN, TP]] each.
    """
    y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
    if y_true.ndim == 2:
        return np.stack([confusion(t, p, 2) for t, p in zip(y_true.T, y_pred.T, strict=True)])
    c = n_classes or int(max(y_true.max(), y_pred.max())) + 1
    return np.bincount(y_true.astype(int) * c + y_pred.astype(int), minlength=c * c).reshape(c, c)


@dataclass(frozen=True)
class Interval:
    """A mean with its 95% interval (NaN ends for a single value)."""

    mean: float
    low: float
    high: float
    n: int
    method: str
    p: float = float("nan")  # that the true mean is zero, from the same t statistic


def possible(value: float, metric: str) -> float:
    """An end of an interval as far as it can be: scores lie in 0 to 1, times are not negative."""
    return float(np.clip(value, 0.0, 1.0 if metric in METRICS else np.inf))


def mean_interval(values, *, n_train=None, n_test=None, level=LEVEL) -> Interval:
    """Mean of a metric over repeated splits, with an interval that knows they overlap.

    Scores of random splits share most of their training rows, so the plain t interval is too
    narrow. With `n_train` and `n_test` the variance is that of the corrected resampled t test
    (Nadeau & Bengio 2003, doi 10.1023/A:1024068626366): (1/n + n_test/n_train) s^2. Leave them out
    when only the model's seed differs between the values: the interval is then about the seeds.
    """
    values = np.asarray(values, dtype=float)
    values = values[~np.isnan(values)]
    n = len(values)
    if n == 0:
        return Interval(np.nan, np.nan, np.nan, 0, "no values")
    mean = float(values.mean())
    if n == 1:
        return Interval(mean, np.nan, np.nan, 1, "a single value has no interval")
    corrected = n_train is not None and n_test is not None
    method = "corrected resampled t over splits" if corrected else "t over repeats"
    error = np.sqrt(_share(n, n_train, n_test) * values.var(ddof=1))
    return _student(mean, float(error), n - 1, n, method, level)


def difference_interval(first, second, *, n_train=None, n_test=None, level=LEVEL) -> Interval:
    """Mean of `first` minus mean of `second`, measured on different test rows (Welch's t).

    Nothing pairs such values, even when they have the same seed; `n_train` and `n_test` as in
    `mean_interval`.
    """
    parts = [np.asarray(values, dtype=float) for values in (first, second)]
    parts = [values[~np.isnan(values)] for values in parts]
    sizes = [len(values) for values in parts]
    if min(sizes) < 2:
        raise ValueError("a difference of means needs two values on each side")
    mean = float(parts[0].mean() - parts[1].mean())
    squares = [_share(len(v), n_train, n_test) * v.var(ddof=1) for v in parts]
    total, freedom = sum(squares), sum(sizes) - 2
    if total > 0:
        freedom = total**2 / sum(s**2 / (n - 1) for s, n in zip(squares, sizes, strict=True))
    return _student(mean, float(np.sqrt(total)), freedom, min(sizes), "Welch's t", level)


def single_split_range(values, *, level=LEVEL) -> tuple[float, float]:
    """Between which values the score of one more split lies (a prediction interval).

    Splits of the same rows are exchangeable: what they share moves the new score and the mean
    alike, so that their difference has the variance (1 + 1/n) s^2, without a correction.
    """
    values = np.asarray(values, dtype=float)
    n = len(values)
    error = float(np.sqrt((1 + 1 / n) * values.var(ddof=1)))
    interval = _student(float(values.mean()), error, n - 1, n, "prediction of one split", level)
    return interval.low, interval.high


def _share(n, n_train, n_test) -> float:
    """Of the variance of one value in the variance of the mean."""
    return 1 / n + (0.0 if n_train is None or n_test is None else n_test / n_train)


def _student(mean: float, error: float, freedom: float, n: int, method: str, level) -> Interval:
    from scipy.special import stdtr, stdtrit  # Student's t: distribution and its inverse

    reach = stdtrit(freedom, (1 + level) / 2) * error
    p = float(2 * stdtr(freedom, -abs(mean) / error)) if error > 0 else float(mean == 0)
    return Interval(mean, float(mean - reach), float(mean + reach), n, method, p)


def permutation_test(differences, *, seed=0) -> float:
    """p-value that two models differ, from their differences on the same splits.

    If the models were equal, each difference could as well have had the other sign. All sign
    patterns are counted up to 16 splits (so with n splits p is at least 2 / 2^n), and 20,000 random
    ones beyond. It treats splits as independent; where they share training rows, read it together
    with the corrected interval, which is wider.
    """
    differences = np.asarray(differences, dtype=float)
    differences = differences[~np.isnan(differences)]
    n = len(differences)
    if n == 0:
        return float("nan")
    if n <= EXACT_SIGN_FLIPS:
        signs = np.array(list(product((1.0, -1.0), repeat=n)))
    else:
        rng = np.random.default_rng(seed)
        signs = rng.choice((1.0, -1.0), size=(SAMPLED_SIGN_FLIPS, n))
        signs[0] = 1.0  # the pattern that was seen counts as one of them
    sums = np.abs(signs @ differences)
    tolerance = 1e-12 * np.abs(differences).sum()
    return float(np.mean(sums >= abs(differences.sum()) - tolerance))


def holm(p_values) -> np.ndarray:
    """p-values made larger for the number of comparisons (Holm 1979)."""
    p_values = np.asarray(p_values, dtype=float)
    adjusted = np.full(len(p_values), np.nan)
    tested = np.flatnonzero(~np.isnan(p_values))
    order = tested[np.argsort(p_values[tested])]
    steps = p_values[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
