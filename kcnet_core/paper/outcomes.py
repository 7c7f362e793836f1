"""Rows of a recipe summed up beside the paper's figures: means, intervals, and plain verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np
import pandas as pd

from kcnet_core.experiments import metrics
from kcnet_core.experiments.evaluate import TIMES, interval_over_splits
from kcnet_core.paper.differences import ENOUGH, Difference, differences_of
from kcnet_core.paper.recipe import PAPER_ROWS, Recipe, RecipeLine

AGREES, CLOSE, HIGHER, LOWER, UNKNOWN = "agrees", "close", "higher", "lower", ""
AVERAGED = (
    "updates", "density", "parameters", "stored_bytes_8bit", "accuracy_8bit", "search_seconds",
)  # fmt: skip
KEPT = ("curves", "matrices", "trials")
NOT_IN_ROWS = (*KEPT, "line", "dataset", "target", "model", "settings", "note")


@dataclass(frozen=True)
class Outcome:
    """One line of a recipe: the paper's figure and ours."""

    key: str
    label: str
    panel: str
    series: str
    model: str
    metric: str
    x: float | None = None
    paper: float | None = None
    paper_sd: float | None = None
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    sd: float | None = None
    one_low: float | None = None  # between these one more split would lie
    one_high: float | None = None
    n: int = 0
    n_train: int | None = None
    n_test: int | None = None
    tried: int = 1  # settings, for each row
    updates: float | None = None  # of the wiring by DOA, mean
    density: float | None = None  # of W in the end, mean
    parameters: float | None = None
    stored_bytes_8bit: float | None = None  # mean, as accuracy_8bit, which belongs to it
    accuracy_8bit: float | None = None
    configure_seconds: float | None = None
    fit_seconds: float | None = None
    evaluate_seconds: float | None = None
    seconds: float | None = None
    search_seconds: float | None = None
    settings: Mapping | None = None  # fixed ones
    found: Mapping | None = None  # tuned settings of the first repeat
    partial: bool = False  # the dataset here is a part of the paper's
    not_comparable: str = ""  # why the two figures must not be compared
    goal: tuple[float, float] | None = None

    @property
    def verdict(self) -> str:
        """How our interval lies to the paper's figure; empty when that cannot be said."""
        if self.gap is None or self.not_comparable or self.n < ENOUGH:
            return UNKNOWN
        if _between(self.low, self.paper, self.high):
            return AGREES
        if self.within_sd or self.within_one_split:
            return CLOSE
        return HIGHER if self.gap > 0 else LOWER

    @property
    def gap(self) -> float | None:
        """How far ours lies above the paper's figure."""
        return None if self.mean is None or self.paper is None else self.mean - self.paper

    @property
    def within_sd(self) -> bool:
        return bool(self.paper_sd and self.gap is not None and abs(self.gap) <= self.paper_sd)

    @property
    def within_one_split(self) -> bool:
        """Whether one of our own splits might have given the paper's figure, which is of one."""
        return _between(self.one_low, self.paper, self.one_high)

    @property
    def goal_met(self) -> bool | None:
        if self.goal is None or self.mean is None or self.not_comparable:
            return None
        return _between(self.goal[0], self.mean, self.goal[1])


def _between(low: float | None, value: float | None, high: float | None) -> bool:
    if low is None or value is None or high is None:
        return False
    return low <= value <= high


@dataclass(frozen=True)
class Result:
    """A recipe as far as it has been measured."""

    recipe: str
    quick: bool
    outcomes: tuple[Outcome, ...]
    differences: tuple[Difference, ...]
    rows: tuple[Mapping, ...]
    planned: int
    skipped: Mapping[str, str] = field(default_factory=dict)  # dataset: what is missing
    failed: Mapping[str, str] = field(default_factory=dict)  # line: what went wrong
    kept: Mapping[str, Mapping] = field(default_factory=dict)  # curves, matrices, trials by line
    about: Mapping = field(default_factory=dict)  # versions, machine, date

    @property
    def finished(self) -> int:
        return len(self.rows)

    @property
    def complete(self) -> bool:
        return self.finished == self.planned

    def outcome(self, key: str) -> Outcome | None:
        return next((outcome for outcome in self.outcomes if outcome.key == key), None)

    def table(self) -> pd.DataFrame:
        """Measured outcomes as a table, in the recipe's order."""
        names = [f.name for f in fields(Outcome)]
        measured = [outcome for outcome in self.outcomes if outcome.n]
        return pd.DataFrame([asdict(outcome) for outcome in measured], columns=names)


