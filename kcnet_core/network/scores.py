"""How good answers are: accuracy, weighted F1, AUROC and calibration error, each computed here.

Every function takes the truth first. Class labels are indices 0..c-1; multi-label truth is an
(n, c) 0/1 matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

N_BINS = 15


@dataclass(frozen=True)
class Metric:
    """What a score is called wherever people read it, and what it means."""

    name: str
    explanation: str
    higher_is_better: bool = True


METRICS = {
    metric.name: metric
    for metric in (
        Metric(
            "weighted F1",
            "F1 of each class (or label), averaged with its number of test rows as weight",
        ),
        Metric(
            "accuracy",
            "share of test rows predicted right; for several labels at once, share of right "
            "yes/no answers",
        ),
        Metric(
            "AUROC",
            "chance that a row of the class scores above a row outside it; mean over classes or "
            "labels that have both in the test rows; 0.5 is guessing",
        ),
        Metric(
            "calibration error",
            f"mean gap between stated confidence and share right, over {N_BINS} equal bins",
            higher_is_better=False,
        ),
    )
}

# The values of an estimator's `metric`, which are also in model files, and the names of the same.
KEYWORDS = {"accuracy": "accuracy", "weighted_f1": "weighted F1", "auroc": "AUROC"}
DEFAULT_METRIC = {"binary": "weighted_f1", "multiclass": "accuracy", "multilabel": "auroc"}
# The same for a network that predicts one number, or several.
NUMBER_KEYWORDS = {"r2": "R²", "pearson": "Pearson r"}
DEFAULT_METRIC |= dict.fromkeys(("number", "numbers"), "r2")


def score_outputs(metric: str, Z: np.ndarray, Y: np.ndarray, kind: str) -> float:
    """Score by keyword raw outputs Z (n, c) against Y (n, c); a label is given from 0.5 on."""
    if metric in NUMBER_KEYWORDS:
        values = (r_squared if metric == "r2" else pearson)(Y, Z)
        return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")
    if metric == "auroc":
        return auroc(Y, Z)
    if kind == "multilabel":
        given = Z >= 0.5
    elif metric == "accuracy":
        return accuracy(Y.argmax(1), Z.argmax(1))
    else:
        given = Z.argmax(1)[:, None] == np.arange(Z.shape[1])
    return accuracy(Y == 1, given) if metric == "accuracy" else weighted_f1(Y, given)


def r_squared(Y: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Share of the variance of each column of Y (n, c) that Z explains; NaN where it has none."""
    left, spread = np.square(Y - Z).sum(axis=0), np.square(Y - Y.mean(axis=0)).sum(axis=0)
    return np.where(spread > 0, 1 - left / np.where(spread > 0, spread, 1), np.nan)


def pearson(Y: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Correlation of each column of Y (n, c) with that of Z; NaN where one of them is constant."""
    Y, Z = (A - A.mean(axis=0) for A in (np.asarray(Y, float), np.asarray(Z, float)))
    size = np.sqrt(np.square(Y).sum(axis=0) * np.square(Z).sum(axis=0))
    return np.where(size > 0, (Y * Z).sum(axis=0) / np.where(size > 0, size, 1), np.nan)


def accuracy(y_true, y_pred) -> float:
    """Share right: of rows, or of single yes/no answers for multi-label data."""
    return float(np.mean(np.asarray(y_true) == np.asarray(y_pred)))


def weighted_f1(y_true, y_pred) -> float:
    """F1 per class or label, weighted by how many rows truly have it."""
    truth, given = np.asarray(y_true), np.asarray(y_pred)
    if truth.ndim == 1:
        classes = np.unique(np.concatenate([truth, given]))
        truth, given = truth[:, None] == classes, given[:, None] == classes
    support = np.count_nonzero(truth, axis=0)
    return float((f1_by_label(truth, given) * support).sum() / max(support.sum(), 1))


def f1_by_label(truth, given) -> np.ndarray:
    """F1 of each column of 0/1 answers (n, c); 0 for a label that nobody has and nobody gave."""
    truth, given = np.asarray(truth) == 1, np.asarray(given) == 1
    hits, found, support = (np.count_nonzero(a, axis=0) for a in (truth & given, given, truth))
    return 2 * hits / np.maximum(found + support, 1)


def auroc_by_label(y_true, scores) -> np.ndarray:
    """AUROC of each class or label; NaN where the rows have only one side.

    Returns one value for two classes, c values for c classes (one against the rest) or labels.
    """
    from scipy.stats import rankdata  # takes a second; pages that only name metrics go without

    truth, scores = np.asarray(y_true), np.asarray(scores)
    if truth.ndim == 1 and (scores.ndim == 1 or scores.shape[1] == 2):
        truth, scores = truth[:, None], scores.reshape(len(truth), -1)[:, -1:]
    elif truth.ndim == 1:
        truth = truth[:, None] == np.arange(scores.shape[1])
    truth = truth == 1
    positive = np.count_nonzero(truth, axis=0).astype(float)
    rank_sum = (rankdata(scores, axis=0) * truth).sum(axis=0)  # Mann-Whitney; midranks halve ties
    with np.errstate(invalid="ignore"):
        pairs = positive * (len(truth) - positive)
        return (rank_sum - positive * (positive + 1) / 2) / pairs


def auroc(y_true, scores) -> float:
    """AUROC, averaged over the classes or labels that have both sides in the rows."""
    values = auroc_by_label(y_true, scores)
    measured = values[~np.isnan(values)]
    return float(measured.mean()) if measured.size else float("nan")


@dataclass(frozen=True)
class Reliability:
    """Points of a reliability diagram; empty bins are left out."""

    confidence: np.ndarray  # mean stated probability in the bin
    correct: np.ndarray  # share that was right
    count: np.ndarray

    @property
    def error(self) -> float:
        return float(np.average(np.abs(self.confidence - self.correct), weights=self.count))


def reliability(y_true, probabilities, n_bins=N_BINS) -> Reliability:
    """Stated confidence against share right, in `n_bins` equal bins of [0, 1].

    The confidence is that of the most probable class (Guo et al. 2017, arXiv:1706.04599); for
    labels, the probability of the label itself, all labels pooled.
    """
    y_true = np.asarray(y_true)
    probabilities = np.asarray(probabilities, dtype=np.float64)
    if y_true.ndim == 2:
        confidence, right = probabilities.ravel(), y_true.ravel() == 1
    else:
        if probabilities.ndim == 1:
            probabilities = np.column_stack([1 - probabilities, probabilities])
        confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == y_true
    bins = np.clip(np.ceil(confidence * n_bins).astype(int) - 1, 0, n_bins - 1)
    count = np.bincount(bins, minlength=n_bins)
    used = count > 0
    stated, correct = (
        np.bincount(bins, values, n_bins)[used] / count[used] for values in (confidence, right)
    )
    return Reliability(stated, correct, count[used])


def calibration_error(y_true, probabilities, n_bins=N_BINS) -> float:
    """Expected calibration error (ECE), in `n_bins` equal bins."""
    return reliability(y_true, probabilities, n_bins).error
