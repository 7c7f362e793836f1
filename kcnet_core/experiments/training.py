"""Carries out one `Run`: split, scale, train step by step, evaluate; pages watch it happen."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from kcnet_core.contracts import Circuit, Network, Steps
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments import metrics, protocols
from kcnet_core.experiments.fitting import Before, Fold, prepare_steps, retina_for
from kcnet_core.experiments.frames import Frame, Replay
from kcnet_core.experiments.run import DOA_MODELS, EPOCH_MODELS, KCNET_MODELS, Run
from kcnet_core.network.history import EpochRecord, Progress, time_at_work
from kcnet_core.network.labels import TargetCode
from kcnet_core.network.retina import is_retina
from kcnet_core.network.scores import DEFAULT_METRIC, KEYWORDS

LAMBDA_PATH = "lambda_path"  # its place in the memo
EPOCHS_SHARE = 0.85  # of the progress bar; the final solve and the evaluation take the rest


@dataclass(frozen=True)
class TrainView:
    """What a viewer may see of a run between two steps; cheap to make, never changed."""

    run: Run
    stage: str
    fraction: float
    log: list[EpochRecord]  # grows only at its end; a view owns the first n_records
    n_records: int
    frames: tuple[Frame, ...] = ()
    recent: tuple[Frame, ...] = ()  # those of the last second or so
    metric_name: str = "accuracy"
    counts_as_step: bool = False  # True after an epoch; "step" runs through all other work
    image_shape: tuple[int, ...] | None = None  # of the inputs, where they are pixels
    feature_names: tuple[str, ...] = ()  # of the inputs, once they are known

    @property
    def records(self) -> list[EpochRecord]:
        return self.log[: self.n_records]


@dataclass(frozen=True)
class TrainedRun:
    """A finished run: the model and everything the pages say about it."""

    run: Run
    dataset: Dataset
    protocol: str
    scaler: Before | None
    model: Network
    train_rows: np.ndarray
    test_rows: np.ndarray
    scores: dict[str, float]  # test metrics by name
    probabilities: np.ndarray  # on the test rows: (n,), (n, classes) or (n, labels)
    predictions: np.ndarray
    timings: dict[str, float]
    records: tuple[EpochRecord, ...]
    frames: tuple[Frame, ...]
    notes: tuple[str, ...] = ()
    memo: dict = field(default_factory=dict, compare=False)  # what pages computed from it, kept

    def inputs(self, rows: np.ndarray) -> np.ndarray:
        """The model's own inputs (scaled, if the run scales) for rows of the dataset."""
        X = self.dataset.X[rows]
        return self.scaler.transform(X) if self.scaler is not None else X

    def forget_sums(self) -> None:
        """Free what only moving lambda needs (16 B^2 bytes and more); all else stays as it was."""
        self.memo.pop(LAMBDA_PATH, None)
        self.model.forget_rows()

    @property
    def has_sums(self) -> bool:
        """Whether the model still holds the sums from which any lambda can be solved."""
        return self.model.has_sums

    @property
    def feature_names(self) -> list[str]:
        return list(names_of_inputs(self.dataset, self.scaler))

    @property
    def image_shape(self) -> tuple[int, ...] | None:
        """Of the model's inputs, where they are pixels; behind a retina they are none."""
        return None if is_retina(self.scaler) else self.dataset.image_shape

    @property
    def headline(self) -> tuple[str, float]:
        """The metric by which this kind of data is judged, and its value."""
        name = metrics.headline_metric(self.dataset)
        return name, self.scores[name]


def names_of_inputs(dataset: Dataset, scaler: Before | None) -> tuple[str, ...]:
    """Names of what the model gets, which is less than the dataset has where columns were left."""
    if scaler is None:
        return dataset.feature_names
    return tuple(map(str, scaler.get_feature_names_out(dataset.feature_names)))


def validation_metric(dataset: Dataset) -> str:
    """What the estimators measure on held-out rows when they are left to choose."""
    return KEYWORDS[DEFAULT_METRIC[TargetCode.learn(dataset.y).kind]]


