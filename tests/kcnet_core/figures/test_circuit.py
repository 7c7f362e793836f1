"""The Learn page's figures show the numbers they are given, in light and in dark."""

from __future__ import annotations

import json

import numpy as np
import plotly.io
import pytest

from kcnet_core.datasets import load
from kcnet_core.figures import circuit, flies
from kcnet_core.figures.layout import alt
from kcnet_core.lessons.circuit import CircuitSettings, Glomeruli, forward_pass, train_fly
from kcnet_core.lessons.experiments import (
    compare_flies,
    fly_answers,
    inhibition_sweep,
    next_fly,
    opinions,
    tag_pairs,
)
from kcnet_core.palette import faded, theme


@pytest.fixture(scope="module")
def digits():
    return Glomeruli(load("digits"))


@pytest.fixture(scope="module")
def fly(digits):
    return train_fly(digits, CircuitSettings(cells=100))


@pytest.fixture(scope="module")
def walk(digits, fly):
    return forward_pass(fly, digits.rates[digits.test[0]])


@pytest.fixture(scope="module")
def sweep(digits, fly):
    return inhibition_sweep(fly, digits, *digits.rates[digits.test[:2]], np.linspace(0, 2, 5))


@pytest.fixture(scope="module")
def all_figures(digits, fly, walk, sweep):
    names, answers = digits.names, digits.dataset.target_names
    first = CircuitSettings(cells=50)
    swarm = [fly_answers(digits, next_fly(first, number)) for number in range(3)]
    rates = digits.rates[digits.test[:3]]

    def draw(dark):
        return {
            "rates": circuit.rates_figure(walk, names, dark),
            "inputs": circuit.cell_inputs_figure(walk, 3, names, names, dark),
            "sums": circuit.sums_figure(walk, 3, dark),
            "inhibited": circuit.inhibited_figure(walk, 3, dark),
            "activity": circuit.activity_figure(walk, dark),
            "votes": circuit.votes_figure(walk, answers, dark),
            "pixels": circuit.pixel_map_figure(np.linspace(-1, 1, 64), (8, 8), dark),
            "shares": circuit.input_shares_figure(np.linspace(-1, 1, 64), names, names, dark),
            "active": flies.active_share_figure(sweep, 1.0, ("a", "b"), dark),
            "distance": flies.tag_distance_figure(sweep, 1.0, dark),
            "strips": flies.tag_strips_figure(fly.tags(rates), ("a", "b", "c"), dark),
            "scatter": flies.tag_scatter_figure(
                tag_pairs(fly, digits), [(0.9, 0.8, "nearest")], ("same", "different"), dark
            ),
            "pairs": flies.fly_pairs_figure(compare_flies(swarm), dark),
            "opinions": flies.opinions_figure(opinions(swarm, rates[0]), answers, dark),
            "measured": flies.measurement_figure(
                ["C = 0", "C = 1"], [80.0, 40.0], "%", "share", guess=50, best=(1,), dark=dark
            ),
        }

    return draw(False), draw(True)


def test_rates_that_nobody_measured_are_pale(digits, walk):
    known = np.arange(len(walk.rates)) % 2 == 0
    drawn = circuit.rates_figure(walk, digits.names, known=known)
    colours = drawn.data[0].marker.color
    assert set(colours[::2]) == {theme(False).primary}
    assert set(colours[1::2]) == {faded(theme(False).primary, circuit.PALE)}
    assert "pale: never measured" in alt(drawn)


def test_every_figure_has_an_alternative_text_and_named_axes(all_figures):
    light, _ = all_figures
    for name, figure in light.items():
        assert len(alt(figure)) > 20, name
        if name not in ("pixels", "pairs"):
            titles = [a.title.text for a in (figure.layout.xaxis, figure.layout.yaxis)]
            assert any(titles) and all(title[0].isupper() for title in titles if title), name


@pytest.mark.parametrize("guess", [0.0, 40.3, 80.0])
def test_no_line_goes_through_the_words_of_a_measurement(guess):
    figure = flies.measurement_figure(
        ["C = 0", "C = 1"], [80.0, 40.0], "%", "share", guess=guess, best=(1,)
    )
    prediction, *values = figure.layout.annotations
    assert prediction.xref == "paper" and prediction.x > 1  # beside the line, which ends at 1
    assert figure.layout.margin.r >= 80
    assert [value.text for value in values] == ["80.0", "40.0"]
    assert {value.bgcolor for value in values} == {theme(False).background}  # above the line


def test_dark_figures_use_other_colours_than_light_ones(all_figures):
    light, dark = all_figures
    for name in light:
        assert plotly.io.to_json(light[name]) != plotly.io.to_json(dark[name]), name


def test_figures_are_small_enough_to_send_on_every_move_of_a_slider(all_figures):
    for figure in all_figures[0].values():
        assert len(json.dumps(json.loads(plotly.io.to_json(figure)))) < 150_000


def test_histograms_lose_no_cell(all_figures, walk):
    for name in ("sums", "inhibited"):
        assert np.sum(all_figures[0][name].data[0].y) == len(walk.sums)


@pytest.mark.parametrize("C", [0.0, 1.0, 2.0])
def test_the_inhibited_heap_moves_and_its_axis_does_not(digits, C):
    fly = train_fly(digits, CircuitSettings(cells=100, inhibition=C))
    walk = forward_pass(fly, digits.rates[digits.test[0]])
    bars = circuit.inhibited_figure(walk, 0).data[0]
    assert bars.x[0] <= -2 * walk.mean + 0.1
    assert bars.x[-1] >= walk.sums.max() - 0.1
    above = np.asarray(bars.y)[np.asarray(bars.x) > 0].sum()
    assert above == pytest.approx(np.count_nonzero(walk.inhibited > 0), abs=2)


def test_votes_add_up_to_the_score(all_figures, digits, fly):
    in_favour, against, score = all_figures[0]["votes"].data
    np.testing.assert_allclose(np.array(in_favour.x) + np.array(against.x), score.x, atol=1e-9)
    scores = fly.decision_function(digits.rates[digits.test[:1]])[0]
    np.testing.assert_allclose(score.x, scores, atol=1e-5)
