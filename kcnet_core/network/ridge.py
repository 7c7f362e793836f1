"""Ridge output weights: Gram sums added up chunk by chunk, Cholesky solves, leave-one-out.

With H (B, n) holding one column per row of data, the paper's Eq. (6) reads

    beta = (H H' + lambda I)^-1 H Y          (primal, B x B)
         = H (H' H + lambda I)^-1 Y          (dual, n x n; cheaper while n < B)

Leaving row i out changes its output to y_i - (y_i - yhat_i) / (1 - h_i) with the leverage
h_i = H_i' (H H' + lambda I)^-1 H_i, so every leave-one-out output follows from one factorisation.
A row of weight w counts like w copies: its column and target are scaled by sqrt(w), and leaving
"one out" means leaving out one copy (the whole row where w < 1).
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
import torch

from kcnet_core.errors import KCNetError
from kcnet_core.network.linear_algebra import (
    add_self_product,
    cholesky,
    product,
    self_product,
    solve_lower,
    solve_lower_transposed,
)

CHUNK_VALUES = 2**25  # activities in one chunk (128 MB in float32)
CHUNK_ROWS = 8192
JITTERS = (1e-12, 1e-10, 1e-8, 1e-6)  # tried in turn, relative to the mean of the diagonal


class JitterAdded(UserWarning):
    """A factorisation only succeeded after more regularisation than was asked for."""


class NotPositiveDefinite(KCNetError):
    """A factorisation failed even with jitter."""


def rows_per_chunk(n_hidden: int) -> int:
    """Rows whose activities are held at once."""
    return max(64, min(CHUNK_ROWS, CHUNK_VALUES // n_hidden))


def bare_product_seconds(n_hidden: int, n_rows: int, device: str | torch.device = "cpu") -> float:
    """Time of the products H H' of all chunks alone: the limit for a fit of this size."""
    chunk = min(rows_per_chunk(n_hidden), n_rows)
    H = torch.rand(n_hidden, chunk, generator=torch.Generator().manual_seed(0)).to(device)
    work = H.new_zeros(n_hidden, n_hidden)
    started = time.perf_counter()
    for start in range(0, n_rows, chunk):
        self_product(H[:, : n_rows - start], work)
    if H.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - started


def factor(A: torch.Tensor, alpha: float) -> torch.Tensor:
    """Lower L with L L' = A + alpha I; a failure is retried with growing jitter, and said."""
    scale = float(A.diagonal().mean())
    for jitter in (0.0, *JITTERS):
        shifted = A.T.clone()  # equal, and laid out as LAPACK wants it
        shifted.diagonal().add_(alpha + jitter * scale)
        L = cholesky(shifted)
        if L is not None:
            break
    if L is None:
        cause = (
            "hidden units repeat each other; raise alpha (lambda)"
            if np.isfinite(scale)
            else "its entries are not finite; look for extreme values in the data"
        )
        raise NotPositiveDefinite(
            f"The {len(A):,} x {len(A):,} matrix of products could not be factorised: {cause}."
        )
    if jitter:
        warnings.warn(
            f"The matrix of products is singular to working precision with alpha={alpha:g}: "
            f"{jitter:g} of its mean diagonal was added. Raise alpha to choose this yourself.",
            JitterAdded,
            stacklevel=2,
        )
    return L


@dataclass(frozen=True)
class LeaveOneOut:
    """Outputs for rows the model was not shown, their targets (n, c) and weights (n,)."""

    outputs: torch.Tensor
    targets: torch.Tensor
    weights: torch.Tensor

    @property
    def error(self) -> float:
        """Mean squared leave-one-out error per row, summed over the columns."""
        squares = (self.outputs - self.targets).square().sum(1)
        return float((squares * self.weights).sum() / self.weights.sum())

    @property
    def errors(self) -> np.ndarray:
        """The same of each column, (c,)."""
        squares = (self.outputs - self.targets).square()
        return (self.weights @ squares / self.weights.sum()).cpu().numpy()


@dataclass(frozen=True)
class Rows:
    """Activities H (B, n), targets Y (n, c) and weights w (n,) of some rows."""

    H: torch.Tensor
    Y: torch.Tensor
    w: torch.Tensor

    def weighted(self) -> tuple[torch.Tensor, torch.Tensor]:
        if (self.w == 1).all():
            return self.H, self.Y
        root = self.w.sqrt()
        return self.H * root.to(self.H), self.Y * root[:, None]


def left_out(yhat, leverage, rows: Rows) -> LeaveOneOut:
    """Closed-form leave-one-out from fitted outputs (n, c) and leverages of one copy (n,)."""
    share = 1 - rows.w.clamp(max=1) * leverage
    residual = (rows.Y - yhat) / share.clamp(min=1e-12)[:, None]
    return LeaveOneOut(rows.Y - residual, rows.Y, rows.w)


@dataclass
class Gram:
    """H H' (B, B) and H Y (B, c) of all rows so far, in float64."""

    HH: torch.Tensor
    HY: torch.Tensor


def solve_primal(gram: Gram, alpha, probe: Rows | None = None):
    """beta (B, c), and leave-one-out outputs of the probe rows when given."""
    L, HY = factor(gram.HH, alpha), gram.HY
    c = HY.shape[1]
    right = HY if probe is None else torch.cat([HY, probe.H.to(HY)], 1)
    V = solve_lower(L, right)
    beta = solve_lower_transposed(L, V[:, :c])
    if probe is None:
        return beta, None
    yhat = product(right[:, c:].T, beta)
    return beta, left_out(yhat, V[:, c:].square().sum(0), probe)


