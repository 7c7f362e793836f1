"""The DREAM challenge's test molecules: correlation of predicted and mean ratings, by attribute.

Every model learns from the molecules for training and of the leaderboard, which entrants had, and
chooses what it has to choose among these alone: lambda per attribute, and which inputs, by leaving
molecules out. The test molecules are only measured. Intervals are of resampled test molecules.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.molecules.fingerprint_table import kind_of
from kcnet_core.network.regression.regressor import KCNetRegressor
from kcnet_core.network.scores import pearson
from kcnet_core.smell.glomeruli import GlomeruliScaler
from kcnet_core.smell.quality import Measured
from kcnet_core.smell.ratings.raters import COVERAGE, RATED, SETTINGS
from kcnet_core.storage import folders

SEEDS = 5
N_TREES = 200
N_BOOTSTRAP = 1000
RIDGE_ALPHAS = np.logspace(0, 5, 21)
DESCRIPTORS = "mean of 19 descriptors"
BUNDLED = folders.assets() / "results" / "smell_dream.json"
QUOTED = (
    "Keller et al. 2017: the winners' models aggregated, all 69 test molecules, quoted from memory "
    "and not checked. Repository: cross-validation by the organisers, not the test molecules; the "
    "line of 333 features in data/2e_mean_noleak.csv of dream-olfaction/olfaction-prediction"
)
LITERATURE = {
    "Keller et al. 2017": {
        "Intensity": 0.78,
        "Pleasantness": 0.71,
    },
    "Repository": {
        "Intensity": 0.47, "Pleasantness": 0.62, "Bakery": 0.43, "Sweet": 0.62, "Fruit": 0.68,
        "Fish": 0.56, "Garlic": 0.58, "Spices": 0.45, "Cold": 0.41, "Sour": 0.50, "Burnt": 0.50,
        "Acid": 0.30, "Warm": 0.28, "Musky": 0.52, "Sweaty": 0.52, "Ammonia/urinous": 0.31,
        "Decayed": 0.56, "Wood": 0.34, "Grass": 0.47, "Flower": 0.54, "Chemical": 0.45,
    },
}  # fmt: skip


@dataclass(frozen=True)
class Challenge:
    """What was measured."""

    how: str
    n_train: int
    n_test: dict[str, int]  # molecules that were rated, by attribute
    r: dict[str, dict[str, Measured]]  # by model and attribute, mean over seeds
    seeds: dict[str, dict[str, list[float]]]  # the same of every seed
    coverage: dict[str, float]  # share of test ratings inside KCNet's intervals


def _kcnet(X, Y, X_test, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predictions (n, c), half widths of intervals (c,), leave-one-out errors (c,)."""
    model = KCNetRegressor(**SETTINGS, random_state=seed).fit(X, Y)
    values = model.predict(X_test)
    margin = (model.predict_interval(X_test[:1], COVERAGE)[1] - values[:1])[0]
    return values, margin, np.square(model.loo_residuals_).mean(axis=0)


def descriptors_alone(inputs, Y, at, seed):
    (train, test), plain = inputs, at["descriptors"]
    return _kcnet(train[:, plain], Y, test[:, plain], seed)[:2]


def inputs_chosen(inputs, Y, at, seed):
    """For each attribute with or without substructures, whichever leave-one-out prefers."""
    train, test = inputs
    found = [_kcnet(train[:, of], Y, test[:, of], seed) for of in at.values()]
    best = np.argmin([errors for *_, errors in found], axis=0)
    columns = np.arange(Y.shape[1])
    values, margins = (np.stack([one[k] for one in found]) for k in (0, 1))
    return values[best, :, columns].T, margins[best, columns]


def forest(inputs, Y, at, seed):
    from sklearn.ensemble import RandomForestRegressor

    (train, test), plain = inputs, at["descriptors"]
    model = RandomForestRegressor(N_TREES, min_samples_leaf=2, max_features=0.33, random_state=seed)
    return model.fit(train[:, plain], Y if Y.shape[1] > 1 else Y[:, 0]).predict(
        test[:, plain]
    ), None


def linear(inputs, Y, at, seed):
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    (train, test), plain = inputs, at["descriptors"]
    model = make_pipeline(StandardScaler(), RidgeCV(RIDGE_ALPHAS, alpha_per_target=True))
    return model.fit(train[:, plain], Y).predict(test[:, plain]), None


CONTENDERS = {
    "KCNet, descriptors": descriptors_alone,
    "KCNet, inputs chosen by leave-one-out": inputs_chosen,
    "Ridge on descriptors": linear,
    "Random forest": forest,
}
ONE_SEED = ("Ridge on descriptors",)  # nothing in it is drawn


