"""Which rows train and which rows test: the three protocols that every score names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import DataError
from kcnet_core.experiments.run import Run

TEST_FRACTION = 0.1  # the paper's 9:1


@dataclass(frozen=True)
class Split:
    """Row numbers of one training and one test part.

    `seed` is for whatever is random in a model on this split; it depends on the repeat only, so
    that asking for more repeats keeps the earlier ones as they were.
    """

    train: np.ndarray
    test: np.ndarray
    protocol: str
    repeat: int
    fold: int
    seed: int


@dataclass(frozen=True)
class Protocol:
    """A way to choose test rows, with what a page says about it."""

    name: str
    title: str
    explanation: str
    obstacle: Callable[[Dataset], str | None]  # why it cannot be used, or None

    def applies(self, dataset: Dataset) -> bool:
        return self.obstacle(dataset) is None


def _no_groups(dataset):
    if dataset.groups is None:
        return (
            f"{dataset.title} does not say which rows are the same molecule, so they cannot be "
            "kept together; use the paper split or the benchmark's own."
        )
    return None


def _no_benchmark(dataset):
    if dataset.n_train is None:
        return (
            f"{dataset.title} has no training and test part of its own; use the paper split "
            "(or unseen molecules for odors)."
        )
    if not 0 < dataset.n_train < len(dataset.X):
        return (
            f"{dataset.title} says its first {dataset.n_train} of {len(dataset.X)} rows are for "
            "training, which leaves one part empty; load more rows or use the paper split."
        )
    return None


PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Protocol(
            "unseen_molecules",
            "Unseen molecules",
            "All rows of a molecule are on one side, so the score is for molecules that the model "
            "has never met.",
            _no_groups,
        ),
        Protocol(
            "paper_split",
            "Paper split",
            "Random rows, as in the paper: a molecule's two dilutions may fall on both sides, and "
            "then odor scores flatter the model.",
            lambda dataset: None,
        ),
        Protocol(
            "benchmark",
            "Benchmark's own",
            "One fixed training and test part: the benchmark's own, or, where data came without "
            "one, rows set aside when they were loaded. Repeats differ only in the model's random "
            "choices.",
            _no_benchmark,
        ),
    )
}


def default_protocol(dataset: Dataset) -> str:
    """Unseen molecules where molecules are known, the benchmark's own part where there is one."""
    for name in ("unseen_molecules", "benchmark"):
        if PROTOCOLS[name].applies(dataset):
            return name
    return "paper_split"


def split_of(run: Run, dataset: Dataset) -> tuple[str, Split]:
    """A run's one split, and the name of its protocol."""
    protocol = run.protocol or default_protocol(dataset)
    (split,) = splits(dataset, protocol, seed=run.seed, rows=run.rows)
    return protocol, split


def splits(
    dataset: Dataset,
    protocol: str,
    *,
    n_repeats: int = 1,
    seed: int = 0,
    test_fraction: float = TEST_FRACTION,
    n_folds: int | None = None,
    rows: int = 0,
) -> list[Split]:
    """Training and test rows under a protocol, a key of `PROTOCOLS`.

    Parameters
    ----------
    n_repeats : int
        Independent repetitions; repeat r depends only on `seed + r`.
    test_fraction : float
        Share of rows to test on, when `n_folds` is None. The benchmark's own part ignores it.
    n_folds : int or None
        Cross-validation: every row is tested once per repeat. Not for the benchmark's own part.
    rows : int
        Training rows at most, classes kept in proportion; 0: all.

    Returns
    -------
    list of Split
        `n_repeats` of them, or `n_repeats * n_folds`. Classes (and each label of multi-label
        data) are spread as evenly as whole molecules allow.
    """
    if protocol not in PROTOCOLS:
        raise DataError(f"Unknown protocol {protocol!r}; choose from {', '.join(PROTOCOLS)}.")
    obstacle = PROTOCOLS[protocol].obstacle(dataset)
    if obstacle:
        raise DataError(obstacle)
    if n_repeats < 1:
        raise DataError(f"{n_repeats} repeats were asked for; at least one is needed.")
    if protocol == "benchmark":
        parts = _benchmark_parts(dataset, n_folds)
    else:
        parts = _drawn_parts(dataset, protocol, test_fraction, n_folds)
    result = []
    for repeat in range(n_repeats):
        part = parts(np.random.default_rng(seed + repeat))
        for fold in range(n_folds or 1):  # without folds, part 0 is the test part
            train, test = np.flatnonzero(part != fold), np.flatnonzero(part == fold)
            train = subsampled(dataset, train, rows, seed + repeat)
            result.append(Split(train, test, protocol, repeat, fold, seed + repeat))
    return result


def subsampled(dataset: Dataset, train: np.ndarray, rows: int, seed: int) -> np.ndarray:
    """At most `rows` of the training rows, classes kept in proportion."""
    if not rows or rows >= len(train):
        return train
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(train)
    if dataset.multilabel:
        return np.sort(shuffled[:rows])
    # Dealing the classes out in turn keeps their shares for every prefix.
    order = np.argsort(dataset.y[shuffled], kind="stable")
    place = np.linspace(0, len(train), rows, endpoint=False).astype(int)
    return np.sort(shuffled[order][place])


