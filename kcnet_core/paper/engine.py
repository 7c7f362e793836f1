"""The one engine behind every recipe: trains what is not in the journal yet, and sums up."""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
import zlib
from collections import deque
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from kcnet_core import datasets
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import DataError
from kcnet_core.experiments.comparison.search import Trial, best_trial, search_steps
from kcnet_core.experiments.evaluate import evaluate_steps
from kcnet_core.experiments.measured_job import MeasuredJob, MeasuredView, Piece
from kcnet_core.experiments.metrics import METRICS
from kcnet_core.experiments.protocols import Split, splits
from kcnet_core.network.history import Progress
from kcnet_core.paper.cost import line_seconds, recipe_cost
from kcnet_core.paper.dataset_cache import DatasetCache
from kcnet_core.paper.outcomes import Result, summed_up
from kcnet_core.paper.recipe import Recipe, RecipeLine, tuned_on
from kcnet_core.paper.recording import Recorded, curves_of, matrices_of, updates_made
from kcnet_core.paper.result_file import own_results, save_result
from kcnet_core.storage.folders import cache_folder
from kcnet_core.storage.journal import Journal

VERSION = 2  # raised when the same work would give other numbers, so that old rows are not used
SAVING_SHARE = 0.05  # of a measurement's time at most goes into saving it on the way
SECONDS_BETWEEN_LOOKS = 0.2  # while all that is left is being measured by another process
ROW_KEYS = (
    "seed", "n_train", "n_added", "n_test", *METRICS, "configure_seconds", "fit_seconds",
    "evaluate_seconds", "seconds", "parameters",
)  # fmt: skip
SEARCH_KEYS = ("tried", "found", "inner_value", "search_seconds")


@dataclass(frozen=True)
class ResultView(MeasuredView):
    """With what the rows so far add up to."""

    result: Result


@dataclass(frozen=True)
class Reproduction:
    """Which recipe is measured, and whether in its quick version."""

    recipe: str
    quick: bool


class ReproductionJob(MeasuredJob):
    """A recipe as a job that goes on from the journal."""

    def steps(self) -> Generator[ResultView, None, Result | None]:
        return self.measure()


def reproduction_job(recipe: Recipe, measured: Mapping[str, float]) -> MeasuredJob:
    """`measured` as in `recipe_cost`."""
    return ReproductionJob(
        "reproduce",
        Reproduction(recipe.name, recipe.is_quick),
        lambda: saved_steps(recipe, default_journal(), own_results()),
        [Piece(recipe.title, recipe_cost(recipe, measured))],
    )


def default_journal() -> Journal:
    """The journal that the command line and the page share."""
    return Journal(cache_folder() / "reproduce" / "journal.jsonl")


