"""Large products and factorisations on whatever device a tensor lives on.

On the processor products go to NumPy's BLAS (in pieces, `blocked_matmul`) instead of torch's:
measured on an AMD EPYC they take 0.66 of the time, results do not depend on what other threads do
at that moment, and unlike SciPy's wrappers NumPy lets other threads run meanwhile. Factorisations
and triangular systems are torch's own: 0.6 of the time of NumPy's.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from kcnet_core.errors import KCNetError
from kcnet_core.network.blocked_matmul import matmul, run_pieces, self_matmul
from kcnet_core.network.devices import one_torch_thread

WORTH_BLAS = 2**26  # multiplications; below, waking BLAS's threads costs more than it gains
COLUMNS_AT_ONCE = 256  # right sides of a triangular system that one core solves
WORTH_BLAS_EIGEN = 2000  # rows; the same for eigenvectors


def product(A: torch.Tensor, B: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """A B, written into `out` when given."""
    if A.device.type == "cpu" and A.shape[0] * A.shape[1] * B.shape[1] > WORTH_BLAS:
        return torch.from_numpy(matmul(A.numpy(), B.numpy(), None if out is None else out.numpy()))
    return torch.mm(A, B, out=out)


def self_product(H: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """H H', of which only one triangle is computed where that saves time."""
    if H.device.type == "cpu" and H.shape[0] * H.shape[1] * H.shape[0] > WORTH_BLAS:
        return torch.from_numpy(self_matmul(H.numpy(), None if out is None else out.numpy()))
    return torch.mm(H, H.T, out=out)


def add_self_product(gram: torch.Tensor, H: torch.Tensor, work: torch.Tensor | None = None) -> None:
    """gram += H H', multiplied in H's dtype (into `work` when given) and added up in gram's."""
    P = self_product(H, work).to(gram.device)
    if gram.device.type == "cpu":
        np.add(gram.numpy(), P.numpy(), out=gram.numpy())  # torch's mixed sum is 5 times slower
    else:
        gram += P


def cholesky(A: torch.Tensor) -> torch.Tensor | None:
    """L with L L' = A, or None when A is not positive definite; A is overwritten.

    Only the lower triangle of L counts.
    """
    failed = torch.empty((), dtype=torch.int32, device=A.device)
    torch.linalg.cholesky_ex(A, out=(A, failed))
    return None if failed else A


def solve_lower(L: torch.Tensor, R: torch.Tensor) -> torch.Tensor:
    """L^-1 R."""
    if L.device.type != "cpu" or R.shape[1] <= COLUMNS_AT_ONCE:
        return torch.linalg.solve_triangular(L, R, upper=False)
    solved = torch.empty_like(R)

    def some(columns: slice) -> None:
        with one_torch_thread():
            solved[:, columns] = torch.linalg.solve_triangular(L, R[:, columns], upper=False)

    starts = range(0, R.shape[1], COLUMNS_AT_ONCE)
    run_pieces(partial(some, slice(start, start + COLUMNS_AT_ONCE)) for start in starts)
    return solved


def solve_lower_transposed(L: torch.Tensor, R: torch.Tensor) -> torch.Tensor:
    """L'^-1 R."""
    return torch.linalg.solve_triangular(L.T, R, upper=True)


def eigenvectors(A: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Eigenvalues s and eigenvectors Q with A = Q diag(s) Q'."""
    if not A.diagonal().isfinite().all():
        raise KCNetError(
            f"The {len(A):,} x {len(A):,} matrix of products has entries that are not finite; look "
            "for extreme values in the data."
        )
    if A.device.type == "cpu" and len(A) > WORTH_BLAS_EIGEN:
        s, Q = np.linalg.eigh(A.numpy())
        return torch.from_numpy(s), torch.from_numpy(Q)
    return torch.linalg.eigh(A)
