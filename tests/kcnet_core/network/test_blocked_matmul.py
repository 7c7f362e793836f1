"""Products in pieces: right for every shape and layout; BLAS's threads are left as they were."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from kcnet_core.network import blocked_matmul
from kcnet_core.network.blocked_matmul import matmul, self_matmul


def blas_threads() -> list[int]:
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    return [library.num_threads for library in libraries]


def pretend(monkeypatch, n_cores: int) -> None:
    """As if BLAS used so many threads, whatever this machine has."""
    enter = blocked_matmul._BlasThreads.__enter__
    monkeypatch.setattr(
        blocked_matmul._BlasThreads, "__enter__", lambda blas: (enter(blas), n_cores)[1]
    )


@pytest.fixture(params=[1, 2, 3])
def n_cores(request, monkeypatch):
    pretend(monkeypatch, request.param)
    return request.param


@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 3, 40), (40, 3, 5), (300, 50, 70), (2, 0, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_product_is_right_for_every_shape(n_cores, shape, dtype):
    rng = np.random.default_rng(0)
    m, k, n = shape
    A, B = rng.normal(size=(m, k)).astype(dtype), rng.normal(size=(k, n)).astype(dtype)
    out = np.full((m, n), np.nan, dtype)
    assert matmul(A, B, out) is out
    for found in (out, matmul(A, B), matmul(np.asfortranarray(A), np.ascontiguousarray(B.T).T)):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, A.astype(float) @ B.astype(float), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(1, 4), (7, 30), (64, 9), (301, 20)])
def test_a_product_with_itself_is_right_and_exactly_symmetric(n_cores, shape):
    H = np.random.default_rng(1).normal(size=(shape[0], shape[1] + 5))[:, : shape[1]]
    out = np.full((len(H), len(H)), np.nan)
    assert self_matmul(H, out) is out
    np.testing.assert_allclose(out, np.einsum("ik,jk->ij", H, H), rtol=1e-10, atol=1e-12)
    assert (out == out.T).all()


@pytest.mark.parametrize("shape", [(650, 700, 784), (1300, 300, 100), (90, 300, 1000)])
def test_the_last_digit_does_not_depend_on_the_number_of_cores(monkeypatch, shape):
    rng = np.random.default_rng(2)
    m, k, n = shape
    A, B = (rng.normal(size=s).astype(np.float32) for s in ((m, k), (k, n)))

    def on(cores):
        with monkeypatch.context() as patch:
            pretend(patch, cores)
            return matmul(A, B), self_matmul(A)

    one = on(1)
    for cores in (2, 3, 8):
        for found, expected in zip(on(cores), one, strict=True):
            np.testing.assert_array_equal(found, expected)


def test_blas_has_its_threads_back_afterwards_also_after_a_failure_and_from_any_thread():
    before = blas_threads()
    H = np.ones((40, 30))

    def many():
        for _ in range(50):
            self_matmul(H)
            with pytest.raises(ValueError):
                matmul(H, H)

    threads = [threading.Thread(target=many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert blas_threads() == before


def test_pieces_run_with_one_blas_thread_each(n_cores, monkeypatch):
    seen = []
    work = blocked_matmul._work
    monkeypatch.setattr(
        blocked_matmul, "_work", lambda *todo: (seen.append(blas_threads()), work(*todo))
    )

    def product():
        matmul(np.ones((50, 40)), np.ones((40, 30)))

    product()
    other = threading.Thread(target=product)
    other.start()
    other.join()
    assert len(seen) == 2 * n_cores and all(set(counts) == {1} for counts in seen)


def test_a_limit_that_the_user_set_is_kept():
    with threadpool_limits(1, user_api="blas"):
        with blocked_matmul._blas as n:
            assert n == 1
        assert set(blas_threads()) == {1}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_multiply_too():
    H = np.ones((64, 8))
    self_matmul(H)
    with blocked_matmul._blas:  # as if another thread were in the middle of a product
        child = os.fork()
        if not child:
            os._exit(0 if (self_matmul(H) == 8).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
