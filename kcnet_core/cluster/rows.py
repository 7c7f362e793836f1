"""Recipes, comparisons and searches whose rows are measured by the workers of a cluster.

A row is the same wherever it is measured, but for its times. Data travel from here, so that workers
need none of their own; a row is in the journal as soon as it is here.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from secrets import token_hex
from typing import Any

from kcnet_core.cluster.connection import connected, held, submit
from kcnet_core.cluster.spread import as_they_finish
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments.comparison import search
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.comparison.rows import PlannedRows
from kcnet_core.experiments.evaluate import evaluate_steps
from kcnet_core.experiments.models import warm_up
from kcnet_core.network.history import Progress
from kcnet_core.paper import engine
from kcnet_core.paper.dataset_cache import DatasetCache
from kcnet_core.paper.recipe import Recipe, RecipeLine, tuned_on
from kcnet_core.paper.unit import identity, unit_steps
from kcnet_core.storage.journal import Journal

WORKING = Progress("cluster", 0, 1, 0.0)  # a sign of life while no row is finished
# Rows of a comparison that workers have or expect; what others want comes after these.
IN_HAND_OF_A_THREAD = 2
FEWEST_CLAIMED, MOST_CLAIMED = 32, 256  # rows in hand at once; each claim is an open file
_Piece = tuple[str, list[tuple[RecipeLine, int]]]  # its claim, and the rows that it is for

# -- recipes -----------------------------------------------------------------------------------


def reproduce_steps(recipe: Recipe, journal: Journal, client, **options):
    """As `paper.engine.reproduce_steps`, its rows in the order in which they are finished."""
    measure = measured_at(client)
    return (yield from engine.reproduce_steps(recipe, journal, measure=measure, **options))


def measured_there(
    client, wanted, cache: DatasetCache, journal: Journal, rows, deadline
) -> engine.MeasuredRows:
    """As `paper.engine.measured_here`; trials of a search come to the journal one by one, too.

    What is sent is claimed in the journal until it is there, as much at once as keeps all workers
    busy: two runs at the same time share the work, wherever they let it be done.
    """
    topic = f"kcnet-{token_hex(8)}"
    client.subscribe_topic(topic, lambda event: journal.append(event[1]))
    with closing(_Claimed(client, _claimable(wanted, cache), cache, journal, rows, topic)) as work:
        try:
            while work.left and (deadline is None or time.monotonic() < deadline):
                for came in as_they_finish(client, work.more(), deadline, work.more):
                    if came is None:
                        yield *work.in_hand(), WORKING
                    else:
                        work.finished(*came)
                    yield from work.known()
                yield from work.known()
                if work.left:
                    yield *work.left[0][1][0], engine.ELSEWHERE
                    time.sleep(engine.SECONDS_BETWEEN_LOOKS)
        finally:
            if client.status == "running":
                client.unsubscribe_topic(topic)


class _Claimed:
    """The pieces of a recipe that are claimed and sent, as many as there is room for."""

    def __init__(self, client, left: list[_Piece], cache, journal: Journal, rows, topic: str):
        self._client, self._cache, self._journal = client, cache, journal
        self._rows, self._topic, self.left = rows, topic, left
        self._most = min(MOST_CLAIMED, max(FEWEST_CLAIMED, 4 * sum(client.nthreads().values())))
        self._data: dict[str, Any] = {}
        self._claims: dict[str, ExitStack] = {}
        self._missing: dict[str, list[tuple[RecipeLine, int]]] = {}  # rows of each claim
        self._known: list[tuple[RecipeLine, int, dict]] = []

    def more(self) -> dict[Any, tuple[str, RecipeLine, int]]:
        """Claim and send what there is room for; futures, and what they stand for."""
        futures: dict[Any, tuple[str, RecipeLine, int]] = {}
        waiting: list[_Piece] = []
        for key, units in self.left:
            claim = ExitStack()
            if len(self._claims) < self._most and claim.enter_context(self._journal.claimed(key)):
                self._claims[key], self._missing[key] = claim, []
                futures |= self._sent(key, units)
                self._let_go(key)
            else:
                waiting.append((key, units))
        self.left = waiting
        return futures

    def _sent(self, key: str, units) -> dict[Any, tuple[str, RecipeLine, int]]:
        futures: dict[Any, tuple[str, RecipeLine, int]] = {}
        sent: dict[int, Any] = {}
        known: Any = []
        if units[0][0].tuning:
            known = submit(self._client, held, self._journal.having("trial"))
        for line, repeat in units:
            row = self._journal.get(identity(line, repeat, self._cache.fingerprint(line)))
            if row is not None:  # another process has finished it meanwhile
                self._known.append((line, repeat, row))
                continue
            data = self._cache.key(line)
            if data not in self._data:
                self._data[data] = submit(self._client, held, self._cache.plain(line))
            # Repeats of a benchmark share a search: they wait for the row of the one that makes it.
            searched = tuned_on(line.protocol, repeat)
            before = sent.get(searched) or self._rows.get((line.key, searched))
            first = before if line.tuning and searched != repeat else None
            args = line, repeat, self._data[data], known, first, self._topic
            sent[repeat] = submit(self._client, _unit, *args)
            futures[sent[repeat]] = key, line, repeat
            self._missing[key].append((line, repeat))
        return futures

    def finished(self, what: tuple[str, RecipeLine, int], row: dict) -> None:
        """A row is there."""
        key, line, repeat = what
        if not row.get("error"):
            self._journal.append(row)
        self._known.append((line, repeat, row))
        self._missing[key].remove((line, repeat))
        self._let_go(key)

    def known(self) -> Iterator[tuple[RecipeLine, int, dict]]:
        """Rows that were not passed on yet."""
        while self._known:
            yield self._known.pop(0)

    def in_hand(self) -> tuple[RecipeLine, int]:
        """What is probably being measured now."""
        return next(units[0] for units in self._missing.values() if units)

    def _let_go(self, key: str) -> None:
        if not self._missing[key]:
            del self._missing[key]
            self._claims.pop(key).close()

    def close(self) -> None:
        for claim in self._claims.values():
            claim.close()


def _claimable(wanted, cache: DatasetCache) -> list[_Piece]:
    """What is wanted, by the claims of `paper.engine.measured_here`: repeats that share a search
    are one piece of work."""
    together: dict[str, list[tuple[RecipeLine, int]]] = {}
    for line, repeat in wanted:
        searched = tuned_on(line.protocol, repeat) if line.tuning else repeat
        key = identity(line, searched, cache.fingerprint(line))
        together.setdefault(key, []).append((line, repeat))
    return list(together.items())


def measured_at(client) -> engine.Measure:
    """The same for an address, too, to which it connects when it begins."""

    def measure(wanted, *args) -> engine.MeasuredRows:
        if wanted:
            with connected(client) as cluster:
                yield from measured_there(cluster, wanted, *args)

    return measure


class _SentJournal(Journal):
    """A worker's journal: what is known elsewhere, and what is appended goes there."""

    def __init__(self, entries: Iterable[Mapping], topic: str):
        self._entries: dict[str, dict] = {}
        self._topic = topic
        self.learn(entries)

    def append(self, entry: Mapping) -> None:
        from distributed import get_worker

        get_worker().log_event(self._topic, dict(entry))
        self.learn([entry])


