"""Where the heavy arithmetic runs, and what to say when it does not fit there."""

from __future__ import annotations

import os
from contextlib import contextmanager

import numpy as np
import torch

from kcnet_core.errors import KCNetError, OutOfMemory

WORTH_THREADS = 2**23  # activities; below, one thread takes a few milliseconds
# Activities (rows x cells) up to which float64 data is computed in float64; it costs nothing there.
SMALL_PROBLEM = 2**22
DEVICES = ("auto", "cpu", "cuda", "mps")


def choose_device(name: str) -> torch.device:
    """The torch device called `name`; "auto" takes CUDA, then Apple's MPS, then the processor."""
    if name not in DEVICES:
        raise KCNetError(f"device must be one of {', '.join(DEVICES)}; got {name!r}.")
    present = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if name == "auto":
        return torch.device(next(kind for kind, there in present.items() if there))
    if not present[name]:
        raise KCNetError(
            f"This machine has no {name.upper()} device that torch can use. "
            f'Choose device="auto" or device="cpu".'
        )
    return torch.device(name)


def float64_device(device: torch.device) -> torch.device:
    """Where float64 sums and factorisations live: the processor when MPS, which has no float64."""
    return torch.device("cpu") if device.type == "mps" else device


class _Writable:
    """The memory of an array that must not be written to, told as if it could be."""

    def __init__(self, array: np.ndarray):
        self._array = array  # stays as long as anyone looks at its memory
        place = array.__array_interface__
        self.__array_interface__ = {**place, "data": (place["data"][0], False)}


def as_tensor(array: np.ndarray) -> torch.Tensor:
    """A tensor on the same memory, only to be read: torch takes no array that it may not write to,
    and copying one takes as long as projecting it."""
    array = np.ascontiguousarray(array)
    if array.flags.writeable or not array.size:
        return torch.from_numpy(array if array.flags.writeable else array.copy())
    return torch.from_numpy(np.asarray(_Writable(array)))


def feature_dtype(X: np.ndarray, n_hidden: int, device: torch.device) -> torch.dtype:
    """float32, for speed; float64 for float64 data while that is just as quick."""
    small = X.dtype == np.float64 and len(X) * n_hidden <= SMALL_PROBLEM
    return torch.float64 if small and device.type != "mps" else torch.float32


@contextmanager
def one_torch_thread():
    """What the calling thread asks of torch is done by this thread alone."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def computing(n_hidden: int, device: torch.device | str, n_rows: int = 0):
    """For heavy work: no waiting among torch's own threads, and memory errors that help.

    On the processor the large products run in NumPy's BLAS (`linear_algebra`), on all
    cores. Torch's threads then only share elementwise work, but they spin while they wait for each
    other: with other programs running, this was measured to make an epoch 50 times slower. So they
    are used only where `n_rows` at once make each operation long. The number of threads is torch's
    setting for the calling thread and is put back afterwards.
    """
    threads = torch.get_num_threads()
    if n_rows * n_hidden < WORTH_THREADS:
        torch.set_num_threads(1)
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
        # On the processor torch raises a plain RuntimeError with this text.
        if isinstance(error, RuntimeError) and not (
            isinstance(error, torch.OutOfMemoryError) or "not enough memory" in str(error)
        ):
            raise
        gram = 8 * n_hidden**2 / 2**20
        raise OutOfMemory(
            f"{n_hidden:,} hidden units do not fit into the memory of {device}: their matrix of "
            f"products alone needs {gram:,.0f} MB, and the solve twice as much again. Lower "
            f"n_hidden (half the cells need a quarter of the memory), lower batch_rows, or use "
            f'device="cpu".'
        ) from error
    finally:
        torch.set_num_threads(threads)


def _one_thread() -> None:
    """A forked child has none of the threads that torch's products would wait for, for ever."""
    torch.set_num_threads(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_one_thread)
