"""Intensity and pleasantness of a molecule, learned from the ratings of Keller & Vosshall 2016.

One `KCNetRegressor` for each, because not every molecule was rated for both. Stereoisomers, which
the inputs cannot tell apart, are one row with their mean: left out, a molecule takes its twins with
it. Intervals are conformal, from molecules that were left out, so they hold for molecules like
Keller's. What was learned is kept as model files in the cache folder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kcnet_core.datasets import dream, keller, store
from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import DataError, ModelFileError
from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES
from kcnet_core.molecules.read import descriptors, skeletons
from kcnet_core.storage.folders import cache_folder

if TYPE_CHECKING:  # these import torch
    from kcnet_core.network.regression.regressor import KCNetRegressor
    from kcnet_core.network.scaling import RateScaler
    from kcnet_core.smell.answers import Answer
    from kcnet_core.smell.explanation import Shares

RATED = {"Intensity": "at a dilution of 1/1,000", "Pleasantness": "at the stronger dilution rated"}
# The nose's own: rates with a C just above 1. More cells change nothing that leave-one-out sees.
SETTINGS: dict[str, Any] = {"n_hidden": 2000, "fan_in": 7, "inhibition": 1.1, "alpha": "loo"}
DATA_TITLE = CATALOGUE["keller_2016"].title
COVERAGE = 0.9
SCALE = (0.0, 100.0)
VERSION = 1  # raised when the same data would give another model
GET_IT = (
    f"Intensity and pleasantness need the ratings of {DATA_TITLE}: download them on the Data page "
    "or with `kcnet data fetch keller_2016`."
)


@dataclass(frozen=True)
class Rating:
    """What people would say on average, from 0 to 100."""

    attribute: str
    value: float  # of a known molecule, as if it had never been met
    low: float  # `COVERAGE` of molecules lie between these two
    high: float
    rated: float | None  # what people did say, of a known molecule


@dataclass(frozen=True, eq=False)
class Rater:
    """A network for one attribute, and the molecules it was taught."""

    attribute: str
    model: KCNetRegressor
    scaler: RateScaler
    feature_names: tuple[str, ...]
    known: tuple[str, ...]  # skeletons of the training rows

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {skeleton: k for k, skeleton in enumerate(self.known)}

    @property
    def r(self) -> float:
        """Correlation with the ratings of molecules that were left out."""
        from kcnet_core.network.scores import pearson

        left_out = self.model.loo_predictions_
        return float(pearson(left_out + self.model.loo_residuals_, left_out)[0])

    def rate(self, descriptors: np.ndarray, flat: Sequence[str]) -> list[Rating]:
        """`descriptors` (n, d) are in the order of DESCRIPTOR_NAMES, `flat` the skeletons."""
        inputs = self._inputs(descriptors)
        values = self.model.predict(inputs)
        margin = float((self.model.predict_interval(inputs[:1], COVERAGE)[1] - values[:1])[0])
        found = []
        for value, skeleton in zip(values, flat, strict=True):
            row, rated = self._rows.get(skeleton), None
            if row is not None:
                value = self.model.loo_predictions_[row, 0]
                rated = float(value + self.model.loo_residuals_[row, 0])
            value, low, high = np.clip([value, value - margin, value + margin], *SCALE).tolist()
            found.append(Rating(self.attribute, value, low, high, rated))
        return found

    def shares(self, descriptors: np.ndarray) -> Shares:
        """What every input adds to the rating of one molecule, were it taught; exact."""
        from kcnet_core.network.explain import contributions
        from kcnet_core.smell.explanation import Shares

        values = contributions(self.model, self._inputs(descriptors[None]))[0, :, 0]
        names = np.asarray(self.feature_names)[self.scaler.kept_].tolist()
        return Shares(values, tuple(names), float(self.model.intercept_[0]), "points")

    def _inputs(self, descriptors: np.ndarray) -> np.ndarray:
        place = [DESCRIPTOR_NAMES.index(name) for name in self.feature_names]
        return self.scaler.transform(np.asarray(descriptors, np.float32)[:, place])


def rate(
    raters: Sequence[Rater], descriptors: Sequence[np.ndarray], flat: Sequence[str]
) -> list[tuple[Rating, ...]]:
    """The ratings of every molecule, from its descriptors and its SMILES without stereo marks; none
    where there is no rater."""
    if not flat or not raters:
        return [()] * len(flat)
    X = np.stack(list(descriptors))
    return list(zip(*(rater.rate(X, flat) for rater in raters), strict=True))


def rate_answers(raters: Sequence[Rater], given: Sequence[Answer]) -> list[tuple[Rating, ...]]:
    """The same for molecules that a nose has answered."""
    flat = [one.molecule.skeleton for one in given]
    return rate(raters, [one.descriptors for one in given], flat)


def rate_smiles(smiles: Sequence[str]) -> dict[str, tuple[Rating, ...]]:
    """Intensity and pleasantness by SMILES; without those that cannot be described.

    Examples
    --------
    >>> rate_smiles(["CCOC(C)=O"])["CCOC(C)=O"][1].attribute  # doctest: +SKIP
    'Pleasantness'
    """
    found = descriptors(smiles)
    ratings = rate(raters(), list(found.values()), skeletons(list(found)))
    return dict(zip(found, ratings, strict=True))


def sentence(ratings: Sequence[Rating]) -> str:
    """As one line: "Intensity 60 (31 to 90), people said 76"."""
    return "; ".join(
        f"{one.attribute} {one.value:.0f} ({one.low:.0f} to {one.high:.0f})"
        + ("" if one.rated is None else f", people said {one.rated:.0f}")
        for one in ratings
    )


def are_here() -> bool:
    """Whether the ratings are on this machine."""
    return store.find(keller.FILES) is not None


def raters() -> tuple[Rater, ...]:
    """One for each of `RATED`: from the cache, or taught now, which takes seconds."""
    if not are_here():
        raise DataError(GET_IT)
    folder = cache_folder() / "ratings"
    paths = {name: folder / f"{_digest()}-{name.lower()}.kcnet" for name in RATED}
    found: dict[str, Rater] = {}
    with suppress(ModelFileError, KeyError, TypeError):  # not there, or damaged: taught anew
        found = {name: _read(name, path) for name, path in paths.items()}
    if not found:
        data = dream.rated_molecules()
        for name, path in paths.items():
            found[name] = taught(data, name)
            _write(found[name], path)
    return tuple(found.values())


def taught(data: Dataset, attribute: str, seed: int = 0) -> Rater:
    """A network that learned one attribute from `rated_molecules`."""
    from kcnet_core.network.regression.regressor import KCNetRegressor
    from kcnet_core.network.scaling import RateScaler

    X, y, known = one_row_each(data, attribute)
    scaler = RateScaler().fit(X)
    model = KCNetRegressor(**SETTINGS, random_state=seed).fit(scaler.transform(X), y)
    return Rater(attribute, model.forget_rows(), scaler, tuple(data.feature_names), known)


def one_row_each(data: Dataset, attribute: str) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Inputs, mean rating and skeleton of every molecule, its stereoisomers among them."""
    y = data.y[:, data.target_names.index(attribute)]
    rows = np.flatnonzero(np.isfinite(y))
    names = np.array(skeletons([(data.smiles or ())[k] for k in rows]))
    known, first, group = np.unique(names, return_index=True, return_inverse=True)
    mean = np.bincount(group, y[rows]) / np.bincount(group)
    return data.X[rows[first]], mean, tuple(known.tolist())