def train_steps(
    run: Run, dataset: Dataset, enough: Callable[[], bool] = lambda: False
) -> Generator[TrainView, None, TrainedRun]:
    """Train `run` on `dataset`; yields after every epoch or piece of work.

    As soon as `enough()`, DOA ends with the epoch in hand, but not before the first; the result is
    then that of a run with so many epochs.
    """
    log: list[EpochRecord] = []
    replay = Replay(run.n_networks)
    metric_name = validation_metric(dataset)
    feature_names: tuple[str, ...] = ()

    def view(stage: str, fraction: float, counts_as_step: bool = False) -> TrainView:
        return TrainView(
            run, stage, fraction, log, len(log), replay.frames, replay.recent, metric_name,
            counts_as_step, None if run.retina else dataset.image_shape, feature_names,
        )  # fmt: skip

    yield view("Splitting the rows", 0.0)
    started = time.perf_counter()
    protocol, split = protocols.split_of(run, dataset)
    prepared = time.perf_counter() - started
    yield view("Scaling the inputs", 0.0)
    retina = retina_for(run.retina, run.n_patches, run.seed, dataset)
    spent = {"prepare": prepared}
    steps = prepare_steps(dataset, split, scaler=retina or "default")
    fold = yield from _viewed(time_at_work(steps, spent, "prepare"), view)
    started = time.perf_counter()
    feature_names = names_of_inputs(dataset, fold.scaler)
    model = fold.lay_out(run.estimator())
    circuit = cast(Circuit, model)  # where the model is a KCNet
    has_epochs = run.model in EPOCH_MODELS
    # One record per epoch and submodel, and with DOA one more for the wiring as it was drawn.
    total = (run.n_epochs + (run.model in DOA_MODELS)) * replay.n_submodels
    prepared = spent["prepare"] + time.perf_counter() - started
    matrices, ended = run.model in DOA_MODELS, False
    stays = run.model in KCNET_MODELS and not matrices  # the wiring, as it is drawn
    if run.model in KCNET_MODELS:
        yield view(STAGES["wiring"], 0.0)
    for record in model.fit_steps(
        fold.X_train, fold.y_train, groups=fold.groups, matrices=matrices, progress=True
    ):
        if isinstance(record, Progress):
            if stays and not replay.frames:  # to be looked at while the rest is computed
                replay.finish(0, None, circuit.weights_)
            yield view(*_inside(record, has_epochs))
            continue
        replay.add(record)
        log.append(replace(record, W=None, S=None))
        fraction = EPOCHS_SHARE * min(len(log) / total, 1.0) if has_epochs else 0.93
        yield view("Training", fraction, counts_as_step=True)
        if matrices and record.epoch and enough():
            circuit.end_search()
            ended = True
    if ended:
        run = replace(run, n_epochs=log[-1].epoch)
        model.set_params(n_epochs=run.n_epochs)
    if matrices:
        replay.finish(log[-1].epoch if log else 0, circuit.scores_, circuit.weights_)

    yield view("Evaluating on the test rows", 0.95)
    started = time.perf_counter()
    probabilities = model.predict_proba(fold.X_test)
    predictions = model.predict(fold.X_test)
    scores = metrics.all_scores(fold.y_test, predictions, probabilities)
    timings = {"prepare": prepared, **model.timings_, "evaluate": time.perf_counter() - started}
    notes = tuple(circuit.stopped_.splitlines()) if run.model in DOA_MODELS else ()
    return TrainedRun(
        run, dataset, protocol, fold.scaler, model, split.train, split.test, scores, probabilities,
        predictions, timings, tuple(log), replay.frames, notes,
    )  # fmt: skip


def _viewed(steps: Steps[Progress, Fold], view: Callable) -> Generator[TrainView, None, Fold]:
    while True:
        try:
            step = next(steps)
        except StopIteration as ended:
            return ended.value
        says = step.says or f"{step.done:,} of {step.total:,} images"
        yield view(f"{STAGES['retina']}, {says}", 0.0)


def _inside(step: Progress, has_epochs: bool) -> tuple[str, float]:
    """What a step inside a stage is called, and how much of the run is done with it."""
    done = step.done / max(step.total, 1)
    if step.stage == "doa":
        return f"{STAGES['doa']}, {step.says}", EPOCHS_SHARE * done
    start, width = (EPOCHS_SHARE, 0.08) if has_epochs else (0.0, 0.9)
    if step.stage != "gram":
        return STAGES.get(step.stage, step.stage), start + width
    rows = f", {step.done:,} of {step.total:,} rows" if step.done < step.total else ""
    return STAGES["gram"] + rows, start + width * done


STAGES = {
    "retina": "Looking through the retina",
    "wiring": "Drawing the wiring",
    "doa": "Tuning the wiring",
    "gram": "Summing the activity of the Kenyon cells",
    "solve": "Solving for the output weights",
    "calibrate": "Calibrating probabilities",
}