def summed_up(
    recipe: Recipe,
    rows: Mapping[tuple[str, int], Mapping],
    *,
    skipped: Mapping[str, str] | None = None,
    failed: Mapping[str, str] | None = None,
) -> Result:
    """Rows by (line, repeat) as a `Result`."""
    order = {(line.key, repeat): k for k, (line, repeat) in enumerate(recipe.units())}
    known = {at: rows[at] for at in sorted(order.keys() & rows.keys(), key=order.__getitem__)}
    by_line: dict[str, list] = {}
    for (key, _), row in known.items():
        by_line.setdefault(key, []).append(row)
    outcomes = tuple(_outcome(recipe, line, by_line.get(line.key, [])) for line in recipe.lines)
    kept = {
        what: {key: part[0][what] for key, part in by_line.items() if what in part[0]}
        for what in KEPT
    }
    return Result(
        recipe=recipe.name,
        quick=recipe.is_quick,
        outcomes=outcomes,
        differences=differences_of(recipe, known),
        rows=tuple(
            {"line": key, **{k: v for k, v in row.items() if k not in NOT_IN_ROWS}}
            for (key, _), row in known.items()
        ),
        planned=len(order),
        skipped=dict(skipped or {}),
        failed=dict(failed or {}),
        kept={what: part for what, part in kept.items() if part},
    )


def _outcome(recipe: Recipe, line: RecipeLine, rows: list[Mapping]) -> Outcome:
    metric = recipe.metric_of(line)
    unmeasured = Outcome(
        key=line.key,
        label=line.label,
        panel=line.panel,
        series=line.series,
        model=line.model,
        metric=metric,
        x=line.x,
        paper=line.paper.mean if line.paper else None,
        paper_sd=line.paper.sd if line.paper else None,
        tried=line.tried,
        settings={**line.settings, **line.beyond},
        goal=line.goal,
    )
    part = pd.DataFrame(rows)
    if not len(part) or part[metric].isna().all():
        return unmeasured
    part = part[part[metric].notna()]
    values = part[metric].to_numpy(dtype=float)
    interval = interval_over_splits(part, values)
    several = len(values) > 1
    splits = several and line.protocol != "benchmark"
    one_split = metrics.single_split_range(values) if splits else (np.nan, np.nan)
    averages: dict[str, Any] = {
        name: float(part[name].mean())
        for name in (*AVERAGED, *TIMES)
        if name in part and part[name].notna().any()
    }
    return replace(
        unmeasured,
        mean=interval.mean,
        low=_number(interval.low, metric),
        high=_number(interval.high, metric),
        sd=float(values.std(ddof=1)) if several else None,
        one_low=_number(one_split[0], metric),
        one_high=_number(one_split[1], metric),
        n=interval.n,
        n_train=int(part["n_train"].iloc[0]),
        n_test=int(part["n_test"].iloc[0]),
        found=rows[0].get("found"),
        partial=_partial(line, part),
        not_comparable=_not_comparable(line, int(part["n_train"].iloc[0])),
        **averages,
    )


def _partial(line: RecipeLine, part: pd.DataFrame) -> bool:
    """Whether fewer training rows were there than the paper had, however many were used."""
    if line.protocol != "benchmark":
        return False
    name = "n_available" if "n_available" in part else "n_train"
    if name == "n_train" and not line.comparable:
        return False  # an older quick row: it may have used fewer rows than there were
    return bool(part[name].min() < PAPER_ROWS.get(line.dataset, 0))


def _not_comparable(line: RecipeLine, n_train: int) -> str:
    if not line.comparable:
        return "the quick version trains something smaller than the paper did"
    if line.protocol == "unseen_molecules":
        return "the paper split rows at random"
    wanted = PAPER_ROWS.get(line.dataset, 0)
    if n_train < wanted and line.protocol == "benchmark":
        return f"{n_train:,} of the paper's {wanted:,} training rows"
    return ""


def sentence(outcome: Outcome) -> str:
    """What a reader is told of one line that has a figure of the paper beside it."""
    if outcome.mean is None:
        return "not measured yet"
    if outcome.gap is None:
        return "the paper gives no number"
    if outcome.not_comparable:
        return f"not compared: {outcome.not_comparable}"
    if outcome.n < ENOUGH:
        runs = "one repeat is" if outcome.n == 1 else f"{outcome.n} repeats are"
        return f"{runs} too few to compare"
    gap, side = f"{abs(outcome.gap):.4f}", "higher" if outcome.gap > 0 else "lower"
    if outcome.verdict == AGREES:
        return "the paper's figure lies in our interval"
    if outcome.within_sd:
        return (
            f"ours is {gap} {side}: beyond our interval, within the paper's ± {outcome.paper_sd:g}"
        )
    if outcome.one_low is None:
        return f"ours is {gap} {side}, beyond our interval"
    but = ", but" if outcome.within_one_split else ", and"
    return (
        f"ours is {gap} {side}: beyond our interval{but} single splits lie between "
        f"{outcome.one_low:.3f} and {outcome.one_high:.3f}"
    )


def _number(value: float, metric: str) -> float | None:
    """An end of an interval; JSON has no word for what is not a number."""
    return metrics.possible(value, metric) if np.isfinite(value) else None
