"""Ensemble DOA: the searches of several submodels, in turns or at the same time."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from joblib import Parallel, delayed, effective_n_jobs, parallel_config

from kcnet_core.contracts import Steps, spread_by
from kcnet_core.network.doa import EPOCH_PARTS, WiringSearch
from kcnet_core.network.doa_settings import DOASettings
from kcnet_core.network.history import EpochRecord, Progress
from kcnet_core.network.seeds import STREAM_SEARCH, generator
from kcnet_core.network.wiring import Wiring


@dataclass(frozen=True)
class Found:
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
    ) -> Steps[EpochRecord | Progress, list[Found]]:
        """Yield a record of each submodel in turn; return what they found.

        `enough` is asked when all submodels have made the same number of epochs.
        """
        searches = [self.search(k) for k in range(len(self.parts))]
        histories: list[list[EpochRecord]] = [[] for _ in searches]
        running = [(k, search.epochs(matrices, progress)) for k, search in enumerate(searches)]
        while running:
            ended, still = enough(), []
            for search in searches:
                search.enough = ended
            for k, epochs in running:
                for record in epochs:
                    if isinstance(record, Progress):
                        yield self._of_all(record, k)
                        continue
                    histories[k].append(replace(record, W=None, S=None))
                    yield record
                    still.append((k, epochs))
                    break
            running = still
        return [_found(*pair) for pair in zip(searches, histories, strict=True)]

    def _of_all(self, step: Progress, k: int) -> Progress:
        """Progress of submodel k as progress of them all, who make their epochs in turn."""
        many = len(self.parts)
        if many == 1:
            return step
        epoch, within = divmod(step.done, EPOCH_PARTS)
        done = (epoch * many + k) * EPOCH_PARTS + within
        says = f"submodel {k + 1} of {many}, {step.says}"
        return replace(step, done=done, total=step.total * many, says=says)

    def at_once(self, n_jobs: int) -> list[Found]:
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


def processes_for(n_jobs: int | None, n_submodels: int) -> int:
    """How many searches run at once."""
    if spread_by.get():
        return n_submodels
    return min(effective_n_jobs(n_jobs or 1), n_submodels)


def _run(X, Y, w, others: Ensemble, k: int) -> Found:
    """One search, in a process of its own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given NumPy array is not writable")
        search = replace(others, X=X, Y=Y, w=w).search(k)
    history = [step for step in search.epochs() if isinstance(step, EpochRecord)]
    return _found(search, history)


def _found(search: WiringSearch, history: list[EpochRecord]) -> Found:
    return Found(search.wiring, search.scores.cpu().numpy(), search.stopped, tuple(history))


def reasons(found: list[Found]) -> str:
    """Why each search ended, a line for each submodel."""
    if len(found) <= 1:
        return found[0].stopped if found else "No DOA was asked for (n_epochs=0)"
    return "\n".join(
        f"Submodel {k + 1}: {one.stopped[0].lower()}{one.stopped[1:]}"
        for k, one in enumerate(found)
    )
