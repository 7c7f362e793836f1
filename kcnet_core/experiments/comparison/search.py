"""Tune a model's settings with Optuna, looking at training rows only."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import KCNetError, LimitError
from kcnet_core.experiments.baselines import Dimension
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.comparison.rows import PlannedRows, Variant
from kcnet_core.experiments.evaluate import evaluate_steps
from kcnet_core.experiments.fitting import Before
from kcnet_core.experiments.measured_job import MeasuredJob, Piece
from kcnet_core.experiments.metrics import METRICS, headline_metric
from kcnet_core.experiments.models import find_model
from kcnet_core.experiments.protocols import Split, splits
from kcnet_core.limits import MAX_TRIALS
from kcnet_core.network.history import Progress

N_FOLDS = 5  # the paper's inner cross-validation
MANY_ROWS = 5_000  # from here on one validation part is enough, as in the paper's image runs
VALIDATION_FRACTION = 1 / 6


@dataclass(frozen=True)
class Trial:
    """One setting that was tried, and how it did on the inner validation rows."""

    number: int  # 0 is the untuned setting
    params: Mapping
    value: float | None  # mean over the inner folds; None when it failed
    seconds: float
    metric: str
    error: str | None = None


def training_part(dataset: Dataset, rows: np.ndarray) -> Dataset:
    """The dataset cut down to some rows, so that nothing can look at the others."""
    take: dict[str, Any] = {
        name: tuple(np.array(values, dtype=object)[rows])
        for name in ("row_names", "smiles")
        if (values := getattr(dataset, name)) is not None
    }
    groups = None if dataset.groups is None else dataset.groups[rows]
    return replace(
        dataset, X=dataset.X[rows], y=dataset.y[rows], groups=groups, n_train=None, **take
    )


def inner_splits(part: Dataset, *, seed: int = 0, n_folds: int = N_FOLDS) -> list[Split]:
    """Validation rows inside training rows, with molecules kept together where they are known."""
    protocol = "paper_split" if part.groups is None else "unseen_molecules"
    if len(part.X) >= MANY_ROWS:
        return splits(part, protocol, seed=seed, test_fraction=VALIDATION_FRACTION)
    return splits(part, protocol, seed=seed, n_folds=n_folds)


def search_steps(
    model_name: str,
    dataset: Dataset,
    train_rows: np.ndarray,
    *,
    n_trials: int,
    seed: int = 0,
    metric: str | None = None,
    settings: Mapping | None = None,
    untuned: Mapping | None = None,
    scaler: Before | str | None = "default",
    oversampling: bool = False,
    n_folds: int = N_FOLDS,
    done: Sequence[Trial] = (),
    progress: bool = False,
    evaluate: Callable[..., Iterable] = evaluate_steps,
) -> Generator[Trial | Progress, None, None]:
    """Try settings from the model's search space, best guesses first as they become known.

    Parameters
    ----------
    train_rows : ndarray of int
        Only these rows are read; inner folds keep a molecule's rows together.
    n_trials : int
        Settings to try. The first is the untuned one, so that tuning never ends below it.
    seed : int
        Decides the inner folds, the models' seeds and Optuna's choices.
    metric : str or None
        By default the one by which this kind of data is judged.
    settings, untuned : mapping or None
        Settings (such as n_hidden) that are not searched; values of those that are in the first
        trial, in place of the model's defaults.
    scaler, oversampling, progress
        As in `evaluate_steps`, inside every inner fold.
    done : sequence of Trial
        The first trials of the very same search, from an earlier, interrupted one: they are told
        to Optuna again and not repeated, so that the search goes on as if it had never stopped.
    evaluate : callable
        What measures a setting on the inner folds, in place of `evaluate_steps`.
    """
    import optuna
    from optuna.trial import TrialState

    model = find_model(model_name)
    if not 1 <= n_trials <= MAX_TRIALS:
        raise LimitError(f"{n_trials} trials were asked for; the limit is 1 to {MAX_TRIALS}.")
    part = training_part(dataset, np.asarray(train_rows))
    folds = inner_splits(part, seed=seed, n_folds=n_folds)
    metric = metric or headline_metric(dataset)
    if metric not in METRICS:
        raise KCNetError(f"There is no metric {metric!r}; choose from {', '.join(METRICS)}.")
    fixed = dict(settings or {})
    space = [dimension for dimension in model.space if dimension.name not in fixed]
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        direction="maximize" if METRICS[metric].higher_is_better else "minimize",
        sampler=optuna.samplers.TPESampler(seed=seed),
    )
    for number in range(n_trials):
        started = time.perf_counter()
        if number == 0:  # the untuned setting may lie outside the space, so Optuna is not told
            params = {d.name: {**model.defaults, **(untuned or {})}[d.name] for d in space}
        else:
            trial = study.ask()
            params = {d.name: _suggest(trial, d) for d in space}
        if number < len(done):
            value, error, seconds = done[number].value, done[number].error, done[number].seconds
        else:
            value, error = yield from _inner_value(
                evaluate, model, {**fixed, **params}, part, folds, metric,
                scaler=scaler, oversampling=oversampling, progress=progress,
            )  # fmt: skip
            seconds = time.perf_counter() - started
        if number > 0:
            study.tell(
                trial, value, state=TrialState.FAIL if value is None else TrialState.COMPLETE
            )
        yield Trial(number, params, value, seconds, metric, error)


def _inner_value(evaluate, model, settings, part, folds, metric, **options):
    """Mean of a metric over the inner folds, or None and a sentence that says why not."""
    values = []
    for row in evaluate(
        {model.name: lambda seed: model.build(settings, seed)}, part, folds, **options
    ):
        if isinstance(row, Progress):
            yield row
        elif row["error"]:
            return None, row["error"]
        elif row[metric] is None:
            return None, f"{model.name} gives no {metric}."
        else:
            values.append(row[metric])
    if np.isnan(values).all():
        return None, f"No inner fold has rows of both sides, so {metric} cannot be measured."
    return float(np.nanmean(values)), None


@dataclass(frozen=True)
class SearchPlan:
    """A search over one model's settings, inside the training rows of the first split."""

    comparison: Comparison
    model: str
    n_hidden: int  # 0: searched too
    n_trials: int
    metric: str
    n_folds: int = N_FOLDS


