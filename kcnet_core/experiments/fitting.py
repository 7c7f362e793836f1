"""One split made ready for a model, and one model trained on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from kcnet_core.contracts import Estimator, Steps, drain
from kcnet_core.datasets.catalogue import is_glomerular
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import DataError
from kcnet_core.experiments.obstacles import BEHIND_A_RETINA, obstacle, retina_obstacle
from kcnet_core.experiments.oversampling import oversample
from kcnet_core.experiments.protocols import Split
from kcnet_core.network.history import Progress
from kcnet_core.network.retina import PatchRetina, PretrainedRetina, is_retina
from kcnet_core.network.scaling import FeatureScaler, default_scaler
from kcnet_core.network.wiring import PLANS

Before: TypeAlias = FeatureScaler | PatchRetina | PretrainedRetina  # what stands before a network


@dataclass(frozen=True)
class Fold:
    """A split made ready for a model: scaled by its training rows, perhaps oversampled."""

    X_train: np.ndarray
    y_train: np.ndarray
    groups: np.ndarray | None
    X_test: np.ndarray
    y_test: np.ndarray
    n_classes: int
    scaler: Before | None  # fitted
    title: str  # of the dataset
    image_shape: tuple[int, ...] | None  # of the inputs, where they are pixels
    glomeruli: tuple[str, ...]  # that the inputs are; none where they are something else
    n_added: int = 0
    notes: tuple[str, ...] = ()

    def lay_out(self, model):
        """Tell a model whose wiring follows an image or a fly what its inputs are; refuse others.

        The connectome is read only now: it may be no longer where it was.
        """
        plan = getattr(model, "wiring", "random")
        pixels, glomeruli = self.image_shape is not None, bool(self.glomeruli)
        if PLANS[plan].needs_image and is_retina(self.scaler):
            raise DataError(BEHIND_A_RETINA)
        if why := obstacle(plan, self.title, pixels, glomeruli):
            raise DataError(why)
        if PLANS[plan].needs_image:
            return model.set_params(image_shape=self.image_shape)
        if PLANS[plan].needs_glomeruli:
            from kcnet_core.datasets.fly.connectome import synapses_for

            return model.set_params(connectome=synapses_for(self.glomeruli))
        return model


def prepare(
    dataset: Dataset,
    split: Split,
    *,
    scaler: Before | str | None = "default",
    oversampling: bool = False,
) -> Fold:
    """Scale and, if asked, oversample (ADASYN) the training rows; the test rows are only
    transformed.

    `scaler` is an unfitted one (it is cloned), none at all, or "default": what suits the data. A
    retina may stand in its place.
    """
    return drain(prepare_steps(dataset, split, scaler=scaler, oversampling=oversampling))


def prepare_steps(
    dataset: Dataset,
    split: Split,
    *,
    scaler: Before | str | None = "default",
    oversampling: bool = False,
) -> Steps[Progress, Fold]:
    """`prepare` step by step, where a retina takes its time."""
    fitted = default_scaler(dataset) if isinstance(scaler, str) else scaler and clone(scaler)
    X_train, X_test = dataset.X[split.train], dataset.X[split.test]
    if fitted is not None and is_retina(fitted):
        if isinstance(fitted, PretrainedRetina):
            yield from _weights(fitted.network)
        yield Progress("retina", 0, 1, 0.0, "learning its scale")
        fitted.fit(X_train)
        X_train = yield from fitted.transform_steps(X_train)
        X_test = yield from fitted.transform_steps(X_test)
    elif fitted is not None:
        X_train = fitted.fit(X_train).transform(X_train)
        X_test = fitted.transform(X_test)
    y_train = dataset.y[split.train]
    groups = None if dataset.groups is None else dataset.groups[split.train]
    shape = None if is_retina(fitted) else dataset.image_shape
    about = fitted, dataset.title, shape, _glomeruli(dataset, fitted)
    test = X_test, dataset.y[split.test], len(dataset.target_names), *about
    if not oversampling:
        return Fold(X_train, y_train, groups, *test)
    more = oversample(X_train, y_train, split.seed, groups)
    return Fold(more.X, more.y, more.groups, *test, more.n_added, (more.note,))


def _weights(network: str) -> Steps[Progress, None]:
    """Download the weights of a retina's network, where they are not here yet."""
    from kcnet_core.datasets.sources import fetch_weights_steps

    for step in fetch_weights_steps(network):
        says = f"downloading its weights, {step.done / 1e6:.1f} MB"
        yield Progress("retina", step.done, step.total or step.done, 0.0, says)


