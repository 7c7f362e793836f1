"""One sample's way through the fly's circuit, step by step, with every number kept for the eye.

Every input is a firing rate between 0 (silent) and 1: a pixel's brightness, or the rank of a
molecule's descriptor among the dataset's molecules. The paper standardises its inputs instead. With
C = 1 that makes no difference to which cells fire: adding a constant to every input adds the same
constant to every cell's sum and to their mean, and inhibition takes it away again. With any other C
only rates that start at 0 let inhibition mean what it means in a fly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kcnet_core.contracts import Circuit
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import DataError, KCNetError

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
    """What a visitor can change about the fly.

    Parameters
    ----------
    cells : int
        B, the number of Kenyon cells; a fly has about 2,000.
    fan_in : int
        N_in, the inputs of each cell; a fly has about 7.
    inhibition : float
        C, how much of the cells' mean is taken from every cell.
    wiring : int
        Seed of the random wiring: another number is another fly.
    epochs : int
        Epochs of dynamic optimisation (DOA); 0 leaves the wiring as it was drawn.
    """

    cells: int = 500
    fan_in: int = 7
    inhibition: float = 1.0
    wiring: int = 1
    epochs: int = 0

    def __post_init__(self):
        for name, (low, high) in BOUNDS.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise KCNetError(f"{name} is {value:g}, but must lie between {low:g} and {high:g}.")


class Glomeruli:
    """The first layer of the circuit: a dataset as firing rates between 0 and 1.

    Parameters
    ----------
    dataset : Dataset

    Attributes
    ----------
    rates : ndarray of shape (n, d), float32
    names : tuple of str
        What each input is: a pixel, or a molecular descriptor.
    train, test : ndarray of int
        Rows to learn from and rows to measure on; a molecule is never in both.
    """

    def __init__(self, dataset: Dataset):
        self.dataset = dataset
        if dataset.kind == "image":
            self.names = dataset.feature_names
            self.rates = self._brightness(dataset.X)
        else:
            self._fit_ranks()
        self.train, self.test = _held_out(dataset)

    def _brightness(self, X):
        return np.clip(self.dataset.raw_pixels(X), 0, 1).astype(np.float32)

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


def train_fly(glomeruli: Glomeruli, settings: CircuitSettings) -> Circuit:
    """Teach one fly: draw its wiring, then solve for its output weights.

    Returns
    -------
    KCNetClassifier
        Fitted to the training rows of `glomeruli`.
    """
    from kcnet_core import KCNetClassifier

    fly = KCNetClassifier(
        n_hidden=settings.cells,
        fan_in=min(settings.fan_in, glomeruli.rates.shape[1] - 1),
        inhibition=settings.inhibition,
        alpha=PENALTY[glomeruli.dataset.kind],
        n_epochs=settings.epochs,
        random_state=settings.wiring,
    )
    rows = glomeruli.train
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
    """Every intermediate number of one sample (equations 4 to 6 of the paper).

    Attributes
    ----------
    rates : ndarray (d,)
        x, the input.
    wiring : ndarray (B, d) of bool
        W, who listens to whom.
    sums : ndarray (B,)
        What each cell receives.
    mean : float
        mu, the mean of `sums` over all cells.
    inhibition : float
        C.
    inhibited : ndarray (B,)
        sums - C mu.
    activity : ndarray (B,)
        h, what is left above 0.
    votes : ndarray (B, c)
        h_j beta_jk: what each cell says for (or against) each answer.
    scores : ndarray (c,)
        The columns of `votes` added up (and the intercept, if the network has one).
    probabilities : ndarray (c,)
    """

    rates: np.ndarray
    wiring: np.ndarray
    sums: np.ndarray
    mean: float
    inhibition: float
    inhibited: np.ndarray
    activity: np.ndarray
    votes: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray

    @property
    def n_active(self) -> int:
        return int(np.count_nonzero(self.activity))

    @property
    def active_share(self) -> float:
        return self.n_active / len(self.activity)

    def inputs_of(self, cell: int) -> np.ndarray:
        """The inputs that a Kenyon cell listens to, in order."""
        return np.flatnonzero(self.wiring[cell])

    def tag(self, fraction: float = TAG_FRACTION) -> np.ndarray:
        """The cells that fire most: (B,) bool."""
        from kcnet_core.network.kenyon import strongest_cells

        return strongest_cells(self.activity[None], fraction)[0]


def tag_size(cells: int, fraction: float = TAG_FRACTION) -> int:
    """How many cells a full tag has."""
    return max(1, round(fraction * cells))


def forward_pass(fly: Circuit, rates) -> ForwardPass:
    """Walk one sample through a fitted network.

    Parameters
    ----------
    fly : Circuit
    rates : ndarray of shape (d,)
    """
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
        scores=np.atleast_1d(fly.decision_function(rates[None])[0]),
        probabilities=np.atleast_1d(fly.predict_proba(rates[None])[0]),
    )
