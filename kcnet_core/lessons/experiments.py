"""What a class can measure on flies: inhibition, tags as a hash, and flies wired differently."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kcnet_core.contracts import Circuit
from kcnet_core.lessons.circuit import (
    BOUNDS,
    HELD_OUT,
    TAG_FRACTION,
    CircuitSettings,
    Glomeruli,
    tag_size,
    train_fly,
)
from kcnet_core.network.wiring import PLANS

REPEATS = 20  # splits over which a score is averaged where one test part is small
ALIKE = 0.5  # two odors smell alike when they share this part of their characters, or more
SWEPT_SAMPLES, TAGGED_SAMPLES = 150, 120  # held-out ones that stand for all


def cell_sums(fly: Circuit, rates) -> np.ndarray:
    """What every cell receives from every sample: (n, B)."""
    return np.asarray(rates, dtype=np.float32) @ np.asarray(fly.weights_, dtype=np.float32).T


def active_cells(sums, inhibition) -> np.ndarray:
    """Which cells stay above 0 after inhibition: (n, B) bool."""
    return sums > inhibition * sums.mean(axis=1, keepdims=True)


def tag_distance(a, b) -> np.ndarray:
    """Jaccard distance of sets of active cells: 0 the same cells, 1 no cell in common.

    Two empty sets are the same set: distance 0.
    """
    a, b = np.asarray(a, dtype=bool), np.asarray(b, dtype=bool)
    either = np.count_nonzero(a | b, axis=-1)
    both = np.count_nonzero(a & b, axis=-1)
    return 1 - np.divide(both, either, out=np.ones(np.shape(either)), where=either > 0)


@dataclass(frozen=True)
class InhibitionSweep:
    """How the code changes as C moves; every array has one entry per strength."""

    strengths: np.ndarray
    share_a: np.ndarray  # active share of the first sample
    share_b: np.ndarray
    share_mean: np.ndarray  # mean over many samples
    share_low: np.ndarray  # 10th and 90th percentile over many samples
    share_high: np.ndarray
    distance: np.ndarray  # between the two samples' active cells
    distance_same: np.ndarray  # mean over pairs of one kind
    distance_different: np.ndarray  # mean over pairs of two kinds


def inhibition_sweep(fly: Circuit, glomeruli: Glomeruli, a, b, strengths) -> InhibitionSweep:
    """Follow two samples with rates (d,), and many more, while C moves; `fly` gives the wiring."""
    rows = glomeruli.test[:SWEPT_SAMPLES]
    many = cell_sums(fly, glomeruli.rates[rows])
    two = cell_sums(fly, np.stack([a, b]))
    first, second = np.triu_indices(len(rows), k=1)
    same = alike(glomeruli.dataset.y[rows], first, second)

    found = []
    for strength in strengths:
        active = active_cells(many, strength)
        shares = active.mean(axis=1)
        pair = active_cells(two, strength)
        distances = _pairwise_distance(active)[first, second]
        found.append(
            (
                *pair.mean(axis=1),
                shares.mean(),
                *np.quantile(shares, [0.1, 0.9]),
                float(tag_distance(pair[0], pair[1])),
                distances[same].mean() if same.any() else np.nan,
                distances[~same].mean() if not same.all() else np.nan,
            )
        )
    return InhibitionSweep(np.asarray(strengths, dtype=float), *np.array(found).T)


def _pairwise_distance(active):
    # All pairs at once through one product; the same rule as `tag_distance`.
    active = active.astype(np.float32)
    both = active @ active.T
    size = active.sum(axis=1)
    either = size[:, None] + size[None, :] - both
    return 1 - np.divide(both, either, out=np.ones_like(both), where=either > 0)


def alike(y, first, second) -> np.ndarray:
    """Whether pairs of samples are of one kind: the same class, or mostly the same characters."""
    if y.ndim == 1:
        return y[first] == y[second]
    a, b = y[first].astype(bool), y[second].astype(bool)
    return 1 - tag_distance(a, b) >= ALIKE


def input_similarity(rates) -> np.ndarray:
    """Correlation of every sample's firing rates with every other's: (n, n)."""
    directions = _directions(np.asarray(rates, dtype=float))
    return directions @ directions.T


@dataclass(frozen=True)
class TagPairs:
    """Pairs of samples: how alike their inputs are, and how much of their tags they share."""

    first: np.ndarray  # rows of the dataset
    second: np.ndarray
    similarity: np.ndarray  # correlation of the firing rates
    overlap: np.ndarray  # share of the tag's cells that both samples use
    same: np.ndarray  # of one kind
    tag_size: int
    chance: float  # overlap of two unrelated random tags


def tag_pairs(fly: Circuit, glomeruli: Glomeruli, n_pairs=1500) -> TagPairs:
    """Compare inputs and tags over many pairs of held-out samples, half of them of one kind."""
    rows = glomeruli.test[:TAGGED_SAMPLES]
    rates = glomeruli.rates[rows]
    marks = np.asarray(fly.tags(rates, TAG_FRACTION))
    size = tag_size(marks.shape[1])
    first, second = np.triu_indices(len(rows), k=1)
    same = alike(glomeruli.dataset.y[rows], first, second)
    rng = np.random.default_rng(0)
    halves = [rng.permutation(np.flatnonzero(kind))[: n_pairs // 2] for kind in (same, ~same)]
    keep = np.sort(np.concatenate(halves))
    first, second = first[keep], second[keep]
    return TagPairs(
        first=rows[first],
        second=rows[second],
        similarity=input_similarity(rates)[first, second],
        overlap=np.count_nonzero(marks[first] & marks[second], axis=1) / size,
        same=same[keep],
        tag_size=size,
        chance=size / marks.shape[1],
    )


def nearest_and_farthest(glomeruli: Glomeruli, rates) -> tuple[int, int]:
    """The dataset's rows most and least similar to one sample (never the sample itself)."""
    rates = np.asarray(rates, dtype=np.float32)
    similarity = _directions(glomeruli.rates) @ _directions(rates[None])[0]
    itself = np.all(np.isclose(glomeruli.rates, rates, atol=1e-5), axis=1)
    nearest = int(np.argmax(np.where(itself, -np.inf, similarity)))
    return nearest, int(np.argmin(np.where(itself, np.inf, similarity)))