def retina_for(
    name: str, n_patches: int, seed: int, dataset: Dataset
) -> PatchRetina | PretrainedRetina | None:
    """The unfitted retina of this name for a dataset, refused where there are no pixels."""
    if why := retina_obstacle(name, dataset.title, dataset.image_shape is not None):
        raise DataError(why)
    if not name:
        return None
    common = {"image_shape": dataset.image_shape, "random_state": seed}
    if name == "patches":
        return PatchRetina(n_patches, scaled=True, **common)
    if np.ndim(dataset.pixel_mean):
        raise DataError(
            "The pretrained retina wants photographs as they are: choose pixels that are not "
            "standardised each by itself."
        )
    scale = {"pixel_mean": float(dataset.pixel_mean), "pixel_std": float(dataset.pixel_std)}
    return PretrainedRetina(**scale, **common)


def _glomeruli(dataset: Dataset, scaler: Before | None) -> tuple[str, ...]:
    """Names of the model's inputs, where they are glomeruli."""
    if not is_glomerular(dataset.name):
        return ()
    names = dataset.feature_names
    return names if scaler is None else tuple(map(str, scaler.get_feature_names_out(names)))


@dataclass(frozen=True)
class Fitted:
    """A trained model that answers in the dataset's own class numbers."""

    model: Estimator
    classes: np.ndarray | None  # dataset class of each class the model knows; None for labels
    n_classes: int
    configure_seconds: float
    fit_seconds: float

    def predict(self, X) -> np.ndarray:
        answers = np.asarray(self.model.predict(X))
        return answers if self.classes is None else self.classes[answers.astype(int)]

    def scores(self, X) -> tuple[np.ndarray, bool]:
        """Scores with one column per class or label, and whether they are probabilities."""
        probabilities = hasattr(self.model, "predict_proba")  # a support vector machine has none
        values = getattr(self.model, "predict_proba" if probabilities else "decision_function")(X)
        if isinstance(values, list):  # scikit-learn's forests and neighbours: one table per label
            pairs = zip(values, self.model.classes_, strict=True)
            # Of the label's 1; none where the training rows knew only its 0.
            positive = [table[:, np.asarray(classes) == 1].sum(axis=1) for table, classes in pairs]
            values = np.column_stack(positive)
        values = np.asarray(values)
        if self.classes is None:
            return values, probabilities
        if values.ndim == 1:
            values = np.column_stack([1 - values if probabilities else -values, values])
        every_class = np.full((len(values), self.n_classes), 0.0 if probabilities else values.min())
        every_class[:, self.classes] = values
        return every_class, probabilities

    @property
    def parameters(self):
        return getattr(self.model, "n_trained_parameters_", None)


def fit_steps(
    make: Callable, fold: Fold, seed: int, *, progress: bool = False
) -> Generator[Progress, None, Fitted]:
    """Make and train a model on a fold; yields `Progress` on the way if asked and able.

    The time a consumer keeps the generator waiting is not counted.
    """
    started = time.perf_counter()
    model, y, classes = fold.lay_out(make(seed)), fold.y_train, None
    if y.ndim == 2:
        if not get_tags(model).classifier_tags.multi_label:
            model = OneVsRestClassifier(model)
    else:  # XGBoost needs the classes of the training rows to be 0..k-1
        classes, y = np.unique(y, return_inverse=True)
    configure = time.perf_counter() - started
    takes_groups = fold.groups is not None and has_fit_parameter(model, "groups")
    grouped = {"groups": fold.groups} if takes_groups else {}
    if progress and hasattr(model, "fit_steps"):
        steps, fit, done = model.fit_steps(fold.X_train, y, progress=True, **grouped), 0.0, 0
        while True:
            started = time.perf_counter()
            record = next(steps, None)
            fit += time.perf_counter() - started
            if record is None:
                break
            done += 1
            epochs = getattr(model, "n_epochs", 0) * getattr(model, "n_submodels", 1)
            yield record if isinstance(record, Progress) else Progress("doa", done, epochs, fit)
    else:
        started = time.perf_counter()
        model.fit(fold.X_train, y, **grouped)
        fit = time.perf_counter() - started
    wiring = min(getattr(model, "timings_", {}).get("wiring", 0.0), fit)
    return Fitted(model, classes, fold.n_classes, configure + wiring, fit - wiring)


def fit(make: Callable, fold: Fold, seed: int) -> Fitted:
    """`fit_steps` without stopping on the way."""
    steps = fit_steps(make, fold, seed)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
