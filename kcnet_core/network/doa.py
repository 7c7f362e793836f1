"""Dynamic Optimisation Algorithm: preference scores S decide the wiring, one epoch at a time.

An epoch fits the output weights beta to the present wiring, measures them, takes the gradient of a
loss with respect to W as if W were real (the straight-through estimator), moves S against it, clips
S to [-1, 1] and connects where S > 0. Two rules share this loop:

"paper" (Algorithm 1)
    New random training and validation rows each epoch; beta on the training rows; softmax (or
    sigmoid) cross-entropy summed over the validation rows; S -= learning_rate * gradient.
"varpro" (variable projection)
    beta solves ridge on a batch, and the gradient of the same squared loss is taken on the same
    rows. There the loss is stationary in beta, so by the envelope theorem this is the exact
    gradient of the loss with beta already eliminated. It includes the derivative of global
    inhibition, and Adam scales the step. The validation rows only measure. With few and noisy
    rows that exact gradient overfits: then beta and gradient use different halves ("held_out").
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from kcnet_core.contracts import Steps, drain
from kcnet_core.errors import DataError
from kcnet_core.network.devices import computing, float64_device
from kcnet_core.network.doa_settings import DOASettings
from kcnet_core.network.history import EpochRecord, Progress
from kcnet_core.network.kenyon import kenyon_activity, wiring_gradient
from kcnet_core.network.linear_algebra import product
from kcnet_core.network.ridge import CHUNK_VALUES, RidgeSums, rows_per_chunk
from kcnet_core.network.scores import KEYWORDS, NUMBER_KEYWORDS, score_outputs
from kcnet_core.network.wiring import Wiring
from kcnet_core.network.wiring.running_sums import RunningSums

# Initial scores as in the published code: U(0, 0.02) for ones, U(-1, 0) for zeros.
ONES_BELOW = 0.02
MEASURED_ROWS = 3000  # rows on which the metrics of an epoch are measured
HELD_OUT_SHARE = 0.5
FIELD_MARGIN = 1  # pixels around its field that a cell may still come to listen to
EPOCH_PARTS = 1000  # in which progress inside an epoch is counted
LEAST_SCORE = 1e-6  # of an input that is in
ADAM_MEMORY = (0.9, 0.999)
ADAM_FLOOR = 1e-8


def initial_scores(wiring: Wiring, rng: np.random.Generator) -> torch.Tensor:
    """S (B, d) that agrees with the wiring."""
    W = torch.from_numpy(wiring.matrix()).bool()
    U = torch.from_numpy(rng.random(W.shape, dtype=np.float32))
    # 1 - U lies in (0, 1], so that a one is strictly preferred.
    return torch.where(W, ONES_BELOW * (1 - U), -U)


def split_rows(rows, fraction: float, groups, rng) -> tuple[np.ndarray, np.ndarray]:
    """Shuffle `rows` into (kept, held out), keeping rows of one group on one side."""
    units = rows if groups is None else np.unique(groups[rows])
    if len(units) < 2:
        what = "rows" if groups is None else "groups"
        raise DataError(
            f"DOA needs at least two {what} to hold some out, and got {len(units)}. "
            f"Use n_epochs=0 or give more data."
        )
    n_held = min(max(1, round(fraction * len(units))), len(units) - 1)
    order = rng.permutation(units)
    if groups is None:
        return order[n_held:], order[:n_held]
    held = np.isin(groups[rows], order[:n_held])
    return rng.permutation(rows[~held]), rng.permutation(rows[held])


def loss_gradient(beta, X, H, Y, w, rule: str, kind: str, inhibition: float) -> torch.Tensor:
    """dL/dW (B, d) with beta (B, c) held, summed over rows X (n, d) with activities H (B, n).

    L is half the weighted squared error for "varpro", and the cross-entropy for "paper", whose
    appendix A also leaves out how one cell's input changes the inhibition of the others.
    """
    Z = product(beta.T, H)  # (c, n)
    if rule == "paper":
        Z = Z.sigmoid() if kind == "multilabel" else Z.softmax(0)
    dH = product(beta, (Z - Y.T) * w)
    return wiring_gradient(dH, H, X, None if rule == "paper" else inhibition)


def with_fan_ins(S: torch.Tensor, fan_ins: torch.Tensor) -> torch.Tensor:
    """Scores (B, d) of which each row's `fan_ins` (B, 1) highest are above 0, and no others.

    A row moves as a whole, to have its zero half way between the last that is in and the first that
    is out; so who hears what stays the sign of the scores, here as everywhere.
    """
    order = S.argsort(dim=1, descending=True, stable=True)
    inside = torch.zeros_like(S, dtype=torch.bool)
    inside.scatter_(1, order, torch.arange(S.shape[1], device=S.device) < fan_ins)
    last_in = S.masked_fill(~inside, torch.inf).amin(1, keepdim=True)
    first_out = S.masked_fill(inside, -torch.inf).amax(1, keepdim=True)
    moved = S - ((last_in + first_out) / 2).nan_to_num(0.0, 0.0, 0.0)
    return torch.where(inside, moved.clamp(min=LEAST_SCORE), moved.clamp(max=0))


@dataclass(frozen=True)
class _Best:
    metric: float
    epoch: int
    wiring: Wiring
    scores: torch.Tensor


class WiringSearch:
    """DOA for one submodel: iterate `epochs`, then read `wiring`, `scores` and `stopped`.

    X (N, d), Y (N, c) and w (N,) are all rows that may be used for training, on the processor;
    `device` is where batches are computed. `rng` is the only source of randomness.
    """

    def __init__(self, X, Y, w, groups, wiring, settings: DOASettings, rng, device, submodel=0):
        self.X, self.Y, self.w, self.groups = X, Y, w, groups
        self.wiring, self.settings, self.rng = wiring, settings, rng
        self.device, self.submodel = device, submodel
        self.scores = initial_scores(wiring, rng).to(device)
        self.stopped = ""
        self.enough = False  # set between two epochs, it ends the search as if these were all
        self._all = np.arange(len(X))
        self._train, validation = split_rows(self._all, settings.validation_fraction, groups, rng)
        self._validation = validation[:MEASURED_ROWS]
        self._moments = torch.zeros_like(self.scores), torch.zeros_like(self.scores)
        self._steps = 0
        self._waited = 0.0  # in this epoch, for whoever looks at its progress
        self._field: torch.Tensor | None = None  # (B, d) inputs that a cell may listen to
        if settings.gradient_mask == "field":
            self._field = torch.from_numpy(wiring.fields.mask(FIELD_MARGIN)).to(device)
        # Activities of row sets under the present wiring.
        self._held: dict[int, tuple[np.ndarray, list]] = {}
        self._running: RunningSums | None = None  # of the validation rows, if held

    def epochs(
        self, matrices: bool = False, progress: bool = False
    ) -> Iterator[EpochRecord | Progress]:
        """Yield one `EpochRecord` per wiring: the initial one as epoch 0, then one per update.

        With `progress` also what is done inside an epoch of many rows.
        """
        s, flips = self.settings, (0, 0)
        best = _Best(np.nan, 0, self.wiring, self.scores)
        for epoch in range(s.n_epochs + 1):
            started, self._waited = time.perf_counter(), 0.0
            wiring, S = self.wiring, self.scores.cpu().numpy().copy() if matrices else None
            with computing(wiring.n_hidden, self.device):
                fit_rows, gradient_rows, measure_rows = self._draw_rows()
                fit = self._told(self._fit(fit_rows), epoch, 0, "sums for the output weights")
                beta = (yield from fit) if progress else drain(fit)
                train = self._measure(beta, fit_rows)
                metric = self._measure(beta, measure_rows)
                if metric > best.metric or np.isnan(best.metric):
                    best = _Best(metric, epoch, wiring, self.scores.clone())
                made_by, flips = flips, (0, 0)
                reached = s.stop_rule == "algorithm1" and self._enough(metric)
                if epoch < s.n_epochs and not reached:
                    pull = self._told(self._gradient(beta, gradient_rows), epoch, 1, "gradient")
                    flips = self._update((yield from pull) if progress else drain(pull))
                    if s.stop_rule == "published":
                        reached = self._enough(self._measure(beta, measure_rows))
                    self._held.clear()
            yield EpochRecord(
                epoch=epoch,
                submodel=self.submodel,
                train_metric=train,
                validation_metric=metric,
                flips_on=made_by[0],
                flips_off=made_by[1],
                density=wiring.density,
                seconds=time.perf_counter() - started - self._waited,
                W=wiring.matrix() if matrices else None,
                S=S,
            )
            if reached or self.enough:
                break
        self._held.clear()
        self.stopped = self._say_why(reached, epoch, best)
        if s.restore_best:
            self.wiring, self.scores = best.wiring, best.scores

    def _told(
        self, steps: Steps[float, torch.Tensor], epoch: int, half: int, what: str
    ) -> Steps[Progress, torch.Tensor]:
        """Shares of one half of an epoch as progress of the search; waiting is not work."""
        n_epochs = self.settings.n_epochs
        while True:
            try:
                share = next(steps)
            except StopIteration as ended:
                return ended.value
            before = time.perf_counter()
            done = EPOCH_PARTS * epoch + round(EPOCH_PARTS * (half + share) / 2)
            says = f"epoch {epoch} of {n_epochs}: {what}, {share:.0%}"
            yield Progress("doa", done, EPOCH_PARTS * (n_epochs + 1), 0.0, says)
            self._waited += time.perf_counter() - before

    def _enough(self, metric: float) -> bool:
        return self.settings.stop_metric is not None and metric >= self.settings.stop_metric

    def _say_why(self, reached: bool, epoch: int, best: _Best) -> str:
        s, metric = self.settings, (KEYWORDS | NUMBER_KEYWORDS)[self.settings.metric]
        if reached:
            why = f"The validation {metric} reached {s.stop_metric:g} at epoch {epoch}"
        elif epoch < s.n_epochs:
            why = f"The search was ended by hand after epoch {epoch} of {s.n_epochs}"
        else:
            why = f"All {s.n_epochs} epochs were run"
        kept = f"the wiring of epoch {best.epoch} ({metric} {best.metric:.4f})"
        return f"{why}; {kept if s.restore_best else 'the last wiring'} was kept"

    def _draw_rows(self):
        """Rows for beta, for the gradient and for measuring, in this epoch."""
        s = self.settings
        if s.rule == "paper":
            train, validation = split_rows(self._all, s.validation_fraction, self.groups, self.rng)
            return train, validation, validation
        batch = self._train
        if s.batch_rows < len(batch):
            batch = self.rng.choice(batch, s.batch_rows, replace=False)
        if s.gradient_rows == "batch":
            return batch, batch, self._validation
        fit_rows, gradient_rows = split_rows(batch, HELD_OUT_SHARE, self.groups, self.rng)
        return fit_rows, gradient_rows, self._validation

    def _activities(self, rows: np.ndarray):
        """Chunks (X, H, Y, w) of some rows; a set small enough is computed once per wiring."""
        held = self._held.get(id(rows))
        if held is not None:
            yield from held[1]
            return
        keep: list | None = [] if len(rows) * self.wiring.n_hidden <= CHUNK_VALUES else None
        for X, Y, w in self._gathered(rows):
            chunk = X, kenyon_activity(self.wiring, X, self.settings.inhibition), Y, w
            if keep is not None:
                keep.append(chunk)
            yield chunk
        if keep is not None:
            self._held[id(rows)] = rows, keep  # `rows` is held too, so that its id stays its own

    def _gathered(self, rows: np.ndarray):
        size = rows_per_chunk(self.wiring.n_hidden)
        for start in range(0, len(rows), size):
            chosen = torch.from_numpy(rows[start : start + size])
            yield tuple(
                part.index_select(0, chosen).to(self.device) for part in (self.X, self.Y, self.w)
            )

    def _fit(self, rows: np.ndarray) -> Steps[float, torch.Tensor]:
        """beta (B, c), with lambda in proportion to the share of rows used; yields shares done."""
        sums = RidgeSums(self.wiring.n_hidden, self.Y.shape[1], float64_device(self.device))
        sums.expect(len(rows))
        done = 0
        for _, H, Y, w in self._activities(rows):
            sums.add(H, Y, w)
            done += len(Y)
            if done < len(rows):
                yield done / len(rows)
        beta = sums.coef(self.settings.alpha * len(rows) / len(self.X))
        return beta.to(self.device, self.X.dtype)

    def _measure(self, beta, rows: np.ndarray) -> float:
        """The metric on the first chunks of some rows."""
        if rows is self._validation and self._follows(rows):
            return self._measure_followed(beta, rows)
        outputs, targets, measured = [], [], 0
        for _, H, Y, _ in self._activities(rows):
            outputs.append(product(beta.T, H).T.cpu())
            targets.append(Y.cpu())
            measured += len(Y)
            if measured >= MEASURED_ROWS:
                break
        Z, Y = torch.cat(outputs).numpy(), torch.cat(targets).numpy()
        return score_outputs(self.settings.metric, Z, Y, self.settings.kind)

    def _follows(self, rows: np.ndarray) -> bool:
        """Whether the sums of some rows, the same every epoch, are worth being held."""
        values = len(rows) * max(self.wiring.n_hidden, self.wiring.n_inputs)
        return (
            self.settings.rule != "paper" and self.device.type == "cpu" and values <= CHUNK_VALUES
        )

    def _measure_followed(self, beta, rows: np.ndarray) -> float:
        chosen = torch.from_numpy(rows)
        if self._running is None:
            self._running = RunningSums(self.wiring, self.X.index_select(0, chosen))
        H = self._running.activity(self.settings.inhibition)
        Z = product(beta.T, H).T.numpy()
        Y = self.Y.index_select(0, chosen).numpy()
        return score_outputs(self.settings.metric, Z, Y, self.settings.kind)

    def _gradient(self, beta, rows: np.ndarray) -> Steps[float, torch.Tensor]:
        """dL/dW (B, d), summed over the rows, with beta held; yields shares done."""
        s = self.settings
        total = torch.zeros_like(self.scores)
        done = 0
        for X, H, Y, w in self._activities(rows):
            total += loss_gradient(beta, X, H, Y, w, s.rule, s.kind, s.inhibition)
            done += len(Y)
            if done < len(rows):
                yield done / len(rows)
        return total

    def _update(self, gradient: torch.Tensor) -> tuple[int, int]:
        """Move the scores, rewire, and count the connections that appeared and vanished."""
        s, S = self.settings, self.scores
        before = S > 0
        if s.gradient_mask == "connected":
            gradient = gradient * before
        elif s.gradient_mask == "used_inputs":
            gradient = gradient * before.any(0)
        if s.fan_in_penalty:
            # Relative to the gradient's own size, so that one strength suits every dataset.
            excess = before.sum(1, keepdim=True) / s.fan_in_target - 1
            gradient = gradient + s.fan_in_penalty * gradient.square().mean().sqrt() * excess
        if self._field is not None:
            gradient = gradient * self._field
        if s.rule == "paper":
            S -= s.learning_rate * gradient
        else:
            S -= s.learning_rate * self._adam(gradient)
        if s.keep_fan_in:
            open_to = S if self._field is None else S.masked_fill(~self._field, -torch.inf)
            S.copy_(with_fan_ins(open_to, before.sum(1, keepdim=True)))
        S.clamp_(-1, 1)
        after = S > 0
        changed = after ^ before
        if self._running is not None:
            self._running.rewire(changed, after)
        self.wiring = Wiring.from_matrix(after, self.wiring.fields)
        self._held.clear()
        flips, appeared = int(changed.sum()), int((changed & after).sum())
        return appeared, flips - appeared

    def _adam(self, gradient: torch.Tensor) -> torch.Tensor:
        mean, square = self._moments
        b1, b2 = ADAM_MEMORY
        self._steps += 1
        mean.lerp_(gradient, 1 - b1)
        square.mul_(b2).addcmul_(gradient, gradient, value=1 - b2)
        denominator = (square / (1 - b2**self._steps)).sqrt_().add_(ADAM_FLOOR)
        return mean / (1 - b1**self._steps) / denominator
