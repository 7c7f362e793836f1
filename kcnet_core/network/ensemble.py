"""Ensemble DOA: the searches of several submodels, in turns or at the same time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import torch
from joblib import Parallel, delayed, effective_n_jobs, parallel_config

from kcnet_core.contracts import Steps, spread_by
from kcnet_core.network.blocked_matmul import n_cores, on_one_core
from kcnet_core.network.doa import EPOCH_PARTS, WiringSearch
from kcnet_core.network.doa_settings import DOASettings
from kcnet_core.network.history import EpochRecord, Progress
from kcnet_core.network.ridge import rows_per_chunk
from kcnet_core.network.seeds import STREAM_SEARCH, generator
from kcnet_core.network.wiring import Wiring


@dataclass(frozen=True)
class FoundWiring:
    """What a search ends with."""

    wiring: Wiring
    scores: np.ndarray
    stopped: str
    history: tuple[EpochRecord, ...]  # without matrices


@dataclass(frozen=True)
class Ensemble:
    """The searches of all submodels: the same rows and settings, their own wiring and seed."""

    X: np.ndarray  # (N, d) float32, as Y and w
    Y: np.ndarray  # (N, c)
    w: np.ndarray  # (N,)
    groups: np.ndarray | None  # (N,)
    parts: list[Wiring]  # where each submodel starts
    settings: DOASettings
    seed: np.random.SeedSequence
    device: torch.device

    def search(self, k: int) -> WiringSearch:
        """The search of submodel k."""
        X, Y, w = (torch.from_numpy(a) for a in (self.X, self.Y, self.w))
        rng, settings = generator(self.seed, STREAM_SEARCH, k), self.settings
        return WiringSearch(X, Y, w, self.groups, self.parts[k], settings, rng, self.device, k)

    def in_turns(
        self,
        matrices: bool = False,
        enough: Callable[[], bool] = lambda: False,
        progress: bool = False,
    ) -> Steps[EpochRecord | Progress, list[FoundWiring]]:
        """Yield a record of each submodel in turn; return what they found.

        `enough` is asked when all submodels have made the same number of epochs.
        """
        searches = [self.search(k) for k in range(len(self.parts))]
        histories: list[list[EpochRecord]] = [[] for _ in searches]
        running = [(k, search.epochs(matrices, progress)) for k, search in enumerate(searches)]
        width = self._at_a_time(progress)
        with ThreadPoolExecutor(width, "submodel") as threads:
            while running:
                ended, still = enough(), []
                for search in searches:
                    search.enough = ended
                for start in range(0, len(running), width):
                    some = running[start : start + width]
                    # One at a time its progress comes while it is made, and all cores help it.
                    made = (
                        map(_epoch, some) if width == 1 else threads.map(_epoch_on_one_core, some)
                    )
                    for (k, epochs), steps in zip(some, made, strict=True):
                        for step in steps:
                            if isinstance(step, Progress):
                                yield self._of_all(step, k)
                                continue
                            histories[k].append(replace(step, W=None, S=None))
                            yield step
                            still.append((k, epochs))
                running = still
        return [_found(*pair) for pair in zip(searches, histories, strict=True)]

    def _at_a_time(self, progress: bool) -> int:
        """How many submodels make their epochs at the same time, a thread on a core for each.

        Those of an epoch so long that its progress is wanted take turns.
        """
        cells = max(part.n_hidden for part in self.parts)
        long = self.settings.rule == "paper" or self.settings.batch_rows > rows_per_chunk(cells)
        if self.device.type != "cpu" or (progress and long):
            return 1
        return min(n_cores(), len(self.parts))

    def _of_all(self, step: Progress, k: int) -> Progress:
        """Progress of submodel k as progress of them all, who make their epochs in turn."""
        many = len(self.parts)
        if many == 1:
            return step
        epoch, within = divmod(step.done, EPOCH_PARTS)
        done = (epoch * many + k) * EPOCH_PARTS + within
        says = f"submodel {k + 1} of {many}, {step.says}"
        return replace(step, done=done, total=step.total * many, says=says)

    def at_once(self, n_jobs: int) -> list[FoundWiring]:
        """Run the searches in `n_jobs` processes that share the cores and the rows' memory, or
        wherever pieces of work are spread."""
        others = replace(self, X=self.X[:0], Y=self.Y[:0], w=self.w[:0])
        if spread := spread_by.get():
            return spread(_run, (self.X, self.Y, self.w, others), range(len(self.parts)))
        threads = max(1, effective_n_jobs(-1) // n_jobs)
        with parallel_config("loky", inner_max_num_threads=threads):
            # The arrays stand alone among the arguments: so joblib maps them instead of copying.
            return Parallel(n_jobs=n_jobs)(
                delayed(_run)(self.X, self.Y, self.w, others, k) for k in range(len(self.parts))
            )


# What `WiringSearch.epochs` gives.
Epochs = Iterator[EpochRecord | Progress]


def _epoch(running: tuple[int, Epochs]) -> Epochs:
    """The steps of a search up to the end of its next epoch."""
    for step in running[1]:
        yield step
        if isinstance(step, EpochRecord):
            return


def _epoch_on_one_core(running: tuple[int, Epochs]) -> list[EpochRecord | Progress]:
    with on_one_core():
        return list(_epoch(running))


def processes_for(n_jobs: int | None, n_submodels: int) -> int:
    """How many searches run at once."""
    if spread_by.get():
        return n_submodels
    return min(effective_n_jobs(n_jobs or 1), n_submodels)


def _run(X, Y, w, others: Ensemble, k: int) -> FoundWiring:
    """One search, in a process of its own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given NumPy array is not writable")
        search = replace(others, X=X, Y=Y, w=w).search(k)
    history = [step for step in search.epochs() if isinstance(step, EpochRecord)]
    return _found(search, history)


def _found(search: WiringSearch, history: list[EpochRecord]) -> FoundWiring:
    return FoundWiring(search.wiring, search.scores.cpu().numpy(), search.stopped, tuple(history))


def reasons(found: list[FoundWiring]) -> str:
    """Why each search ended, a line for each submodel."""
    if len(found) <= 1:
        return found[0].stopped if found else "No DOA was asked for (n_epochs=0)"
    return "\n".join(
        f"Submodel {k + 1}: {one.stopped[0].lower()}{one.stopped[1:]}"
        for k, one in enumerate(found)
    )
