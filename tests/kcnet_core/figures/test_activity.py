"""Hidden cells as lights, and from the most to the least active."""

import numpy as np
import pytest

from kcnet_core import figures


@pytest.mark.parametrize("n_cells", [1, 7, 300])
def test_every_cell_has_its_place_and_number(n_cells):
    activity = np.linspace(0, 3, n_cells)
    figure = figures.cell_field(activity, name="KCNet", limit=3.0)
    lights = figure.data[0]
    z, numbers = np.asarray(lights.z, dtype=float).ravel(), np.asarray(lights.customdata).ravel()
    shown = ~np.isnan(z)
    assert shown.sum() == n_cells
    np.testing.assert_allclose(z[shown], activity[numbers[shown]], rtol=1e-6)


def test_the_text_says_how_many_cells_are_active():
    figure = figures.cell_field(np.array([0, 0, 0, 2.0]), name="KCNet", limit=2.0)
    assert "4 hidden cells, 25% of them active" in figures.alt(figure)


def test_a_silent_layer_is_drawn_too():
    figure = figures.cell_field(np.zeros(9), name="KCNet", limit=0.0)
    assert "0% of them active" in figures.alt(figure)


def test_ranked_activity_falls_from_one_for_every_network():
    layers = {"KCNet": np.array([0.0, 4.0, 1.0]), "ELM": np.array([0.9, 0.8, 1.0])}
    figure = figures.activity_ranks(layers, {"KCNet": "#C2410C", "ELM": "#1B45A4"}, dark=True)
    assert [line.name for line in figure.data] == ["KCNet", "ELM"]
    for line in figure.data:
        assert line.y[0] == 1.0
        assert np.all(np.diff(line.y) <= 0)
