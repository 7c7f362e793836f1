"""One sample's way through the fly's circuit, step by step, with every number kept for the eye.

Every input is a firing rate between 0 (silent) and 1: a pixel's brightness, the rank of a
molecule's descriptor among the dataset's molecules, or the measured answer of a glomerulus. The
paper standardises its inputs instead. With C = 1 that makes no difference to which cells fire:
adding a constant to every input adds the same constant to every cell's sum and to their mean, and
inhibition takes it away again. With any other C only rates that start at 0 let inhibition mean what
it means in a fly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from kcnet_core.contracts import Circuit
from kcnet_core.datasets.catalogue import is_glomerular
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import DataError, KCNetError
from kcnet_core.network.wiring import PLANS

TAG_FRACTION = 0.05  # share of Kenyon cells in a tag, as in Dasgupta et al. (2017)
HELD_OUT = 0.2  # share of rows kept for measuring, where a dataset names no test part

# One fixed lambda per kind of data keeps every slider's round trip short; anything from a third to
# three times as much gives nearly the same answers.
PENALTY = {"image": 10.0, "odor": 30.0}

# The bounds of every setting of a classroom circuit; sliders, links and lesson files share them.
BOUNDS = {
    "cells": (20, 2000),
    "fan_in": (1, 40),
    "inhibition": (0.0, 2.0),
    "wiring": (1, 9999),
    "epochs": (0, 60),
}


@dataclass(frozen=True)
class CircuitSettings:
    """What a visitor can change about the fly."""

    cells: int = 500  # B, the number of Kenyon cells; a fly has about 2,000
    fan_in: int = 7  # N_in, the inputs of each cell; a fly's has about 7 claws
    inhibition: float = 1.0  # C, how much of the cells' mean is taken from every cell
    wiring: int = 1  # seed of the random wiring: another number is another fly
    epochs: int = 0  # of dynamic optimisation (DOA); 0 leaves the wiring as it was drawn
    plan: str = "random"  # of the wiring; fields are for images, a real fly's for glomeruli

    def __post_init__(self):
        for name, (low, high) in BOUNDS.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise KCNetError(f"{name} is {value:g}, but must lie between {low:g} and {high:g}.")
        if self.plan not in PLANS:
            raise KCNetError(f"plan must be one of {', '.join(PLANS)}.")


class Glomeruli:
    """The first layer of the circuit: a dataset as firing rates (n, d) between 0 and 1.

    `names` say what each input is, a pixel or a molecular descriptor; `train` and `test` are the
    rows to learn from and to measure on, and a molecule is never in both.
    """

    def __init__(self, dataset: Dataset):
        self.dataset = dataset
        if dataset.kind == "image":
            self.names = dataset.feature_names
            self.rates = np.clip(dataset.raw_pixels(dataset.X), 0, 1).astype(np.float32)
        elif is_glomerular(dataset.name):
            self.names, self.rates = dataset.feature_names, np.clip(dataset.X, 0, 1)
        else:
            self._fit_ranks()
        self.train, self.test = _held_out(dataset)

    def _fit_ranks(self):
        from sklearn.preprocessing import QuantileTransformer

        X = np.asarray(self.dataset.X, dtype=float)
        usable = np.isfinite(X).all(axis=0)
        usable[usable] = np.ptp(X[:, usable], axis=0) > 0
        self._columns = np.flatnonzero(usable)
        self._ranks = QuantileTransformer(n_quantiles=min(len(X), 1000), random_state=0)
        self.rates = self._ranks.fit_transform(X[:, self._columns]).astype(np.float32)
        self.names = tuple(self.dataset.feature_names[i] for i in self._columns)

    def sense_pixels(self, pixels) -> np.ndarray:
        """Firing rates (d,) of one image whose pixels lie between 0 (paper) and 1 (ink)."""
        rates = np.clip(np.asarray(pixels, dtype=np.float32).ravel(), 0, 1)
        if rates.size != self.rates.shape[1]:
            raise DataError(
                f"The image has {rates.size} pixels, but this network was taught with "
                f"{self.rates.shape[1]}."
            )
        return rates

    def sense_descriptors(self, x) -> np.ndarray:
        """Firing rates (d,) of one molecule, from its raw descriptors in the dataset's order."""
        x = np.asarray(x, dtype=float).reshape(1, -1)[:, self._columns]
        if not np.isfinite(x).all():
            missing = self.names[int(np.flatnonzero(~np.isfinite(x[0]))[0])]
            raise DataError(
                f"The descriptor {missing} cannot be computed for this molecule; try another one."
            )
        return self._ranks.transform(x)[0].astype(np.float32)


