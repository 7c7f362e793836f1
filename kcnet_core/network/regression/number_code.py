"""Numbers to predict as the matrix Y that a network learns, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kcnet_core.errors import DataError


@dataclass(frozen=True)
class NumberCode:
    """One column per output, and a last one that is 1 throughout: ridge is linear in its targets,
    so that what it makes of the 1 tells the intercept (`intercept`)."""

    kind: str  # "number": y is (n,), or "numbers": y is (n, c)
    n_outputs: int

    @classmethod
    def learn(cls, y, classes=None) -> NumberCode:
        shape = np.shape(y)
        if len(shape) not in (1, 2) or 0 in shape[1:]:
            raise DataError(f"y must be one number per row, or a table of them, not {shape}.")
        return cls("number", 1) if len(shape) == 1 else cls("numbers", shape[1])

    @property
    def n_columns(self) -> int:
        return self.n_outputs + 1

    def encode(self, y) -> np.ndarray:
        """Y of shape (n, c + 1)."""
        try:
            Y = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"y must hold numbers to predict: {error}.") from error
        if (Y.ndim == 1) != (self.kind == "number") or Y.reshape(len(Y), -1).shape[1:] != (
            self.n_outputs,
        ):
            raise DataError(
                f"y has shape {Y.shape}, but this model was fitted to {self.n_outputs} "
                f"{'number' if self.n_outputs == 1 else 'numbers'} per row."
            )
        Y = Y.reshape(len(Y), self.n_outputs)
        if not np.isfinite(Y).all():
            row, column = np.argwhere(~np.isfinite(Y))[0]
            value = "NaN (a missing value)" if np.isnan(Y[row, column]) else "infinity (inf)"
            raise DataError(
                f"Row {row}, output {column} of y is {value}. Leave such rows out; where outputs "
                f"are missing in different rows, fit one model for each of them."
            )
        return np.hstack([Y, np.ones((len(Y), 1))])

    def labels(self, Y: np.ndarray) -> np.ndarray:
        """The numbers that Y (n, c + 1) stands for."""
        return self.decode(Y[:, :-1])

    def decode(self, outputs: np.ndarray) -> np.ndarray:
        """Outputs (n, c) in the shape that y had."""
        return outputs[:, 0] if self.kind == "number" else outputs
