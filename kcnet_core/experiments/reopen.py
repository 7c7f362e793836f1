"""A saved model brought back: the run it came from, evaluated again on its own test rows."""

from __future__ import annotations

import time
from typing import cast

from kcnet_core.contracts import Circuit
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import ModelFileError
from kcnet_core.experiments import metrics
from kcnet_core.experiments.described import written
from kcnet_core.experiments.frames import Replay
from kcnet_core.experiments.protocols import split_of
from kcnet_core.experiments.run import KCNET_MODELS, Run
from kcnet_core.experiments.training import TrainedRun
from kcnet_core.model_file import SavedModel


def run_of(saved: SavedModel) -> Run:
    """The run that made a model file."""
    if saved.predicts_numbers:
        raise ModelFileError(
            "This model predicts numbers, and Train teaches classes and labels only, so it cannot "
            "be opened here. `kcnet predict` uses it."
        )
    described = saved.info.get("run")
    if not isinstance(described, dict):
        raise ModelFileError(
            "This model file does not say which run made it, so it cannot be opened here. "
            "It can still predict: use kcnet_core.model_file.load_model in Python."
        )
    run, ignored = Run.from_query({name: written(value) for name, value in described.items()})
    if ignored:
        raise ModelFileError(f"The run in this model file cannot be read. {ignored[0]}")
    return run


def reopen(saved: SavedModel, run: Run, dataset: Dataset) -> TrainedRun:
    """Evaluate a saved model on the test rows of the split that its run made."""
    if tuple(saved.feature_names) != tuple(dataset.feature_names):
        raise ModelFileError(
            f"This model was trained on other inputs than {dataset.title} has "
            f"({len(saved.feature_names)} and {len(dataset.feature_names)}); "
            "choose the dataset it was trained on."
        )
    protocol, split = split_of(run, dataset)
    started = time.perf_counter()
    X_test = saved.inputs(dataset.X[split.test])
    probabilities = saved.model.predict_proba(X_test)
    predictions = saved.model.predict(X_test)
    scores = metrics.all_scores(dataset.y[split.test], predictions, probabilities)
    replay = Replay()
    if run.model in KCNET_MODELS:
        replay.finish(0, cast(Circuit, saved.model).scores_, saved.model.weights_)
    return TrainedRun(
        run=run,
        dataset=dataset,
        protocol=protocol,
        scaler=saved.scaler,
        model=saved.model,
        train_rows=split.train,
        test_rows=split.test,
        scores=scores,
        probabilities=probabilities,
        predictions=predictions,
        timings={"evaluate": time.perf_counter() - started},
        records=tuple(saved.model.history_),
        frames=replay.frames,
        notes=("Loaded from a model file and evaluated again on the test rows of its own split.",),
    )
