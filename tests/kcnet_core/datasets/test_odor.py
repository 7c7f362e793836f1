"""Described molecules become a Dataset: targets, dropped columns and groups."""

from __future__ import annotations

import numpy as np
import pytest

from kcnet_core.datasets.odor import character_targets, odor_dataset
from kcnet_core.errors import DataError


def make(**changes):
    rng = np.random.default_rng(0)
    n = 30
    settings = {
        "name": "a",
        "title": "A",
        "smiles": [f"C{'C' * (k // 2)}" for k in range(n)],
        "X": rng.normal(size=(n, 3)).astype(np.float32),
        "descriptor_names": ("d0", "d1", "d2"),
    }
    labels = np.stack([np.arange(n) % 2 == 0, np.arange(n) < 3], axis=1)
    labels, target = changes.pop("labels", labels), changes.pop("target", None)
    report = []
    targets = character_targets(labels, ("Sweet", "Fish"), target, 2, report)
    return odor_dataset(**{**settings, **changes}, report=report, **targets)


def test_all_characters_give_a_multilabel_matrix():
    data = make()
    assert data.y.shape == (30, 2)
    assert data.target_names == ("Sweet", "Fish")
    assert data.kind == "odor"


def test_rows_with_the_same_structure_form_a_group():
    data = make()
    assert len(set(data.groups)) == 15
    assert data.groups[0] == data.groups[1] != data.groups[2]


def test_stereoisomers_form_a_group():
    pair = ["C[C@H](O)CC", "C[C@@H](O)CC", "CCC(C)O", "C/C=C/CO", "C/C=C\\CO", "CC=CCO"]
    data = make(smiles=pair * 5)
    assert data.groups.tolist()[:6] == [1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize("target", ["", None])
def test_no_target_means_all(target):
    assert make(target=target).multilabel


def test_rare_and_nearly_universal_characters_are_left_out_by_name():
    labels = np.stack([np.arange(30) % 2 == 0, np.arange(30) < 29], axis=1)
    data = make(labels=labels)
    assert data.target_names == ("Sweet",)
    assert any("Fish (29)" in sentence for sentence in data.report)


def test_columns_that_are_constant_or_not_finite_go_by_name():
    X = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32)
    X[:, 0] = 4
    X[3, 1] = np.inf
    data = make(X=X)
    assert data.feature_names == ("d2",)
    assert any("not a finite" in s and s.endswith("d1.") for s in data.report)
    assert any("the same for" in s and s.endswith("d0.") for s in data.report)


def test_nothing_left_to_learn_from_is_told():
    with pytest.raises(DataError, match="bring molecules that differ"):
        make(X=np.ones((30, 3), np.float32))


@pytest.mark.parametrize("value, word", [(True, "Every"), (False, "No")])
def test_a_target_that_never_varies_is_refused(value, word):
    labels = np.full((30, 2), value)
    with pytest.raises(DataError, match=f"{word} row is Sweet"):
        make(labels=labels, target="sweet")


def test_dilutions_stand_from_strong_to_weak():
    data = make(dilutions=["1/1000", "1/10", "neat"] * 10)
    assert data.feature_names[-3:] == ("dilution 1/10", "dilution 1/1000", "dilution neat")
    assert data.X[0, -3:].tolist() == [0, 1, 0]
