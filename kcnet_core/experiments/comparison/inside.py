"""Two random networks taught with the same rows, to be looked into sample by sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from kcnet_core.contracts import Network
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.comparison.rows import PlannedRows
from kcnet_core.experiments.fitting import Fitted, Fold, fit, prepare
from kcnet_core.experiments.protocols import Split

MAX_ROWS = 4_000  # enough to teach with; more would keep a visitor waiting
MAX_TEST_ROWS = 500  # whose hidden activity is kept
ACTIVE = 0.01  # of the largest activity that a cell shows; a sigmoid never reaches 0


@dataclass(frozen=True)
class Inside:
    """One trained network and what its hidden layer says to the test rows."""

    name: str
    fitted: Fitted
    weights: np.ndarray  # (B, d): W of KCNet (0/1), or the dense random weights of ELM
    hidden: np.ndarray  # (n_test, B)

    def active_share(self, position: int | None = None) -> float:
        """Share of cells that say anything to one test row, or on average to all."""
        H = self.hidden if position is None else self.hidden[position]
        threshold = ACTIVE * self.hidden.max()
        return float(np.mean(threshold < H))


@dataclass(frozen=True)
class SideBySide:
    """Networks of one size on the same split."""

    dataset: Dataset
    split: Split
    fold: Fold
    networks: tuple[Inside, ...]

    def answer(self, network: Inside, position: int) -> np.ndarray:
        """The network's answer to one test row: a class, or one 0/1 per label."""
        return network.fitted.predict(self.fold.X_test[position : position + 1])[0]


def side_by_side(
    comparison: Comparison, dataset: Dataset, n_hidden: int, *, max_rows: int = MAX_ROWS
) -> SideBySide:
    """Train KCNet and ELM of one hidden size on the first split of a comparison, with its seed and
    settings; of many training rows only `max_rows`."""
    first = replace(
        comparison, models=("KCNet", "ELM"), hidden=(n_hidden,), n_repeats=1, n_folds=0,
        rows=min(comparison.rows or max_rows, max_rows),
    )  # fmt: skip
    planned = PlannedRows(first, dataset)
    split = planned.splits()[0]
    split = replace(split, test=split.test[:MAX_TEST_ROWS])
    fold = prepare(dataset, split, scaler=planned.before if comparison.retina else "default")
    networks = []
    for variant in planned.variants:
        fitted = fit(variant.make, fold, split.seed)
        model = cast(Network, fitted.model)
        hidden = np.asarray(model.hidden(fold.X_test))
        networks.append(Inside(variant.line, fitted, np.asarray(model.weights_), hidden))
    return SideBySide(dataset, split, fold, tuple(networks))
