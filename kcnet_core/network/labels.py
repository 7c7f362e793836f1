"""Labels as the matrix Y that the networks learn, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from kcnet_core.errors import DataError


@dataclass(frozen=True)
class TargetCode:
    """How labels map to columns of Y: one 0/1 column per class, or per label when multi-label."""

    kind: str  # "binary", "multiclass" or "multilabel"
    classes: np.ndarray

    @classmethod
    def learn(cls, y, classes=None) -> TargetCode:
        """Read kind and classes off `y` (or off `classes`, when later rows may bring new ones)."""
        check_classification_targets(y)
        if type_of_target(y).startswith("multilabel"):
            return cls("multilabel", np.arange(np.shape(y)[1]))
        found = np.unique(column_or_1d(y, warn=True))
        if classes is not None:
            classes = np.unique(classes)
            unknown = np.setdiff1d(found, classes)
            if len(unknown):
                raise DataError(f"y contains {unknown.tolist()}, which `classes` does not list.")
            found = classes
        return cls("binary" if len(found) <= 2 else "multiclass", found)

    @property
    def n_columns(self) -> int:
        return len(self.classes)

    def encode(self, y) -> np.ndarray:
        """Y of shape (n, c), 0/1."""
        if self.kind == "multilabel":
            Y = np.asarray(y.toarray() if issparse(y) else y)
            if Y.ndim != 2 or Y.shape[1] != self.n_columns:
                raise DataError(
                    f"y has shape {Y.shape}, but this model was fitted to {self.n_columns} labels."
                )
            return (Y != 0).astype(np.float64)
        y = column_or_1d(y, warn=True)
        unknown = np.setdiff1d(y, self.classes)
        if len(unknown):
            raise DataError(
                f"y contains {unknown.tolist()}, classes this model has not met. Pass every class "
                f"as `classes` with the first call of partial_fit."
            )
        return np.eye(self.n_columns)[np.searchsorted(self.classes, y)]

    def labels(self, Y: np.ndarray) -> np.ndarray:
        """The labels that Y (n, c) stands for."""
        return self.decode(Y if self.kind == "multilabel" else Y.argmax(1))

    def decode(self, columns: np.ndarray) -> np.ndarray:
        """Labels for chosen columns (n,), or the 0/1 matrix itself when multi-label."""
        if self.kind == "multilabel":
            return columns.astype(np.int64)
        return self.classes[columns]
