"""Flies answer with calibrated probabilities, show their spread, and know what they were taught."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kcnet_core.errors import KCNetError
from kcnet_core.experiments.comparison.search import training_part
from kcnet_core.network.scaling import RateScaler
from kcnet_core.network.scores import auroc_by_label, calibration_error
from kcnet_core.smell.flies import FlySettings
from kcnet_core.smell.nose import Nose, characters_of, train_nose

SMALL = FlySettings(n_flies=2, n_hidden=300)


def test_flies_tell_unseen_molecules_apart_and_say_how_sure_they_are(starter):
    from kcnet_core.experiments.protocols import splits

    split = splits(starter, "unseen_molecules", n_folds=4)[0]
    nose = train_nose(training_part(starter, split.train), SMALL)
    P, each = nose.answer(nose.inputs(starter.X[split.test]))
    truth = starter.y[split.test]
    assert each.shape == (2, *P.shape)
    assert np.nanmean(auroc_by_label(truth, P)) > 0.88
    assert calibration_error(truth, P) < 0.04


def test_the_answer_of_all_flies_lies_within_their_spread(nose, starter):
    P, each = nose.answer(nose.inputs(starter.X[:50]))
    assert (each.min(axis=0) - 1e-9 <= P).all() and (each.max(axis=0) + 1e-9 >= P).all()
    assert each.std(axis=0).max() > 0.01  # different wirings do differ


def test_the_same_seed_gives_the_same_nose(starter, nose):
    again = train_nose(starter, nose.settings)
    inputs = nose.inputs(starter.X[:20])
    np.testing.assert_allclose(again.answer(inputs)[0], nose.answer(inputs)[0], atol=1e-9)


def test_rates_lie_between_zero_and_one_also_far_away():
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    scaler = RateScaler().fit(X)
    far = scaler.transform(np.array([[-1e6, 0, 1e6]], np.float32))
    assert ((far >= 0) & (far <= 1)).all()
    assert far[0, 0] < 0.02 and far[0, 2] > 0.98


def test_only_the_character_itself_is_shown_of_a_question_of_yes_or_no(starter):
    sweet = list(starter.target_names).index("Sweet")
    binary = replace(
        starter, y=starter.y[:, sweet].astype(np.int64), target_names=("not Sweet", "Sweet")
    )
    nose = train_nose(binary, SMALL)
    P, _ = nose.answer(nose.inputs(binary.X))
    assert nose.characters == ("Sweet",) and P.shape == (len(binary.X), 1)
    assert P[binary.y == 1].mean() > P[binary.y == 0].mean() + 0.2


def test_classes_exclude_each_other():
    assert characters_of(("a", "b", "c"), multilabel=False)[0] == ("a", "b", "c")
    assert characters_of(("not a", "a"), multilabel=False)[0] == ("a",)
    assert characters_of(("not a", "a"), multilabel=True)[0] == ("not a", "a")


def test_a_model_of_pixels_cannot_smell():
    with pytest.raises(KCNetError, match="pixel 3"):
        Nose("", "", (None,), None, ("pixel 3",), ("a",), np.array([0]))


def test_images_cannot_be_taught(starter):
    with pytest.raises(KCNetError, match="images"):
        train_nose(replace(starter, image_shape=(1, starter.X.shape[1])))


def test_dilutions_become_inputs(starter):
    one_hot = np.eye(2, dtype=np.float32)[np.arange(len(starter.X)) % 2]
    diluted = replace(
        starter,
        X=np.hstack([starter.X, one_hot]),
        feature_names=(*starter.feature_names, "dilution 1/10", "dilution 1/1000"),
    )
    nose = train_nose(diluted, SMALL)
    assert nose.dilutions == ("1/10", "1/1000")
    from kcnet_core.molecules.descriptor_table import DESCRIPTOR_NAMES

    descriptors = np.zeros((1, len(DESCRIPTOR_NAMES)), np.float32)
    assert nose.features(descriptors)[0, -2:].tolist() == [1, 0]
    assert nose.features(descriptors, "1/1000")[0, -2:].tolist() == [0, 1]
    with pytest.raises(KCNetError, match="1/1000"):
        nose.features(descriptors, "1/7")


def test_a_taught_molecule_can_be_answered_as_if_it_had_never_been_taught(starter, nose):
    row = list(starter.row_names).index("vanillin")
    P, each = nose.answer_unseen(row)
    others = np.flatnonzero(starter.groups != starter.groups[row])
    without = train_nose(training_part(starter, others), nose.settings)
    retrained, _ = without.answer(without.inputs(starter.X[[row]]))
    assert each.shape == (3, len(nose.characters))
    # Scaling, lambda and calibration of the other nose have not seen vanillin either.
    np.testing.assert_allclose(P, retrained[0], atol=0.1)
    assert P[nose.characters.index("Vanilla")] < nose.answer(nose.inputs(starter.X[[row]]))[0].max()