def _directions(rates):
    """Rows with mean 0 and length 1, whose products are correlations; a flat row becomes 0."""
    centred = rates - rates.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    return np.divide(centred, length, out=np.zeros_like(centred), where=length > 0)


def wiring_overlap(one, other) -> float:
    """Share of one wiring's connections that the other has in the same place."""
    one, other = np.asarray(one, dtype=bool), np.asarray(other, dtype=bool)
    return float(np.count_nonzero(one & other) / max(1, int(np.count_nonzero(one))))


def identical_cells(one, other) -> int:
    """How many cells of one wiring listen to exactly the inputs of some cell of the other."""
    rows = {row.tobytes() for row in np.packbits(np.asarray(other, dtype=bool), axis=1)}
    return sum(row.tobytes() in rows for row in np.packbits(np.asarray(one, dtype=bool), axis=1))


@dataclass(frozen=True)
class FlyAnswers:
    """One fly of many: its wiring and what it answers for the held-out samples."""

    fly: Circuit
    weights: np.ndarray  # (B, d) bool
    answers: np.ndarray  # predictions for the held-out rows
    accuracy: float  # share of right answers (over all samples and characters)


def next_fly(settings: CircuitSettings, steps: int = 1) -> CircuitSettings:
    """The same settings with another wiring."""
    low, high = map(int, BOUNDS["wiring"])
    return replace(settings, wiring=low + (settings.wiring - low + steps) % (high - low + 1))


