"""What the rooms promise each other: an estimator, a scaler, and work that goes step by step."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

Result = TypeVar("Result")
Step = TypeVar("Step")

# Work that reports what it yields and returns its result. Closing it ends the work; a job pauses,
# slows down and stops by asking for the next step later or not at all.
Steps = Generator[Step, None, Result]


class Estimator(Protocol):
    """A fitted or unfitted classifier with scikit-learn's manners."""

    classes_: np.ndarray

    def fit(self, X: np.ndarray, y: np.ndarray) -> Estimator: ...

    def predict(self, X: np.ndarray) -> np.ndarray: ...

    def predict_proba(self, X: np.ndarray) -> np.ndarray: ...


class Scaler(Protocol):
    """What brings raw inputs to the scale that a network was trained on."""

    def fit(self, X: np.ndarray) -> Scaler: ...

    def transform(self, X: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class Counted:
    """How far a piece of work has come."""

    done: int
    total: int | None

    @property
    def fraction(self) -> float | None:
        return self.done / self.total if self.total else None


def drain(
    steps: Steps[Counted, Result], progress: Callable[[int, int | None], None] | None = None
) -> Result:
    """Do all of the work at once and return its result; `progress` hears how far it has come."""
    while True:
        try:
            step = next(steps)
        except StopIteration as ended:
            return ended.value
        if progress is not None:
            progress(step.done, step.total)
