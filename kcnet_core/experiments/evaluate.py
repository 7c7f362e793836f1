"""Score models on the same splits and seeds: one tidy row per model and split, then summaries."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Container, Generator, Iterable, Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from kcnet_core.contracts import drain
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import KCNetError
from kcnet_core.experiments import metrics
from kcnet_core.experiments.fitting import Before, Fitted, Fold, fit_steps, prepare_steps
from kcnet_core.experiments.metrics import METRICS
from kcnet_core.experiments.protocols import Split
from kcnet_core.experiments.stored_size import rounded, stored_size
from kcnet_core.network.history import Progress

TIMES = ("configure_seconds", "fit_seconds", "evaluate_seconds", "seconds")
# Bytes in float32 and in 8 bits, how the wiring is stored, and accuracy with 8 bits.
STORED = ("stored_bytes", "stored_bytes_8bit", "stored_form", "accuracy_8bit")
COLUMNS = (
    "dataset", "protocol", "variant", "model", "seed", "repeat", "fold", "n_train", "n_added",
    "n_test", *METRICS, *TIMES, "parameters", *STORED, "note", "error",
)  # fmt: skip
SIGNIFICANT = 0.05
log = logging.getLogger("kcnet.experiments")


def row_head(name: str, dataset: Dataset, split: Split) -> dict:
    """What a row is about: which model, on which split of which data."""
    return {
        "dataset": dataset.name,
        "protocol": split.protocol,
        "variant": name,
        "model": name,
        "seed": split.seed,
        "repeat": split.repeat,
        "fold": split.fold,
        "n_train": len(split.train),
        "n_test": len(split.test),
    }


def evaluate_steps(
    models: Mapping[str, Callable],
    dataset: Dataset,
    splits: Iterable[Split],
    *,
    scaler: Before | str | None = "default",
    oversampling: bool = False,
    skip: Container[tuple[str, int, int]] = (),
    progress: bool = False,
) -> Generator[dict | Progress, None, None]:
    """Train and test every model on every split: a row with the keys `COLUMNS` as soon as it is
    there. A model that fails gives a row whose `error` is a sentence; the others go on.

    Parameters
    ----------
    models : mapping from name to factory
        ``factory(seed)`` returns an unfitted classifier. All models see the same splits and seeds.
    scaler, oversampling
        As in `prepare`.
    skip : collection of (name, repeat, fold)
        What is already known.
    progress : bool
        Also yield `Progress` records while a model trains, so that a long fit can be cancelled.
    """
    for split in splits:
        wanted = [name for name in models if (name, split.repeat, split.fold) not in skip]
        if not wanted:
            continue
        rows = {name: dict.fromkeys(COLUMNS) | row_head(name, dataset, split) for name in wanted}
        try:
            steps = prepare_steps(dataset, split, scaler=scaler, oversampling=oversampling)
            fold = (yield from steps) if progress else drain(steps)
        except KCNetError as error:
            yield from ({**row, "error": error_sentence(error)} for row in rows.values())
            continue
        for name, row in rows.items():
            try:
                fitted = yield from fit_steps(models[name], fold, split.seed, progress=progress)
                row |= _measured(fitted, fold, dataset)
            except Exception as error:  # one model's failure must not lose the others' rows
                row["error"] = error_sentence(error)
            yield row


def _measured(fitted, fold, dataset):
    started = time.perf_counter()
    predictions = fitted.predict(fold.X_test)
    evaluate = time.perf_counter() - started
    scores, probabilities = fitted.scores(fold.X_test)
    two_classes = not dataset.multilabel and len(dataset.target_names) == 2
    names = dataset.target_names[1:] if two_classes else dataset.target_names
    notes = [*fold.notes, metrics.auroc_note(fold.y_test, scores, names)]
    return {
        **metrics.all_scores(fold.y_test, predictions, scores, probabilities=probabilities),
        "n_added": fold.n_added,
        "configure_seconds": fitted.configure_seconds,
        "fit_seconds": fitted.fit_seconds,
        "evaluate_seconds": evaluate,
        "seconds": fitted.configure_seconds + fitted.fit_seconds + evaluate,
        "parameters": fitted.parameters,
        **_stored(fitted, fold),
        "note": " ".join(filter(None, notes)) or None,
    }


def _stored(fitted: Fitted, fold: Fold) -> dict:
    """What a network takes when it is stored, and how good it still is in 8 bits."""
    size = stored_size(fitted.model, fold.image_shape)
    if size is None:
        return {}
    seen = getattr(fold.scaler, "stored_bytes", 0)  # of a retina
    found = {
        "stored_bytes": seen + size.total,
        "stored_bytes_8bit": seen + size.total_8bit,
        "stored_form": size.hidden_form,
    }
    if fitted.classes is not None:
        answers = replace(fitted, model=rounded(fitted.model)).predict(fold.X_test)
        found["accuracy_8bit"] = float(np.mean(answers == fold.y_test))
    return found


def error_sentence(error: Exception) -> str:
    """What a row says of a model that failed."""
    if isinstance(error, KCNetError):
        return str(error)
    if isinstance(error, MemoryError):
        return "There was not enough memory; use fewer rows or a smaller hidden layer."
    code = secrets.token_hex(3)  # what a library says may name paths, which are for the log only
    log.error("a model failed (reference %s)", code, exc_info=error)
    return f"The model could not be trained here ({type(error).__name__}, reference {code})."


def results_table(rows: Iterable[dict]) -> pd.DataFrame:
    """Rows as a DataFrame with a stable column order and numeric metrics."""
    rows = [row for row in rows if isinstance(row, Mapping)]
    extra = [key for row in rows for key in row if key not in COLUMNS]
    table = pd.DataFrame(rows, columns=[*COLUMNS, *dict.fromkeys(extra)])
    numbers = (name for name in STORED if name != "stored_form")
    for column in (*METRICS, *TIMES, "parameters", "n_added", *numbers):
        table[column] = pd.to_numeric(table[column])
    return table


def summary(table: pd.DataFrame, by=("dataset", "protocol", "variant")) -> pd.DataFrame:
    """Mean, 95% interval and number of splits of every metric and time, one line each.

    Intervals over random splits use the corrected resampled t (see `metrics.mean_interval`); over
    repeats of a benchmark's own split they tell only how much the random choices matter.
    """
    lines = []
    for key, part in table.groupby(list(by), sort=False, dropna=False):
        for name in (*METRICS, *TIMES):
            interval = interval_over_splits(part, part[name])
            if interval.n:
                ends = (metrics.possible(end, name) for end in (interval.low, interval.high))
                lines.append([*key, name, interval.mean, *ends, interval.n, interval.method])
    return pd.DataFrame(lines, columns=[*by, "metric", "mean", "low", "high", "n", "method"])


def trade_offs(table: pd.DataFrame, metric: str, cost: str = "seconds") -> pd.DataFrame:
    """Mean metric and mean cost of every variant, and whether none is both better and cheaper."""
    lines = summary(table, by=("variant", "model", "hidden"))
    value = lines[lines["metric"] == metric].drop(columns=["metric", "method"])
    price = lines[lines["metric"] == cost].set_index("variant")["mean"]
    value[cost] = value["variant"].map(price)
    higher = METRICS[metric].higher_is_better if metric in METRICS else False
    value["best"] = best_trade_offs(value[cost], value["mean"], higher_is_better=higher)
    return value.reset_index(drop=True)


def best_trade_offs(cost, value, *, higher_is_better=True) -> np.ndarray:
    """Which points no other point beats in both: the front of best trade-offs."""
    cost = np.asarray(cost, dtype=float)
    gain = np.asarray(value, dtype=float) * (1 if higher_is_better else -1)
    no_worse = (cost[None, :] <= cost[:, None]) & (gain[None, :] >= gain[:, None])
    better = (cost[None, :] < cost[:, None]) | (gain[None, :] > gain[:, None])
    beaten = (no_worse & better).any(axis=1)
    return ~beaten & ~np.isnan(cost) & ~np.isnan(gain)


def pairwise(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Differences between all pairs of variants on the splits that both have.

    Columns: first, second, difference (first minus second, mean), low, high (95%, corrected for
    overlapping splits), n, p_permutation (paired sign flips), p_corrected (from the interval's
    t statistic), p_holm (that, for the number of pairs), better (the variant that is clearly
    better: p_holm below 0.05; otherwise empty).
    """
    lines = []
    known = table[table[metric].notna()]
    for first, second in combinations(dict.fromkeys(table["variant"]), 2):
        one, two = (
            known[known["variant"] == name].set_index(["repeat", "fold"])
            for name in (first, second)
        )
        both = one.index.intersection(two.index)
        difference = (one.loc[both, metric] - two.loc[both, metric]).to_numpy(dtype=float)
        found = interval_over_splits(one.loc[both], difference)
        p_permutation = metrics.permutation_test(difference)
        lines.append(
            [first, second, found.mean, found.low, found.high, found.n, p_permutation, found.p]
        )
    columns = (
        "first", "second", "difference", "low", "high", "n", "p_permutation", "p_corrected",
    )  # fmt: skip
    pairs = pd.DataFrame(lines, columns=columns)
    pairs["p_holm"] = metrics.holm(pairs["p_corrected"])
    higher_wins = METRICS[metric].higher_is_better if metric in METRICS else False
    first_wins = (pairs["difference"] > 0) == higher_wins
    winner = pairs["first"].where(first_wins, pairs["second"])
    pairs["better"] = winner.where(pairs["p_holm"] < SIGNIFICANT, "")
    return pairs


def interval_over_splits(part: pd.DataFrame, values) -> metrics.Interval:
    """Mean and interval of `values`, one per row of `part`, which knows protocol and row counts."""
    return metrics.mean_interval(values, **shared_rows(part))


def shared_rows(part: pd.DataFrame) -> dict[str, float]:
    """What the intervals of `metrics` must know of rows whose splits overlap; nothing where only
    the seed differs."""
    if len(part) == 0 or (part["protocol"] == "benchmark").all():
        return {}
    return {name: part[name].mean() for name in ("n_train", "n_test")}
