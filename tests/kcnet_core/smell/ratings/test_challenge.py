"""The DREAM challenge is measured on its test molecules, and what ships is what was measured."""

from __future__ import annotations

import numpy as np
import pytest

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.datasets.dream import ATTRIBUTES
from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES
from kcnet_core.molecules.fingerprint_table import NAMES
from kcnet_core.network.scores import pearson
from kcnet_core.smell.ratings import challenge


def small(n=60, n_train=40) -> Dataset:
    rng = np.random.default_rng(0)
    X = np.hstack([rng.random((n, 20)), rng.integers(0, 3, (n, 12))]).astype(np.float32)
    y = np.column_stack([50 * X[:, k] for k in range(4)]) + rng.normal(size=(n, 4))
    y[:5, 0] = y[-3:, 0] = np.nan
    names = (*DESCRIPTOR_NAMES[:20], *NAMES[:12])
    return Dataset("dream", "DREAM", X, y, names, ATTRIBUTES[:4], n_train=n_train)


@pytest.fixture(scope="module")
def found():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(challenge, "SEEDS", 2)
        patch.setitem(challenge.SETTINGS, "n_hidden", 50)
        patch.setattr(challenge, "N_TREES", 5)
        patch.setattr(challenge, "N_BOOTSTRAP", 20)
        yield challenge.measured(small(), lambda said: None)


def test_every_model_has_an_r_with_an_interval_for_every_attribute(found):
    assert found.n_train == 40 and found.n_test["Intensity"] == 17
    for model, of in found.r.items():
        assert list(of) == [*ATTRIBUTES[:4], challenge.DESCRIPTORS]
        for name, value in of.items():
            assert value.low <= value.mean <= value.high
            assert value.mean == pytest.approx(np.mean(found.seeds[model][name]))
    assert found.r["Ridge on descriptors"]["Pleasantness"].mean > 0.5
    assert all(0 <= share <= 1 for share in found.coverage.values())


def test_what_the_test_molecules_were_rated_changes_no_prediction(monkeypatch):
    answers = []
    monkeypatch.setattr(challenge, "CONTENDERS", {"KCNet": challenge.inputs_chosen})
    monkeypatch.setattr(challenge, "SEEDS", 1)
    monkeypatch.setitem(challenge.SETTINGS, "n_hidden", 50)
    monkeypatch.setattr(
        challenge, "_summed", lambda names, truth, each: answers.append(each) or ({}, {})
    )
    data = small()
    challenge.measured(data, lambda said: None)
    data.y[40:] = 7.0
    challenge.measured(data, lambda said: None)
    assert (answers[0][0] == answers[1][0]).all()


def test_what_ships_is_whole_and_reads_back(found, tmp_path):
    shipped = challenge.remembered_challenge()
    assert shipped is not None and set(shipped.r) == set(challenge.CONTENDERS)
    assert list(shipped.r["Random forest"]) == [*ATTRIBUTES, challenge.DESCRIPTORS]
    for quoted in challenge.LITERATURE.values():
        assert set(quoted) <= set(ATTRIBUTES)
    path = tmp_path / "dream.json"
    assert challenge.remembered_challenge(path) is None
    path.write_text(challenge.to_json(found), encoding="utf-8")
    assert challenge.remembered_challenge(path) == found


def test_missing_ratings_do_not_count():
    truth = np.array([[1.0, 2, 3, 4], [2, 3, 4, 9], [np.nan, 4, 5, 1], [4, 1, 0, 2]])
    Z = np.array([[1.0, 2, 1, 1], [3, 3, 1, 2], [99, 1, 1, 3], [4, 4, 2, 5]])
    r = challenge._r(truth, Z)
    assert r[0] == pytest.approx(pearson(truth[[0, 1, 3], :1], Z[[0, 1, 3], :1])[0])
    assert r[-1] == pytest.approx(np.mean(r[2:4]))
