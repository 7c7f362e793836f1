"""How long fits will take and how much memory they will need, told before they start."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from kcnet_core.errors import KCNetError
from kcnet_core.experiments.models import MODELS
from kcnet_core.experiments.run import ANY_DATA, DOA_MODELS, Run
from kcnet_core.jobs import Estimate

# Rows per varpro epoch when the run leaves the choice to the estimator, and rows measured on.
TYPICAL_BATCH = 4_000
VALIDATION_SHARE = 1 / 6
FIXED_BYTES = 150 * 2**20  # chunks of hidden activity, pictures, records
# A matrix product on the whole machine is the unit; the rest reaches only a part of its speed.
FACTOR_CHOLESKY = 3.0
FACTOR_SGD = 12.0
# The slowest baseline, per row, input and output: AdaBoost on 800 rows takes about 0.7 s; and the
# share of that which the others take there.
BASELINE_SECONDS = 5e-6
BASELINE_SHARE = {
    "AdaBoost": 1.0, "GBM": 0.75, "XGBoost": 0.4, "Random forest": 0.45, "KNN": 0.05, "SVM": 0.1,
}  # fmt: skip
BASELINE_COPIES = 10  # of the training rows, in trees, kernels and votes
BYTES_PER_MOLECULE = 20_000  # that is asked: row, descriptors, answer and verdict
REOPENED_COPIES = 6  # of the test rows at the peak, measured
BYTES_SHOWN = 4 + 1  # per connection: S and W
PRETRAINED_INPUTS, PRETRAINED_FLOPS = 512, 2e9  # for an image; with most time not in products
SMALLEST = 0.05  # seconds that even the smallest model takes with splitting, scaling and scoring


def in_words(seconds: float) -> str:
    if seconds < 1:
        return "a second"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


@lru_cache(maxsize=1)
def flops_per_second() -> float:
    """Speed of a float32 matrix product here, measured once (about 0.1 s).

    The quickest of a few counts: a moment in which others were busy must not last.
    """
    import torch

    from kcnet_core.network.linear_algebra import product

    A, took = torch.rand(1024, 1024), []
    for _ in range(6):
        started = time.perf_counter()
        product(A, A)
        took.append(time.perf_counter() - started)
    return 2 * 1024**3 / min(took)


def estimate(run: Run, n: int, d: int, c: int) -> Estimate:
    """Cost of `run` on n training rows, d inputs and c outputs.

    The terms are the method's own: Gram matrix (N B^2), Cholesky (B^3 / 3 in float64),
    the DOA gradient (rows x B x d) and, for FSHN, gradient descent over every weight.
    """
    B = run.n_hidden
    if run.retina:
        inputs = retina_inputs(run.retina, run.n_patches)
        seen = estimate(replace(run, retina=""), n, inputs, c)
        # Patches of 6 x 6 pixels at every place of every image; or a small network.
        of_image = 2 * 36 * d * run.n_patches if run.retina == "patches" else PRETRAINED_FLOPS
        seconds = 1.5 * n * of_image / flops_per_second()
        return Estimate(seen.seconds + seconds, seen.bytes + 2 * 4 * n * d)
    if run.model == "FSHN":
        flops = FACTOR_SGD * run.n_epochs * 6 * n * B * (d + c)
        return Estimate(flops / flops_per_second() + 0.3, FIXED_BYTES + 4 * (2 * n * d))
    solve = n * min(n, B) * B + FACTOR_CHOLESKY * min(n, B) ** 3
    projection = 2 * n * B * (d if run.model == "ELM" else run.fan_in * 4)
    flops = solve + projection
    if run.alpha_loo and run.model != "ELM":
        flops += 30 * min(n, B) ** 3
    matrices = 0
    if run.model in DOA_MODELS:
        submodels = run.n_networks
        b = B // submodels
        # The paper's rule fits to all rows but the validation rows, where it takes the gradient.
        rows = n if run.doa_rule == "paper" else min(n, run.batch_rows or TYPICAL_BATCH)
        gradient_rows = VALIDATION_SHARE * n if run.doa_rule == "paper" else rows
        epoch = rows * b * b + FACTOR_CHOLESKY * b**3 + 6 * gradient_rows * b * d
        flops += submodels * run.n_epochs * epoch
        matrices = 30 * B * d
    side = min(n, B)
    return Estimate(
        1.3 * flops / flops_per_second() + 0.3,
        FIXED_BYTES + 4 * n * d + 3 * 8 * side * side + matrices,
    )


def shorter(run: Run, n: int, d: int, c: int, most: float) -> dict[str, tuple[Run, float]]:
    """What would bring a run below `most` seconds, by the setting that is lowered, and how many
    seconds it then takes: each by itself is halved until that is so, as far as that can be."""
    found = {}
    for name in ("n_epochs", "n_hidden"):
        new, seconds = run, math.inf
        with contextlib.suppress(KCNetError):  # of a setting that the others do not allow
            while seconds > most and getattr(new, name) > 1:
                new = replace(new, **{name: getattr(new, name) // 2})
                seconds = estimate(new, n, d, c).seconds
        if seconds <= most:
            found[name] = new, seconds
    return found


def retina_inputs(retina: str, n_patches: int) -> int:
    """What a network gets from a retina: every patch in both signs and four quarters."""
    return 8 * n_patches if retina == "patches" else PRETRAINED_INPUTS


def fit_cost(model: str, settings: Mapping, n: int, d: int, c: int, n_held: int) -> Estimate:
    """Cost of one fit of any model that can be compared, while `n_held` rows are in memory."""
    held = 4 * n_held * d
    if MODELS[model].network:
        cost = estimate(Run(ANY_DATA, model=model, **settings), n, d, c)
        return Estimate(cost.seconds, cost.bytes + held)
    seconds = BASELINE_SHARE.get(model, 1.0) * BASELINE_SECONDS * n * d * (c if c > 2 else 1)
    return Estimate(SMALLEST + seconds, BASELINE_COPIES * 4 * n * d + held)


def reopen_cost(run: Run, n_test: int, d: int) -> Estimate:
    """Memory for test rows on their way through scaler and model, and for S and W."""
    return Estimate(
        bytes=FIXED_BYTES + REOPENED_COPIES * 4 * n_test * d + BYTES_SHOWN * run.n_hidden * d
    )


def answers_cost(n_molecules: int, *, n_known: int, n_flies: int, n_characters: int) -> Estimate:
    """Memory of smelling: every molecule beside the known ones, and every fly's answer.

    This and `quality_cost` lie a quarter or more above what was measured (1,000 to 4,000 molecules
    asked, 2,000 to 8,000 taught, 50 and 200 characters).
    """
    values = 3 * n_known + 2 * n_flies * n_characters
    return Estimate(bytes=FIXED_BYTES + n_molecules * (BYTES_PER_MOLECULE + 8 * values))


def quality_cost(n_rows: int, *, n_hidden: int, n_flies: int, n_characters: int) -> Estimate:
    """Memory of measuring flies on unseen molecules: the activity of one fly's cells, and what
    every fly says of every row."""
    values = n_rows * (3 * n_hidden + 3 * n_flies * n_characters // 2)
    return Estimate(bytes=FIXED_BYTES + 8 * values)
