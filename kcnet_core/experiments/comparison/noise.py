"""How well trained models bear inputs that get worse: noise, blur, or inputs that fall silent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
import pandas as pd

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.comparison.rows import PlannedRows
from kcnet_core.experiments.evaluate import error_sentence, interval_over_splits, row_head
from kcnet_core.experiments.fitting import Fold, fit_steps, prepare, retina_for
from kcnet_core.experiments.measured_job import MeasuredJob
from kcnet_core.experiments.metrics import all_scores
from kcnet_core.experiments.protocols import Split
from kcnet_core.network.history import Progress
from kcnet_core.network.retina import PatchRetina, PretrainedRetina, is_retina

SPOILING_SECONDS = 0.5  # for one model's answers to all spoiled rows


@dataclass(frozen=True)
class Damage:
    """A way to spoil inputs, by a level that grows from 0 (untouched)."""

    name: str
    title: str
    unit: str
    explanation: str
    levels: tuple[float, ...]
    images_only: bool = False

    def applies(self, dataset: Dataset) -> bool:
        return dataset.kind == "image" or not self.images_only


DAMAGES = {
    damage.name: damage
    for damage in (
        Damage(
            "noise",
            "Gaussian noise",
            "standard deviations",
            "random numbers added to every input of the test rows",
            (0.0, 0.25, 0.5, 1.0, 1.5, 2.0),
        ),
        Damage(
            "dropped",
            "Dropped inputs",
            "share of inputs",
            "inputs of the test rows that are set to black (images) or to the training mean",
            (0.0, 0.1, 0.25, 0.5, 0.75, 0.9),
        ),
        Damage(
            "blur",
            "Blur",
            "pixels",
            "test images smeared by a Gaussian of this width",
            (0.0, 0.5, 1.0, 1.5, 2.0, 3.0),
            images_only=True,
        ),
    )
}


def spoil(X: np.ndarray, kind: str, level: float, *, dataset: Dataset, seed: int) -> np.ndarray:
    """Scaled inputs (n, d) after damage; level 0 gives them back as they are.

    The same seed draws the same noise pattern at every level, so curves differ by the level only.
    """
    if kind not in DAMAGES:
        raise KCNetError(f"There is no damage {kind!r}; choose from {', '.join(DAMAGES)}.")
    if not DAMAGES[kind].applies(dataset):
        raise KCNetError(f"{DAMAGES[kind].title} needs images; {dataset.title} has none.")
    if not np.isfinite(level) or level < 0 or (kind == "dropped" and level > 1):
        raise KCNetError(f"A level of {level} makes no sense for {DAMAGES[kind].title.lower()}.")
    if level == 0:
        return X
    rng = np.random.default_rng(seed)
    if kind == "noise":
        deviation = np.float32(level * dataset.input_std)
        return X + deviation * rng.standard_normal(X.shape, dtype=np.float32)
    if kind == "dropped":
        nothing = np.float32(dataset.scaled_pixels(0.0)) if dataset.kind == "image" else 0.0
        return np.where(rng.random(X.shape, dtype=np.float32) < level, nothing, X).astype(X.dtype)
    from scipy.ndimage import gaussian_filter

    # Per-pixel standardisation does not commute with blur, so blur the raw picture.
    pixels = dataset.raw_pixels(X).reshape(-1, *cast(tuple, dataset.image_shape))
    within = (level, level, 0)[: pixels.ndim - 1]  # colours are not mixed
    pixels = gaussian_filter(pixels, sigma=(0, *within), mode="constant")
    return np.asarray(dataset.scaled_pixels(pixels.reshape(X.shape)), dtype=X.dtype)


def spoiled(fold: Fold, kind: str, level: float, *, dataset: Dataset, split: Split) -> np.ndarray:
    """A fold's test inputs after damage; behind a retina it is the image that is damaged."""
    if is_retina(fold.scaler) and fold.scaler is not None:
        X = spoil(dataset.X[split.test], kind, level, dataset=dataset, seed=split.seed)
        return fold.scaler.transform(X)
    return spoil(fold.X_test, kind, level, dataset=dataset, seed=split.seed)