def _digest() -> str:
    """By which a cached model knows its data, settings and versions."""
    folder = store.find(keller.FILES) or Path()
    there = [folder / name for file in keller.FILES for name in (file, f"{file}.gz")]
    sizes = [
        (path.name, path.stat().st_size, path.stat().st_mtime_ns)
        for path in there
        if path.is_file()
    ]
    identity = json.dumps([VERSION, sizes, SETTINGS, DESCRIPTOR_NAMES, version("rdkit")])
    return hashlib.sha256(identity.encode()).hexdigest()[:20]


def _read(attribute: str, path: Path) -> Rater:
    from kcnet_core.model_file import load_model
    from kcnet_core.network.scaling import RateScaler

    saved = load_model(path)
    if saved.scaler is None:
        raise ModelFileError("The model has no scaler.")
    model: Any = saved.model
    scaler = saved.scaler  # the file keeps what ranks need, not that they become rates
    rates = RateScaler.from_state(scaler.get_params(), scaler.get_state(), saved.feature_names)
    return Rater(attribute, model, rates, saved.feature_names, tuple(saved.info["known"]))


def _write(rater: Rater, path: Path) -> None:
    from kcnet_core.model_file import save_model

    with suppress(OSError, ModelFileError):  # read-only or full: the next time teaches again
        path.parent.mkdir(parents=True, exist_ok=True)
        save_model(
            path, rater.model, scaler=rater.scaler, feature_names=rater.feature_names,
            target_names=(rater.attribute,), info={"known": rater.known},
        )  # fmt: skip
