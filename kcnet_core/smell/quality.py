"""How good the nose is on molecules it has never met, character by character, with intervals."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kcnet_core.contracts import Counted, Steps
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments import metrics
from kcnet_core.experiments.comparison.search import training_part
from kcnet_core.experiments.protocols import splits
from kcnet_core.network import scores
from kcnet_core.storage import folders
from kcnet_core.storage.atomic_write import write_whole

if TYPE_CHECKING:
    from kcnet_core.smell.flies import FlySettings
    from kcnet_core.smell.nose import Nose

N_REPEATS, N_FOLDS = 3, 5
CHANCE = 0.5
BUNDLED = folders.assets() / "results" / "smell_quality.json"
N_BOOTSTRAP = 300
_INTERVALS = {"auroc", "f1", "calibration_error"}
_METHOD = 2  # to be raised when the way of measuring changes


@dataclass(frozen=True)
class Measured:
    """A mean with its 95% interval; NaN where nothing could be measured."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        if not np.isfinite(self.mean):
            return "not measured"
        if not np.isfinite(self.low):
            return f"{self.mean:.2f}"
        return f"{self.mean:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True)
class CharacterQuality:
    """One character. `n_positive` rows of the dataset have it."""

    character: str
    n_positive: int
    auroc: Measured
    f1: Measured

    @property
    def better_than_chance(self) -> bool:
        return bool(self.auroc.low > CHANCE)

    @property
    def reason(self) -> str:
        """Why the character is not offered; empty when it is."""
        if self.better_than_chance:
            return ""
        if not np.isfinite(self.auroc.mean):
            return "too few molecules have it to measure anything"
        if not np.isfinite(self.auroc.low):
            return "its interval could not be measured"
        return (
            f"on unseen molecules its AUROC is {self.auroc}, which does not exclude guessing (0.5)"
        )


@dataclass(frozen=True)
class Quality:
    """Measured on molecules that were not among those taught."""

    key: str  # digest of the data, the settings and the versions that it holds for
    how: str  # protocol, number of splits and kind of interval, as a sentence
    auroc: Measured  # mean over the characters
    calibration_error: Measured  # mean gap between stated probability and share that had it
    characters: tuple[CharacterQuality, ...]

    def of(self, character: str) -> CharacterQuality | None:
        return next((q for q in self.characters if q.character == character), None)


def quality_key(
    dataset: Dataset, settings: FlySettings, method: int = _METHOD, besides: Sequence[str] = ()
) -> str:
    """What a measurement holds for: molecules, labels, settings, versions, and the way of it.

    Settings named in `besides` do not count.
    """
    identity = {
        "method": [method, N_REPEATS, N_FOLDS],
        "settings": {k: v for k, v in asdict(settings).items() if k not in besides},
        "versions": {name: version(name).split("+")[0] for name in ("rdkit", "numpy", "torch")},
        "features": dataset.feature_names,
        "targets": dataset.target_names,
        "smiles": dataset.smiles,
        "labels": hashlib.sha256(np.ascontiguousarray(dataset.y, np.int64).tobytes()).hexdigest(),
    }
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:32]


def measure_steps(
    dataset: Dataset,
    settings: FlySettings | None = None,
    *,
    n_repeats: int = N_REPEATS,
    n_folds: int = N_FOLDS,
) -> Steps[Counted, Quality]:
    """Teach and test flies on repeated folds that keep a molecule's rows together.

    The line from which on characters are named, for F1, is drawn on the training molecules.
    """
    from kcnet_core.smell.flies import usual_settings
    from kcnet_core.smell.nose import characters_of, train_nose, true_labels

    settings = settings or usual_settings(len(dataset.y))
    characters, columns = characters_of(dataset.target_names, dataset.multilabel)
    protocol = "paper_split" if dataset.groups is None else "unseen_molecules"
    every = splits(dataset, protocol, n_repeats=n_repeats, n_folds=n_folds)
    found = []
    yield Counted(0, len(every))
    for split in every:
        nose = train_nose(training_part(dataset, split.train), settings)
        P, _ = nose.answer(nose.inputs(dataset.X[split.test]))
        truth = true_labels(dataset, split.test)[:, columns]
        found.append(_scores(truth, P, nose.line()))
        yield Counted(len(found), len(every))
    share = len(every[0].test) / len(every[0].train)

    def measured(values) -> Measured:
        interval = metrics.mean_interval(values, n_train=1.0, n_test=share)
        return Measured(interval.mean, max(0.0, interval.low), min(1.0, interval.high))

    how = (
        f"{n_repeats} times {n_folds}-fold cross-validation on {dataset.title}, all rows of a "
        "molecule on one side; 95% intervals by the corrected resampled t"
    )
    positives = true_labels(dataset).sum(axis=0)[columns]
    return _summary(quality_key(dataset, settings), how, characters, positives, found, measured)


