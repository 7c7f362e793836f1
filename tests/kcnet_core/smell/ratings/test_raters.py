"""Intensity and pleasantness: taught once, kept in the cache, honest about known molecules."""

from __future__ import annotations

import numpy as np
import pytest

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import DataError
from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES
from kcnet_core.smell.ratings import raters

RNG = np.random.default_rng(0)
N = 120
SMILES = (*(f"{'C' * (2 + k)}O" for k in range(N - 2)), "C[C@H](O)CC", "C[C@@H](O)CC")
X = RNG.random((N, len(DESCRIPTOR_NAMES))).astype(np.float32)
Y = np.column_stack([20 + 60 * X[:, 0], 80 - 60 * X[:, 1]]) + RNG.normal(0, 3, (N, 2))


def rated(y=Y) -> Dataset:
    return Dataset(
        "keller_2016", "Ratings", X, y, tuple(DESCRIPTOR_NAMES), tuple(raters.RATED), smiles=SMILES
    )


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Some files that count as Keller's, and how often they were read."""
    folder = tmp_path / "data" / "keller_2016"
    folder.mkdir(parents=True)
    for name in ("molecules.csv", "stimuli.csv", "behavior.csv"):
        (folder / name).write_text("x", encoding="ascii")
    monkeypatch.setenv("KCNET_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path / "cache"))
    read = []
    monkeypatch.setattr(raters.dream, "rated_molecules", lambda: read.append(1) or rated())
    return read


def test_what_was_taught_is_kept_and_answers_the_same(here, tmp_path):
    first, again = raters.raters(), raters.raters()
    assert len(here) == 1
    smiles = ["CCOCC", SMILES[3]]
    assert raters.rate(first, X[[5, 3]], smiles) == raters.rate(again, X[[5, 3]], smiles)
    for path in (tmp_path / "cache" / "ratings").iterdir():
        path.write_bytes(b"damaged")
    assert raters.rate(raters.raters(), X[[5]], smiles[:1]) == raters.rate(
        first, X[[5]], smiles[:1]
    )
    assert len(here) == 2
    (tmp_path / "data" / "keller_2016" / "behavior.csv").write_text("other", encoding="ascii")
    raters.raters()
    assert len(here) == 3


def test_a_known_molecule_is_answered_as_if_it_had_never_been_met(here):
    for rater in raters.raters():
        k = list(raters.RATED).index(rater.attribute)
        known = rater.rate(X[[7]], [SMILES[7]])[0]
        new = rater.rate(X[[7]], ["CCOCC"])[0]
        assert known.rated == pytest.approx(Y[7, k]) and new.rated is None
        assert abs(new.value - Y[7, k]) < abs(known.value - Y[7, k])  # taught, it is nearer
        assert 0 <= known.low <= known.value <= known.high <= 100
        left_out = rater.model.loo_predictions_[:, 0]
        truth = left_out + rater.model.loo_residuals_[:, 0]
        assert rater.r == pytest.approx(np.corrcoef(truth, left_out)[0, 1])


def test_the_shares_of_the_inputs_add_up_to_the_rating(here):
    for rater in raters.raters():
        shares = rater.shares(X[5])
        assert len(shares.names) == len(shares.values)
        assert shares.total == pytest.approx(rater.rate(X[[5]], ["CCOCC"])[0].value, abs=1e-3)


def test_stereoisomers_are_one_row_with_their_mean(here):
    _, mean, known = raters.one_row_each(rated(), "Pleasantness")
    assert len(mean) == N - 1
    assert mean[known.index("CCC(C)O")] == pytest.approx(Y[-2:, 1].mean())


def test_molecules_without_a_rating_are_not_learned_from():
    y = Y.copy()
    y[10, 0] = np.nan
    assert SMILES[10] not in raters.one_row_each(rated(y), "Intensity")[2]
    assert SMILES[10] in raters.one_row_each(rated(y), "Pleasantness")[2]


def test_without_the_ratings_a_sentence_says_how_to_get_them(tmp_path, monkeypatch):
    monkeypatch.setenv("KCNET_DATA", str(tmp_path))
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path))
    assert not raters.are_here()
    with pytest.raises(DataError, match="kcnet data fetch keller_2016"):
        raters.raters()


def test_the_sentence_has_value_interval_and_truth():
    one, other = raters.Rating("Intensity", 60.4, 31, 90, 76.2), raters.Rating("X", 5, 0, 20, None)
    assert raters.sentence([one, other]) == "Intensity 60 (31 to 90), people said 76; X 5 (0 to 20)"
    assert raters.rate((), [], []) == [] and raters.rate((), [X[0]], ["CCO"]) == [()]


def test_smiles_are_rated_whatever_their_stereo_marks(here):
    found = raters.rate_smiles(["C[C@@H](O)CC", "CCOCC"])
    assert list(found) == ["C[C@@H](O)CC", "CCOCC"]
    known, new = (pleasantness for _, pleasantness in found.values())
    assert known.rated == pytest.approx(Y[-2:, 1].mean()) and new.rated is None
