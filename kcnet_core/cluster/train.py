"""A run of the Train page in another process: its film comes by frames, its matrices at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from kcnet_core.cluster.steps import StepsReader, steps_there
from kcnet_core.contracts import Steps
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments.frames import Frame
from kcnet_core.experiments.run import Run
from kcnet_core.experiments.training import TrainedRun, TrainView, train_steps
from kcnet_core.jobs.process import WorkerProcesses


@dataclass(frozen=True)
class _Sent:
    """A view without what was sent before: frames are named by when they were made."""

    view: TrainView  # its log only has what is new, and it has no frames
    frames: tuple[float, ...]
    recent: tuple[float, ...]
    new: dict[float, Frame]  # at picture size

    @property
    def counts_as_step(self) -> bool:
        return self.view.counts_as_step


def train_there(
    address: str, run: Run, dataset: Dataset, enough: Callable[[], bool], need: int
) -> Steps[TrainView, TrainedRun]:
    """As `train_steps`, on a worker."""
    return steps_there(
        address, _train, (run,), dataset, need=need, enough=enough,
        reader=lambda: _Film(run, dataset),
    )  # fmt: skip


def train_apart(
    processes: WorkerProcesses,
    run: Run,
    dataset: Dataset,
    enough: Callable[[], bool],
    expected: float,
) -> Steps[TrainView, TrainedRun]:
    """The same in a process of this machine, or here where none is there in time; `expected`
    are the seconds that it will probably take."""
    return processes.steps(
        _train, (run,), dataset, _Film(run, dataset), enough,
        here=lambda: train_steps(run, dataset, enough), expected=expected,
    )  # fmt: skip


def _train(dataset: Dataset, enough: Callable[[], bool], run: Run) -> Steps[_Sent, Any]:
    """On a worker."""
    steps, n_records, known = train_steps(run, dataset, enough), 0, set[float]()
    while True:
        try:
            view = next(steps)
        except StopIteration as end:
            return replace(end.value, dataset=None)  # whoever asked has it
        frames, recent = ([frame.made for frame in part] for part in (view.frames, view.recent))
        both = {frame.made: frame for frame in (*view.frames, *view.recent)}
        new = {made: replace(f, S=None, W=None) for made, f in both.items() if made not in known}
        known = set(both)
        log = view.log[n_records : view.n_records]
        n_records = view.n_records
        alone = replace(view, log=log, frames=(), recent=())
        yield _Sent(alone, tuple(frames), tuple(recent), new)


class _Film(StepsReader):
    def __init__(self, run: Run, dataset: Dataset):
        self._run, self._dataset, self._offset = run, dataset, 0.0
        self._log: list = []
        self._frames: dict[float, Frame] = {}

    def read(self, item: _Sent, offset: float) -> TrainView:
        self._log += item.view.log
        self._offset = offset
        self._frames |= {made: self._here(frame) for made, frame in item.new.items()}
        needed = {*item.frames, *item.recent}
        self._frames = {made: frame for made, frame in self._frames.items() if made in needed}
        frames, recent = (
            tuple(self._frames[made] for made in part) for part in (item.frames, item.recent)
        )
        return replace(item.view, log=self._log, frames=frames, recent=recent)

    def waiting(self, last: TrainView | None, sentence: str) -> TrainView:
        if last is None:
            return TrainView(self._run, sentence or "Looking for a worker", 0.0, [], 0)
        return replace(last, stage=sentence or last.stage, counts_as_step=False)

    def result(self, result: TrainedRun) -> TrainedRun:
        frames = tuple(map(self._here, result.frames))
        return replace(result, dataset=self._dataset, frames=frames)

    def _here(self, frame: Frame) -> Frame:
        """By this machine's clock: viewers know by it which frames are new."""
        return replace(frame, made=frame.made + self._offset)
