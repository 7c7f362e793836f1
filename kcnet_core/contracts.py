"""What the rooms promise each other: an estimator, a scaler, and work that goes step by step."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

ResultT = TypeVar("ResultT")
StepT = TypeVar("StepT")

# Work that reports what it yields and returns its result. Closing it ends the work; a job pauses,
# slows down and stops by asking for the next step later or not at all.
Steps = Generator[StepT, None, ResultT]

# Who does pieces of work that do not wait for each other, where that is not done here: called with
# a function, arguments that all pieces share, and one more for each; returns a list of results.
Spread = Callable[[Callable[..., Any], tuple, Iterable[Any]], list[Any]]
spread_by: ContextVar[Spread | None] = ContextVar("spread_by", default=None)


class Estimator(Protocol):
    """A fitted or unfitted classifier with scikit-learn's manners."""

    classes_: np.ndarray

    def fit(self, X: np.ndarray, y: np.ndarray) -> Estimator: ...

    def predict(self, X: np.ndarray) -> np.ndarray: ...

    def predict_proba(self, X: np.ndarray) -> np.ndarray: ...


class Network(Estimator, Protocol):
    """One of this project's networks: it is trained step by step, and shows what is inside it."""

    n_hidden: int
    n_features_in_: int
    coef_: np.ndarray  # (B, c)
    history_: list
    timings_: dict[str, float]
    n_trained_parameters_: int

    @property
    def weights_(self) -> np.ndarray:
        """Of the hidden layer, (B, d)."""

    @property
    def multilabel(self) -> bool:
        """Whether it answers every label by itself, instead of choosing one class."""

    @property
    def has_sums(self) -> bool:
        """Whether it still holds the sums from which any lambda can be solved."""

    def fit_steps(
        self,
        X: np.ndarray,
        y: np.ndarray,
        sample_weight: np.ndarray | None = None,
        groups: np.ndarray | None = None,
        *,
        matrices: bool = False,
        progress: bool = False,
    ) -> Steps[Any, None]:
        """Yields an `EpochRecord` per epoch and, if asked, `Progress`."""

    def hidden(self, X: np.ndarray) -> np.ndarray:
        """Activity of the hidden units, (n, B)."""

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """How far each row is on the side of a class."""

    def class_scores(self, X: np.ndarray) -> np.ndarray:
        """Raw outputs (n, c), before they become probabilities."""

    def forget_rows(self) -> Network:
        """Free what only more rows and other lambdas need."""

    def set_params(self, **parameters: Any) -> Network: ...


class Circuit(Network, Protocol):
    """A network with the fly's wiring: KCNet."""

    inhibition: float
    scores_: np.ndarray | None  # (B, d) after DOA
    stopped_: str

    def tags(self, X: np.ndarray, fraction: float = 0.05) -> np.ndarray:
        """The most active cells of every row, (n, B) bool."""

    def end_search(self) -> None:
        """Let DOA end with the epoch in hand."""


class Scaler(Protocol):
    """What brings raw inputs to the scale that a network was trained on."""

    kept_: np.ndarray  # (d,) bool: the columns that come through

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
    steps: Steps[Any, ResultT], progress: Callable[[int, int | None], None] | None = None
) -> ResultT:
    """Do all of the work at once and return its result.

    Where the steps are `Counted`, `progress` hears how far it has come.
    """
    with closing(steps):  # also when `progress` raises
        while True:
            try:
                step = next(steps)
            except StopIteration as ended:
                return ended.value
            if progress is not None:
                progress(step.done, step.total)


def share_of_work(
    steps: Steps[Counted, ResultT], start: float, share: float
) -> Steps[Counted, ResultT]:
    """Steps that are only a share of some work, which begins after `start` of it is done."""
    with closing(steps):
        while True:
            try:
                step = next(steps)
            except StopIteration as ended:
                return ended.value
            yield Counted(round((step.total or 0) * start + step.done * share), step.total)
