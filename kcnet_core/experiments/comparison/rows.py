"""Models side by side on one dataset: run row by row, extended without repeating."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import LimitError
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.cost import fit_cost, retina_inputs
from kcnet_core.experiments.evaluate import evaluate_steps
from kcnet_core.experiments.fitting import Before, retina_for
from kcnet_core.experiments.measured_job import MeasuredJob, Piece
from kcnet_core.experiments.models import MODELS, matched_hidden, warm_up
from kcnet_core.experiments.protocols import Split, default_protocol, splits
from kcnet_core.experiments.run import KCNET_MODELS
from kcnet_core.jobs import Estimate
from kcnet_core.limits import MAX_BASELINE_ROWS
from kcnet_core.network.history import Progress
from kcnet_core.network.scaling import ODOR_CLIP, FeatureScaler

LEAST_CELLS = 50  # per submodel; smaller wirings see too few inputs
MOST_SUBMODELS = 10  # the paper's
# Where the paper's own values do not apply, odor data need a stronger lambda and gentler steps.
ODOR_SETTINGS = {"alpha": 100.0, "n_epochs": 40, "learning_rate": 0.02}


@dataclass(frozen=True)
class Variant:
    """One line of a comparison: a model at one hidden size (or a baseline, which has none)."""

    label: str
    model: str
    hidden: int | None
    settings: Mapping

    @property
    def line(self) -> str:
        """What is drawn as one line: a model, and its wiring where it is not the paper's."""
        return line_name(self.model, self.settings)

    @property
    def make(self) -> Callable[[int], Any]:
        return partial(MODELS[self.model].make, self.settings)


@dataclass(frozen=True)
class Fit:
    """One variant on one split; its id is the same for the same data, split and model."""

    variant: Variant
    repeat: int
    fold: int
    id: str


@dataclass(frozen=True, eq=False)
class PlannedRows:
    """A comparison on its data: what will be trained, and which rows of it are known."""

    comparison: Comparison
    dataset: Dataset

    @cached_property
    def variants(self) -> list[Variant]:
        """What will be trained, smallest first, so that results appear soon."""
        comparison = self.comparison
        result: list[Variant] = []
        for size in comparison.hidden:
            for name in comparison.models:
                if MODELS[name].network:
                    chosen = _network_settings(comparison, self.dataset, name, size)
                    result += _wired(comparison, name, size, chosen)
        for name in comparison.models:
            if not MODELS[name].network:
                chosen = {**MODELS[name].defaults, **comparison.model_settings(name)}
                result.append(Variant(name, name, None, chosen))
        return result

    @cached_property
    def fits(self) -> list[Fit]:
        """Every row of the comparison, in the order in which they are made."""
        n_rows, n_inputs, X, y = self.dataset.fingerprint()
        about = replace(
            self.comparison, models=("KCNet",), hidden=(10,), n_repeats=1, settings=(),
            fshn_size="hidden", protocol=self.protocol, wirings=("random",),
        )  # fmt: skip
        common = [self.dataset.name, [n_rows, n_inputs], X, y, about.to_query()]

        def identity(variant: Variant, repeat: int, fold: int) -> str:
            work = [*common, variant.model, dict(sorted(variant.settings.items())), repeat, fold]
            return hashlib.sha256(json.dumps(work).encode()).hexdigest()[:16]

        return [
            Fit(variant, repeat, fold, identity(variant, repeat, fold))
            for repeat in range(self.comparison.n_repeats)
            for fold in range(self.comparison.n_folds or 1)
            for variant in self.variants
        ]

    @cached_property
    def costs(self) -> dict[str, Estimate]:
        """Of one fit of every variant, by its label."""
        n, d = self.dataset.X.shape
        if retina := self.comparison.retina:
            d = retina_inputs(retina, self.comparison.n_patches)
        n_train = (self.dataset.n_train if self.protocol == "benchmark" else None) or n
        n_train, c = min(n_train, self.comparison.rows or n), len(self.dataset.target_names)
        return {v.label: fit_cost(v.model, v.settings, n_train, d, c, n) for v in self.variants}

    @property
    def protocol(self) -> str:
        return self.comparison.protocol or default_protocol(self.dataset)

    @property
    def before(self) -> Before | str:
        """What stands before all models: a retina, or what scales."""
        chosen = self.comparison
        if retina := retina_for(chosen.retina, chosen.n_patches, chosen.seed, self.dataset):
            return retina
        if method := chosen.scaling:
            return FeatureScaler(method, None if method == "none" else ODOR_CLIP)
        return "default"

    def splits(self) -> list[Split]:
        """The splits that all models share."""
        return splits(
            self.dataset,
            self.protocol,
            n_repeats=self.comparison.n_repeats,
            seed=self.comparison.seed,
            n_folds=self.comparison.n_folds or None,
            rows=self.comparison.rows,
        )

    def known(self, rows: Iterable[Mapping]) -> list[dict]:
        """Those of earlier rows that are part of this comparison, each once, without failed ones.

        Two lines may be the same work: an FSHN matched by its parameters has the least size beside
        several small KCNets. Such a row is given to both.
        """
        measured = {row["id"]: row for row in rows if row.get("id") and not row.get("error")}
        return [
            {**measured[fit.id], "variant": fit.variant.label, "hidden": fit.variant.hidden}
            for fit in self.fits
            if fit.id in measured
        ]

    def piece(self, fit: Fit, more_seconds: float = 0.0) -> Piece:
        """A fit as a piece of a job; `more_seconds` are for what follows it."""
        stage = f"{fit.variant.label}, repeat {fit.repeat + 1} of {self.comparison.n_repeats}"
        cost = self.costs[fit.variant.label]
        return Piece(stage, replace(cost, seconds=cost.seconds + more_seconds))

    def job(self, rows: Iterable[Mapping] = ()) -> MeasuredJob:
        """The comparison as a job; what `rows` hold already comes first and is not repeated."""
        known = self.known(rows)
        have = {row["id"] for row in known}
        pending = [self.piece(fit) for fit in self.fits if fit.id not in have]

        def measure() -> Generator[dict | Progress, None, None]:
            warm_up(self.comparison.models)
            yield from self.steps(known, progress=True)

        return MeasuredJob(
            "compare", self.comparison, measure, pending, known, total=len(self.fits)
        )

    def steps(
        self, done: Iterable[Mapping] = (), *, progress: bool = False
    ) -> Generator[dict | Progress, None, None]:
        """Rows as those of `evaluate_steps`, with hidden (the size asked for), settings (JSON) and
        id (the same for the same work) added; if asked, also `Progress` while a model trains.

        What `done` holds is not computed again; it may come from a comparison with fewer repeats,
        other sizes or other models.
        """
        made = self.splits()
        baselines = [name for name in self.comparison.models if not MODELS[name].network]
        n_train = max(len(split.train) for split in made)
        if baselines and n_train > MAX_BASELINE_ROWS:
            raise LimitError(
                f"{', '.join(baselines)} would take hours on {n_train} training rows (the limit is "
                f"{MAX_BASELINE_ROWS}); leave them out or set fewer rows."
            )
        known = {row["id"] for row in done if row.get("id") and not row.get("error")}
        fits = {(fit.variant.label, fit.repeat, fit.fold): fit for fit in self.fits}
        for row in evaluate_steps(
            {variant.label: variant.make for variant in self.variants}, self.dataset, made,
            skip={place for place, fit in fits.items() if fit.id in known},
            scaler=self.before, oversampling=self.comparison.oversampling, progress=progress,
        ):  # fmt: skip
            if not isinstance(row, Progress):
                fit = fits[row["variant"], row["repeat"], row["fold"]]
                row["model"], row["hidden"] = fit.variant.line, fit.variant.hidden
                row["settings"] = json.dumps(fit.variant.settings, sort_keys=True)
                row["id"] = fit.id
            yield row


