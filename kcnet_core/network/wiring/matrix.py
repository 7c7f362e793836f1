"""The 0/1 matrix W: drawn at random, in its index form, and the projection W x."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch.nn.functional import embedding_bag

from kcnet_core.errors import DataError
from kcnet_core.network.linear_algebra import product
from kcnet_core.network.wiring.fields import Fields

# Share of ones above which a dense product beats summing the connected inputs (measured on two
# cores with 784 inputs: 7 ones are 10 times faster as indices, the two meet near 60 ones).
DENSE_ABOVE = 0.08

# Rows projected at once on the processor: their inputs then stay in the cache while every cell
# sums its own (measured with 784 inputs: 0.55 to 0.7 of the time of 8,192 rows at once).
ROWS_AT_ONCE = 256
TURNED_AT_ONCE = 64  # of them, laid out anew at once

# Mean fan-in up to which MKL's sparse product, whose sums are the same to the last bit, beats
# embedding_bag, which takes fresh memory for every block (7 inputs: half of the time, 20: more).
SPARSE_UP_TO = 12


class FanInLowered(UserWarning):
    """The wished fan-in is not below the number of inputs."""


class Wiring:
    """The binary matrix W (B, d) that says which inputs each Kenyon cell sums.

    While W is sparse it is held as the indices of its ones; once DOA has made it dense, as a
    matrix. Either way `projections` give W X'. `indices` (n_ones,) are the inputs of cell 0, then
    of cell 1, ...; `offsets` (B,) say where each cell's inputs begin among them. `fields` are the
    rectangles that the inputs were drawn from, if the plan has any. `counts` (n_ones,) are synapses
    by which each one counts; None: once.
    """

    def __init__(
        self,
        indices: torch.Tensor,
        offsets: torch.Tensor,
        n_inputs: int,
        fields: Fields | None = None,
        counts: torch.Tensor | None = None,
    ):
        self.indices, self.offsets, self.n_inputs = indices, offsets, n_inputs
        self.fields, self.counts = fields, counts
        self.n_hidden = len(offsets)
        self.n_ones = len(indices)
        self._dense: dict[tuple, torch.Tensor] = {}

    @classmethod
    def sample(cls, n_hidden: int, n_inputs: int, fan_in: int, rng: np.random.Generator) -> Wiring:
        """Each cell sums `fan_in` inputs drawn without replacement (section 3.2 of the paper)."""
        rows = []
        for start in range(0, n_hidden, 4096):  # bounds the memory of the random keys
            keys = rng.random((min(4096, n_hidden - start), n_inputs), dtype=np.float32)
            rows.append(smallest_of_rows(keys, fan_in))
        indices = np.sort(np.concatenate(rows), axis=1)
        return cls(
            torch.from_numpy(indices.reshape(-1)),
            torch.arange(n_hidden) * fan_in,
            n_inputs,
        )

    @classmethod
    def from_matrix(cls, W, fields: Fields | None = None, counted: bool = False) -> Wiring:
        """From a 0/1 matrix of shape (B, d); if `counted`, from numbers of synapses."""
        numbers = torch.as_tensor(W)
        W = numbers != 0
        fan_in = W.sum(1).cpu()
        offsets = torch.cumsum(fan_in, 0) - fan_in
        counts = numbers[W].cpu() if counted else None
        return cls(W.nonzero()[:, 1].cpu(), offsets, W.shape[1], fields, counts)

    @classmethod
    def concatenate(cls, parts: list[Wiring]) -> Wiring:
        """The cells of all parts, one after the other (Ensemble DOA)."""
        starts = np.cumsum([0] + [part.n_ones for part in parts[:-1]])
        offsets = [part.offsets + int(start) for part, start in zip(parts, starts, strict=True)]
        fields = [part.fields for part in parts if part.fields is not None]
        counts = [part.counts for part in parts if part.counts is not None]
        return cls(
            torch.cat([part.indices for part in parts]),
            torch.cat(offsets),
            parts[0].n_inputs,
            Fields.concatenate(fields) if len(fields) == len(parts) else None,
            torch.cat(counts) if len(counts) == len(parts) else None,
        )

    def first(self, n_cells: int) -> Wiring:
        """The wiring of the first cells only."""
        n_cells = min(n_cells, self.n_hidden)
        n_ones = int(self.fan_in[:n_cells].sum())
        fields = None if self.fields is None else self.fields.first(n_cells)
        counts = None if self.counts is None else self.counts[:n_ones]
        indices, offsets = self.indices[:n_ones], self.offsets[:n_cells]
        return Wiring(indices, offsets, self.n_inputs, fields, counts)

    @property
    def density(self) -> float:
        return self.n_ones / (self.n_hidden * self.n_inputs)

    @property
    def fan_in(self) -> np.ndarray:
        """Number of inputs of each cell."""
        ends = torch.cat([self.offsets[1:], torch.tensor([self.n_ones])])
        return (ends - self.offsets).numpy()

    def matrix(self) -> np.ndarray:
        """W as a dense (B, d) uint8 array."""
        W = np.zeros((self.n_hidden, self.n_inputs), np.uint8)
        ones = 1 if self.counts is None else self.counts.numpy()
        W[np.repeat(np.arange(self.n_hidden), self.fan_in), self.indices.numpy()] = ones
        return W

    def projections(self, X: torch.Tensor) -> Iterator[tuple[slice, torch.Tensor]]:
        """Sums of the inputs, X (n, d) -> W X' (B, n), in blocks of rows (slice, sums)."""
        blocks, project = self.projection(X)
        for rows in blocks:
            yield rows, project(rows)

    def projection(
        self, X: torch.Tensor, reuse: bool = False
    ) -> tuple[list[slice], Callable[[slice], torch.Tensor]]:
        """Blocks of rows of X (n, d), whose inputs are few enough to stay in the cache, and what
        gives the sums (B, block) of one, on X's device and in its dtype.

        Several threads may ask; with `reuse` a block's memory may serve the same thread again.
        """
        if self.density > DENSE_ABOVE or not len(X):
            whole = self._matrix_like(X)
            return [slice(0, len(X))], lambda rows: product(whole, X[rows].T)
        indices, offsets = self.indices.to(X.device), self.offsets.to(X.device)
        counts = None if self.counts is None else self.counts.to(X)
        size = ROWS_AT_ONCE if X.device.type == "cpu" else len(X)
        sparse = self._sparse_like(X) if reuse and len(X) > size else None
        memory = threading.local()

        def project(rows: slice) -> torch.Tensor:
            inputs = _transposed(X[rows])
            if sparse is None or inputs.shape[1] != size:
                return embedding_bag(
                    indices, inputs, offsets, mode="sum", per_sample_weights=counts
                )
            if not hasattr(memory, "sums"):
                memory.sums = X.new_empty(self.n_hidden, size)
            return torch.mm(sparse, inputs, out=memory.sums)

        return [slice(start, start + size) for start in range(0, len(X), size)], project

    def mean_projection(self, X: torch.Tensor) -> torch.Tensor:
        """The mean of W X' over the cells, (n,), without forming it: each input by its uses."""
        uses = torch.bincount(self.indices, self.counts, minlength=self.n_inputs)
        return torch.mv(X, (uses.double() / self.n_hidden).to(X.device, X.dtype))

    def _matrix_like(self, X: torch.Tensor) -> torch.Tensor:
        key = (X.device, X.dtype)
        if key not in self._dense:
            self._dense = {key: torch.from_numpy(self.matrix()).to(X.device, X.dtype)}
        return self._dense[key]

    def _sparse_like(self, X: torch.Tensor) -> torch.Tensor | None:
        """W as MKL multiplies it, where that is quicker."""
        if X.device.type != "cpu" or not torch.backends.mkl.is_available():
            return None
        if self.n_ones > SPARSE_UP_TO * self.n_hidden:
            return None
        ones = torch.ones(self.n_ones) if self.counts is None else self.counts
        ends = torch.cat([self.offsets, torch.tensor([self.n_ones])])
        size = self.n_hidden, self.n_inputs
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
            return torch.sparse_csr_tensor(
                ends, self.indices, ones.to(X.dtype), size, check_invariants=False
            )

    def __getstate__(self):
        return {**self.__dict__, "_dense": {}}  # rebuilt on demand


