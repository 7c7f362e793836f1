"""Models side by side on one dataset: run row by row, extended without repeating."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import LimitError
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.evaluate import evaluate_steps, summary
from kcnet_core.experiments.metrics import METRICS
from kcnet_core.experiments.models import MODELS, matched_hidden
from kcnet_core.experiments.protocols import Split, default_protocol, splits
from kcnet_core.experiments.run import Run
from kcnet_core.limits import MAX_BASELINE_ROWS
from kcnet_core.network.history import Progress
from kcnet_core.network.scaling import ODOR_CLIP, FeatureScaler

LEAST_CELLS = 50  # per submodel; smaller wirings see too few inputs
MOST_SUBMODELS = 10  # the paper's
BASELINE_SECONDS = 5e-6  # per row, input and output; AdaBoost and GBM on 800 rows take about 0.7 s
# Where the paper's own values do not apply, odor data need a stronger lambda and gentler steps.
ODOR_SETTINGS = {"alpha": 100.0, "n_epochs": 40, "learning_rate": 0.02}


@dataclass(frozen=True)
class Variant:
    """One line of a comparison: a model at one hidden size (or a baseline, which has none)."""

    label: str
    model: str
    hidden: int | None
    settings: Mapping

    def make(self, seed: int):
        return MODELS[self.model].build(self.settings, seed)


def variants(comparison: Comparison, dataset: Dataset) -> list[Variant]:
    """What will be trained, smallest first, so that results appear soon."""
    result = []
    for size in comparison.hidden:
        for name in comparison.models:
            if MODELS[name].network:
                chosen = _network_settings(comparison, dataset, name, size)
                result.append(Variant(f"{name} {size}", name, size, chosen))
    for name in comparison.models:
        if not MODELS[name].network:
            chosen = {**MODELS[name].defaults, **comparison.model_settings(name)}
            result.append(Variant(name, name, None, chosen))
    return result


def planned_splits(comparison: Comparison, dataset: Dataset) -> list[Split]:
    """The splits that all models share."""
    from kcnet_core.experiments.training import subsampled

    made = splits(
        dataset,
        comparison.protocol or default_protocol(dataset),
        n_repeats=comparison.n_repeats,
        seed=comparison.seed,
        n_folds=comparison.n_folds or None,
    )
    return [
        replace(split, train=subsampled(dataset, split.train, comparison.rows, split.seed))
        for split in made
    ]


def compare_steps(
    comparison: Comparison,
    dataset: Dataset | None = None,
    *,
    done: Iterable[Mapping] = (),
    progress: bool = False,
) -> Generator[dict | Progress, None, None]:
    """Train and test every variant on every split.

    Parameters
    ----------
    comparison : Comparison
    dataset : Dataset or None
        Loaded by name when None; give it for a table or images of your own.
    done : iterable of rows
        Rows of earlier comparisons; what they hold is not computed again. They may come from a
        comparison with fewer repeats, other sizes or other models.
    progress : bool
        Also yield `Progress` while a model trains.

    Yields
    ------
    dict
        As `evaluate_steps`, with hidden (the size asked for), settings (JSON) and id (the same for
        the same work) added.
    """
    dataset = comparison.load() if dataset is None else dataset
    lines = {variant.label: variant for variant in variants(comparison, dataset)}
    made = planned_splits(comparison, dataset)
    _check_baselines(comparison, made)
    known = {row["id"] for row in done if row.get("id") and not row.get("error")}
    identity = _identity(comparison, dataset)
    steps = evaluate_steps(
        {label: variant.make for label, variant in lines.items()},
        dataset,
        made,
        scaler=_scaler(comparison),
        oversampling=comparison.oversampling,
        skip=lambda label, split: identity(lines[label], split.repeat, split.fold) in known,
        progress=progress,
    )
    for row in steps:
        if isinstance(row, Mapping):
            variant = lines[row["variant"]]
            row["model"], row["hidden"] = variant.model, variant.hidden
            row["settings"] = json.dumps(variant.settings, sort_keys=True)
            row["id"] = identity(variant, row["repeat"], row["fold"])
        yield row


def rows_of(comparison: Comparison, dataset: Dataset, rows: Iterable[Mapping]) -> list[Mapping]:
    """Those of earlier rows that are part of this comparison, each once, without failed ones.

    Two lines may be the same work: an FSHN matched by its parameters has the least size beside
    several small KCNets. Such a row is given to both.
    """
    identity, lines = _identity(comparison, dataset), variants(comparison, dataset)
    known = {row["id"]: row for row in rows if row.get("id") and not row.get("error")}
    found = []
    for repeat in range(comparison.n_repeats):
        for fold in range(comparison.n_folds or 1):
            for variant in lines:
                row = known.get(identity(variant, repeat, fold))
                if row is not None:
                    about = {"variant": variant.label, "hidden": variant.hidden}
                    found.append({**row, **about})
    return found


def n_planned(comparison: Comparison, dataset: Dataset) -> int:
    """Number of rows that the whole comparison has."""
    n_splits = comparison.n_repeats * (comparison.n_folds or 1)
    return len(variants(comparison, dataset)) * n_splits


def expected_cost(comparison: Comparison, dataset: Dataset, done: Iterable[Mapping] = ()):
    """Seconds and bytes (`jobs.Estimate`) that the rows not yet done will need, roughly."""
    from kcnet_core.experiments.cost import estimate
    from kcnet_core.jobs import Estimate

    n, d = dataset.X.shape
    benchmark = (comparison.protocol or default_protocol(dataset)) == "benchmark"
    n_train = min((dataset.n_train if benchmark else None) or n, comparison.rows or n)
    outputs = len(dataset.target_names)
    n_splits = comparison.n_repeats * (comparison.n_folds or 1)
    seconds, memory = 0.0, 0
    for variant in variants(comparison, dataset):
        if MODELS[variant.model].network:
            cost = estimate(Run(model=variant.model, **variant.settings), n_train, d, outputs)
            seconds, memory = seconds + cost.seconds, max(memory, cost.bytes)
        else:
            seconds += BASELINE_SECONDS * n_train * d * (outputs if outputs > 2 else 1)
            memory = max(memory, 8 * n * d)
    kept = len(rows_of(comparison, dataset, done)) / n_planned(comparison, dataset)
    return Estimate(seconds * n_splits * (1 - kept), memory + dataset.X.nbytes)


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


def _network_settings(comparison, dataset, name, size):
    chosen = {} if dataset.kind == "image" or name in ("ELM", "FSHN") else dict(ODOR_SETTINGS)
    if name == "KCNet":
        chosen = {key: value for key, value in chosen.items() if key == "alpha"}
    if name == "Ensemble DOA":
        chosen["n_submodels"] = int(np.clip(size // LEAST_CELLS, 2, MOST_SUBMODELS))
    chosen["n_hidden"] = size
    if name == "FSHN" and comparison.fshn_size == "parameters":
        n_outputs = len(dataset.target_names)
        chosen["n_hidden"] = matched_hidden(size, dataset.X.shape[1], n_outputs)
    return {**MODELS[name].defaults, **chosen, **comparison.model_settings(name)}


def _scaler(comparison):
    if not comparison.scaling:
        return "default"
    return FeatureScaler(comparison.scaling, None if comparison.scaling == "none" else ODOR_CLIP)


def _identity(comparison, dataset) -> Callable[[Variant, int, int], str]:
    """A function that names a piece of work: the same name for the same data, split and model."""
    n_rows, n_inputs, X, y = dataset.fingerprint()
    data = [dataset.name, [n_rows, n_inputs], X, y]
    about = replace(
        comparison,
        models=("KCNet",), hidden=(10,), n_repeats=1, settings="", fshn_size="hidden",
        protocol=comparison.protocol or default_protocol(dataset),
    )  # fmt: skip
    common = [*data, about.to_query()]

    def identity(variant, repeat, fold):
        work = [*common, variant.model, dict(sorted(variant.settings.items())), repeat, fold]
        return hashlib.sha256(json.dumps(work).encode()).hexdigest()[:16]

    return identity


def _check_baselines(comparison, made):
    baselines = [name for name in comparison.models if not MODELS[name].network]
    n_train = max(len(split.train) for split in made)
    if baselines and n_train > MAX_BASELINE_ROWS:
        raise LimitError(
            f"{', '.join(baselines)} would take hours on {n_train} training rows (the limit is "
            f"{MAX_BASELINE_ROWS}); leave them out or set fewer rows."
        )
