"""One row of a recipe: which work it is, its search if it has one, its fit, and what it stores."""

from __future__ import annotations

import hashlib
import json
import math
import os
import zlib
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments.comparison.search import Trial, best_trial, search_steps
from kcnet_core.experiments.evaluate import STORED, evaluate_steps
from kcnet_core.experiments.fitting import retina_for
from kcnet_core.experiments.metrics import METRICS
from kcnet_core.experiments.protocols import Split, splits
from kcnet_core.network.history import Progress
from kcnet_core.paper.dataset_cache import DatasetCache
from kcnet_core.paper.recipe import RecipeLine, tuned_on
from kcnet_core.paper.recording import Recorded, curves_of, matrices_of, updates_made
from kcnet_core.storage.journal import Journal

VERSION = 2  # raised when the same work would give other numbers, so that old rows are not used
ROW_KEYS = (
    "seed", "n_train", "n_added", "n_test", *METRICS, "configure_seconds", "fit_seconds",
    "evaluate_seconds", "seconds", "parameters",
)  # fmt: skip
SEARCH_KEYS = ("tried", "found", "inner_value", "search_seconds")


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


def unit_steps(line: RecipeLine, repeat: int, cache: DatasetCache, journal: Journal):
    """Progress, and last the row of one line and repeat."""
    import torch

    load = _load_average()
    dataset = cache.dataset(line, repeat)
    split = split_for(line, repeat, dataset)
    chosen = line.settings
    retina = retina_for(chosen.get("retina", ""), chosen.get("n_patches", 0), repeat, dataset)
    scaler = retina or (None if line.alteration else "default")  # altered rows are scaled already
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
    if "stored" in line.keep:
        entry |= {name: row[name] for name in STORED}
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
