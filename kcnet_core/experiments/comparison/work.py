"""Comparisons, noise tests and searches as background jobs: what they yield while they run."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import LimitError
from kcnet_core.experiments.comparison.noise import DAMAGES, noise_steps
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.comparison.rows import (
    Variant,
    compare_steps,
    expected_cost,
    planned_splits,
    rows_of,
    variants,
)
from kcnet_core.experiments.comparison.search import N_FOLDS, Trial, search_steps
from kcnet_core.experiments.models import MODELS
from kcnet_core.experiments.run import EPOCH_MODELS
from kcnet_core.jobs import Estimate
from kcnet_core.limits import MAX_COMPARED_FITS
from kcnet_core.network.history import Progress

_WARM: set[str] = set()  # models that were fitted before in this process


@dataclass(frozen=True)
class Work:
    """What a viewer may see of such a job between two steps; cheap to make, never changed."""

    config: object
    stage: str
    fraction: float
    log: list  # grows only at its end; a view owns the first n_items
    n_items: int
    counts_as_step: bool = True

    @property
    def items(self) -> list:
        return self.log[: self.n_items]


@dataclass(frozen=True)
class NoisePlan:
    """Models of a comparison at one hidden size, tested on ever worse inputs."""

    comparison: Comparison
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class SearchPlan:
    """A search over one model's settings, inside the training rows of the first split."""

    comparison: Comparison
    model: str
    n_hidden: int  # 0: searched too
    n_trials: int
    metric: str
    n_folds: int = N_FOLDS


# -- what it will cost ---------------------------------------------------------------------------


def fit_cost(variant: Variant, comparison: Comparison, dataset: Dataset) -> Estimate:
    """Seconds and memory of one fit of one variant."""
    sizes = comparison.hidden if variant.hidden is None else (variant.hidden,)
    alone = replace(comparison, models=(variant.model,), hidden=sizes, n_repeats=1, n_folds=0)
    return expected_cost(alone, dataset)


def pending(comparison: Comparison, dataset: Dataset, known: Iterable[Mapping]) -> list[tuple]:
    """(variant, repeat, fold) that no known row holds, in the order in which they will run."""
    have = {(row["variant"], row["repeat"], row["fold"]) for row in known}
    return [
        (variant, repeat, fold)
        for repeat in range(comparison.n_repeats)
        for fold in range(comparison.n_folds or 1)
        for variant in variants(comparison, dataset)
        if (variant.label, repeat, fold) not in have
    ]


def whole_cost(todo: list[tuple], comparison: Comparison, dataset: Dataset) -> Estimate:
    """Of all fits that are left; memory is that of the largest."""
    if len(todo) > MAX_COMPARED_FITS:
        raise LimitError(
            f"This comparison needs {len(todo):,} fits; the limit is {MAX_COMPARED_FITS:,}. "
            "Choose fewer models, sizes, repeats or folds."
        )
    each = fit_costs(todo, comparison, dataset)
    return Estimate(
        sum(each[variant.label].seconds for variant, _, _ in todo),
        max((one.bytes for one in each.values()), default=0),
    )


def fit_costs(todo: list[tuple], comparison: Comparison, dataset: Dataset) -> dict[str, Estimate]:
    every = {variant.label: variant for variant, _, _ in todo}
    return {label: fit_cost(variant, comparison, dataset) for label, variant in every.items()}


# -- the jobs ------------------------------------------------------------------------------------


class Pace:
    """The fraction done of a list of fits that cost unequally much; it never goes back."""

    def __init__(self, costs: list[float]):
        self.costs, self.total = costs, sum(costs) or 1.0
        self.done, self.spent, self.within = 0, 0.0, 0.0

    def inside(self, step: Progress) -> float:
        self.within = max(self.within, 0.95 * step.done / max(step.total, 1))
        return self.fraction

    def next(self) -> float:
        self.spent += self.now
        self.done, self.within = self.done + 1, 0.0
        return self.fraction

    @property
    def fraction(self) -> float:
        return min(1.0, (self.spent + self.now * self.within) / self.total)

    @property
    def now(self) -> float:
        return self.costs[self.done] if self.done < len(self.costs) else 0.0


def warm_up(names: Iterable[str]) -> None:
    """Fit each model once to a handful of rows.

    Libraries are loaded and threads started by the first fit in a process; without this, whichever
    model comes first would seem slow.
    """
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 12)).astype(np.float32), np.arange(60) % 2
    for name in sorted(set(names) - _WARM):
        model = MODELS[name]
        small = {"n_hidden": 20} if model.network else {}
        if name in EPOCH_MODELS:
            small["n_epochs"] = 2
        if name == "Ensemble DOA":
            small["n_submodels"] = 2
        model.build(small).fit(X, y).predict(X)
        _WARM.add(name)