def reproduce_steps(
    recipe: Recipe,
    journal: Journal,
    *,
    deadline: float | None = None,
    load: Callable[..., Dataset] = datasets.load,
) -> Generator[ResultView, None, Result]:
    """Measure a recipe, row by row; what the journal knows is not measured again.

    Every finished row and every finished trial of a search is appended to the journal at once. By
    the `deadline`, a value of `time.monotonic()`, it stops: a row that would probably not be
    finished by then is not begun, and one that takes longer is given up. The result is complete, or
    of what there was time and data for.
    """
    cache, rows = DatasetCache(load), {}
    wanted: deque[tuple[RecipeLine, int]] = deque()
    skipped: dict[str, str] = {}  # what is missing, by dataset
    failed: dict[str, str] = {}  # sentences, by line
    units = recipe.units()
    for line, repeat in units:
        if line.dataset in skipped:
            continue
        try:
            known = journal.get(identity(line, repeat, cache.fingerprint(line)))
        except DataError as error:
            skipped[line.dataset] = str(error)
            continue
        if known:
            rows[line.key, repeat] = known
        else:
            wanted.append((line, repeat))

    def so_far() -> Result:
        return summed_up(recipe, rows, skipped=skipped, failed=failed)

    def view(stage: str, part: float = 0.0, counts_as_step: bool = False) -> ResultView:
        """`part` is the share of the row in hand that is done."""
        done, total = len(rows), len(units)
        fraction = min(1.0, (done + part) / max(total, 1))
        return ResultView(stage, fraction, done, total, counts_as_step, result)

    result = so_far()
    yield view("Looking up what is known")
    elsewhere = 0  # rows in a row that another process is measuring now
    while wanted:
        line, repeat = wanted.popleft()
        if deadline is not None and time.monotonic() + _expected(line, rows) > deadline:
            continue
        stage, fingerprint = f"{line.key}, repeat {repeat + 1}", cache.fingerprint(line)
        # Repeats that share a search are one piece of work.
        searched = tuned_on(line.protocol, repeat) if line.tuning else repeat
        with journal.claimed(identity(line, searched, fingerprint)) as free:
            row = journal.get(identity(line, repeat, fingerprint)) if free else None
            if free and row is None:
                with closing(_unit_steps(line, repeat, cache, journal)) as steps:
                    for item in steps:
                        if not isinstance(item, Progress):
                            row = item
                            break
                        if deadline is not None and time.monotonic() > deadline:
                            break
                        yield view(stage, item.done / max(item.total, 1))
                if row is not None and not row.get("error"):
                    journal.append(row)
        if not free:
            wanted.append((line, repeat))
            elsewhere += 1
            if elsewhere >= len(wanted):
                yield view(f"{stage}: waiting for another process that measures it")
                time.sleep(SECONDS_BETWEEN_LOOKS)
            continue
        elsewhere = 0
        if row is None:
            continue
        if row.get("error"):
            failed[line.key] = row["error"]
        else:
            rows[line.key, repeat] = row
        result = so_far()
        yield view(stage, counts_as_step=True)
    return result


def _expected(line: RecipeLine, rows: Mapping[tuple[str, int], Mapping]) -> float:
    """Seconds for one more row: what another repeat took, or else an estimate."""
    took = [
        row["seconds"] + (0.0 if line.protocol == "benchmark" else row.get("search_seconds", 0.0))
        for (key, _), row in rows.items()
        if key == line.key
    ]
    return max(took) if took else line_seconds(line)


def saved_steps(recipe: Recipe, journal: Journal, folder, **options):
    """`reproduce_steps` whose result is written to `folder`, also when it is stopped early.

    It is written on the way, too, and marked as under way: then a killed one is known as such.
    """
    steps, result, due = reproduce_steps(recipe, journal, **options), None, 0.0
    try:
        with closing(steps):
            for step in steps:
                result, began = step.result, time.monotonic()
                if step.counts_as_step and not result.complete and result.finished and began >= due:
                    save_result(result, folder, under_way=True)
                    due = began + (time.monotonic() - began) / SAVING_SHARE
                yield step
    finally:
        if result is not None and result.finished:
            save_result(result, folder)
    return result


def known_result(recipe: Recipe, journal: Journal, load=datasets.load) -> Result:
    """What the journal knows of a recipe, without measuring anything."""
    with closing(reproduce_steps(recipe, journal, deadline=-math.inf, load=load)) as steps:
        return next(steps).result


def identity(line: RecipeLine, repeat: int, fingerprint: list) -> str:
    """The same for the same work, in whichever recipe it is."""
    return _digest(
        [VERSION, fingerprint, line.alteration, line.protocol, line.oversampling, line.rows,
         line.model, dict(line.settings), dict(line.beyond), line.keep,
         asdict(line.tuning) if line.tuning else None, repeat]
    )  # fmt: skip


def _digest(work) -> str:
    return hashlib.sha256(json.dumps(work, sort_keys=True).encode()).hexdigest()[:20]


def split_for(line: RecipeLine, repeat: int, dataset: Dataset) -> Split:
    """The split that a `Run` of this line with the seed `repeat` has, too."""
    (split,) = splits(dataset, line.protocol, seed=repeat, rows=line.rows)
    return replace(split, repeat=repeat)


