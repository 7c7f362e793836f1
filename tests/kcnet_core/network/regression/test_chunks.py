"""A fit from chunks equals the fit on all rows, whoever adds which of them."""

from __future__ import annotations

import copy
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcnet_core import ELMClassifier, KCNetClassifier
from kcnet_core.errors import KCNetError
from kcnet_core.network.regression import chunks as chunked

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 20)).astype(np.float32)
Y = X @ RNG.normal(size=(20, 4)) + RNG.normal(size=(400, 4))
CLASSES = np.array(["a", "b", "c", "d"])
LABELS = CLASSES[Y.argmax(1)]
MANY = (Y > 0).astype(int)
SIZES = st.lists(st.integers(1, 150), min_size=1, max_size=8)


def cut(sizes, y=LABELS, w=None):
    edges = np.unique(np.clip(np.cumsum([0, *sizes]), 0, len(X)))
    edges = [*edges, len(X)] if edges[-1] < len(X) else edges
    parts = [slice(a, b) for a, b in pairwise(edges)]
    return [(X[p], y[p]) if w is None else (X[p], y[p], w[p]) for p in parts]


def same(net, other):
    np.testing.assert_allclose(net.coef_, other.coef_, rtol=2e-3, atol=2e-4)
    np.testing.assert_allclose(net.predict_proba(X), other.predict_proba(X), atol=2e-3)
    assert net.alpha_ == pytest.approx(other.alpha_, rel=1e-4)


@settings(max_examples=25)
@given(sizes=SIZES, cells=st.sampled_from([30, 390, 600]))
def test_chunks_of_any_size_give_the_network_of_all_rows(sizes, cells):
    make = KCNetClassifier(cells, alpha=5.0, random_state=3)
    whole = copy.deepcopy(make).fit(X, LABELS)
    net = chunked.fit_chunks(copy.deepcopy(make), cut(sizes), classes=CLASSES)
    np.testing.assert_array_equal(net.weights_, whole.weights_)
    same(net, whole)


@settings(max_examples=25)
@given(sizes=SIZES, owners=st.lists(st.integers(0, 3), min_size=9, max_size=9))
def test_whoever_adds_which_chunk_the_merged_sums_are_the_same(sizes, owners):
    parts = cut(sizes)
    net = ELMClassifier(60, random_state=1)
    whole = copy.deepcopy(net).fit(X, LABELS)
    chunked.begin(net, parts[0], classes=CLASSES)
    copies = [copy.deepcopy(net) for _ in range(4)]
    for part, owner in zip(parts, owners, strict=False):
        chunked.add(copies[owner], part)
    for one in copies[1:]:
        chunked.merge(copies[0], one)
    chunked.finish(copies[0])
    np.testing.assert_array_equal(copies[0].weights_, whole.weights_)
    same(copies[0], whole)
    assert len(copies[0]._calibration_rows.X) == len(whole._calibration_rows.X)


def test_weights_and_labels_come_in_chunks_too():
    w = RNG.integers(0, 3, len(X)).astype(float)
    w[:50] = 0  # a chunk of which no row counts
    for y in (LABELS, MANY):
        whole = KCNetClassifier(40, random_state=0).fit(X, y, w)
        parts = cut([50, 120, 90], y, w)[::-1]
        net = chunked.fit_chunks(KCNetClassifier(40, random_state=0), parts)
        same(net, whole)


def test_more_rows_can_be_added_afterwards():
    net = chunked.fit_chunks(KCNetClassifier(40, random_state=0), cut([100])[:1])
    net.partial_fit(X[100:], LABELS[100:])
    same(net, KCNetClassifier(40, random_state=0).fit(X, LABELS))


def test_doa_finds_the_wiring_of_all_rows_where_they_fit_into_its_sample():
    make = {"n_hidden": 20, "n_epochs": 3, "random_state": 0}
    whole = KCNetClassifier(**make).fit(X, LABELS)
    net = chunked.fit_chunks(KCNetClassifier(**make), cut([130, 130]))
    np.testing.assert_array_equal(net.weights_, whole.weights_)
    same(net, whole)
    assert len(net.history_) == len(whole.history_) == 4
    assert net.n_trained_parameters_ == whole.n_trained_parameters_


def test_doa_draws_the_same_sample_however_rows_are_chunked(monkeypatch):
    monkeypatch.setattr(chunked, "SEARCH_ROWS", 150)
    wirings = [
        chunked.fit_chunks(
            KCNetClassifier(20, n_epochs=3, random_state=0), cut(sizes), classes=CLASSES
        )
        for sizes in ([400], [7, 60, 200])
    ]
    np.testing.assert_array_equal(wirings[0].weights_, wirings[1].weights_)
    same(*wirings)


def test_a_generator_is_read_once_and_doa_says_that_it_must_read_twice():
    same(
        chunked.fit_chunks(KCNetClassifier(40, random_state=0), iter(cut([100]))),
        KCNetClassifier(40, random_state=0).fit(X, LABELS),
    )
    with pytest.raises(KCNetError, match="twice"):
        chunked.fit_chunks(KCNetClassifier(20, n_epochs=2), iter(cut([100])))


def test_a_fit_that_fails_leaves_the_network_as_it_was():
    net = KCNetClassifier(40, random_state=0).fit(X, LABELS)
    before = net.coef_
    bad = X.copy()
    bad[300, 4] = np.nan
    with pytest.raises(KCNetError, match="NaN"):
        chunked.fit_chunks(net, [(X[:200], LABELS[:200]), (bad[200:], LABELS[200:])])
    assert net.coef_ is before
    with pytest.raises(KCNetError, match="no chunk"):
        chunked.fit_chunks(net, [])