def comparison_work(
    comparison: Comparison, dataset: Dataset, known: Iterable[Mapping]
) -> Generator[Work, None, None]:
    """Rows of a comparison one by one; those that are known come first and are not repeated."""
    log = list(rows_of(comparison, dataset, known))
    todo = pending(comparison, dataset, log)
    each = fit_costs(todo, comparison, dataset)
    pace = Pace([each[variant.label].seconds for variant, _, _ in todo])
    yield Work(comparison, "Splitting the rows", 0.0, log, len(log))
    warm_up(comparison.models)
    for step in compare_steps(comparison, dataset, done=list(log), progress=True):
        variant, repeat, _ = todo[min(pace.done, len(todo) - 1)]
        stage = f"{variant.label}, repeat {repeat + 1} of {comparison.n_repeats}"
        if isinstance(step, Progress):
            yield Work(comparison, stage, pace.inside(step), log, len(log), counts_as_step=False)
        else:
            log.append(step)
            yield Work(comparison, stage, pace.next(), log, len(log))


def noise_work(
    plan: NoisePlan, dataset: Dataset, known: Iterable[Mapping]
) -> Generator[Work, None, None]:
    """Rows of noise tests; a model and split whose rows are all known is not trained again."""
    comparison, log = plan.comparison, list(known)
    lines = {variant.label: variant for variant in variants(comparison, dataset)}
    n_levels = sum(len(DAMAGES[kind].levels) for kind in plan.kinds)
    done = {}
    for row in log:
        place = (row["variant"], row["repeat"], row["fold"])
        done[place] = done.get(place, 0) + 1
    log = [row for row in log if done[row["variant"], row["repeat"], row["fold"]] == n_levels]
    todo = pending(comparison, dataset, log)
    each = fit_costs(todo, comparison, dataset)
    pace = Pace([each[variant.label].seconds + 0.5 for variant, _, _ in todo])
    yield Work(plan, "Splitting the rows", 0.0, log, len(log))
    for split in planned_splits(comparison, dataset):
        here = [v for v, repeat, fold in todo if (repeat, fold) == (split.repeat, split.fold)]
        for variant in here:
            stage = f"{variant.label}, repeat {split.repeat + 1} of {comparison.n_repeats}"
            factory = {variant.label: lines[variant.label].make}
            for step in noise_steps(factory, dataset, [split], kinds=plan.kinds, progress=True):
                if isinstance(step, Progress):
                    fraction = pace.inside(step)
                else:
                    log.append({**step, "model": variant.model, "hidden": variant.hidden})
                    fraction = pace.fraction
                yield Work(plan, stage, fraction, log, len(log), counts_as_step=False)
            yield Work(plan, stage, pace.next(), log, len(log))


def search_work(
    plan: SearchPlan, dataset: Dataset, done: Sequence[Trial] = ()
) -> Generator[Work, None, None]:
    """Trials of a search one by one; those that are `done` come first and are not repeated."""
    comparison, log = plan.comparison, []
    yield Work(plan, "Splitting the rows", 0.0, log, 0)
    split = planned_splits(replace(comparison, n_repeats=1), dataset)[0]
    searched, kept = untuned_settings(comparison, dataset, plan)
    fixed = {"n_hidden": plan.n_hidden} if plan.n_hidden else {}
    pace = Pace([1.0] * plan.n_trials)
    for step in search_steps(
        plan.model, dataset, split.train,
        n_trials=plan.n_trials, seed=comparison.seed, metric=plan.metric,
        settings={**kept, **fixed}, untuned=searched, done=done,
        oversampling=comparison.oversampling, n_folds=plan.n_folds, progress=True,
    ):  # fmt: skip
        stage = f"Trial {len(log) + 1} of {plan.n_trials}"
        if isinstance(step, Trial):
            log.append(step)
            yield Work(plan, stage, pace.next(), log, len(log))
        else:  # progress restarts with every inner fold, so only whole trials move the bar
            yield Work(plan, stage, pace.fraction, log, len(log), counts_as_step=False)


def untuned_settings(comparison: Comparison, dataset: Dataset, plan: SearchPlan):
    """The compared model's settings: those that its search space moves, and those it leaves alone
    (lambda under DOA)."""
    one = replace(comparison, models=(plan.model,), hidden=(plan.n_hidden or comparison.hidden[0],))
    chosen = variants(one, dataset)[0].settings
    names = {dimension.name for dimension in MODELS[plan.model].space}
    searched = {name: value for name, value in chosen.items() if name in names}
    kept = {k: v for k, v in chosen.items() if k not in names and k != "n_hidden"}
    return searched, kept
