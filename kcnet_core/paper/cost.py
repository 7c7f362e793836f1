"""How long a recipe will take and how much memory it needs, told before it starts."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from kcnet_core.datasets import images, store
from kcnet_core.errors import DataError
from kcnet_core.experiments import cost
from kcnet_core.experiments.comparison.search import MANY_ROWS
from kcnet_core.experiments.measured_job import together
from kcnet_core.experiments.models import MODELS
from kcnet_core.jobs import Estimate
from kcnet_core.paper.recipe import PAPER_ROWS, Recipe, RecipeLine, tuned_on

# Training rows, inputs and classes, so that nothing need be loaded for an estimate.
SIZES = {
    "keller_2016": (800, 180, 2),
    "mnist": (60_000, 784, 10),
    "fashion_mnist": (60_000, 784, 10),
    "emnist_balanced": (112_800, 784, 47),
    "cifar10": (50_000, 3_072, 10),
}


def recipe_cost(recipe: Recipe, measured: Mapping[str, float] | None = None) -> Estimate:
    """Seconds for all rows of a recipe, and bytes for its largest.

    `measured` is what a row of a line took before, by line; better than any formula.
    """
    costs = []
    for line in recipe.lines:
        repeats, one = line.repeats or recipe.repeats, line_cost(line)
        searches = len({tuned_on(line.protocol, repeat) for repeat in range(repeats)})
        seconds = repeats * ((measured or {}).get(line.key) or one.seconds)
        costs.append(Estimate(seconds + searches * search_seconds(line), one.bytes))
    return together(costs)


def line_seconds(line: RecipeLine) -> float:
    """Seconds for one row, with its search."""
    return line_cost(line).seconds + search_seconds(line)


def line_cost(line: RecipeLine) -> Estimate:
    """Seconds and bytes to train and test a line once."""
    return _cost(line.model, line.settings, line)


def search_seconds(line: RecipeLine) -> float:
    """Seconds for a line's search, 0 when its settings stand."""
    tuning = line.tuning
    if not tuning:
        return 0.0
    folds = 1 if _rows(line) >= MANY_ROWS else tuning.n_folds
    return tuning.n_trials * folds * _cost(*line.searched, line).seconds


def _rows(line: RecipeLine) -> int:
    n = SIZES.get(line.dataset, (5_000,))[0]
    if line.dataset in images.IDX_SETS:
        folder = store.find(images.IDX_SETS[line.dataset].files())
        if folder is not None:  # a data folder may hold a part of a set
            with suppress(DataError):
                n = min(n, images.n_present_rows(line.dataset, folder))
    return min(n, line.rows) if line.rows else n


def _cost(model: str, settings: Mapping, line: RecipeLine) -> Estimate:
    n_held, d, c = SIZES.get(line.dataset, (5_000, 784, 10))
    if (
        line.beyond.get("stop_rule") == "algorithm1"
        and line.dataset in PAPER_ROWS
        and settings.get("stop_metric")
        and MODELS[model].network
    ):  # the paper's stop metrics are below what random wiring reaches on images
        settings = {**settings, "n_epochs": 1}
    return cost.fit_cost(model, settings, _rows(line), d, c, n_held)