def measure_on_rows(nose: Nose, dataset: Dataset, test_rows: np.ndarray, how: str) -> Quality:
    """Quality of a finished model on test rows it was not trained on; bootstrap over these rows."""
    from kcnet_core.smell.nose import true_labels

    P, _ = nose.answer(nose.inputs(dataset.X[test_rows]))
    truth = true_labels(dataset, test_rows)[:, nose.columns]
    rng = np.random.default_rng(0)
    draws = [np.arange(len(P)), *(rng.integers(0, len(P), len(P)) for _ in range(N_BOOTSTRAP))]
    found = [_scores(truth[rows], P[rows], nose.line()) for rows in draws]

    def measured(values) -> Measured:
        """The value on the rows as they are, and its spread over the draws."""
        drawn = values[1:][np.isfinite(values[1:])]
        if len(drawn) < N_BOOTSTRAP / 2:
            return Measured(float(values[0]), np.nan, np.nan)
        return Measured(float(values[0]), *map(float, np.quantile(drawn, [0.025, 0.975])))

    return _summary("", how, nose.characters, truth.sum(axis=0), found, measured)


def _scores(truth, P, line: float) -> tuple[np.ndarray, np.ndarray, float]:
    """AUROC and F1 of each character (NaN where no test row has it), and the calibration error."""
    f1 = np.where(truth.any(axis=0), scores.f1_by_label(truth, line <= P), np.nan)
    return scores.auroc_by_label(truth, P), f1, scores.calibration_error(truth, P)


def _summary(
    key: str, how: str, characters, positives, found: list, measured: Callable[..., Measured]
) -> Quality:
    """`found` are the `_scores` of splits or draws, which `measured` makes one of."""
    auroc, f1, gaps = map(np.array, zip(*found, strict=True))
    means = [np.nanmean(one) if np.isfinite(one).any() else np.nan for one in auroc]
    named = enumerate(zip(characters, positives, strict=True))
    return Quality(
        key,
        how,
        measured(np.array(means)),
        measured(gaps),
        tuple(
            CharacterQuality(name, int(n), measured(auroc[:, k]), measured(f1[:, k]))
            for k, (name, n) in named
        ),
    )


# -- what was measured before ------------------------------------------------------------------


def read_quality(path: Path = BUNDLED) -> Quality | None:
    """A measurement, by default the one that ships with the project; None if it is damaged."""
    try:
        return from_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remembered_quality(dataset: Dataset, settings: FlySettings) -> Quality | None:
    """A measurement that holds for this very data: shipped with the project, or made before."""
    key = quality_key(dataset, settings)
    for path in (BUNDLED, _own_path(key)):
        quality = read_quality(path)
        if quality is not None and quality.key == key:
            return quality
    return None


def remember_quality(quality: Quality) -> None:
    """Keep a measurement in the cache folder; one that cannot be written is done without."""
    path = _own_path(quality.key)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, to_json(quality).encode())
    except OSError:
        return


def table(found: Quality) -> dict[str, list]:
    """Columns by their heads, one row for every character."""
    return {
        "character": [q.character for q in found.characters],
        "rows": [q.n_positive for q in found.characters],
        "AUROC": [str(q.auroc) for q in found.characters],
        "F1": [str(q.f1) for q in found.characters],
        "offered": [q.better_than_chance for q in found.characters],
    }


def to_json(quality) -> str:
    return json.dumps(asdict(quality), indent=1) + "\n"


def from_json(text: str) -> Quality:
    found = json.loads(text)
    for one in (found, *found["characters"]):
        one |= {key: Measured(**one[key]) for key in _INTERVALS & one.keys()}
    found["characters"] = tuple(CharacterQuality(**one) for one in found["characters"])
    return Quality(**found)


def _own_path(key: str) -> Path:
    return folders.cache_folder() / "smell" / f"{key}.json"
