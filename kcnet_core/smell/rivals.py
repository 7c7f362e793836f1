"""The flies beside the paper's six baselines, on the same unseen molecules.

Each baseline may choose among a few settings from the paper's search space (the untuned one
first) by inner folds of the training molecules. The flies are not tuned beyond what they always
do: lambda by leaving molecules out. All models, the flies too, have the 2D descriptors alone. An
unbounded random forest stands beside the paper's, whose
trees may have five levels at most.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments import metrics
from kcnet_core.experiments.baselines import BASELINES
from kcnet_core.experiments.comparison.search import Trial, best_trial, search_steps, training_part
from kcnet_core.experiments.fitting import fit, prepare
from kcnet_core.experiments.protocols import Split, splits
from kcnet_core.network.scores import auroc
from kcnet_core.smell.quality import Measured, quality_key
from kcnet_core.storage import folders

if TYPE_CHECKING:
    from kcnet_core.smell.flies import FlySettings

FLIES = "KCNet"
UNBOUNDED = "Random forest, unbounded"
N_TRIALS, N_INNER = 4, 2
_METHOD = 1  # to be raised when the way of measuring changes
BUNDLED = folders.assets() / "results" / "smell_rivals.json"


@dataclass(frozen=True)
class Score:
    """Mean AUROC over the characters of one model on one split."""

    model: str
    repeat: int
    fold: int
    auroc: float
    settings: dict
    n_train: int
    n_test: int


@dataclass(frozen=True)
class Rivals:
    """Every model's mean AUROC on unseen molecules, and how far the flies are ahead of it."""

    key: str
    how: str
    auroc: dict[str, Measured]
    ahead: dict[str, Measured]  # flies minus the model, on the same splits

    def best(self, *besides: str) -> str:
        """The best model besides the flies and those named."""
        others = [name for name in self.auroc if name not in (FLIES, *besides)]
        return max(others, key=lambda name: self.auroc[name].mean)


def _key(dataset: Dataset, settings: FlySettings) -> str:
    """Holds for the settings that matter to flies with descriptors alone."""
    return quality_key(dataset, settings, _METHOD, besides=("n_group_cells", "second_alpha"))


def _score(name: str, dataset: Dataset, split: Split, n_trials: int) -> Score:
    settings: dict = {}
    if name == FLIES:
        from kcnet_core.smell.nose import train_nose

        nose = train_nose(training_part(dataset, split.train))
        P, _ = nose.answer(nose.inputs(dataset.X[split.test]))
    else:
        if name == UNBOUNDED:
            from sklearn.ensemble import RandomForestClassifier

            def make(seed):
                return RandomForestClassifier(300, random_state=seed)
        else:
            trials = search_steps(
                name, dataset, split.train, n_trials=n_trials, seed=split.seed, n_folds=N_INNER
            )
            best = best_trial(trial for trial in trials if isinstance(trial, Trial))
            settings = dict(best.params) if best else {}

            def make(seed):
                return BASELINES[name].build(settings, seed)

        fold = prepare(dataset, split)
        P, _ = fit(make, fold, split.seed).scores(fold.X_test)
    sizes = len(split.train), len(split.test)
    measured = auroc(dataset.y[split.test], P)
    return Score(name, split.repeat, split.fold, measured, settings, *sizes)


def journaled(
    dataset: Dataset, journal: Path, *, say=print, n_repeats=2, n_folds=5, n_trials=N_TRIALS
) -> list[Score]:
    """One score per model and split, each written down as soon as it is known: an interrupted run
    goes on from there."""
    scores = []
    if journal.exists():
        scores = [Score(**json.loads(line)) for line in journal.read_text().splitlines() if line]
    there = {(score.model, score.repeat, score.fold) for score in scores}
    for split in splits(dataset, "unseen_molecules", n_repeats=n_repeats, n_folds=n_folds):
        for name in (FLIES, *BASELINES, UNBOUNDED):
            if (name, split.repeat, split.fold) in there:
                continue
            score = _score(name, dataset, split, n_trials)
            with journal.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(score)) + "\n")
            scores.append(score)
            say(f"{name}, repeat {score.repeat}, fold {score.fold}: {score.auroc:.4f}")
    return scores


def summarised(dataset: Dataset, scores: list[Score], settings: FlySettings) -> Rivals:
    """Means and paired differences, with intervals that know that splits overlap."""
    by_model: dict[str, dict[tuple, Score]] = {}
    for score in scores:
        by_model.setdefault(score.model, {})[score.repeat, score.fold] = score
    order = sorted(set.intersection(*map(set, by_model.values())))
    some = scores[0]

    def measured(values) -> Measured:
        interval = metrics.mean_interval(values, n_train=some.n_train, n_test=some.n_test)
        return Measured(interval.mean, interval.low, interval.high)

    values = {
        name: np.array([found[key].auroc for key in order]) for name, found in by_model.items()
    }
    return Rivals(
        key=_key(dataset, settings),
        how=(
            f"mean AUROC over {len(dataset.target_names)} characters of {dataset.title}, "
            f"{len(order)} splits, all rows of a molecule on one side; each baseline chose among "
            f"{N_TRIALS} settings on {N_INNER} inner folds"
        ),
        auroc={name: measured(found) for name, found in values.items()},
        ahead={
            name: measured(values[FLIES] - found) for name, found in values.items() if name != FLIES
        },
    )


def remembered_rivals(dataset: Dataset, settings: FlySettings) -> Rivals | None:
    """The comparison that ships with the project, if it holds for this very data."""
    try:
        found = json.loads(BUNDLED.read_text(encoding="utf-8"))
        rivals = Rivals(
            found["key"],
            found["how"],
            *(
                {name: Measured(**value) for name, value in found[field].items()}
                for field in ("auroc", "ahead")
            ),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return rivals if rivals.key == _key(dataset, settings) else None