def _held_out(dataset):
    n = len(dataset.X)
    if dataset.n_train is not None:
        return np.arange(dataset.n_train), np.arange(dataset.n_train, n)
    from sklearn.model_selection import GroupShuffleSplit

    groups = np.arange(n) if dataset.groups is None else dataset.groups
    split = GroupShuffleSplit(n_splits=1, test_size=HELD_OUT, random_state=0)
    return next(split.split(dataset.X, groups=groups))


@lru_cache(maxsize=4)
def real_cells(names: tuple[str, ...]) -> tuple[str, ...]:
    """The lobe of every cell of the whole real fly that hears one of these glomeruli, in order."""
    from kcnet_core.datasets.fly.connectome import MIN_SYNAPSES, connectome, synapses_for

    heard = (synapses_for(names) >= MIN_SYNAPSES).sum(axis=1) > 0
    return tuple(lobe for lobe, hears in zip(connectome().lobes, heard, strict=True) if hears)


def of_whole_fly(settings: CircuitSettings, glomeruli: Glomeruli) -> CircuitSettings:
    """A real fly has as many cells as it has; other settings stay as they are."""
    if not PLANS[settings.plan].needs_glomeruli:
        return settings
    return replace(settings, cells=len(real_cells(tuple(glomeruli.names))))


def train_fly(
    glomeruli: Glomeruli, settings: CircuitSettings, rows: np.ndarray | None = None
) -> Circuit:
    """Teach one fly: draw its wiring, then solve for its output weights on the training rows.

    `rows` are others than the usual training rows.
    """
    from kcnet_core import KCNetClassifier

    connectome = None
    if PLANS[settings.plan].needs_glomeruli:
        from kcnet_core.datasets.fly.connectome import synapses_for

        connectome = synapses_for(glomeruli.names)
    fly = KCNetClassifier(
        n_hidden=settings.cells,
        fan_in=min(settings.fan_in, glomeruli.rates.shape[1] - 1),
        inhibition=settings.inhibition,
        alpha=PENALTY[glomeruli.dataset.kind],
        n_epochs=settings.epochs,
        random_state=settings.wiring,
        wiring=settings.plan,
        image_shape=glomeruli.dataset.image_shape,
        connectome=connectome,
    )
    rows = glomeruli.train if rows is None else rows
    groups = glomeruli.dataset.groups
    fly.fit(
        glomeruli.rates[rows],
        glomeruli.dataset.y[rows],
        groups=None if groups is None else groups[rows],
    )
    # Only learning on, and other values of lambda, need these sums: 60 MB of a fly with 2,000
    # cells, and a class keeps many flies. A model read from a file is without them too.
    return fly.forget_rows()


@dataclass(frozen=True)
class ForwardPass:
    """Every intermediate number of one sample (equations 4 to 6 of the paper)."""

    rates: np.ndarray  # (d,) x, the input
    wiring: np.ndarray  # (B, d) bool: W, who listens to whom
    sums: np.ndarray  # (B,) what each cell receives
    mean: float  # mu, the mean of the sums over all cells
    inhibition: float  # C
    inhibited: np.ndarray  # (B,) sums - C mu
    activity: np.ndarray  # (B,) h, what is left above 0
    votes: np.ndarray  # (B, c) h_j beta_jk: what each cell says for (or against) each answer
    probabilities: np.ndarray  # (c,)

    @property
    def n_active(self) -> int:
        return int(np.count_nonzero(self.activity))

    @property
    def active_share(self) -> float:
        return self.n_active / len(self.activity)

    def inputs_of(self, cell: int) -> np.ndarray:
        """The inputs that a Kenyon cell listens to, in order."""
        return np.flatnonzero(self.wiring[cell])


def tag_size(cells: int) -> int:
    """How many cells a full tag has."""
    return max(1, round(TAG_FRACTION * cells))


def forward_pass(fly: Circuit, rates) -> ForwardPass:
    """Walk the rates (d,) of one sample through a fitted network."""
    rates = np.asarray(rates, dtype=np.float32)
    wiring = np.asarray(fly.weights_).astype(bool)
    sums = wiring @ rates.astype(float)
    mean = float(sums.mean())
    inhibited = sums - fly.inhibition * mean
    activity = np.maximum(inhibited, 0)
    votes = activity[:, None] * np.asarray(fly.coef_, dtype=float).reshape(len(activity), -1)
    return ForwardPass(
        rates=rates,
        wiring=wiring,
        sums=sums,
        mean=mean,
        inhibition=float(fly.inhibition),
        inhibited=inhibited,
        activity=activity,
        votes=votes,
        probabilities=np.atleast_1d(fly.predict_proba(rates[None])[0]),
    )