def _transposed(X: torch.Tensor) -> torch.Tensor:
    """X' (d, n), laid out anew: on the processor NumPy, a few rows at a time, takes a third of
    torch's time."""
    if X.device.type != "cpu":
        return X.T.contiguous()
    rows = X.numpy()
    turned = np.empty(rows.shape[::-1], rows.dtype)
    for start in range(0, len(rows), TURNED_AT_ONCE):
        part = slice(start, start + TURNED_AT_ONCE)
        turned[:, part] = rows[part].T
    return torch.from_numpy(turned)


def smallest_of_rows(keys: np.ndarray, n: int) -> np.ndarray:
    """Where the n smallest of each row are, in no order."""
    return np.argpartition(keys, n - 1, axis=1)[:, :n]


def allowed_fan_in(fan_in: int, n_inputs: int) -> int:
    """The fan-in that can be used with `n_inputs` inputs: below them, as the paper requires."""
    if n_inputs < 2:
        raise DataError(
            "KCNet needs at least two inputs, and the data has one (n_features=1): a cell's "
            "inputs are chosen among several, and with a single one global inhibition would "
            "cancel every cell. Add another column."
        )
    if fan_in < n_inputs:
        return fan_in
    warnings.warn(
        f"fan_in={fan_in} was lowered to {n_inputs - 1}: with all {n_inputs} inputs connected "
        f"every cell would carry the same sum, and global inhibition would cancel it to zero.",
        FanInLowered,
        stacklevel=3,
    )
    return n_inputs - 1