def compare_steps(
    comparison: Comparison,
    dataset: Dataset | None = None,
    *,
    done: Iterable[Mapping] = (),
    progress: bool = False,
) -> Generator[dict | Progress, None, None]:
    """Train and test every variant on every split; `PlannedRows.steps` says what comes.

    Without a dataset it is loaded by name; give it for a table or images of your own.
    """
    dataset = comparison.load() if dataset is None else dataset
    return PlannedRows(comparison, dataset).steps(done, progress=progress)


def line_name(model: str, settings: Mapping) -> str:
    wiring = settings.get("wiring", "random")
    name = f"{model}, sparse" if settings.get("keep_fan_in") else model
    return name if wiring == "random" else f"{name}, {wiring}"


def _wired(comparison: Comparison, name: str, size: int, chosen: dict) -> Iterable[Variant]:
    """A network of one size, once for each wiring if it has any to choose."""
    if name not in KCNET_MODELS or "wiring" in chosen:
        yield Variant(f"{line_name(name, chosen)} {size}", name, size, chosen)
        return
    for wiring in comparison.wirings:
        wired = chosen if wiring == "random" else {**chosen, "wiring": wiring}
        yield Variant(f"{line_name(name, wired)} {size}", name, size, wired)


def _network_settings(comparison, dataset, name, size):
    chosen = {} if dataset.kind == "image" or name in ("ELM", "FSHN") else dict(ODOR_SETTINGS)
    if name == "KCNet":
        chosen = {key: value for key, value in chosen.items() if key == "alpha"}
    if name == "Ensemble DOA":
        chosen["n_submodels"] = int(np.clip(size // LEAST_CELLS, 2, MOST_SUBMODELS))
    chosen["n_hidden"] = size
    if name == "FSHN" and comparison.fshn_size == "parameters":
        n_outputs = len(dataset.target_names)
        chosen["n_hidden"] = matched_hidden(size, dataset.X.shape[1], n_outputs)
    return {**MODELS[name].defaults, **chosen, **comparison.model_settings(name)}
