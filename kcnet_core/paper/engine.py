"""The one engine behind every recipe: trains what is not in the journal yet, and sums up."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from kcnet_core import datasets
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import DataError
from kcnet_core.experiments.measured_job import MeasuredJob, MeasuredView, Piece
from kcnet_core.network.history import Progress
from kcnet_core.paper.cost import line_seconds, recipe_cost
from kcnet_core.paper.dataset_cache import DatasetCache
from kcnet_core.paper.outcomes import Result, summed_up
from kcnet_core.paper.recipe import Recipe, RecipeLine, tuned_on
from kcnet_core.paper.result_file import own_results, save_result
from kcnet_core.paper.unit import identity, unit_steps
from kcnet_core.storage.folders import cache_folder
from kcnet_core.storage.journal import Journal

SAVING_SHARE = 0.05  # of a measurement's time at most goes into saving it on the way
SECONDS_BETWEEN_LOOKS = 0.2  # while all that is left is being measured by another process
MeasuredRows = Generator[tuple[RecipeLine, int, Any], None, None]
Measure = Callable[..., MeasuredRows]
ELSEWHERE = Progress("elsewhere", 0, 1, 0.0, "waiting for another process that measures it")


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
    measure: Measure | None = None,
) -> Generator[ResultView, None, Result]:
    """Measure a recipe, row by row; what the journal knows is not measured again.

    Every finished row and every finished trial of a search is appended to the journal at once. By
    the `deadline`, a value of `time.monotonic()`, it stops: a row that would probably not be
    finished by then is not begun, and one that takes longer is given up. The result is complete, or
    of what there was time and data for. `measure` does the work, by default `measured_here`.
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
    with closing((measure or measured_here)(wanted, cache, journal, rows, deadline)) as measured:
        for line, repeat, item in measured:
            stage = f"{line.key}, repeat {repeat + 1}"
            if item is ELSEWHERE:
                yield view(f"{stage}: {item.says}")
            elif isinstance(item, Progress):
                yield view(stage, item.done / max(item.total, 1))
            else:
                if item.get("error"):
                    failed[line.key] = item["error"]
                else:
                    rows[line.key, repeat] = item
                result = so_far()
                yield view(stage, counts_as_step=True)
    return result


def measured_here(wanted, cache: DatasetCache, journal: Journal, rows, deadline) -> MeasuredRows:
    """Progress and the row of each line and repeat that is wanted, one after the other; a row is in
    the journal before it is passed on. `rows` are those known so far, by line and repeat.
    """
    elsewhere = 0  # rows in a row that another process is measuring now
    while wanted:
        line, repeat = wanted.popleft()
        if deadline is not None and time.monotonic() + _expected(line, rows) > deadline:
            continue
        fingerprint = cache.fingerprint(line)
        # Repeats that share a search are one piece of work.
        searched = tuned_on(line.protocol, repeat) if line.tuning else repeat
        with journal.claimed(identity(line, searched, fingerprint)) as free:
            row = journal.get(identity(line, repeat, fingerprint)) if free else None
            if free and row is None:
                with closing(unit_steps(line, repeat, cache, journal)) as steps:
                    for item in steps:
                        if not isinstance(item, Progress):
                            row = item
                            break
                        if deadline is not None and time.monotonic() > deadline:
                            break
                        yield line, repeat, item
                if row is not None and not row.get("error"):
                    journal.append(row)
        if not free:
            wanted.append((line, repeat))
            elsewhere += 1
            if elsewhere >= len(wanted):
                yield line, repeat, ELSEWHERE
                time.sleep(SECONDS_BETWEEN_LOOKS)
            continue
        elsewhere = 0
        if row is not None:
            yield line, repeat, row


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
