"""KCNet and ELM are taught with the same rows and can be asked about the same samples."""

import numpy as np
import pytest

from kcnet_core.experiments.comparison.inside import side_by_side
from kcnet_core.experiments.comparison.rows import Comparison, compare_steps
from tests.kcnet_core.experiments.made_data import blobs

COMPARISON = Comparison(dataset="made", models=("KCNet", "ELM"), hidden=(30,), n_repeats=2, seed=4)


@pytest.fixture(scope="module")
def pair():
    return side_by_side(COMPARISON, blobs(), 30)


def test_they_are_the_very_models_of_the_comparison(pair):
    rows = {row["model"]: row for row in compare_steps(COMPARISON, blobs()) if row["repeat"] == 0}
    for network in pair.networks:
        right = [
            pair.answer(network, i) == y for i, y in enumerate(pair.dataset.y[pair.split.test])
        ]
        assert np.mean(right) == rows[network.name]["accuracy"]


def test_kcnet_is_sparse_and_binary_where_elm_is_dense(pair):
    kcnet, elm = pair.networks
    assert set(np.unique(kcnet.weights)) == {0, 1}
    assert np.all(elm.weights != 0) and np.abs(elm.weights).max() <= 1
    assert kcnet.hidden.shape == elm.hidden.shape == (len(pair.split.test), 30)
    assert kcnet.active_share() < elm.active_share()


def test_the_active_share_of_all_rows_is_the_mean_of_each(pair):
    kcnet = pair.networks[0]
    each = [kcnet.active_share(i) for i in range(len(kcnet.hidden))]
    assert np.mean(each) == pytest.approx(kcnet.active_share())


def test_rows_can_be_limited_so_that_nobody_waits():
    limited = side_by_side(COMPARISON, blobs(), 30, max_rows=40)
    assert len(limited.split.train) == 40
