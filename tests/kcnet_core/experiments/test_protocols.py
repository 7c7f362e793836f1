"""Test rows are chosen as the protocol says, whatever the data looks like."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kcnet_core.errors import DataError
from kcnet_core.experiments.oversampling import oversample
from kcnet_core.experiments.protocols import (
    PROTOCOLS,
    default_protocol,
    label_matrix,
    splits,
)
from tests.kcnet_core.experiments.made_data import blobs, labelled, made_dataset


@st.composite
def datasets(draw, multilabel=None):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(20, 150))
    n_groups = draw(st.integers(10, n))
    groups = rng.permutation(np.concatenate([np.arange(10), rng.integers(0, n_groups, n - 10)]))
    if draw(st.booleans()) if multilabel is None else multilabel:
        y = (rng.random((n, 4)) < rng.uniform(0.05, 0.7, 4)).astype(int)
        y[0], y[1] = 0, 1
    else:
        c = draw(st.integers(2, 4))
        y = np.concatenate([np.repeat(np.arange(c), 2), rng.integers(0, c, n - 2 * c)])
        y = rng.permutation(y)
        assume(all(len(np.unique(groups[y == k])) > 1 for k in range(c)))
    return made_dataset(rng.normal(size=(n, 2)), y, groups=groups)


protocol_names = st.sampled_from(["paper_split", "unseen_molecules"])
folds = st.sampled_from([None, 2, 5])
quick = settings(deadline=None, max_examples=80)


@given(datasets(), protocol_names, folds, st.integers(0, 10**6))
@quick
def test_train_and_test_are_disjoint_and_cover_all_rows(dataset, protocol, n_folds, seed):
    for split in splits(
        dataset, protocol, n_repeats=2, seed=seed, test_fraction=0.25, n_folds=n_folds
    ):
        rows = np.concatenate([split.train, split.test])
        assert np.array_equal(np.sort(rows), np.arange(len(dataset.X)))
        assert len(split.train) and len(split.test)


@given(datasets(), folds, st.integers(0, 10**6))
@quick
def test_a_molecule_is_never_on_both_sides(dataset, n_folds, seed):
    for split in splits(
        dataset, "unseen_molecules", seed=seed, test_fraction=0.25, n_folds=n_folds
    ):
        assert not set(dataset.groups[split.train]) & set(dataset.groups[split.test])


@given(datasets(), protocol_names, st.integers(2, 6), st.integers(0, 10**6))
@quick
def test_folds_test_every_row_once(dataset, protocol, n_folds, seed):
    tested = np.concatenate([s.test for s in splits(dataset, protocol, seed=seed, n_folds=n_folds)])
    assert np.array_equal(np.sort(tested), np.arange(len(dataset.X)))


@given(datasets(multilabel=False), st.sampled_from([0.1, 0.2, 0.4]), st.integers(0, 10**6))
@quick
def test_classes_of_random_rows_are_spread_to_within_one_row(dataset, test_fraction, seed):
    (split,) = splits(dataset, "paper_split", seed=seed, test_fraction=test_fraction)
    expected = label_matrix(dataset.y).sum(axis=0) * test_fraction
    found = label_matrix(dataset.y)[split.test].sum(axis=0)
    assert (np.abs(found - expected) <= 1 + 1e-9).all()
    assert set(dataset.y[split.train]) == set(dataset.y)


@given(datasets(multilabel=False), st.integers(0, 10**6))
@quick
def test_every_class_is_trained_on_when_molecules_are_kept_together(dataset, seed):
    (split,) = splits(dataset, "unseen_molecules", seed=seed, test_fraction=0.1)
    assert set(dataset.y[split.train]) == set(dataset.y)


@pytest.mark.parametrize("protocol", ["paper_split", "unseen_molecules"])
@pytest.mark.parametrize("make", [blobs, labelled])
def test_labels_are_spread_as_far_as_molecules_of_two_rows_allow(protocol, make):
    dataset = make(n=400)
    labels = label_matrix(dataset.y)
    for split in splits(dataset, protocol, n_repeats=5, seed=1, test_fraction=0.2):
        shares = labels[split.test].mean(axis=0) - labels.mean(axis=0)
        assert np.abs(shares).max() < 0.06
        assert abs(len(split.test) - 80) <= 8


def test_a_rare_label_gets_its_fair_share_of_test_parts():
    y = np.zeros((200, 2), dtype=int)
    y[:3, 0], y[::2, 1] = 1, 1
    dataset = made_dataset(np.zeros((200, 1)), y)
    found = [
        y[s.test, 0].sum() for s in splits(dataset, "paper_split", n_repeats=300, test_fraction=0.1)
    ]
    assert np.mean(found) == pytest.approx(0.3, abs=0.1)


@given(datasets(), protocol_names, st.integers(0, 10**6))
@quick
def test_same_seed_same_splits_and_more_repeats_keep_the_first(dataset, protocol, seed):
    two = splits(dataset, protocol, n_repeats=2, seed=seed, test_fraction=0.3)
    three = splits(dataset, protocol, n_repeats=3, seed=seed, test_fraction=0.3)
    for a, b in zip(two, three, strict=False):
        assert np.array_equal(a.test, b.test) and a.seed == b.seed


def test_other_seeds_give_other_splits():
    dataset = blobs()
    tests = {tuple(s.test) for s in splits(dataset, "unseen_molecules", n_repeats=20)}
    assert len(tests) == 20


def test_benchmark_keeps_the_authors_rows_and_changes_only_the_seed():
    dataset = blobs(n_train=90)
    made = splits(dataset, "benchmark", n_repeats=3, seed=5)
    assert [s.seed for s in made] == [5, 6, 7]
    for split in made:
        assert np.array_equal(split.train, np.arange(90))
        assert np.array_equal(split.test, np.arange(90, 120))


def test_default_protocol_keeps_molecules_together_and_images_as_published():
    assert default_protocol(blobs()) == "unseen_molecules"
    images = made_dataset(np.zeros((8, 4)), np.arange(8) % 2, n_train=6, image_shape=(2, 2))
    assert default_protocol(images) == "benchmark"
    assert default_protocol(made_dataset(np.zeros((8, 4)), np.arange(8) % 2)) == "paper_split"


def test_every_protocol_says_what_it_is():
    for name, protocol in PROTOCOLS.items():
        assert protocol.name == name and protocol.title and protocol.explanation.endswith(".")


X9 = np.zeros((9, 1))


@pytest.mark.parametrize(
    "dataset, protocol, options, sentence",
    [
        (made_dataset(X9, [0] * 8 + [1]), "paper_split", {}, "class 't1' has one row only"),
        (
            made_dataset(X9, [0] * 7 + [1] * 2, groups=np.array([0, 1, 2, 3, 4, 5, 6, 7, 7])),
            "unseen_molecules",
            {},
            "class 't1' has one molecule only",
        ),
        (made_dataset(X9, [0] * 9), "paper_split", {}, "have the same label"),
        (made_dataset(X9, np.ones((9, 3))), "paper_split", {}, "have the same label"),
        (made_dataset(X9, np.arange(9) % 2), "unseen_molecules", {}, "same molecule"),
        (
            made_dataset(X9, np.arange(9) % 2, groups=np.zeros(9)),
            "unseen_molecules",
            {},
            "All rows .* same molecule",
        ),
        (made_dataset(X9, np.arange(9) % 2), "benchmark", {}, "no training and test part"),
        (made_dataset(X9, np.arange(9) % 2, n_train=9), "benchmark", {}, "one part empty"),
        (made_dataset(X9, np.arange(9) // 6, n_train=5), "benchmark", {}, "have the same label"),
        (blobs(n_train=90), "benchmark", {"n_folds": 5}, "cannot be cut into folds"),
        (blobs(), "random", {}, "Unknown protocol"),
        (blobs(), "paper_split", {"test_fraction": 0.0}, "between 0 and 1"),
        (blobs(), "paper_split", {"test_fraction": 1.0}, "between 0 and 1"),
        (blobs(), "paper_split", {"n_folds": 1}, "between 2 and 120"),
        (blobs(), "unseen_molecules", {"n_folds": 61}, "between 2 and 60"),
        (blobs(), "paper_split", {"n_repeats": 0}, "at least one"),
    ],
)
def test_what_cannot_be_split_is_refused_with_a_sentence(dataset, protocol, options, sentence):
    with pytest.raises(DataError, match=sentence):
        splits(dataset, protocol, **options)


def test_oversampling_adds_rows_of_the_rarer_class_after_the_originals():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)).astype(np.float32)
    y = (rng.random(200) < 0.25).astype(int)
    more = oversample(X, y, seed=1)
    assert np.array_equal(more.X[:200], X) and np.array_equal(more.y[:200], y)
    assert more.n_added == len(more.y) - 200 > 50 and (more.y[200:] == 1).all()
    assert more.X.dtype == np.float32
    assert f"added {more.n_added} rows" in more.note
    assert np.array_equal(more.X, oversample(X, y, seed=1).X)


@pytest.mark.parametrize(
    "y, reason",
    [
        (np.arange(40) % 2, "balanced"),
        (np.eye(40, dtype=int)[0], "one row"),
        (np.ones((40, 3), dtype=int), "one class per row"),
        ((np.arange(40) < 5).astype(int), "ADASYN says"),  # the rarer class lies far away
    ],
)
def test_oversampling_that_cannot_run_keeps_the_rows_and_says_why(y, reason):
    X = np.random.default_rng(0).normal(size=(40, 2))
    X[:5] += 1000
    more = oversample(X, y, seed=0)
    assert more.X is X and more.n_added == 0
    assert reason in more.note


def test_a_made_up_row_joins_a_molecule_of_its_own_class():
    dataset = blobs(n=80)
    y = (np.arange(80) < 20).astype(int)
    more = oversample(dataset.X, y, seed=0, groups=dataset.groups)
    assert np.array_equal(more.groups[:80], dataset.groups)
    assert set(more.groups[80:]) <= set(dataset.groups[y == 1])


def test_what_the_first_page_says_of_a_run_waits_for_neither_torch_nor_scikit_learn():
    code = (
        "import sys; from kcnet_core.datasets import load; "
        "from kcnet_core.experiments.protocols import split_of; "
        "from kcnet_core.experiments.run import Run; run = Run(); "
        "protocol, split = split_of(run, load(run.dataset)); print(len(split.train), "
        "[m for m in ('torch', 'sklearn.base', 'sklearn.utils', 'rdkit') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "4000 []"
