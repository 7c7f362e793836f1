"""KCNet and ELM grown side by side on the same rows, seed by seed, one width after the other."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments.beside.growth import Clock, Growth
from kcnet_core.experiments.beside.networks import LAYERS, HiddenLayer
from kcnet_core.experiments.beside.plan import LEVELS, MAX_TEST_ROWS, PAIR, SHOWN, Beside
from kcnet_core.experiments.comparison.noise import spoil, spoiled
from kcnet_core.experiments.comparison.rows import PlannedRows
from kcnet_core.experiments.fitting import Fold, prepare
from kcnet_core.experiments.measured_job import MeasuredJob, Piece
from kcnet_core.experiments.metrics import headline_metric
from kcnet_core.experiments.models import warm_up
from kcnet_core.experiments.protocols import Split
from kcnet_core.network.devices import as_tensor
from kcnet_core.network.history import Progress
from kcnet_core.network.scores import KEYWORDS, score_outputs

WINDOW = 40  # hidden units whose weights are shown
UNITS_AHEAD = 200


@dataclass(frozen=True)
class Layer:
    """What one network's hidden layer is, and what it says to the rows that are shown."""

    name: str
    window: np.ndarray  # (<= 40, d): weights of the first units
    hidden: np.ndarray  # (levels, shown, B) float32
    alpha: float
    bytes: dict[int, int]  # by width


@dataclass(frozen=True)
class Scene:
    """The first seed's rows and hidden layers, to be looked into sample by sample."""

    split: Split
    n_inputs: int
    rows: np.ndarray  # (shown,) of the dataset: test rows
    X: np.ndarray  # (levels, shown, d): what the networks get of them
    seen: np.ndarray  # (levels, shown, inputs of the dataset): the same before a retina
    layers: tuple[Layer, ...]


@dataclass(frozen=True)
class Point:
    """Both networks at one width, for one seed; KCNet first."""

    repeat: int
    width: int
    scores: np.ndarray  # (2, levels)
    seconds: tuple[float, ...]  # each network's, from nothing to this width
    protocol: str
    n_train: int
    n_test: int
    outputs: np.ndarray | None = None  # (2, levels, shown, c): of the first seed; NaN: not taught
    scene: Scene | None = None  # with the first point of the first seed


def beside_job(plan: Beside, dataset: Dataset, points: Iterable[Point] = ()) -> MeasuredJob:
    """Its points as a job, a piece for each seed; seeds of which `points` has all are kept."""
    planned, cost = PlannedRows(plan.comparison, dataset), plan.cost(dataset)
    points = [point for point in points if point.repeat < plan.seeds]
    whole = {point.repeat for point in points if point.width == plan.widest}
    left = [repeat for repeat in range(plan.seeds) if repeat not in whole]

    def measure() -> Generator[Point | Progress, None, None]:
        warm_up(plan.comparison.models)
        made = planned.splits()
        for repeat in left:
            yield from grown(plan, planned, made[repeat])

    stages = [f"Growing with seed {plan.comparison.seed + repeat}" for repeat in left]
    return MeasuredJob(
        "beside", plan, measure, [Piece(stage, cost) for stage in stages],
        [point for point in points if point.repeat in whole],
        total=plan.seeds * len(plan.widths), ends_piece=lambda point: point.width == plan.widest,
    )  # fmt: skip


