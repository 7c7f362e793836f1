"""The nose measured on other people's data, and made to say no more than holds there.

A model that is measured on the labels of those who wrote its training set is measured on its own
homework. So it is measured on the molecules of another source that it was never taught. By nine
parts of ten, the calibration of its raw scores and the lines from which on characters are named
are fitted anew: two numbers per character, no label of a molecule. The tenth is only measured, each
in turn; what ships is fitted to all of them. Words are translated by `datasets.vocabulary`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kcnet_core.contracts import Counted, Steps
from kcnet_core.datasets import vocabulary
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.datasets.pyrfume.archives import ARCHIVES
from kcnet_core.errors import DataError
from kcnet_core.experiments.comparison.search import training_part
from kcnet_core.experiments.protocols import splits
from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES
from kcnet_core.molecules.read import descriptors, scaffolds, skeletons
from kcnet_core.network import scores
from kcnet_core.smell.label_sets import COVERAGES, covered, lines_for
from kcnet_core.smell.nose import Nose, train_nose, true_labels
from kcnet_core.smell.quality import Measured, quality_key
from kcnet_core.storage import folders

if TYPE_CHECKING:
    from kcnet_core.network.calibration import Calibration
    from kcnet_core.smell.flies import FlySettings

BUNDLED = folders.assets() / "results" / "smell_elsewhere.json"
SOURCE = "gs_lf"
N_FOLDS, N_BOOTSTRAP = 5, 200
N_PARTS = 10  # of the other people's molecules: each is measured with what the others taught
FEWEST = 10  # molecules with a character, and without it, to calibrate it there
_METHOD = 2  # to be raised when the way of measuring changes


@dataclass(frozen=True)
class Level:
    """How the nose fares on one kind of molecules that it was not taught."""

    whose: str  # labels they were compared with
    which: str  # molecules
    n_molecules: int
    n_characters: int  # that somebody among them has and somebody lacks
    auroc: Measured  # mean over these characters
    confirmed: Measured  # share of molecules whose most probable character is a true one
    stated: Measured  # mean probability of the most probable character
    top_error: Measured  # expected calibration error of the most probable character
    coverage: tuple[float, ...]  # share of true characters that were named, by `COVERAGES`
    named: tuple[float, ...]  # characters named per molecule, by `COVERAGES`


@dataclass(frozen=True)
class Elsewhere:
    """What was measured, and the calibration that holds there."""

    key: str  # of the nose's data, settings and versions, and of the vocabulary
    source: str  # title of the other people's data
    how: str
    slope: tuple[float, ...]  # one per character, as in `Calibration`
    bias: tuple[float, ...]
    lines: tuple[float, ...]  # by `COVERAGES`
    far_lines: tuple[float, ...]  # the same, for ring systems that were not taught
    levels: tuple[Level, ...]

    @property
    def outside(self) -> Level:
        """The level that the page quotes: their unseen molecules, by their labels."""
        return next(level for level in self.levels if level.whose == self.source)


def measure_steps(
    dataset: Dataset, other: Dataset, settings: FlySettings | None = None
) -> Steps[Counted, Elsewhere]:
    """Measure flies that are taught `dataset` on its own folds and on an `other` dataset."""
    n_steps = 2 * N_FOLDS + 1
    rings = np.array(scaffolds(dataset.smiles or ()))
    kinds = {"unseen molecules": dataset, "unseen ring systems": _by_scaffold(dataset, rings)}
    levels: list[Level] = []
    yield Counted(0, n_steps)
    for which, grouped in kinds.items():
        P, named = np.zeros(dataset.y.shape), np.zeros((len(COVERAGES), *dataset.y.shape), bool)
        for k, split in enumerate(splits(grouped, "unseen_molecules", n_folds=N_FOLDS)):
            nose = train_nose(training_part(grouped, split.train), settings)
            P[split.test], _ = nose.answer(nose.inputs(dataset.X[split.test]))
            for c, coverage in enumerate(COVERAGES):
                named[c, split.test] = P[split.test] >= nose.line(coverage)
            yield Counted(len(levels) * N_FOLDS + k + 1, n_steps)
        levels.append(_level(dataset.title, which, P, true_labels(dataset), named))

    nose = train_nose(dataset, settings)
    rows = unknown_rows(dataset, other)
    texts = np.array(other.smiles, dtype=object)
    Z = _raw_scores(nose, texts[rows].tolist())
    rows, Z = rows[np.isfinite(Z).all(axis=1)], Z[np.isfinite(Z).all(axis=1)]
    Y = vocabulary.translated(other, nose.characters)[rows]
    own = nose.calibration
    assert own is not None
    foreign = np.array(scaffolds(texts[rows].tolist()), dtype=object)
    far = (foreign != "") & ~np.isin(foreign, rings)
    P, named = np.zeros(Z.shape), np.zeros((len(COVERAGES), *Z.shape), bool)
    part_of = np.random.default_rng(0).permutation(len(rows)) % N_PARTS
    for part in range(N_PARTS):
        at = part_of == part
        there, near_lines, far_lines = _fitted(own, Z[~at], Y[~at], far[~at])
        P[at] = there.probabilities(Z[at])
        pairs = zip(near_lines.values(), far_lines.values(), strict=True)
        named[:, at] = np.stack([np.where(far[at], b, a)[:, None] <= P[at] for a, b in pairs])
    levels.append(_level(other.title, "unseen molecules", P, Y, named))
    levels.append(_level(other.title, "unseen ring systems", P[far], Y[far], named[:, far]))
    P_own = own.probabilities(Z)
    named = np.stack([P_own >= line for line in nose.lines.values()])
    whose = f"{other.title}, calibrated on {dataset.title} alone"
    levels.append(_level(whose, "unseen molecules", P_own, Y, named))
    there, near_lines, far_lines = _fitted(own, Z, Y, far)
    yield Counted(n_steps, n_steps)
    how = (
        f"{dataset.title}: {N_FOLDS}-fold cross-validation, molecules or ring systems kept "
        "together (a molecule without a ring counts by itself). "
        f"{other.title}: {len(rows):,} molecules that {dataset.title} does not hold, their words "
        f"translated by assets/vocabulary.csv; figures of each {N_PARTS}th part by the calibration "
        "and the lines of the other parts. Lines for unseen ring systems are drawn on molecules "
        "whose ring system was left out. 95% intervals by bootstrap over molecules"
    )
    return Elsewhere(
        elsewhere_key(dataset, nose.settings), other.title, how, tuple(map(float, there.slope)),
        tuple(map(float, there.bias)), tuple(near_lines.values()), tuple(far_lines.values()),
        tuple(levels),
    )  # fmt: skip


def _fitted(own: Calibration, Z, Y, far):
    """Calibration of raw scores Z (n, c) by their labels Y, and lines for near and far ones."""
    from kcnet_core.network.calibration import Calibration

    there = Calibration.fit(Z, Y.astype(float), np.ones(len(Z)), own.kind)
    present = np.minimum(Y.sum(axis=0), (1 - Y).sum(axis=0)) >= FEWEST
    there = Calibration(
        own.kind,
        np.where(present, there.slope, own.slope),
        np.where(present, there.bias, own.bias),
    )
    P = there.probabilities(Z)
    return there, *(lines_for(P[at], Y[at]) for at in (~far, far))


def other_people(name: str) -> Dataset:
    """A dataset to be measured on; refused where nothing says what its words mean in ours."""
    from kcnet_core import datasets

    if not vocabulary.words_of(name):
        known = ", ".join(("gs_lf", *ARCHIVES))
        raise DataError(
            f"assets/vocabulary.csv lists no words of {name}, so its labels cannot be compared "
            f"with ours. Choose one of {known}, or add its words there."
        )
    return datasets.load(name)


def unknown_rows(dataset: Dataset, other: Dataset) -> np.ndarray:
    """Rows of `other` whose molecule `dataset` does not hold, whatever the stereo marks.

    Molecules that `other` lists several times are left out: their labels may disagree.
    """
    theirs = np.array(skeletons(other.smiles or ()))
    once, counts = np.unique(theirs, return_counts=True)
    ours = skeletons(dataset.smiles or ())
    return np.flatnonzero(~np.isin(theirs, ours) & np.isin(theirs, once[counts == 1]))


def _by_scaffold(dataset: Dataset, rings: np.ndarray) -> Dataset:
    own = dataset.groups if dataset.groups is not None else np.arange(len(rings))
    names = np.where(rings == "", [f"acyclic {group}" for group in own], rings)
    return replace(dataset, groups=np.unique(names, return_inverse=True)[1])


def _raw_scores(nose: Nose, smiles: list[str]) -> np.ndarray:
    """Mean raw scores (n, c) of all flies; NaN for molecules that cannot be described."""
    found = descriptors(smiles)
    nothing = np.full(len(DESCRIPTOR_NAMES), np.nan, np.float32)
    lacking = np.array([text not in found for text in smiles])
    D = np.stack([found.get(text, nothing) for text in smiles])
    X = nose.features(np.nan_to_num(D), smiles=smiles)
    Z = np.mean([fly.class_scores(nose.inputs(X)) for fly in nose.flies], axis=0).astype(float)
    Z[lacking] = np.nan
    return Z


def _level(whose: str, which: str, P, Y, named) -> Level:
    """Figures of the molecules as they are, and their spread over draws of molecules."""
    rng = np.random.default_rng(0)
    draws = [np.arange(len(P)), *(rng.integers(0, len(P), len(P)) for _ in range(N_BOOTSTRAP))]
    top, best = P.argmax(axis=1), P.max(axis=1)
    right = Y[np.arange(len(P)), top]
    found = np.array(
        [
            (
                np.nanmean(scores.auroc_by_label(Y[rows], P[rows])),
                right[rows].mean(),
                best[rows].mean(),
                scores.calibration_error(right[rows], best[rows]),
            )
            for rows in draws
        ]
    )
    low, high = np.quantile(found[1:], [0.025, 0.975], axis=0)
    # Calibration errors of draws are higher than that of the molecules they are drawn from.
    ends = np.minimum(low, found[0]), np.maximum(high, found[0])
    auroc, confirmed, stated, error = (
        Measured(*map(float, values)) for values in zip(found[0], *ends, strict=True)
    )
    several = (Y.min(axis=0) == 0) & (Y.max(axis=0) == 1)
    return Level(
        whose, which, len(P), int(several.sum()), auroc, confirmed, stated, error,
        tuple(covered(one, Y, 0.5) for one in named.astype(float)),
        tuple(float(one.sum(axis=1).mean()) for one in named),
    )  # fmt: skip


# -- what was measured before ------------------------------------------------------------------


def elsewhere_key(dataset: Dataset, settings) -> str:
    words = json.dumps([_METHOD, SOURCE, dict(vocabulary.words_of(SOURCE))])
    digest = hashlib.sha256(words.encode()).hexdigest()
    return hashlib.sha256(f"{quality_key(dataset, settings)} {digest}".encode()).hexdigest()[:32]


def read_elsewhere(path: Path = BUNDLED) -> Elsewhere | None:
    """A measurement, by default the one that ships with the project; None if it is damaged."""
    try:
        return from_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remembered_elsewhere(dataset: Dataset, settings) -> Elsewhere | None:
    """The measurement that ships with the project, if it holds for this very data."""
    found = read_elsewhere()
    return found if found and found.key == elsewhere_key(dataset, settings) else None


def recalibrated(nose: Nose, found: Elsewhere) -> Nose:
    """The same nose, saying what holds on other people's data."""
    from kcnet_core.network.calibration import Calibration

    assert nose.calibration is not None
    calibration = Calibration(nose.calibration.kind, np.array(found.slope), np.array(found.bias))
    lines, far_lines = (
        dict(zip(COVERAGES, values, strict=True)) for values in (found.lines, found.far_lines)
    )
    return replace(nose, calibration=calibration, lines=lines, far_lines=far_lines, shelf={})


