"""What DOA's settings are, and what the automatic ones come to for given rows."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import torch

from kcnet_core.errors import KCNetError
from kcnet_core.network.devices import computing, float64_device
from kcnet_core.network.kenyon import kenyon_activity
from kcnet_core.network.ridge import RidgeSums, Rows
from kcnet_core.network.ridge_path import ALPHA_GRID, RidgePath
from kcnet_core.network.wiring import Wiring

RULES = ("varpro", "paper")
GRADIENT_MASKS = ("used_inputs", "connected", "field", "none")
STOP_RULES = ("algorithm1", "published")
GRADIENT_ROWS = ("auto", "batch", "held_out")
DEFAULT_LEARNING_RATE = {"varpro": 0.03, "paper": 0.01}
DEFAULT_MASK = {"varpro": "none", "paper": "used_inputs"}

# Rows per epoch of "varpro". Chosen on validation rows of MNIST: for the same time, more and
# smaller batches do better, down to about four rows per cell.
BATCH_ROWS_PER_CELL = 4
BATCH_ROWS = (1000, 10_000)  # fewest and most

# "auto" holds rows out from beta when there are few and what can be learned from them is mostly
# noise: measured as the share of the targets' variance that the initial wiring explains by
# leave-one-out. On rated odors (0.1) holding out won in every comparison, on images (from 0.45 on)
# it lost in every one, also with 800 rows; on the starter odors (0.35) both were alike.
FEW_ROWS = 5000
MOSTLY_NOISE = 0.4
PROBED_CELLS = 200
SAMPLED_ROWS = 5000  # rows on which automatic choices are made


@dataclass(frozen=True)
class DOASettings:
    """How one submodel is searched; see `KCNetClassifier` for the meaning of each field."""

    rule: str
    n_epochs: int
    learning_rate: float
    alpha: float
    inhibition: float
    gradient_mask: str
    gradient_rows: str
    batch_rows: int
    validation_fraction: float
    stop_metric: float | None
    stop_rule: str
    restore_best: bool
    fan_in_penalty: float
    fan_in_target: int
    keep_fan_in: bool
    metric: str
    kind: str

    @classmethod
    def of(
        cls, model, start: InitialPath, parts: list[Wiring], fan_in: int, metric: str, kind: str
    ) -> DOASettings:
        """Those of a `KCNetClassifier`; the automatic ones are chosen by its first submodel."""
        rule, rows = model.doa_rule, model.gradient_rows
        # Both choices draw rows: in another order they would draw others.
        alpha = start.best_alpha(parts[0]) if model.alpha == "loo" else float(model.alpha)
        if rows == "auto" and rule == "varpro":
            rows = start.gradient_rows(parts[0])
        cells = max(part.n_hidden for part in parts)
        chosen = {
            "rule": rule,
            "learning_rate": model.learning_rate or DEFAULT_LEARNING_RATE[rule],
            "alpha": alpha,
            "gradient_mask": mask_for(model.gradient_mask, rule, parts[0]),
            "gradient_rows": rows,
            "batch_rows": model.batch_rows or default_batch_rows(cells, len(start.X)),
            "fan_in_target": model.fan_in_target or fan_in,
            "metric": metric,
            "kind": kind,
        }
        names = {field.name for field in fields(cls)} - set(chosen)
        return cls(**chosen, **{name: getattr(model, name) for name in names})

    def describe(self) -> str:
        """What DOA will do, with every automatic choice spelled out."""
        if self.rule == "paper":
            rows = "gradient on the validation rows, which are drawn anew each epoch"
        elif self.gradient_rows == "batch":
            rows = f"gradient on the rows that beta is fitted to, {self.batch_rows:,} per epoch"
        else:
            rows = f"gradient on rows held out from beta, {self.batch_rows:,} rows per epoch in all"
        return (
            f"rule {self.rule}, learning rate {self.learning_rate:g}, {rows}; "
            f"gradient mask {self.gradient_mask}; lambda {self.alpha:g}"
        )


def mask_for(asked: str | None, rule: str, wiring: Wiring) -> str:
    """Which scores may move: as asked, or what suits the wiring and the rule."""
    if asked == "field" and wiring.fields is None:
        raise KCNetError(
            'gradient_mask="field" keeps scores inside the cells\' fields, and only '
            'wiring="local" has any: choose that, or another gradient_mask.'
        )
    return asked or (DEFAULT_MASK[rule] if wiring.fields is None else "field")


def default_batch_rows(n_hidden: int, n_rows: int) -> int:
    """Rows per epoch for "varpro", for submodels of `n_hidden` cells."""
    fewest, most = BATCH_ROWS
    return int(min(n_rows, np.clip(BATCH_ROWS_PER_CELL * n_hidden, fewest, most)))


@dataclass(frozen=True)
class InitialPath:
    """The lambda path of the initial wiring on a sample of the rows, on which choices are made.

    Only one row of each group is taken, for its twins would give it away.
    """

    X: np.ndarray  # (N, d) float32, as Y and w
    Y: np.ndarray  # (N, c)
    w: np.ndarray  # (N,)
    groups: np.ndarray | None  # (N,)
    inhibition: float
    rng: np.random.Generator
    device: torch.device

    def best_alpha(self, wiring: Wiring) -> float:
        """The lambda for all rows that leave-one-out suggests."""
        path, n_rows = self._path(wiring)
        return path.best_alpha * len(self.X) / n_rows

    def gradient_rows(self, wiring: Wiring) -> str:
        """Where "auto" takes the gradient."""
        units = len(self.X) if self.groups is None else len(np.unique(self.groups))
        if len(self.X) >= FEW_ROWS or units < 10:
            return "batch"
        path, _ = self._path(wiring.first(PROBED_CELLS))
        explained = 1 - path.loo_error.min() / max(self.Y.var(0).sum(), 1e-12)
        return "held_out" if explained < MOSTLY_NOISE else "batch"

    def _path(self, wiring: Wiring) -> tuple[RidgePath, int]:
        rows = np.arange(len(self.X))
        if self.groups is not None:
            rows = np.unique(self.groups, return_index=True)[1]
        rows = self.rng.permutation(rows)[:SAMPLED_ROWS]
        X, Y, w = (torch.from_numpy(a[rows]).to(self.device) for a in (self.X, self.Y, self.w))
        with computing(wiring.n_hidden, self.device):
            sums = RidgeSums(wiring.n_hidden, Y.shape[1], float64_device(self.device))
            H = kenyon_activity(wiring, X, self.inhibition)
            sums.add(H, Y, w)
            probe = Rows(*(part.to(sums.device) for part in (H, Y, w)))
            return RidgePath(sums, probe, ALPHA_GRID, "accuracy", "multilabel"), len(rows)
