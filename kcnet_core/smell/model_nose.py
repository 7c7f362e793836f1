"""A model that somebody trained elsewhere as a nose: from the Train page, or from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcnet_core.errors import KCNetError
from kcnet_core.experiments.protocols import PROTOCOLS
from kcnet_core.smell.known_molecules import Known
from kcnet_core.smell.nose import Nose, characters_of
from kcnet_core.smell.quality import Quality, measure_on_rows

if TYPE_CHECKING:  # these import torch
    from kcnet_core.experiments.training import TrainedRun
    from kcnet_core.model_file import SavedModel

SPLIT = "one {protocol} split of {title}, {n} test rows; 95% intervals by bootstrap over these rows"


def nose_of_run(trained: TrainedRun) -> tuple[Nose, Quality]:
    """A finished run of the Train page, with its quality on its own test rows."""
    dataset = trained.dataset
    if dataset.kind != "odor":
        raise KCNetError(
            f"The run on the Train page learned {dataset.title}, which holds images. Train on an "
            "odor dataset to smell with the result."
        )
    nose = _nose(
        trained.model,
        trained.scaler,
        dataset.feature_names,
        dataset.target_names,
        title=f"{trained.run.model} from the Train page",
        data_title=dataset.title,
        known=Known.of(dataset, trained.train_rows),
    )
    return nose, _quality(nose, dataset, trained.test_rows, trained.protocol)


def nose_of_file(saved: SavedModel, file_name: str = "model file") -> tuple[Nose, Quality | None]:
    """A loaded model file; its training molecules and test rows where the dataset is at hand."""
    if saved.predicts_numbers:
        raise KCNetError(
            "This model predicts numbers, not odor characters, so it cannot answer here. "
            "`kcnet predict` uses it."
        )
    dataset, split = _dataset_and_split(saved)
    about = saved.info.get("dataset")
    data_title = about.get("title", "") if isinstance(about, dict) else str(about or "")
    nose = _nose(
        saved.model,
        saved.scaler,
        saved.feature_names,
        saved.class_names,
        title=f"{type(saved.model).__name__.removesuffix('Classifier')} from {file_name}",
        data_title=data_title or "data that the file does not name",
        known=None if dataset is None else Known.of(dataset, split.train),
    )
    if dataset is None:
        return nose, None
    return nose, _quality(nose, dataset, split.test, split.protocol)


def _nose(model, scaler, feature_names, target_names, **about) -> Nose:
    from kcnet_core.network.classification import RidgeClassifier

    characters, columns = characters_of(target_names, model.multilabel)
    solved = isinstance(model, RidgeClassifier)
    return Nose(
        flies=(model,),
        scaler=scaler,
        feature_names=tuple(feature_names),
        characters=characters,
        columns=columns,
        calibration=model.calibration_ if solved else None,
        alpha=model.alpha_ if solved else None,
        **about,
    )


def _quality(nose: Nose, dataset, test_rows, protocol: str) -> Quality:
    how = SPLIT.format(
        protocol=PROTOCOLS[protocol].title.lower(), title=dataset.title, n=len(test_rows)
    )
    return measure_on_rows(nose, dataset, test_rows, how)


def _dataset_and_split(saved):
    """The data that the file says it was trained on, cut as then; (None, None) if not at hand."""
    from kcnet_core import datasets
    from kcnet_core.experiments.protocols import split_of
    from kcnet_core.experiments.reopen import run_of

    try:
        run = run_of(saved)
        there = {info.name for info in datasets.available() if info.status != "download"}
        if run.dataset not in there:
            return None, None
        dataset = run.load()
        if tuple(dataset.feature_names) != tuple(saved.feature_names):
            return None, None
        return dataset, split_of(run, dataset)[1]
    except KCNetError:
        return None, None