def noise_steps(
    models: Mapping[str, Callable],
    dataset: Dataset,
    splits: Iterable[Split],
    *,
    kinds: Iterable[str],
    retina: PatchRetina | PretrainedRetina | None = None,
    progress: bool = False,
) -> Generator[dict | Progress, None, None]:
    """Train every model on clean rows of every split, then test it on ever worse test rows.

    Models and splits are as in `evaluate_steps`, kinds keys of `DAMAGES`. Yields one row per model,
    split, kind and level; all models meet the very same spoiled rows.
    """
    plan = [(kind, level) for kind in kinds for level in DAMAGES[kind].levels]
    for split in splits:
        fold = prepare(dataset, split, scaler=retina or "default")
        for name, make in models.items():
            about = row_head(name, dataset, split)
            try:
                fitted = yield from fit_steps(make, fold, split.seed, progress=progress)
            except Exception as error:  # one model's failure must not lose the others' curves
                yield {**about, "kind": None, "level": None, "error": error_sentence(error)}
                continue
            for kind, level in plan:
                X = spoiled(fold, kind, level, dataset=dataset, split=split)
                scores, probabilities = fitted.scores(X)
                answers = fitted.predict(X)
                measured = all_scores(fold.y_test, answers, scores, probabilities=probabilities)
                yield {**about, "kind": kind, "level": level, **measured, "error": None}


@dataclass(frozen=True)
class NoisePlan:
    """Models of a comparison at one hidden size, tested on ever worse inputs."""

    comparison: Comparison
    kinds: tuple[str, ...]


def noise_job(plan: NoisePlan, dataset: Dataset, rows: Iterable[Mapping] = ()) -> MeasuredJob:
    """The test as a job; a model and split of which `rows` hold all levels is not trained again."""
    planned, rows = PlannedRows(plan.comparison, dataset), list(rows)
    last = (plan.kinds[-1], DAMAGES[plan.kinds[-1]].levels[-1])
    n_levels = sum(len(DAMAGES[kind].levels) for kind in plan.kinds)
    places = [(row["variant"], row["repeat"], row["fold"]) for row in rows]
    whole = {place for place, n in Counter(places).items() if n == n_levels}
    known = [row for row, place in zip(rows, places, strict=True) if place in whole]
    fits = [fit for fit in planned.fits if (fit.variant.label, fit.repeat, fit.fold) not in whole]

    def measure() -> Generator[dict | Progress, None, None]:
        chosen = plan.comparison
        retina = retina_for(chosen.retina, chosen.n_patches, chosen.seed, dataset)
        made = {(split.repeat, split.fold): split for split in planned.splits()}
        for fit in fits:
            variant, split = fit.variant, [made[fit.repeat, fit.fold]]
            make = {variant.label: variant.make}
            for step in noise_steps(
                make, dataset, split, kinds=plan.kinds, retina=retina, progress=True
            ):
                if not isinstance(step, Progress):
                    step |= {"model": variant.line, "hidden": variant.hidden}
                yield step

    return MeasuredJob(
        "noise", plan, measure, [planned.piece(fit, SPOILING_SECONDS) for fit in fits], known,
        ends_piece=lambda row: bool(row["error"]) or (row["kind"], row["level"]) == last,
    )  # fmt: skip


def noise_summary(rows: Iterable[dict], metric: str) -> pd.DataFrame:
    """Mean and 95% interval of a metric per model, kind and level, in the order they were run."""
    table = pd.DataFrame([row for row in rows if isinstance(row, Mapping) and not row["error"]])
    columns = ["variant", "model", "kind", "level", "mean", "low", "high", "n"]
    lines = []
    if len(table) and metric in table:
        for key, part in table.groupby(columns[:4], sort=False):
            found = interval_over_splits(part, part[metric])
            lines.append([*key, found.mean, found.low, found.high, found.n])
    return pd.DataFrame(lines, columns=columns)
