"""The six models that the paper compares KCNet with on odors, and their search spaces, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from math import sqrt

from kcnet_core.errors import KCNetError

LOG_SPAN = 100  # a range whose ends differ by this factor or more is searched on a log scale
KERNEL_CACHE_MB = 500


@dataclass(frozen=True)
class Dimension:
    """One row of the paper's search-space table: a range, or a choice between options."""

    name: str
    low: float = 0.0
    high: float = 0.0
    options: tuple = ()
    symbol: str = ""  # as the paper prints it, where that differs from `name`

    @property
    def integer(self) -> bool:
        return isinstance(self.low, int) and isinstance(self.high, int)

    @property
    def log(self) -> bool:
        """The paper names no scale; wide ranges are searched evenly in their logarithm."""
        return not self.options and self.low > 0 and self.high / self.low >= LOG_SPAN

    @property
    def midpoint(self):
        """The untuned value: middle of the range (of its logarithm if wide), or an option."""
        if self.options:
            numeric = not isinstance(self.options[0], str)
            return self.options[len(self.options) // 2 if numeric else 0]
        middle = sqrt(self.low * self.high) if self.log else (self.low + self.high) / 2
        return int(middle) if self.integer else float(f"{middle:.3g}")

    def checked(self, value):
        """The value if it lies in the space; otherwise a sentence that says what does."""
        if self.options:
            for option in self.options:
                if value == option:
                    return option
            raise KCNetError(f"{self.name} must be one of {', '.join(map(str, self.options))}.")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise KCNetError(f"{self.name} must be a number.")
        if not self.low <= value <= self.high:
            raise KCNetError(
                f"{self.name} must lie between {self.low:g} and {self.high:g}, not {value:g}."
            )
        return int(value) if self.integer else float(value)

    def describe(self) -> str:
        if self.options:
            return "{" + ", ".join(map(str, self.options)) + "}"
        return f"[{self.low:g}, {self.high:g}]" + (" (log)" if self.log else "")


@dataclass(frozen=True)
class Model:
    """A model that can be compared and tuned: how to make it, and what may be varied."""

    name: str  # as shown everywhere and used as key
    title: str  # the name written out
    network: bool  # whether it has a hidden layer whose size can be chosen
    space: tuple[Dimension, ...]
    defaults: Mapping  # settings used when nothing was tuned
    note: str  # what a reader must know about settings and space
    make: Callable  # (settings, seed) -> scikit-learn classifier

    def build(self, settings: Mapping | None = None, seed: int = 0):
        """A new estimator with `settings` in place of the defaults."""
        return self.make({**self.defaults, **(settings or {})}, seed)


MIDPOINT_NOTE = (
    "The paper prints no tuned values: untuned, every setting is the middle of the paper's range "
    "(of its logarithm where the range is wide)."
)


def _made(where: str, fixed: Mapping, settings: Mapping, seed: int):
    module, name = where.rsplit(".", 1)
    classifier = getattr(import_module(module), name)
    seeded = {"random_state": seed} if "random_state" in classifier().get_params() else {}
    return classifier(**settings, **fixed, **seeded)


def _baseline(name, title, where, space, note="", **fixed):
    defaults = {dimension.name: dimension.midpoint for dimension in space}
    note, make = f"{MIDPOINT_NOTE} {note}".strip(), partial(_made, where, fixed)
    return Model(name, title, False, space, defaults, note, make)


BASELINES = {
    model.name: model
    for model in (
        _baseline(
            "AdaBoost",
            "AdaBoost",
            "sklearn.ensemble.AdaBoostClassifier",
            (Dimension("learning_rate", 0.1, 1.0), Dimension("n_estimators", 10, 100)),
            "The paper also chose between the algorithms SAMME and SAMME.R; scikit-learn has "
            "removed SAMME.R, so SAMME is always used.",
        ),
        _baseline(
            "GBM",
            "Gradient boosting machine",
            "sklearn.ensemble.GradientBoostingClassifier",
            (
                Dimension("learning_rate", 0.05, 1.0),
                Dimension("n_estimators", 10, 100),
                Dimension("max_depth", 2, 5),
                Dimension("min_samples_split", 10, 200),
                Dimension("min_samples_leaf", 30, 70),
                Dimension("max_features", 8, 159),
                Dimension("subsample", 0.6, 1.0),
            ),
            "max_features counts inputs and the paper had 159 of them.",
        ),
        _baseline(
            "XGBoost",
            "XGBoost",
            "xgboost.XGBClassifier",
            (
                Dimension("max_depth", 2, 5),
                Dimension("min_child_weight", 1, 6),
                Dimension("gamma", 0.1, 10.0),
                Dimension("subsample", 0.6, 1.0),
                Dimension("colsample_bytree", 0.5, 1.0),
                Dimension("reg_alpha", 0.1, 20.0),
                Dimension("reg_lambda", 0.001, 100.0),
                Dimension("learning_rate", 0.01, 1.0),
                Dimension("n_estimators", 10, 200),
            ),
            n_jobs=1,  # folds are small, and other jobs need the second core
            verbosity=0,
        ),
        _baseline(
            "Random forest",
            "Random forest",
            "sklearn.ensemble.RandomForestClassifier",
            (
                Dimension("criterion", options=("gini", "entropy")),
                Dimension("n_estimators", 50, 100),
                Dimension("max_depth", 2, 5),
                Dimension("min_samples_split", 2, 70),
                Dimension("min_samples_leaf", 1, 50),
            ),
            "The paper's trees are at most five levels deep; an unbounded forest is stronger.",
        ),
        _baseline(
            "KNN",
            "k-nearest neighbours",
            "sklearn.neighbors.KNeighborsClassifier",
            (
                Dimension("weights", options=("uniform", "distance")),
                Dimension("p", options=(1, 2, 3)),
                Dimension("n_neighbors", 2, 30),
            ),
        ),
        _baseline(
            "SVM",
            "Support vector machine",
            "sklearn.svm.SVC",
            (Dimension("C", 2e-3, 2e7),),
            "The kernel is scikit-learn's default (RBF); the paper does not name it. AUROC uses "
            "the signed distance from the boundary, so there is no calibration error.",
            kernel="rbf",  # without probabilities, which would cost five more fits
            cache_size=KERNEL_CACHE_MB,
        ),
    )
}
