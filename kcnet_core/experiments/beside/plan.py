"""What stands beside what: one frozen description of a growing KCNet and a growing ELM."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.cost import FACTOR_CHOLESKY, FIXED_BYTES, flops_per_second
from kcnet_core.experiments.run import Described
from kcnet_core.jobs import Estimate
from kcnet_core.limits import LOW_MEMORY

PAIR = ("KCNet", "ELM")
NARROWEST = 10
WIDEST = (200, 500, 1000, *(() if LOW_MEMORY else (2000, 3000, 4000)))  # one may grow to
USUAL_WIDEST = min(2000, WIDEST[-1])
MOST_SEEDS = 20
STEP = 1.09  # from one width to the next; then two digits are kept
LEVELS = (0.0, 0.25, 0.5, 1.0, 2.0)  # of noise on the test rows, in standard deviations of an input
MAX_ROWS = 1_500 if LOW_MEMORY else 4_000  # that train; more would keep a visitor waiting
MAX_TEST_ROWS = 200 if LOW_MEMORY else 1_000
SHOWN = 60  # test rows that can be looked at one by one
FLOAT64 = 2.5  # times as slow as the products by which a machine is measured
SMALLEST = 0.3  # seconds of a seed that no formula knows


@dataclass(frozen=True)
class Beside:
    """Everything that decides what the two networks show.

    Of the comparison count the data, how they are split and scaled, the seed and the networks'
    settings; its models, sizes and repeats are replaced.
    """

    comparison: Comparison
    widest: int = USUAL_WIDEST
    seeds: int = 6

    def __post_init__(self):
        if self.widest not in WIDEST:
            raise KCNetError(f"The widest network must have {_listed(WIDEST)} cells.")
        if not 1 <= self.seeds <= MOST_SEEDS:
            raise KCNetError(f"Seeds must lie between 1 and {MOST_SEEDS}, not {self.seeds}.")
        given = self.comparison
        # One lambda serves all widths, so it cannot be chosen anew for each.
        own = tuple(
            (name, tuple(pair for pair in chosen if pair[0] != "alpha_loo"))
            for name, chosen in given.settings
            if name in PAIR
        )
        shared = replace(
            given, models=PAIR, hidden=(self.widest,), wirings=given.wirings[:1],
            n_repeats=self.seeds, n_folds=0,
            rows=min(given.rows or MAX_ROWS, MAX_ROWS), fshn_size="hidden",
            settings=own,
        )  # fmt: skip
        object.__setattr__(self, "comparison", shared)

    @property
    def dataset(self) -> str:
        return self.comparison.dataset

    @property
    def widths(self) -> tuple[int, ...]:
        """At which the networks are measured, from narrow to wide."""
        n = np.log(self.widest / NARROWEST) / np.log(STEP)
        exact = np.geomspace(NARROWEST, self.widest, int(n) + 2)
        digits = 10.0 ** (np.floor(np.log10(exact)) - 1)
        return tuple(np.unique((exact / digits).round() * digits).astype(int).tolist())

    def cost(self, dataset: Dataset) -> Estimate:
        """Of one seed: both networks, with the rows that they train on and those they are followed
        on."""
        (held, d), B = dataset.X.shape, self.widest
        n = min(held, self.comparison.rows)
        m = min(held, MAX_TEST_ROWS) * len(LEVELS)
        flops = 2 * (B * B * (n + m) + FACTOR_CHOLESKY * B**3 / 3) * FLOAT64 + 2 * (n + m) * B * d
        return Estimate(
            flops / flops_per_second() + SMALLEST,
            FIXED_BYTES + 2 * 8 * B * (B + n + m) + 4 * held * d,
        )


@dataclass(frozen=True)
class Look(Described):
    """What a visitor looks at: how far the networks grow, and which width, noise and sample."""

    widest: int = USUAL_WIDEST
    seeds: int = 6
    width: int = 500
    noise: float = 0.0
    sample: int = 0  # among the test rows that can be looked at

    def __post_init__(self):
        Beside(Comparison(), self.widest, self.seeds)
        if not NARROWEST <= self.width <= max(WIDEST):
            raise KCNetError(f"The width must lie between {NARROWEST} and {max(WIDEST):,}.")
        if self.noise not in LEVELS:
            raise KCNetError(f"The noise must be one of {', '.join(f'{x:g}' for x in LEVELS)}.")
        if not 0 <= self.sample < SHOWN:
            raise KCNetError(f"The sample must lie between 0 and {SHOWN - 1}.")


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(f"{number:,}" for number in numbers[:-1]) + f" or {numbers[-1]:,}"
