"""Teaching several flies the same molecules: one lambda and one calibration for all of them."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from kcnet_core.contracts import spread_by
from kcnet_core.errors import DataError
from kcnet_core.network.calibration import Calibration
from kcnet_core.network.kcnet import KCNetClassifier
from kcnet_core.network.kenyon import kenyon_activity
from kcnet_core.network.labels import TargetCode
from kcnet_core.network.regression.group_leave_one_out import gram, solve
from kcnet_core.network.regression.second_ridge import second_ridge
from kcnet_core.network.scores import auroc
from kcnet_core.network.seeds import seed_sequence
from kcnet_core.network.wiring import Wiring, allowed_fan_in
from kcnet_core.smell.glomeruli import GroupedFly

SECOND = (1.0, 3.0, 10.0, 30.0)  # of the second ridge's lambda, relative to the number of rows
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
    n_group_cells: int = 500  # for each kind of substructure, where these are inputs
    # Of the second ridge, where substructures are inputs; None: the best for molecules left out.
    # Of 10, 3 and 1, two flies have 0.889, 0.893 and 0.895 on ring systems left out, and 0.822,
    # 0.827 and 0.824 on other people's molecules.
    second_alpha: float | None = 3.0


MANY_ROWS = 2_000


def usual_settings(n_rows: int) -> FlySettings:
    """Fewer flies and cells for many molecules, of which eight flies take minutes to learn."""
    return FlySettings() if n_rows <= MANY_ROWS else FlySettings(n_flies=2, n_group_cells=250)


class Fly(KCNetClassifier):
    """A KCNet that shares lambda and calibration with others and leaves out whole molecules.

    It is the same network; only its teaching differs, in that `flies.teach` looks at all of them.
    """

    def wire(self, X: np.ndarray, code: TargetCode) -> np.ndarray:
        """Draw the wiring for rows X (n, d); their activity (n, B)."""
        seed = seed_sequence(self.random_state)
        self.n_features_in_ = X.shape[1]
        parts = self.sample_parts(X.shape[1], allowed_fan_in(self.fan_in, X.shape[1]), seed)
        self._begin(X, code, seed, {})
        self.wiring_ = Wiring.concatenate(parts)
        self.inhibition_ = self.inhibition
        self.scores_, self.history_ = None, []
        return kenyon_activity(self.wiring_, torch.from_numpy(X), self.inhibition).T.numpy()


@dataclass(frozen=True)
class Taught:
    """Flies, and what turns their mean score into an answer."""

    flies: tuple[Any, ...]  # each a `Fly` or a `GroupedFly`
    alpha: float
    calibration: Calibration
    left_out: np.ndarray  # (F, n, c) raw scores of the training rows, had they not been taught
    second_alpha: float | None  # of the second ridge, if there is one


_one_at_a_time = threading.Lock()  # two who limit threads at once would not both restore them


@contextmanager
def _one_thread():
    """A fly's matrices are too small for two threads of BLAS: on a busy machine these wait for each
    other, and teaching takes 24 s instead of 3 (load 12 on two cores)."""
    with _one_at_a_time, threadpool_limits(1):
        yield


@_one_thread()
def teach(
    inputs: np.ndarray, y: np.ndarray, groups, settings: FlySettings, glomeruli=None
) -> Taught:
    """Teach `settings.n_flies` flies inputs (n, d) with labels y (n,) or (n, c).

    Lambda is the one with the best mean AUROC on molecules left out, measured on the first fly.
    The calibration is fitted to the mean of all flies' outputs for molecules left out. `groups`
    (n,) or None is the molecule of each row: its rows are left out together. `glomeruli` are the
    columns of each group of inputs; several get cells of their own (`glomeruli.GroupedFly`), and
    labels then inform each other (`second_ridge`), and lambda is chosen by what they say then.
    """
    if inputs.shape[1] < 2:
        raise DataError("A fly needs at least two descriptors that differ between the molecules.")
    code = TargetCode.learn(y)
    Y = code.encode(y)
    several = glomeruli is not None and len(glomeruli) > 1
    second = several and code.kind == "multilabel"
    seconds = SECOND if settings.second_alpha is None else (settings.second_alpha,)
    shared = (inputs, code, Y, groups, settings, glomeruli if several else None)
    first, without, alpha, second_alpha = _taught(*shared, seconds if second else (None,), None, 0)
    spread = spread_by.get() or _one_by_one
    others = spread(_taught, (*shared, (), alpha), range(1, settings.n_flies))
    flies = [first, *(other[0] for other in others)]
    left_out = np.stack([without, *(other[1] for other in others)])
    if second_alpha is not None:
        left_out = _informed(flies, left_out, Y, groups, second_alpha)
    Z = left_out.mean(axis=0)
    calibration = Calibration.fit(Z, Y, np.ones(len(Y)), code.kind)
    return Taught(tuple(flies), flies[0].alpha_, calibration, left_out, second_alpha)


def _one_by_one(function, shared: tuple, items) -> list:
    return [function(*shared, item) for item in items]


def _taught(inputs, code, Y, groups, settings: FlySettings, glomeruli, seconds, alpha, k: int):
    """Fly number k, its scores of rows left out, lambda (the first fly, which has none yet, chooses
    it) and that of the second ridge."""
    seed, second_alpha = settings.seed + k, None
    if glomeruli is not None:
        fly, H = _grouped(inputs, code, settings, glomeruli, seed)
    else:
        fly = _fly(settings, settings.n_hidden, inputs.shape[1], seed)
        H = fly.wire(inputs, code)
    products = gram(H)
    if alpha is None:
        alpha, second_alpha = _best_alphas(H, products, Y, groups, seconds)
    fly.coef_, without = solve(H, Y, groups, alpha, products)
    fly.alpha_ = alpha
    fly.forget_rows()  # a fly takes no more
    return fly, without, alpha, second_alpha


def _fly(settings: FlySettings, n_hidden: int, n_inputs: int, seed: int) -> Fly:
    return Fly(
        n_hidden=n_hidden,
        fan_in=min(settings.fan_in, n_inputs - 1),
        inhibition=settings.inhibition,
        random_state=seed,
    )


def _grouped(inputs, code, settings: FlySettings, glomeruli, seed: int):
    """A fly with cells for every group, and their activity (n, B); every group weighs the same."""
    parts, columns, gains, activities = [], [], [], []
    for k, at in enumerate(glomeruli):
        if len(at) < 2:
            continue
        n_cells = settings.n_hidden if k == 0 else settings.n_group_cells
        part = _fly(settings, n_cells, len(at), seed * len(glomeruli) + k)
        H = part.wire(np.ascontiguousarray(inputs[:, at]), code)
        size = float(np.sqrt(np.square(H, dtype=float).sum(axis=1).mean())) or 1.0
        parts.append(part)
        columns.append(at)
        gains.append(1 / size)
        activities.append(H / size)
    return GroupedFly(parts, columns, gains), np.hstack(activities)


def _informed(flies, left_out: np.ndarray, Y: np.ndarray, groups, alpha: float) -> np.ndarray:
    """Multiply a second ridge into the flies' weights; the scores of rows left out then."""
    Z = left_out.mean(axis=0)
    second = second_ridge(Z, Y, groups, alpha)
    for fly in flies:
        fly.coef_ = fly.coef_ @ second.matrix
    return second.left_out + (left_out - Z) @ second.matrix


def _best_alphas(H, products, Y, groups, seconds) -> tuple[float, float | None]:
    """Lambda and that of the second ridge (None: there is none) by AUROC on molecules left out."""
    scale = float(np.square(H, dtype=float).sum(axis=1).mean()) or 1.0
    found: dict[tuple[float, float | None], float] = {}
    for alpha in scale * ALPHAS:
        first = solve(H, Y, groups, alpha, products)[1]
        for second in seconds:
            left_out = first if second is None else second_ridge(first, Y, groups, second).left_out
            found[float(alpha), second] = auroc(Y, left_out)
    scores = np.array(list(found.values()))
    if not np.isfinite(scores).any():
        return scale, seconds[0]
    return list(found)[int(np.nanargmax(scores))]
