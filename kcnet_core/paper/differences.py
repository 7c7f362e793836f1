"""What a recipe's contrasts come to: differences with intervals, and whether they may be chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kcnet_core.experiments import metrics
from kcnet_core.experiments.evaluate import SIGNIFICANT, interval_over_splits, shared_rows
from kcnet_core.paper.recipe import Recipe, RecipeLine

ENOUGH = 5  # repeats; the interval of fewer is too wide to agree or disagree with anything


@dataclass(frozen=True)
class Difference:
    """A measured answer to a `Contrast`."""

    question: str
    first: str
    second: str
    mean: float
    low: float
    high: float
    n: int
    p_holm: float  # that there is none, for all questions of the recipe together
    paired: bool  # on the same test rows
    p_permutation: float | None = None  # by signs of paired repeats, alone; None: not paired

    @property
    def clear(self) -> bool:
        return self.p_holm < SIGNIFICANT and self.n >= ENOUGH


def answer(difference: Difference) -> str:
    """What a reader is told of one contrast."""
    if difference.low == difference.high == 0:
        return f"no difference in any of {difference.n} repeats"
    size = f"{difference.mean:+.4f} ({difference.low:+.4f} to {difference.high:+.4f})"
    size = size.replace("-", "\N{MINUS SIGN}")
    if difference.n < ENOUGH:
        return f"{size.split(' ')[0]} over {difference.n} repeats, too few to be sure"
    size = f"{size} over {difference.n} repeats"
    if difference.p_permutation is not None:
        size += f", permutation test p = {difference.p_permutation:.2g}"
    return size if difference.clear else f"{size}: may be chance"


def differences_of(
    recipe: Recipe, known: Mapping[tuple[str, int], Mapping]
) -> tuple[Difference, ...]:
    """What rows by (line, repeat) say of every contrast.

    More questions make it likelier that one of the differences is chance: Holm's p counts them.
    """
    lines = {line.key: line for line in recipe.lines}
    pairs = {c: (lines[c.first], lines[c.second]) for c in recipe.contrasts}
    found = {
        contrast: interval
        for contrast, pair in pairs.items()
        if (interval := _interval(recipe.metric_of(pair[0]), *pair, known))
    }
    p_holm = metrics.holm([interval.p for interval in found.values()])
    return tuple(
        Difference(
            contrast.question, contrast.first, contrast.second, interval.mean, interval.low,
            interval.high, interval.n, float(p), _same_test_rows(*pairs[contrast]),
            _permuted(recipe.metric_of(pairs[contrast][0]), *pairs[contrast], known),
        )
        for (contrast, interval), p in zip(found.items(), p_holm, strict=True)
    )  # fmt: skip


def _same_test_rows(*lines: RecipeLine) -> bool:
    first, second = (
        (line.dataset, line.target, dict(line.options), line.alteration, line.protocol)
        for line in lines
    )
    return first == second


def _permuted(
    metric: str, one: RecipeLine, other: RecipeLine, known: Mapping[tuple[str, int], Mapping]
) -> float | None:
    """The permutation test, whose repeats must be of the same test rows."""
    if not _same_test_rows(one, other):
        return None
    first, second = (_rows_of(line, metric, known) for line in (one, other))
    both = sorted(first.keys() & second.keys())
    return metrics.permutation_test([first[r][metric] - second[r][metric] for r in both])


def _rows_of(line: RecipeLine, metric: str, known: Mapping[tuple[str, int], Mapping]) -> dict:
    return {r: row for (of, r), row in known.items() if of == line.key and row[metric] is not None}


def _interval(
    metric: str, one: RecipeLine, other: RecipeLine, known: Mapping[tuple[str, int], Mapping]
) -> metrics.Interval | None:
    first, second = (_rows_of(line, metric, known) for line in (one, other))
    if _same_test_rows(one, other):
        both = [repeat for repeat in first if repeat in second]
        if len(both) < 2:
            return None
        values = np.array([first[r][metric] - second[r][metric] for r in both])
        return interval_over_splits(pd.DataFrame([first[r] for r in both]), values)
    if min(len(first), len(second)) < 2:
        return None
    rows = pd.DataFrame([*first.values(), *second.values()])
    each = ([row[metric] for row in part.values()] for part in (first, second))
    return metrics.difference_interval(*each, **shared_rows(rows))
