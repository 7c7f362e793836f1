"""What workers do for the app's jobs; each takes its data, whether it is enough, and the rest."""

from __future__ import annotations

from typing import Any

from kcnet_core.cluster.rows import WORKING
from kcnet_core.cluster.steps import StepsReader
from kcnet_core.contracts import Steps
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments.beside.steps import beside_job
from kcnet_core.experiments.comparison.search import search_job
from kcnet_core.smell.answers import smell_steps
from kcnet_core.smell.quality import measure_steps


def search(dataset: Dataset, enough, plan, done) -> Steps[Any, None]:
    return search_job(plan, dataset, done).measure()


def beside(dataset: Dataset, enough, plan, points) -> Steps[Any, None]:
    return beside_job(plan, dataset, points).measure()


def quality(dataset: Dataset, enough, settings) -> Steps[Any, Any]:
    return measure_steps(dataset, settings)


def smell(nose, enough, lines, dilution) -> Steps[Any, Any]:
    return smell_steps(nose, lines, dilution)


class CountedItems(StepsReader):
    """Of measurements, which yield items and progress."""

    def waiting(self, last: Any, sentence: str) -> Any:
        return WORKING