def solve_dual(rows: Rows, alpha, with_left_out: bool = False):
    """The same from the n x n matrix H'H; leave-one-out outputs of every row when asked for."""
    H, Y = rows.weighted()
    H = H.to(Y)
    L = factor(self_product(H.T), alpha)
    V = solve_lower(L, Y)
    A = solve_lower_transposed(L, V)  # (H'H + alpha I)^-1 Y
    beta = product(H, A)
    if not with_left_out:
        return beta, None
    identity = torch.eye(len(Y), dtype=Y.dtype, device=Y.device)
    inverse_diagonal = solve_lower(L, identity).square().sum(0)
    # y - yhat = alpha A and 1 - h = alpha (H'H + alpha I)^-1_ii: for w <= 1 the alphas cancel,
    # so this form also holds when alpha is tiny.
    root = rows.w.sqrt()
    whole = A / inverse_diagonal[:, None] / root[:, None]
    one_copy = alpha * A / root[:, None] / (1 - (1 - alpha * inverse_diagonal) / rows.w)[:, None]
    residual = torch.where(rows.w[:, None] <= 1, whole, one_copy)
    return beta, LeaveOneOut(rows.Y - residual, rows.Y, rows.w)


class RidgeSums:
    """What ridge must remember of the rows seen so far, whatever their order and chunking.

    While there are fewer rows than hidden units the rows themselves are kept (and the dual form
    solves); from then on only H H' and H Y.
    """

    def __init__(self, n_hidden: int, n_targets: int, device: torch.device):
        self.n_hidden, self.n_targets, self.device = n_hidden, n_targets, device
        self.n_rows = 0
        self.totals = torch.zeros(n_targets, dtype=torch.float64, device=device)  # of w Y
        self.kept: list[Rows] = []
        self.gram: Gram | None = None
        # While rows come, memory that serves again: of one product, and of activities (B, n).
        self._work: torch.Tensor | None = None
        self.activities: torch.Tensor | None = None

    def expect(self, n_rows: int) -> None:
        """Say how many rows will come, so that no row is kept that will not be needed."""
        if self.n_rows + n_rows >= self.n_hidden:
            self._to_gram()

    def add(self, H: torch.Tensor, Y: torch.Tensor, w: torch.Tensor) -> None:
        """Add the rows with activities H (B, n), targets Y (n, c) and weights w (n,)."""
        self.n_rows += len(Y)
        rows = Rows(H, Y.to(self.device, torch.float64), w.to(self.device, torch.float64))
        self.totals = self.totals + rows.w @ rows.Y
        if self.gram is None and self.n_rows < self.n_hidden:
            self.kept.append(rows)
        else:
            self._add(rows, self._to_gram())

    def merge(self, other: RidgeSums) -> None:
        """Add the rows that another has seen, which must not be used afterwards."""
        if other.gram is not None or self.n_rows + other.n_rows >= self.n_hidden:
            gram = self._to_gram()
            if other.gram is not None:
                gram.HH += other.gram.HH.to(gram.HH)
                gram.HY += other.gram.HY.to(gram.HY)
            for rows in other.kept:
                self._add(rows, gram)
        else:
            self.kept += other.kept
        self.n_rows += other.n_rows
        self.totals = self.totals + other.totals.to(self.totals)
        self.settle()

    def settle(self) -> None:
        """No more rows for now: free what only adding needs."""
        self._work = self.activities = None

    def _to_gram(self) -> Gram:
        """The sums in place of the rows kept so far."""
        if self.gram is None:
            sizes = self.n_hidden, self.n_targets
            HH, HY = (
                torch.zeros(self.n_hidden, n, dtype=torch.float64, device=self.device)
                for n in sizes
            )
            self.gram = Gram(HH, HY)
            for rows in self.kept:
                self._add(rows, self.gram)
            self.kept = []
        return self.gram

    def _add(self, rows: Rows, gram: Gram) -> None:
        H, Y = rows.weighted()
        if self._work is None or self._work.dtype != H.dtype:
            self._work = H.new_empty(gram.HH.shape)
        add_self_product(gram.HH, H, self._work)
        gram.HY += product(H, Y.to(H)).to(gram.HY)

    @property
    def dual(self) -> bool:
        return self.gram is None

    def mean_diagonal(self) -> float:
        """Mean of the diagonal of H H': how large a typical hidden unit's sum of squares is."""
        if self.gram is None:
            return float(self.rows().weighted()[0].double().square().sum() / self.n_hidden)
        return float(self.gram.HH.diagonal().mean())

    def rows(self) -> Rows:
        """The kept rows as one."""
        if len(self.kept) > 1:
            H, Y, w = zip(*((r.H, r.Y, r.w) for r in self.kept), strict=True)
            self.kept = [Rows(torch.cat(H, 1), torch.cat(Y), torch.cat(w))]
        rows = self.kept[0]
        return Rows(rows.H.to(self.device), rows.Y.to(self.device), rows.w.to(self.device))

    def coef(self, alpha: float) -> torch.Tensor:
        """beta (B, c)."""
        if self.gram is None:
            return solve_dual(self.rows(), alpha)[0]
        return solve_primal(self.gram, alpha)[0]

    def solve(self, alpha: float, probe: Rows) -> tuple[torch.Tensor, LeaveOneOut]:
        """beta (B, c) and leave-one-out outputs: of the kept rows, or of `probe`."""
        if self.gram is None:
            return solve_dual(self.rows(), alpha, with_left_out=True)
        return solve_primal(self.gram, alpha, probe)
