"""Teaching several flies the same molecules: one lambda and one calibration for all of them."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from kcnet_core.errors import DataError
from kcnet_core.network.calibration import Calibration
from kcnet_core.network.group_leave_one_out import solve
from kcnet_core.network.kcnet import KCNetClassifier
from kcnet_core.network.kenyon import kenyon_activity
from kcnet_core.network.labels import TargetCode
from kcnet_core.network.scores import auroc
from kcnet_core.network.seeds import seed_sequence
from kcnet_core.network.wiring import Wiring, allowed_fan_in

ALPHAS = np.logspace(-1.5, 0.5, 5)  # of lambda, relative to a row's mean sum of squared activities


@dataclass(frozen=True)
class FlySettings:
    """What every fly has in common.

    Chosen on the starter set by AUROC on molecules left out: rates with a C just above 1 keep a
    quarter of the cells active; more cells, or fan-ins from 4 to 10, change nothing that can be
    measured; eight flies show the spread and take about a second to teach.
    """

    n_flies: int = 8
    n_hidden: int = 1000
    fan_in: int = 7
    inhibition: float = 1.1
    seed: int = 0


class Fly(KCNetClassifier):
    """A KCNet that shares lambda and calibration with others and leaves out whole molecules.

    It is the same network; only its teaching differs, in that `flies.teach` looks at all of them.
    """

    def wire(self, X: np.ndarray, code: TargetCode) -> np.ndarray:
        """Draw the wiring for rows X (n, d); their activity (n, B)."""
        seed = seed_sequence(self.random_state)
        self.n_features_in_ = X.shape[1]
        parts = self._sample_parts(X.shape[1], allowed_fan_in(self.fan_in, X.shape[1]), seed)
        self._begin(X, code, seed, {})
        self.wiring_ = Wiring.concatenate(parts)
        self.scores_, self.history_ = None, []
        return kenyon_activity(self.wiring_, torch.from_numpy(X), self.inhibition).T.numpy()


@dataclass(frozen=True)
class Taught:
    """Flies, and what turns their mean score into an answer."""

    flies: tuple[Fly, ...]
    alpha: float
    calibration: Calibration
    left_out: np.ndarray  # (F, n, c) raw scores of the training rows, had they not been taught


_one_at_a_time = threading.Lock()  # two who limit threads at once would not both restore them


@contextmanager
def _one_thread():
    """A fly's matrices are too small for two threads of BLAS: on a busy machine these wait for each
    other, and teaching takes 24 s instead of 3 (load 12 on two cores)."""
    with _one_at_a_time, threadpool_limits(1):
        yield


@_one_thread()
def teach(inputs: np.ndarray, y: np.ndarray, groups, settings: FlySettings) -> Taught:
    """Teach `settings.n_flies` flies inputs (n, d) with labels y (n,) or (n, c).

    Lambda is the one with the best mean AUROC on molecules left out, measured on the first fly.
    The calibration is fitted to the mean of all flies' outputs for molecules left out. `groups`
    (n,) or None is the molecule of each row: its rows are left out together.
    """
    if inputs.shape[1] < 2:
        raise DataError("A fly needs at least two descriptors that differ between the molecules.")
    code = TargetCode.learn(y)
    Y = code.encode(y)
    flies, outputs, alpha = [], [], None
    for k in range(settings.n_flies):
        fly = Fly(
            n_hidden=settings.n_hidden,
            fan_in=min(settings.fan_in, inputs.shape[1] - 1),
            inhibition=settings.inhibition,
            random_state=settings.seed + k,
        )
        H = fly.wire(inputs, code)
        if alpha is None:
            alpha = _best_alpha(H, Y, groups)
        fly.coef_, without = solve(H, Y, groups, alpha)
        fly.alpha_ = alpha
        fly.forget_rows()  # a fly takes no more
        flies.append(fly)
        outputs.append(without)
    left_out = np.stack(outputs)
    Z = left_out.mean(axis=0)
    calibration = Calibration.fit(Z, Y, np.ones(len(Y)), code.kind)
    return Taught(tuple(flies), flies[0].alpha_, calibration, left_out)


def _best_alpha(H, Y, groups) -> float:
    scale = float(np.square(H, dtype=float).sum(axis=1).mean()) or 1.0
    alphas = scale * ALPHAS
    scores = [auroc(Y, solve(H, Y, groups, a)[1]) for a in alphas]
    return float(alphas[int(np.nanargmax(scores))]) if np.isfinite(scores).any() else scale