def grown(
    plan: Beside, planned: PlannedRows, split: Split
) -> Generator[Point | Progress, None, None]:
    """Both networks on one split, from the narrowest to the widest."""
    dataset, first = planned.dataset, split.repeat == 0
    split = replace(split, test=split.test[:MAX_TEST_ROWS])
    fold = prepare(dataset, split, scaler=planned.before, oversampling=plan.comparison.oversampling)
    targets = Targets(fold, headline_metric(dataset))
    noisy = np.stack(
        [spoiled(fold, "noise", level, dataset=dataset, split=split) for level in LEVELS]
    )
    levels, m, d = noisy.shape
    X_train, X_test = as_tensor(fold.X_train), as_tensor(noisy.reshape(-1, d))
    made = {variant.model: variant.make(split.seed) for variant in reversed(planned.variants)}
    layers: list[HiddenLayer] = [
        LAYERS[name].draw(made[name], plan.widest, d, split.seed) for name in PAIR
    ]
    alphas = [layer.alpha(X_train) for layer in layers]
    growths = [Growth(plan.widest, targets.Y, levels * m, alpha) for alpha in alphas]
    activities = [Ahead(layer, X_train, X_test, plan.widest) for layer in layers]
    shown = slice(0, min(SHOWN, m))
    scene = None
    if first:
        X = noisy[:, shown]
        seen = X
        if plan.comparison.retina:
            damage = partial(spoil, dataset.X[split.test], "noise", dataset=dataset)
            seen = np.stack([damage(level, seed=split.seed)[shown] for level in LEVELS])
        scene = Scene(
            split, d, split.test[shown], X, seen, tuple(
                look_into(layer, plan, X, alpha, targets.n_outputs)
                for layer, alpha in zip(layers, alphas, strict=True)
            ),
        )  # fmt: skip
    for start, width in itertools.pairwise((0, *plan.widths)):
        for ahead, growth in zip(activities, growths, strict=True):
            H, followed, seconds = ahead.take(slice(start, width))
            growth.clock.seconds += seconds
            growth.add(H, followed)
        Z = np.stack([g.outputs.numpy().reshape(levels, m, -1) for g in growths])
        yield Progress("grow", width, plan.widest, sum(g.clock.seconds for g in growths))
        yield Point(
            split.repeat, width, targets.scores(Z), tuple(g.clock.seconds for g in growths),
            split.protocol, len(fold.X_train), m,
            targets.every_class(Z[:, :, shown]) if first else None, scene,
        )  # fmt: skip
        scene = None


class Ahead:
    """A layer's activities, made for many units at once: each call turns all rows over first."""

    def __init__(self, layer: HiddenLayer, X_train: torch.Tensor, X_test: torch.Tensor, most: int):
        self.layer, self.rows, self.most = layer, (X_train, X_test), most
        self.made = slice(0, 0)
        self.parts: tuple[torch.Tensor, ...] = ()
        self.clock = Clock()

    def take(self, units: slice) -> tuple[torch.Tensor, torch.Tensor, float]:
        """Of some units, after those taken before: of the training and of the test rows, and the
        seconds that the first took."""
        if units.stop > self.made.stop:
            stop = min(self.most, max(units.stop, units.start + UNITS_AHEAD))
            self.made, self.clock = slice(units.start, stop), Clock()
            with self.clock:
                taught = self.layer.activity(self.rows[0], self.made)
            self.parts = taught, self.layer.activity(self.rows[1], self.made)
        own = slice(units.start - self.made.start, units.stop - self.made.start)
        share = (own.stop - own.start) / (self.made.stop - self.made.start)
        taught, followed = (part[own] for part in self.parts)
        return taught, followed, share * self.clock.seconds


def look_into(layer: HiddenLayer, plan: Beside, X: np.ndarray, alpha, n_outputs) -> Layer:
    """One hidden layer's weights, and its activity for the rows X (levels, shown, d)."""
    levels, shown, d = X.shape
    H = layer.activity(as_tensor(X.reshape(-1, d)), slice(0, plan.widest))
    return Layer(
        layer.name, layer.weights(WINDOW), H.T.numpy().reshape(levels, shown, -1), alpha,
        {width: layer.bytes(width, n_outputs) for width in plan.widths},
    )  # fmt: skip


class Targets:
    """What the training rows teach, and how outputs are judged on the test rows."""

    def __init__(self, fold: Fold, metric: str):
        self.keyword = next(word for word, name in KEYWORDS.items() if name == metric)
        y, self.n_classes = fold.y_train, fold.n_classes
        self.kind, known = "multilabel", np.arange(fold.n_classes)
        truth = fold.y_test
        if y.ndim == 1:  # a class that no training row has cannot be an answer
            self.kind, known = "multiclass", np.unique(y)
            y, truth = y[:, None] == known, truth[:, None] == np.arange(fold.n_classes)
        self.known, self.n_outputs = known, len(known)
        self.Y, self.truth = torch.from_numpy(np.asarray(y, np.float64)), truth.astype(int)

    def scores(self, Z: np.ndarray) -> np.ndarray:
        """Of outputs (2, levels, m, known) as (2, levels)."""
        every = self.every_class(Z, -np.inf)
        return np.array(
            [[score_outputs(self.keyword, one, self.truth, self.kind) for one in of_network]
             for of_network in every]
        )  # fmt: skip

    def every_class(self, Z: np.ndarray, unknown: float = np.nan) -> np.ndarray:
        """Outputs with a column for every class of the dataset, float32."""
        every = np.full((*Z.shape[:-1], self.n_classes), unknown, np.float32)
        every[..., self.known] = Z
        return every
