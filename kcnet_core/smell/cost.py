"""How much memory answers and their quality take, told before they are worked out.

Both formulas lie a quarter or more above what was measured (1,000 to 4,000 molecules asked, 2,000
to 8,000 taught, 50 and 200 characters).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments.cost import FIXED_BYTES
from kcnet_core.jobs import Estimate
from kcnet_core.smell.applicability import MOST_ROWS
from kcnet_core.smell.nose import Nose

if TYPE_CHECKING:
    from kcnet_core.smell.flies import FlySettings  # imports torch

BYTES_PER_MOLECULE = 20_000  # row, descriptors, answer and verdict
FLOAT64 = 8


def answers_cost(nose: Nose, n_molecules: int) -> Estimate:
    """Of `smell`: every molecule beside the known ones, and every fly's answer."""
    n_known = 0 if nose.known is None else min(len(nose.known.X), MOST_ROWS)
    values = 3 * n_known + 2 * len(nose.flies) * len(nose.characters)
    return Estimate(bytes=FIXED_BYTES + n_molecules * (BYTES_PER_MOLECULE + FLOAT64 * values))


def quality_cost(dataset: Dataset, settings: FlySettings) -> Estimate:
    """Of `measure_steps`: the activity of one fly's cells, and what every fly says of every row."""
    said = settings.n_flies * len(dataset.target_names)
    values = len(dataset.X) * (3 * settings.n_hidden + 3 * said // 2)
    return Estimate(bytes=FIXED_BYTES + FLOAT64 * values)
