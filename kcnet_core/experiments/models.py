"""Every model that can be compared or tuned: the paper's networks beside the six baselines."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kcnet_core.errors import KCNetError
from kcnet_core.experiments.baselines import BASELINES, Dimension, Model
from kcnet_core.experiments.run import (
    ANY_DATA,
    MODEL_EXPLANATIONS,
    NETWORK_NAMES,
    Run,
    settings,
)

_LAMBDA = Dimension("alpha", 2e-2, 2e3, symbol="lambda")
_DOA = (
    Dimension("n_epochs", options=(5, 10, 50, 100)),
    Dimension("learning_rate", 5e-7, 5e-1),
    Dimension("stop_metric", 0.80, 0.97),
)
_DOA_NOTE = (
    "The paper keeps KCNet's lambda for DOA and searches these three. Its stop metric suits its "
    "own rule; untuned, ours never stops early."
)
_OURS = "The paper has no search space for this network; this one is ours."

SPACES = {
    "KCNet": ((_LAMBDA,), "The paper's space."),
    "DOA": (_DOA, _DOA_NOTE),
    "Ensemble DOA": (_DOA, _DOA_NOTE),
    "ELM": ((Dimension("n_hidden", 100, 2000),), _OURS),
    "FSHN": (
        (
            Dimension("n_hidden", 16, 256),
            Dimension("learning_rate", 1e-3, 1.0),
            Dimension("n_epochs", options=(5, 10, 20, 40)),
        ),
        _OURS,
    ),
}
_WARM: set[str] = set()  # models that were fitted before in this process
# The paper's settings of FSHN; the other networks start from the defaults of `Run`.
_FSHN_DEFAULTS = {"n_hidden": 82, "n_epochs": 5, "learning_rate": 0.1}


def _network(name: str) -> Model:
    space, note = SPACES[name]
    defaults = {dimension.name: getattr(Run(), dimension.name) for dimension in space}
    if name == "FSHN":
        defaults = _FSHN_DEFAULTS

    def make(chosen, seed):  # what is not chosen is as in a run
        return Run(ANY_DATA, model=name, seed=seed, **chosen).estimator()

    return Model(name, MODEL_EXPLANATIONS[name], True, space, defaults, note, make)


MODELS = {name: _network(name) for name in NETWORK_NAMES} | BASELINES


def find_model(name: str) -> Model:
    if name not in MODELS:
        raise KCNetError(f"There is no model {name!r}; choose from {', '.join(MODELS)}.")
    return MODELS[name]


def matched_hidden(n_hidden: int, n_inputs: int, n_outputs: int) -> int:
    """Hidden units of an FSHN with as many trained parameters as a KCNet of `n_hidden` cells.

    As in the paper: KCNet trains n_hidden x n_outputs weights; FSHN also trains its input weights
    and the biases of both layers.
    """
    wanted = n_hidden * n_outputs - n_outputs
    least = settings()["n_hidden"].low or 1
    return max(int(least), round(wanted / (n_inputs + 1 + n_outputs)))


def warm_up(names: Iterable[str]) -> None:
    """Fit each model once to a handful of rows.

    Libraries are loaded and threads started by the first fit in a process; without this, whichever
    model comes first would seem slow.
    """
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 12)).astype(np.float32), np.arange(60) % 2
    for name in sorted(set(names) - _WARM):
        model = MODELS[name]
        small = {"n_hidden": 20, "n_epochs": 2, "n_submodels": 2} if model.network else {}
        model.make({**model.defaults, **small}, 0).fit(X, y).predict(X)
        _WARM.add(name)
