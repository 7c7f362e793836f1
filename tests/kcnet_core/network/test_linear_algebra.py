"""Products and factorisations agree with NumPy, large and small."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kcnet_core.network import linear_algebra
from kcnet_core.network.linear_algebra import (
    add_self_product,
    cholesky,
    eigenvectors,
    product,
    self_product,
    solve_lower,
    solve_lower_transposed,
)


@pytest.fixture(params=["torch", "BLAS"])
def _sizes(request, monkeypatch):
    if request.param == "BLAS":
        for name in ("WORTH_BLAS", "WORTH_BLAS_EIGEN"):
            monkeypatch.setattr(linear_algebra, name, 7)


@pytest.fixture
def H():
    return torch.from_numpy(np.random.default_rng(0).normal(size=(45, 60)))


def test_products(H, _sizes):
    np.testing.assert_allclose(product(H.T, H).numpy(), H.numpy().T @ H.numpy())
    np.testing.assert_allclose(self_product(H).numpy(), H.numpy() @ H.numpy().T)
    gram = torch.ones(45, 45, dtype=torch.float64)
    add_self_product(gram, H.float())
    assert gram.dtype == torch.float64
    np.testing.assert_allclose(gram.numpy(), 1 + H.numpy() @ H.numpy().T, rtol=1e-4, atol=1e-4)


def test_cholesky_and_triangular_solves(H, _sizes):
    A = self_product(H)
    L = cholesky(A.clone())
    R = H[:, :3].contiguous()
    expected = np.linalg.cholesky(A.numpy())
    np.testing.assert_allclose(L.tril().numpy(), expected, atol=1e-10)
    np.testing.assert_allclose(
        solve_lower(L, R).numpy(), np.linalg.solve(expected, R.numpy()), atol=1e-9
    )
    np.testing.assert_allclose(
        solve_lower_transposed(L, R).numpy(), np.linalg.solve(expected.T, R.numpy()), atol=1e-9
    )


def test_cholesky_says_when_a_matrix_is_not_positive_definite(_sizes):
    A = torch.eye(30, dtype=torch.float64)
    A[29, 29] = -1
    assert cholesky(A) is None


def test_eigenvectors(H, _sizes):
    A = self_product(H)
    s, Q = eigenvectors(A)
    np.testing.assert_allclose((Q * s @ Q.T).numpy(), A.numpy(), atol=1e-9)
