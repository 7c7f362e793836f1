"""What a lesson can measure, live, on a fly: a table from the measure's name to its function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kcnet_core.contracts import Circuit
from kcnet_core.lessons.circuit import CircuitSettings, Glomeruli, train_fly
from kcnet_core.lessons.experiments import (
    active_cells,
    cell_sums,
    inhibition_sweep,
    next_fly,
    tag_pairs,
    unseen_accuracy,
    wiring_overlap,
)

SAMPLES = 300  # held-out samples whose activity is averaged

TrainFly = Callable[[CircuitSettings], Circuit]


@dataclass(frozen=True)
class Measure:
    """One measurable thing.

    `compute(glomeruli, settings, train)` gets flies from `train(settings)`, so that a page can keep
    the ones it has already taught. Differences below `resolution` count as none.
    """

    title: str
    unit: str
    resolution: float
    compute: Callable[[Glomeruli, CircuitSettings, TrainFly], float]
    one_answer: bool = False  # only for data with one right answer per sample

    def format(self, value: float) -> str:
        """A value with its unit, as a sentence would say it."""
        if self.unit == "%":
            return f"{value:.1f}%"
        return f"{value:.2f}" if not self.unit else f"{value:.1f} {self.unit}"


def measure(name, glomeruli, settings, train=None) -> float:
    """Measure by name; `train` teaches a fly for given settings."""
    train = train or (lambda wanted: train_fly(glomeruli, wanted))
    return float(MEASURES[name].compute(glomeruli, settings, train))


def _accuracy(glomeruli, settings, train):
    rows = glomeruli.test
    answers = train(settings).predict(glomeruli.rates[rows])
    return 100 * np.mean(answers == glomeruli.dataset.y[rows])


def _unseen_accuracy(glomeruli, settings, train):
    return 100 * unseen_accuracy(glomeruli, settings)


def _active_share(glomeruli, settings, train):
    sums = cell_sums(train(settings), glomeruli.rates[glomeruli.test[:SAMPLES]])
    return 100 * active_cells(sums, settings.inhibition).mean()


def _overlap(same):
    def compute(glomeruli, settings, train):
        pairs = tag_pairs(train(settings), glomeruli)
        return 100 * pairs.overlap[pairs.same == same].mean()

    return compute


def _code_distance(glomeruli, settings, train):
    one, other = glomeruli.rates[glomeruli.test[:2]]
    sweep = inhibition_sweep(train(settings), glomeruli, one, other, [settings.inhibition])
    return sweep.distance_different[0]


def _wiring_overlap(glomeruli, settings, train):
    one, other = train(settings), train(next_fly(settings))
    return 100 * wiring_overlap(one.weights_, other.weights_)


def _agreement(glomeruli, settings, train):
    rates = glomeruli.rates[glomeruli.test]
    one, other = train(settings), train(next_fly(settings))
    return 100 * np.mean(one.predict(rates) == other.predict(rates))


def _inputs_per_cell(glomeruli, settings, train):
    weights = train(settings).weights_
    return float(np.count_nonzero(weights) / len(weights))


def _connections_kept(glomeruli, settings, train):
    first = train(replace(settings, epochs=0))
    return 100 * wiring_overlap(first.weights_, train(settings).weights_)


MEASURES = {
    "accuracy": Measure("right answers on unseen samples", "%", 1.0, _accuracy, one_answer=True),
    "unseen_accuracy": Measure(
        "right answers, mean of 20 splits", "%", 4.0, _unseen_accuracy, one_answer=True
    ),
    "active_share": Measure("share of active cells", "%", 1.0, _active_share),
    "code_distance": Measure("distance of two kinds' active cells", "", 0.02, _code_distance),
    "tag_overlap_same": Measure("shared tag, two of one kind", "%", 1.0, _overlap(True)),
    "tag_overlap_different": Measure(
        "shared tag, two of different kinds", "%", 1.0, _overlap(False)
    ),
    "wiring_overlap": Measure("connections two flies share", "%", 0.5, _wiring_overlap),
    "agreement": Measure("same answers from two flies", "%", 1.0, _agreement),
    "inputs_per_cell": Measure("inputs per Kenyon cell", "inputs", 0.5, _inputs_per_cell),
    "connections_kept": Measure("first connections still there", "%", 1.0, _connections_kept),
}