def swarm_fly(settings: CircuitSettings, number: int) -> CircuitSettings:
    """One of many flies: others are wired by another draw, or as the one real fly's controls."""
    if not PLANS[settings.plan].needs_glomeruli:
        return next_fly(settings, number)
    plan = ("hemibrain-random", "hemibrain-shuffled")[number % 2] if number else "hemibrain"
    return replace(next_fly(settings, number), plan=plan)


def fly_answers(glomeruli: Glomeruli, settings: CircuitSettings) -> FlyAnswers:
    """Wire and teach one fly, and ask it about every held-out sample."""
    fly = train_fly(glomeruli, settings)
    answers = np.asarray(fly.predict(glomeruli.rates[glomeruli.test]))
    return FlyAnswers(
        fly=fly,
        weights=np.asarray(fly.weights_).astype(bool),
        answers=answers,
        accuracy=float(np.mean(answers == glomeruli.dataset.y[glomeruli.test])),
    )


def unseen_accuracy(glomeruli: Glomeruli, settings: CircuitSettings) -> float:
    """Share of right answers over repeated splits, whole molecules on one side of each."""
    from sklearn.model_selection import GroupShuffleSplit

    dataset = glomeruli.dataset
    groups = np.arange(len(dataset.X)) if dataset.groups is None else dataset.groups
    parts = GroupShuffleSplit(REPEATS, test_size=HELD_OUT, random_state=0)
    right = []
    for number, (train, test) in enumerate(parts.split(dataset.X, groups=groups)):
        fly = train_fly(glomeruli, next_fly(settings, number), train)
        right.append(np.mean(fly.predict(glomeruli.rates[test]) == dataset.y[test]))
    return float(np.mean(right))


def opinions(flies: list[FlyAnswers], rates) -> np.ndarray:
    """The probabilities (flies, c) that every fly gives to the answers for one sample."""
    rates = np.asarray(rates, dtype=np.float32)[None]
    return np.stack([np.atleast_1d(each.fly.predict_proba(rates)[0]) for each in flies])


@dataclass(frozen=True)
class FlyComparison:
    """Every pair of flies: how much wiring they share, how often they agree."""

    overlap: np.ndarray  # (n, n) share of connections in the same place
    agreement: np.ndarray  # (n, n) share of equal answers
    identical: int  # cells with exactly the same inputs, over all pairs
    n_pairs: int
    n_connections: int  # of one fly
    chance_overlap: float  # expected of two unrelated wirings
    chance_agreement: float  # expected if the flies answered independently, as often as they do


def compare_flies(flies: list[FlyAnswers]) -> FlyComparison:
    """Put every pair of flies side by side."""
    n = len(flies)
    overlap, agreement = np.eye(n), np.eye(n)
    identical = 0
    for i in range(n):
        for j in range(i + 1, n):
            overlap[i, j] = overlap[j, i] = wiring_overlap(flies[i].weights, flies[j].weights)
            agreement[i, j] = agreement[j, i] = np.mean(flies[i].answers == flies[j].answers)
            identical += identical_cells(flies[i].weights, flies[j].weights)
    weights = flies[0].weights
    return FlyComparison(
        overlap=overlap,
        agreement=agreement,
        identical=identical,
        n_pairs=n * (n - 1) // 2,
        n_connections=int(np.count_nonzero(weights)),
        chance_overlap=float(weights.mean()),
        chance_agreement=_chance_agreement(np.stack([fly.answers for fly in flies])),
    )


def _chance_agreement(answers):
    # Two independent flies that give each answer as often as these do: the sum of squared shares.
    columns = answers.reshape(len(answers), answers.shape[1], -1)
    by_column = []
    for k in range(columns.shape[2]):
        counts = np.unique(columns[:, :, k], return_counts=True)[1]
        by_column.append(float(np.sum((counts / counts.sum()) ** 2)))
    return float(np.mean(by_column))
