"""A real fly's cells as a wiring, its two controls, and synapses that count."""

from __future__ import annotations

import io

import numpy as np
import pytest

from kcnet_core import KCNetClassifier
from kcnet_core.errors import KCNetError
from kcnet_core.model_file import load_model, save_model
from kcnet_core.network.explain import contributions
from kcnet_core.network.wiring import DRAW, Site
from kcnet_core.network.wiring.hemibrain import random_like, shuffled

PLANS = ("hemibrain", "hemibrain-shuffled", "hemibrain-random")
D = 12


@pytest.fixture(scope="module")
def synapses():
    rng = np.random.default_rng(0)
    few = rng.random((90, D)) < rng.uniform(0.1, 0.7, D)
    few[:, 0] |= ~few.any(axis=1)
    return np.where(few, rng.integers(3, 30, few.shape), rng.integers(0, 3, few.shape))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.random((60, D)).astype(np.float32)
    return X, (X[:, 0] + X[:, 1] > X[:, 2] + X[:, 3]).astype(int)


def drawn(plan, synapses, n=50, seed=3, **site):
    site = Site(synapses.shape[1], 7, connectome=synapses, **site)
    return DRAW[plan](n, site, np.random.default_rng(seed)).matrix()


def test_the_shuffled_control_keeps_both_degrees_exactly(synapses):
    real, other, random = (drawn(plan, synapses) for plan in PLANS)
    assert (other.sum(axis=0) == real.sum(axis=0)).all()
    assert (other.sum(axis=1) == real.sum(axis=1)).all()
    assert (random.sum(axis=1) == real.sum(axis=1)).all()
    assert (random.sum(axis=0) != real.sum(axis=0)).any()
    assert (other != real).any() and (random != other).any()
    assert set(map(bytes, real)) <= set(map(bytes, (synapses >= 3).astype(np.uint8)))


def test_a_shuffle_forgets_everything_but_the_degrees():
    rng = np.random.default_rng(0)
    blocks = np.zeros((400, 20), bool)
    blocks[:200, :10] = blocks[200:, 10:] = True
    blocks &= rng.random(blocks.shape) < 0.5
    mixed = shuffled(blocks, rng)
    assert mixed[:200, :10].sum() / mixed[:200].sum() == pytest.approx(0.5, abs=0.05)
    assert random_like(blocks, rng).sum(axis=0).std() < 3 * np.sqrt(len(blocks) / 4)


def test_one_seed_takes_the_same_cells_for_all_three(synapses):
    fan_ins = [drawn(plan, synapses).sum(axis=1).tolist() for plan in PLANS]
    assert fan_ins[0] == fan_ins[1] == fan_ins[2]
    assert (drawn("hemibrain", synapses) == drawn("hemibrain", synapses)).all()
    assert (drawn("hemibrain", synapses, n=90, seed=9) == (synapses >= 3)).all()


def test_the_threshold_decides_who_is_connected(synapses):
    assert (drawn("hemibrain", synapses, n=90, min_synapses=1) == (synapses >= 1)).all()
    heard = synapses >= 20
    left = heard[heard.any(axis=1)]
    assert (drawn("hemibrain", synapses, n=len(left), min_synapses=20) == left).all()
    with pytest.raises(KCNetError, match=f"choose at most {len(left)}"):
        drawn("hemibrain", synapses, n=len(left) + 1, min_synapses=20)


def test_the_table_must_be_given_and_fit(synapses, rows):
    with pytest.raises(KCNetError, match="needs its table"):
        KCNetClassifier(20, wiring="hemibrain").fit(*rows)
    with pytest.raises(KCNetError, match="11 glomeruli, but the data has 12 inputs"):
        KCNetClassifier(20, wiring="hemibrain", connectome=synapses[:, 1:]).fit(*rows)
    with pytest.raises(KCNetError, match="whole numbers of synapses"):
        KCNetClassifier(20, wiring="hemibrain", connectome=[[1.5]]).fit(*rows)
    with pytest.raises(KCNetError, match="DOA makes W of ones"):
        counted(synapses, n_epochs=1).fit(*rows)


def test_more_synapses_than_a_byte_holds_are_refused_where_they_count(synapses, rows):
    """They would count as 44, silently."""
    many = np.where(synapses == synapses.max(), 300, synapses)
    with pytest.raises(KCNetError, match="has 300 synapses, and at most 255 can count"):
        counted(many).fit(*rows)
    assert counted(many).set_params(synapse_counts=False).fit(*rows).weights_.max() == 1


def counted(synapses, **more):
    settings = {"wiring": "hemibrain", "connectome": synapses, "synapse_counts": True}
    return KCNetClassifier(60, **settings, random_state=0, **more)


@pytest.mark.parametrize("n_inputs", [D, 40 * D])
def test_synapses_count_in_every_sum(synapses, rows, n_inputs):
    """Sparse and dense projections alike; an exact explanation still adds up."""
    wide = np.zeros((len(synapses), n_inputs), int)
    wide[:, :D] = synapses
    X = np.zeros((len(rows[0]), n_inputs), np.float32)
    X[:, :D] = rows[0]
    net = counted(wide).fit(X, rows[1])
    W = net.weights_.astype(float)
    sums = X @ W.T
    expected = np.maximum(sums - sums.mean(axis=1, keepdims=True), 0)
    assert W.max() > 3 and np.allclose(net.hidden(X), expected, atol=1e-3)
    shares = contributions(net, X[:4]).sum(axis=1)
    assert np.allclose(shares, net.hidden(X[:4]) @ net.coef_, atol=1e-3)


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("plan", PLANS)
def test_a_model_file_carries_the_plan_and_predicts_alike(synapses, rows, plan, counts):
    net = counted(synapses).set_params(wiring=plan, synapse_counts=counts).fit(*rows)
    out = io.BytesIO()
    names = [f"G{k}" for k in range(D)]
    save_model(out, net, feature_names=names, target_names=["no", "yes"])
    saved = load_model(out.getvalue())
    assert saved.model.wiring == plan and saved.model.synapse_counts == counts
    assert (saved.model.weights_ == net.weights_).all()
    assert (saved.model.predict_proba(rows[0]) == net.predict_proba(rows[0])).all()
    assert saved.feature_names == tuple(names)


def test_tuning_can_begin_with_a_real_fly(synapses, rows):
    start = KCNetClassifier(40, wiring="hemibrain", connectome=synapses, random_state=0)
    tuned = start.set_params(n_epochs=3, n_submodels=2).fit(*rows)
    assert set(np.unique(tuned.weights_)) == {0, 1} and len(tuned.weights_) == 40