def _unit_steps(line: RecipeLine, repeat: int, cache: DatasetCache, journal: Journal):
    """Progress, and last the row of one line and repeat."""
    import torch

    load = _load_average()
    dataset = cache.dataset(line, repeat)
    split = split_for(line, repeat, dataset)
    scaler = None if line.alteration else "default"  # altered rows are scaled already
    trials: list[Trial] = []
    tuned: dict[str, Any] = {"tried": 1}
    if line.tuning:
        trials, tuned = yield from _tuned(line, repeat, dataset, scaler, cache, journal)
    made = []

    def make(seed):
        model = line.make(seed, tuned.get("found"))
        made.append(Recorded(model) if "matrices" in line.keep else model)
        return made[-1]

    for item in evaluate_steps(
        {line.label: make}, dataset, [split], scaler=scaler, oversampling=line.oversampling,
        progress=True,
    ):  # fmt: skip
        if isinstance(item, Progress):
            yield item
        else:
            row = item
    if row["error"]:
        yield {"error": row["error"]}
        return
    entry = {
        "id": identity(line, repeat, cache.fingerprint(line)),
        "line": line.key,
        "dataset": line.dataset,
        "protocol": line.protocol,
        "repeat": repeat,
        **{name: _finite(row[name]) for name in ROW_KEYS},
        "n_available": dataset.n_train,
        **tuned,
        "load": load,
        "threads": torch.get_num_threads(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    yield entry | _kept(line, made[-1], trials)


def _kept(line: RecipeLine, model, trials) -> dict:
    """What a row stores besides scores."""
    kept: dict[str, Any] = {}
    if getattr(model, "n_epochs", 0) and hasattr(model, "stopped_"):
        kept |= {"updates": updates_made(model), "density": float(model.wiring_.density)}
    if "curves" in line.keep:
        kept["curves"] = curves_of(model)
    if "matrices" in line.keep:
        kept["matrices"] = matrices_of(model)
    if "trials" in line.keep:
        kept["trials"] = [
            {"number": t.number, "params": dict(t.params), "value": t.value, "error": t.error}
            for t in trials
        ]
    return kept


def _tuned(line, repeat, dataset, scaler, cache, journal):
    """The trials of a line's search, and what a row says of it.

    Repeats may share a search; then the row of the one that made it is enough.
    """
    searched = tuned_on(line.protocol, repeat)
    known = journal.get(identity(line, searched, cache.fingerprint(line)))
    if known:
        return [], {name: known[name] for name in SEARCH_KEYS}
    train = split_for(line, searched, dataset).train
    trials = yield from _search(line, dataset, train, searched, scaler, cache, journal)
    best = best_trial(trials)
    values = (
        max(1, len(trials)),
        dict(best.params) if best else {},
        best.value if best else None,
        sum(trial.seconds for trial in trials),
    )
    return trials, dict(zip(SEARCH_KEYS, values, strict=True))


def _search(line, dataset, train, seed, scaler, cache, journal):
    """The trials of a line's search; each is in the journal as soon as it is done."""
    tuning = line.tuning
    model, settings = line.searched
    work = [
        VERSION, "search", cache.fingerprint(line), line.alteration, line.protocol,
        line.oversampling, zlib.crc32(train.tobytes()), model, dict(settings),
        dict(tuning.untuned), tuning.n_folds, seed,
    ]  # fmt: skip
    search = _digest(work)
    done: list[Trial] = []
    while len(done) < tuning.n_trials and (known := journal.get(f"{search}-{len(done)}")):
        done.append(Trial(**known["trial"]))
    trials: list[Trial] = []
    for item in search_steps(
        model, dataset, train, n_trials=tuning.n_trials, seed=seed, settings=settings,
        untuned=tuning.untuned, scaler=scaler, oversampling=line.oversampling,
        n_folds=tuning.n_folds, done=done, progress=True,
    ):  # fmt: skip
        if isinstance(item, Progress):
            share = len(trials) / (tuning.n_trials + 1)
            yield Progress("search", round(1000 * share), 1000, item.seconds)
            continue
        trials.append(item)
        if item.number >= len(done):
            journal.append({"id": f"{search}-{item.number}", "trial": asdict(item)})
    return trials


def _finite(value):
    """JSON has no word for what is not a number."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _load_average() -> float | None:
    """Processes that wanted to run in the last minute, where the system tells."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