def taught_nose(dataset: Dataset, settings: FlySettings | None = None) -> Nose:
    """`train_nose`, calibrated on other people's data where that was done for this very data.

    `dataset` comes from `with_substructures`, for the flies to have these as inputs.
    """
    nose = train_nose(dataset, settings)
    found = remembered_elsewhere(dataset, nose.settings)
    return nose if found is None else recalibrated(nose, found)


def table(found: Elsewhere) -> dict[str, list]:
    """Columns by their heads, one row for every level."""
    return {
        "labels of": [level.whose for level in found.levels],
        "on": [level.which for level in found.levels],
        "molecules": [level.n_molecules for level in found.levels],
        "mean AUROC": [str(level.auroc) for level in found.levels],
        "surest character confirmed": [str(level.confirmed) for level in found.levels],
        "it says": [str(level.stated) for level in found.levels],
        "calibration error of it": [str(level.top_error) for level in found.levels],
        **{
            f"named at {asked:.0%}": [f"{level.coverage[k]:.1%}" for level in found.levels]
            for k, asked in enumerate(COVERAGES)
        },
    }


def to_json(found: Elsewhere) -> str:
    return json.dumps(asdict(found), indent=1) + "\n"


def from_json(text: str) -> Elsewhere:
    found = json.loads(text)
    levels = []
    for level in found["levels"]:
        for name in ("auroc", "confirmed", "stated", "top_error"):
            level[name] = Measured(**level[name])
        for name in ("coverage", "named"):
            level[name] = tuple(level[name])
        levels.append(Level(**level))
    for name in ("slope", "bias", "lines", "far_lines"):
        found[name] = tuple(map(float, found[name]))
    return Elsewhere(**{**found, "levels": tuple(levels)})