def measured(data: Dataset, say: Callable[[str], None] = print) -> Challenge:
    """`data` is DREAM, from `with_substructures`."""
    n = data.n_train or 0
    scaler = GlomeruliScaler(data.feature_names).fit(data.X[:n])
    inputs = scaler.transform(data.X[:n]), scaler.transform(data.X[n:])
    names = np.asarray(data.feature_names)[scaler.kept_]
    at = {
        "descriptors": np.array([kind_of(name) is None for name in names]),
        "and substructures": np.ones(len(names), bool),
    }
    truth = data.y[n:]
    values: dict[str, list[np.ndarray]] = {}
    inside: list[np.ndarray] = []
    for name, fit in CONTENDERS.items():
        for seed in range(1 if name in ONE_SEED else SEEDS):
            Z, margins = _answered(fit, inputs, data.y[:n], at, seed)
            values.setdefault(name, []).append(Z)
            if fit is inputs_chosen:
                inside.append(np.where(np.isnan(truth), np.nan, np.abs(Z - truth) <= margins))
            say(f"{name}, seed {seed}")
    covered = np.nanmean(np.concatenate(inside), axis=0)
    n_test = np.isfinite(truth).sum(axis=0)
    how = (
        f"correlation with the mean ratings of the challenge's test molecules, learned from {n} "
        f"molecules for training and of the leaderboard; mean of {SEEDS} seeds, 95% intervals of "
        f"{N_BOOTSTRAP:,} times resampled test molecules"
    )
    found = {name: _summed(data.target_names, truth, each) for name, each in values.items()}
    return Challenge(
        how=how,
        n_train=n,
        n_test=dict(zip(data.target_names, n_test.tolist(), strict=True)),
        r={name: one[0] for name, one in found.items()},
        seeds={name: one[1] for name, one in found.items()},
        coverage=dict(zip(data.target_names, covered.tolist(), strict=True)),
    )


def _answered(fit, inputs, Y, at, seed) -> tuple[np.ndarray, np.ndarray]:
    """Predictions and margins; attributes that were rated for the same molecules go together."""
    train, test = inputs
    rated = np.isfinite(Y)
    patterns, of = np.unique(rated, axis=1, return_inverse=True)
    Z, margins = np.empty((len(test), Y.shape[1])), np.full(Y.shape[1], np.nan)
    for k, rows in enumerate(patterns.T):
        columns = np.flatnonzero(of == k)
        answer, margin = fit((train[rows], test), Y[rows][:, columns], at, seed)
        Z[:, columns] = answer.reshape(len(test), -1)
        if margin is not None:
            margins[columns] = margin
    return Z, margins


def _summed(attributes, truth, each) -> tuple[dict[str, Measured], dict[str, list[float]]]:
    rng, n = np.random.default_rng(0), len(truth)
    here = np.stack([_r(truth, Z) for Z in each])  # (seeds, 22)
    drawn = []
    for _ in range(N_BOOTSTRAP):
        rows = rng.integers(n, size=n)
        drawn.append(np.mean([_r(truth[rows], Z[rows]) for Z in each], axis=0))
    low, high = np.nanquantile(drawn, (0.025, 0.975), axis=0)
    names = (*attributes, DESCRIPTORS)
    return (
        {
            name: Measured(*map(float, (here[:, k].mean(), low[k], high[k])))
            for k, name in enumerate(names)
        },
        {name: here[:, k].tolist() for k, name in enumerate(names)},
    )


def _r(truth: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Of every attribute, and last the mean of the descriptors; missing ratings do not count."""
    rated = np.isfinite(truth)
    whole = rated.all(axis=0)
    r = np.empty(truth.shape[1])
    r[whole] = pearson(truth[:, whole], Z[:, whole])
    for k in np.flatnonzero(~whole):
        rows = rated[:, k]
        r[k] = pearson(truth[rows, k : k + 1], Z[rows, k : k + 1])[0]
    return np.append(r, np.nanmean(r[2:]))


def table(found: Challenge) -> dict[str, list]:
    """Columns by their heads: r of every attribute by every model, and as others quote it."""
    every = list(next(iter(found.r.values())))
    attributes = sorted(every, key=lambda name: name not in (*RATED, DESCRIPTORS))
    return {
        "r of": attributes,
        "molecules": [found.n_test.get(name) for name in attributes],
        **{model: [str(of[name]) for name in attributes] for model, of in found.r.items()},
        **{
            f"{who}, quoted": [f"{of[k]:.2f}" if k in of else "" for k in attributes]
            for who, of in LITERATURE.items()
        },
    }


def to_json(found: Challenge) -> str:
    return json.dumps(asdict(found), indent=1) + "\n"


def remembered_challenge(path: Path = BUNDLED) -> Challenge | None:
    """The one that ships with the project, or another."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        r = {
            model: {name: Measured(**value) for name, value in of.items()}
            for model, of in found["r"].items()
        }
        return Challenge(**{**found, "r": r})
    except (OSError, ValueError, KeyError, TypeError):
        return None