def _unit(line: RecipeLine, repeat: int, dataset: Dataset, known, first, topic: str) -> dict:
    """The row of one line and repeat, on a worker."""
    entries = [*known, *([first] if first and not first.get("error") else [])]
    cache = DatasetCache(lambda *_, **__: dataset)
    steps = unit_steps(line, repeat, cache, _SentJournal(entries, topic))
    (row,) = (item for item in steps if not isinstance(item, Progress))
    return row


# -- comparisons -------------------------------------------------------------------------------


def compare_steps(
    comparison: Comparison, client, dataset: Dataset | None = None, *,
    done: Iterable[Mapping] = (), progress: bool = False,
) -> Generator[dict | Progress, None, None]:  # fmt: skip
    """As `experiments.comparison.rows.compare_steps`, its rows as they are finished."""
    dataset = comparison.load() if dataset is None else dataset
    have = {row["id"] for row in done if row.get("id") and not row.get("error")}
    wanted = dict.fromkeys(fit.id for fit in PlannedRows(comparison, dataset).fits)
    with connected(client) as cluster:
        data = submit(cluster, held, dataset)
        left, in_hand = [row_id for row_id in wanted if row_id not in have], set[str]()
        most = IN_HAND_OF_A_THREAD * sum(cluster.nthreads().values())

        def more() -> dict[Any, str]:
            some = left[: most - len(in_hand)]
            del left[: len(some)]
            in_hand.update(some)
            return {submit(cluster, _rows, comparison, data, row_id): row_id for row_id in some}

        for came in as_they_finish(cluster, more(), more=more):
            if came is not None:
                in_hand.remove(came[0])
                yield from came[1]
            elif progress:
                yield WORKING


def _rows(comparison: Comparison, dataset: Dataset, row_id: str) -> list[dict]:
    """The row with this id (two, where two lines are the same work)."""
    planned = PlannedRows(comparison, dataset)
    warm_up(comparison.models)
    others = [{"id": fit.id} for fit in planned.fits if fit.id != row_id]
    return [row for row in planned.steps(others) if not isinstance(row, Progress)]


# -- searches ----------------------------------------------------------------------------------


def search_steps(model_name: str, dataset: Dataset, train_rows, client, **options):
    """As `experiments.comparison.search.search_steps`: the same trials, one after the other, since
    each is chosen by those before it; the folds of a trial are measured side by side."""
    with connected(client) as cluster:
        evaluate = _Trials(cluster)
        yield from search.search_steps(
            model_name, dataset, train_rows, evaluate=evaluate, **options
        )


class _Trials:
    """`evaluate_steps` with one task for each split."""

    def __init__(self, client):
        self.client = client
        self.sent: tuple[Dataset, Any] | None = None

    def __call__(self, models, dataset: Dataset, splits, **options) -> Iterator[dict]:
        if self.sent is None or self.sent[0] is not dataset:
            self.sent = dataset, submit(self.client, held, dataset)
        options["progress"] = False
        futures = [
            submit(self.client, _evaluated, models, self.sent[1], split, options)
            for split in splits
        ]
        try:
            for future in futures:
                yield from future.result()
        finally:
            self.client.cancel(futures)


def _evaluated(models, dataset: Dataset, split, options) -> list:
    return list(evaluate_steps(models, dataset, [split], **options))