def _drawn_parts(dataset, protocol, test_fraction, n_folds) -> Callable:
    """A function that deals out the rows: the part of each, drawn by a random generator."""
    # Number of the unit that stays whole: the row, or its molecule.
    units = np.arange(len(dataset.X))
    if protocol == "unseen_molecules":
        units = np.unique(dataset.groups, return_inverse=True)[1].reshape(-1)
    _check_units(dataset, units, protocol)
    proportions = _proportions(test_fraction, n_folds, units.max() + 1)
    labels = label_matrix(dataset.y)
    return lambda rng: _deal(labels, units, proportions, rng)


def label_matrix(y: np.ndarray) -> np.ndarray:
    """Labels as an (n, c) 0/1 matrix: one column per class, or multi-label `y` as it is."""
    if y.ndim == 2:
        return y.astype(np.int64)
    return (y[:, None] == np.unique(y)).astype(np.int64)


def _benchmark_parts(dataset, n_folds) -> Callable:
    if n_folds is not None:
        raise DataError("The benchmark's own part cannot be cut into folds; use the paper split.")
    training = np.arange(len(dataset.X)) < dataset.n_train
    _check_labels(dataset, np.flatnonzero(training))
    return lambda rng: training.astype(int)


def _check_labels(dataset, rows):
    labels = label_matrix(dataset.y[rows])
    constant = labels.min(axis=0) == labels.max(axis=0)
    if len(rows) == 0 or constant.all():
        raise DataError(
            f"All {len(rows)} rows of {dataset.title} that could train a model have the same "
            "label, so there is nothing to tell apart; choose another target or add rows."
        )


def _check_units(dataset, units, protocol):
    _check_labels(dataset, np.arange(len(dataset.X)))
    if units.max() < 1:
        raise DataError(
            f"All rows of {dataset.title} are the same molecule, so none can be kept unseen; "
            "use the paper split."
        )
    if dataset.multilabel:
        return  # a label that is missing on one side is left out of the mean, and named
    for k in np.unique(dataset.y):
        if len(np.unique(units[dataset.y == k])) < 2:
            thing = "row" if protocol == "paper_split" else "molecule"
            raise DataError(
                f"The class {dataset.target_names[int(k)]!r} has one {thing} only, and a split "
                f"needs two: one to train on and one to test on. Add {thing}s of this class or "
                "leave it out."
            )


def _proportions(test_fraction, n_folds, n_units):
    if n_folds is not None:
        if not 2 <= n_folds <= n_units:
            raise DataError(
                f"{n_folds} folds were asked for; it must be between 2 and {n_units}, the number "
                "of rows or molecules that can be told apart."
            )
        return np.full(n_folds, 1 / n_folds)
    if not 0 < test_fraction < 1:
        raise DataError(f"The test share is {test_fraction}; it must lie between 0 and 1.")
    return np.array([test_fraction, 1 - test_fraction])


def _deal(labels, units, proportions, rng):
    """Part number of every row: whole units dealt so that each label is spread as proportioned.

    Iterative stratification (Sechidis et al. 2011, doi 10.1007/978-3-642-23808-6_10) with whole
    molecules as units: the rarest label is dealt first, and each of its units goes to a part drawn
    in proportion to what the parts still lack of that label. Drawing, where the original always
    takes the neediest part, gives a rare label its fair chance in a small test part.
    """
    n_units = units.max() + 1
    counts = np.zeros((n_units, labels.shape[1]), dtype=np.int64)  # rows per unit and label
    np.add.at(counts, units, labels)
    sizes = np.bincount(units)
    lacks_label = _quotas(counts.sum(axis=0), proportions, rng)  # (parts, labels)
    lacks_rows = _quotas(sizes.sum(keepdims=True), proportions, rng)[:, 0]
    part_of = np.full(n_units, -1)
    order, draws = rng.permutation(n_units), rng.random(n_units)

    def deal(unit, lacking):
        part = _draw(draws[unit], lacking.tolist(), lacks_rows.tolist(), proportions)
        part_of[unit] = part
        lacks_label[part] -= counts[unit]
        lacks_rows[part] -= sizes[unit]

    remaining = counts.sum(axis=0).astype(float)
    while (remaining > 0).any():
        label = np.argmin(np.where(remaining > 0, remaining, np.inf))
        chosen = order[(counts[order, label] > 0) & (part_of[order] < 0)]
        for unit in chosen:
            deal(unit, lacks_label[:, label])
        remaining -= counts[chosen].sum(axis=0)
    for unit in order[part_of[order] < 0]:  # units without any label
        deal(unit, lacks_rows)
    for part in np.setdiff1d(np.arange(len(proportions)), part_of):  # empty, as quotas are small
        fullest = np.bincount(part_of).argmax()
        part_of[order[part_of[order] == fullest][0]] = part
    return part_of[units]


def _quotas(totals, proportions, rng):
    """(parts, labels) whole numbers that add up to `totals`, each right on average."""
    edges = np.outer(np.cumsum(proportions), totals) + rng.random(len(totals))
    edges[-1] = totals
    return np.diff(np.floor(edges), axis=0, prepend=0.0)


def _draw(u, *choices):
    """Index drawn by the uniform number `u` from the first weights that are not all used up."""
    for weights in choices:
        weights = [max(weight, 0.0) for weight in weights]
        total = sum(weights)
        if total > 0:
            break
    reached = 0.0
    for index, weight in enumerate(weights):
        reached += weight
        if u * total < reached:
            return index
    return max(range(len(weights)), key=weights.__getitem__)  # u * total met the rounding error
