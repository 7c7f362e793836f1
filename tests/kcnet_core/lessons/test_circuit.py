"""One sample's way through the circuit agrees with the network itself, number for number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kcnet_core.datasets import load
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import DataError, KCNetError
from kcnet_core.lessons.circuit import CircuitSettings, Glomeruli, forward_pass, train_fly
from kcnet_core.lessons.circuit_drawing import circuit_picture, leading_answers, shown_answers
from kcnet_core.network.explain import contributions

STEPS = ("input", "wiring", "sum", "inhibition", "relu", "votes", "answer")
COLOURS = {"hot": "#f00", "cold": "#00f", "rest": "#eee"}


@pytest.fixture(scope="module")
def digits():
    return Glomeruli(load("digits"))


@pytest.fixture(scope="module")
def fly(digits):
    return train_fly(digits, CircuitSettings(cells=200))


@pytest.fixture(scope="module")
def odors():
    """A small multi-label world: constant, infinite and useful descriptors."""
    rng = np.random.default_rng(5)
    X = rng.lognormal(size=(60, 12)).astype(np.float32)
    X[:, 3] = 7
    X[10, 4] = np.inf
    return Dataset(
        name="made up",
        title="made up",
        X=X,
        y=(X[:, :3] > 1).astype(int),
        feature_names=tuple(f"f{i}" for i in range(12)),
        target_names=("sweet", "musky", "green"),
        groups=np.repeat(np.arange(30), 2),
    )


def test_every_step_of_the_walk_agrees_with_the_network(digits, fly):
    for row in digits.test[:20]:
        x = digits.rates[row]
        walk = forward_pass(fly, x)
        np.testing.assert_allclose(walk.activity, fly.hidden(x[None])[0], atol=1e-5)
        scores = fly.decision_function(x[None])[0]
        np.testing.assert_allclose(walk.votes.sum(axis=0), scores, atol=1e-5)
        assert walk.votes.sum(axis=0).argmax() == fly.predict(x[None])[0]


def test_the_walk_follows_the_papers_equations(digits, fly):
    walk = forward_pass(fly, digits.rates[0])
    for cell in (0, 17, 199):
        inputs = walk.inputs_of(cell)
        assert len(inputs) == 7
        assert walk.sums[cell] == pytest.approx(digits.rates[0][inputs].sum(), abs=1e-5)
    assert walk.mean == pytest.approx(walk.sums.mean())
    np.testing.assert_allclose(walk.inhibited, walk.sums - walk.inhibition * walk.mean)
    np.testing.assert_allclose(walk.activity, np.maximum(walk.inhibited, 0))


def test_the_exact_contributions_add_up_to_the_votes(digits, fly):
    x = digits.rates[digits.test[0]]
    shares = contributions(fly, x[None])[0]
    np.testing.assert_allclose(
        shares.sum(axis=0), forward_pass(fly, x).votes.sum(axis=0), atol=1e-4
    )


def test_with_full_inhibition_firing_rates_light_the_same_cells_as_the_papers_standardised_input(
    digits, fly
):
    standardised = digits.dataset.X[digits.test[:50]]
    lit = fly.hidden(digits.rates[digits.test[:50]]) > 1e-5
    np.testing.assert_array_equal(lit, fly.hidden(standardised) > 1e-4)


def test_the_same_wiring_number_is_the_same_fly_and_another_is_not(digits):
    settings = CircuitSettings(cells=100)
    one, again = train_fly(digits, settings), train_fly(digits, settings)
    other = train_fly(digits, replace(settings, wiring=2))
    np.testing.assert_array_equal(one.weights_, again.weights_)
    assert np.any(one.weights_ != other.weights_)


def test_image_rates_are_the_raw_brightness(digits):
    assert digits.rates.min() >= 0
    assert digits.rates.max() <= 1
    raw = digits.dataset.X * digits.dataset.pixel_std + digits.dataset.pixel_mean
    np.testing.assert_allclose(digits.rates, raw, atol=1e-5)


def test_odor_rates_are_ranks_and_unusable_descriptors_are_left_out(odors):
    senses = Glomeruli(odors)
    assert "f3" not in senses.names
    assert "f4" not in senses.names
    column = senses.names.index("f0")
    assert senses.rates[odors.X[:, 0].argmin(), column] == 0
    assert senses.rates[odors.X[:, 0].argmax(), column] == 1
    order = np.argsort(odors.X[:, 0])
    assert np.all(np.diff(senses.rates[order, column]) >= 0)


def test_a_new_molecule_is_sensed_as_the_same_molecule_of_the_dataset(odors):
    senses = Glomeruli(odors)
    np.testing.assert_allclose(senses.sense_descriptors(odors.X[5]), senses.rates[5], atol=1e-6)


def test_a_molecule_without_a_needed_descriptor_is_refused_by_name(odors):
    broken = odors.X[5].copy()
    broken[1] = np.nan
    with pytest.raises(DataError, match="f1"):
        Glomeruli(odors).sense_descriptors(broken)


def test_a_molecule_is_never_taught_and_measured(odors):
    senses = Glomeruli(odors)
    assert not set(odors.groups[senses.train]) & set(odors.groups[senses.test])
    assert len(senses.train) + len(senses.test) == len(odors.X)


def test_an_image_of_the_wrong_size_is_refused(digits):
    with pytest.raises(DataError, match=r"784 pixels.*64"):
        digits.sense_pixels(np.zeros((28, 28)))


def test_settings_out_of_bounds_name_the_setting_and_its_limits():
    with pytest.raises(KCNetError, match=r"inhibition is 9.*between 0 and 2"):
        CircuitSettings(inhibition=9.0)


def test_a_tag_holds_the_loudest_twentieth_and_no_silent_cell(digits, fly):
    walk = forward_pass(fly, digits.rates[3])
    tag = fly.tags(digits.rates[[3]])[0]
    assert tag.sum() == 10
    assert walk.activity[tag].min() >= walk.activity[~tag].max()
    assert np.all(walk.activity[tag] > 0)


@pytest.mark.parametrize("step", STEPS)
def test_the_drawing_says_what_the_numbers_say(digits, fly, step):
    walk = forward_pass(fly, digits.rates[digits.test[0]])
    picture = circuit_picture(
        walk,
        step,
        5,
        input_names=digits.names,
        answer_names=digits.dataset.target_names,
        colours=COLOURS,
        image_shape=(8, 8),
    )
    assert len(picture["inputs"]["values"]) == 64
    assert len(picture["cells"]["values"]) == 200
    assert picture["chosen"]["inputs"] == walk.inputs_of(5).tolist()
    winners = [answer["name"] for answer in picture["answers"] if answer["winner"]]
    assert winners == [str(walk.probabilities.argmax())]
    lit = np.array(picture["cells"]["values"])
    if step in ("input", "wiring"):
        assert not lit.any()
    if step == "inhibition":
        assert (lit < 0).any()
        assert (lit > 0).any()
    if step in ("relu", "votes", "answer"):
        assert lit.min() == 0
        assert str(walk.n_active) in picture["titles"]["cells"][1]


def test_many_answers_are_cut_to_the_most_probable(digits, fly):
    walk = replace(forward_pass(fly, digits.rates[0]), probabilities=np.linspace(0, 0.9, 30))
    assert shown_answers(walk).tolist() == list(range(29, 19, -1))
    assert leading_answers(walk).tolist() == [k for k in range(29, 0, -1) if 0.9 * k / 29 > 0.5]
