"""A measurement as a background job: what is known, what is left, what that costs, its steps."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from kcnet_core.errors import LimitError
from kcnet_core.jobs import Estimate
from kcnet_core.limits import MAX_COMPARED_FITS
from kcnet_core.network.history import Progress

WITHIN = 0.95  # of a piece's share of the bar is reached before its result is there


@dataclass(frozen=True)
class MeasuredView:
    """What a viewer may see of a measurement between two steps; cheap to make, never changed."""

    stage: str
    fraction: float
    done: int
    total: int | None  # None where the number of results is not known before
    counts_as_step: bool


@dataclass(frozen=True)
class ItemsView(MeasuredView):
    """With all that was measured: the first `done` of a log that grows only at its end."""

    log: list

    @property
    def items(self) -> list:
        return self.log[: self.done]


@dataclass(frozen=True)
class Piece:
    """A fit, a trial or a line of a table that is left to do."""

    stage: str
    cost: Estimate


def together(costs: Sequence[Estimate]) -> Estimate:
    """Of pieces one after the other: all their seconds, and the memory of the largest."""
    seconds, most = sum(cost.seconds for cost in costs), max((c.bytes for c in costs), default=0)
    return Estimate(seconds, most, any(cost.elsewhere for cost in costs))


@dataclass(frozen=True)
class MeasuredJob:
    """Work whose results come one by one, as pages and the job manager need it.

    `measure` works through the pending pieces in their order; it yields Progress and items.
    """

    kind: str
    plan: Hashable  # all that decides the results: jobs with equal plans measure the same
    measure: Callable[[], Generator]
    pending: Sequence[Piece]
    known: Sequence = ()  # items that are here already and are not measured again
    total: int | None = None  # items that there will be in the end
    ends_piece: Callable[[Any], bool] = lambda item: True  # whether it is the last of its piece

    @property
    def cost(self) -> Estimate:
        """Of all that is left; memory is that of the largest piece."""
        if len(self.pending) > MAX_COMPARED_FITS:
            raise LimitError(
                f"This comparison needs {len(self.pending):,} fits; the limit is "
                f"{MAX_COMPARED_FITS:,}. Choose fewer models, sizes, repeats or folds."
            )
        return together([piece.cost for piece in self.pending])

    def steps(self) -> Generator[MeasuredView, None, Any]:
        """What the job manager runs."""
        log, pace = list(self.known), Pace([piece.cost.seconds for piece in self.pending])

        def view(stage: str, fraction: float, counts_as_step: bool) -> ItemsView:
            return ItemsView(stage, fraction, len(log), self.total, counts_as_step, log)

        yield view("Splitting the rows", 0.0, True)
        for step in self.measure():
            stage = self.pending[min(pace.done, len(self.pending) - 1)].stage
            if isinstance(step, Progress):
                yield view(stage, pace.inside(step), False)
                continue
            log.append(step)
            ended = self.ends_piece(step)
            yield view(stage, pace.next() if ended else pace.fraction, ended)


class Pace:
    """The fraction done of pieces that cost unequally much; it never goes back."""

    def __init__(self, costs: list[float]):
        self.costs, self.total = costs, sum(costs) or 1.0
        self.done, self.spent, self.within = 0, 0.0, 0.0

    def inside(self, step: Progress) -> float:
        self.within = max(self.within, WITHIN * step.done / max(step.total, 1))
        return self.fraction

    def next(self) -> float:
        self.spent += self.now
        self.done, self.within = self.done + 1, 0.0
        return self.fraction

    @property
    def fraction(self) -> float:
        return min(1.0, (self.spent + self.now * self.within) / self.total)

    @property
    def now(self) -> float:
        return self.costs[self.done] if self.done < len(self.costs) else 0.0