def search_job(plan: SearchPlan, dataset: Dataset, done: Sequence[Trial] = ()) -> MeasuredJob:
    """The search as a job; the trials that are `done` come first and are not repeated."""
    comparison = plan.comparison
    alone = replace(
        comparison, models=(plan.model,), hidden=(plan.n_hidden or comparison.hidden[0],),
        wirings=comparison.wirings[:1],
        n_repeats=1,
    )  # fmt: skip
    planned = PlannedRows(alone, dataset)
    (variant,) = planned.variants
    cost = planned.costs[variant.label]
    cost = replace(cost, seconds=cost.seconds * plan.n_folds)
    pending = [
        Piece(f"Trial {number + 1} of {plan.n_trials}", cost)
        for number in range(len(done), plan.n_trials)
    ]

    def measure() -> Generator[Trial | Progress, None, None]:
        searched, kept = untuned_settings(variant)
        fixed = {"n_hidden": plan.n_hidden} if plan.n_hidden else {}
        for step in search_steps(
            plan.model, dataset, planned.splits()[0].train,
            n_trials=plan.n_trials, seed=comparison.seed, metric=plan.metric,
            settings={**kept, **fixed}, untuned=searched, done=done,
            scaler=planned.before if comparison.retina else "default",
            oversampling=comparison.oversampling, n_folds=plan.n_folds, progress=True,
        ):  # fmt: skip
            if isinstance(step, Progress):  # it restarts with every inner fold: no share of a trial
                yield replace(step, done=0)
            elif step.number >= len(done):
                yield step

    return MeasuredJob("search", plan, measure, pending, done)


def untuned_settings(variant: Variant) -> tuple[dict, dict]:
    """A compared model's settings: those that its search space moves, and those it leaves alone
    (lambda under DOA)."""
    names = {dimension.name for dimension in find_model(variant.model).space}
    searched = {name: value for name, value in variant.settings.items() if name in names}
    kept = {k: v for k, v in variant.settings.items() if k not in names and k != "n_hidden"}
    return searched, kept


def best_trial(trials: Iterable[Trial]) -> Trial | None:
    """The trial to use: best value, the earlier one when equal."""
    sign = {True: 1, False: -1}
    return max(
        (trial for trial in trials if trial.value is not None),
        key=lambda trial: sign[METRICS[trial.metric].higher_is_better] * cast(float, trial.value),
        default=None,
    )


def _suggest(trial, dimension: Dimension):
    if dimension.options:
        return trial.suggest_categorical(dimension.name, dimension.options)
    if dimension.integer:
        return trial.suggest_int(dimension.name, dimension.low, dimension.high, log=dimension.log)
    return trial.suggest_float(dimension.name, dimension.low, dimension.high, log=dimension.log)
