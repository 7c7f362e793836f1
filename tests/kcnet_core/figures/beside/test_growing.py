"""What the charts and pictures of KCNet beside ELM show, and say to those who cannot see them."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

from kcnet_core.experiments.beside.curves import Curves
from kcnet_core.experiments.metrics import mean_interval
from kcnet_core.figures.beside.growing import (
    as_rows,
    difference_curve,
    output_bars,
    width_curve,
)
from kcnet_core.figures.beside.inside import cells_picture, weights_picture
from kcnet_core.palette import model_colour

EMPTY = Curves(*(np.empty(0, int),) * 2, *(np.empty((2, 0)),) * 4)
MEAN = np.array([[0.4, 0.7, 0.9], [0.5, 0.6, 0.8]])
FOUND = Curves(
    np.array([10, 100, 1000]), np.array([3, 3, 1]), MEAN, MEAN - 0.1, MEAN + 0.1, np.ones((2, 3))
)


def named(curve, name):
    return [one for one in curve.option["series"] if one["name"] == name and one["data"]]


def pixels(uri: str) -> np.ndarray:
    data = base64.b64decode(uri.removeprefix("data:image/png;base64,"))
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


@pytest.mark.parametrize("dark", [False, True])
def test_both_networks_have_their_line_colour_dash_and_last_number(dark):
    drawn = width_curve(FOUND, "accuracy", 2000, 100, dark=dark)
    for k, (name, dash) in enumerate({"KCNet": "solid", "ELM": "dashed"}.items()):
        (line,) = named(drawn, name)
        assert line["data"] == [[10, MEAN[k, 0]], [100, MEAN[k, 1]], [1000, MEAN[k, 2]]]
        assert line["color"] == model_colour(name, dark) and line["lineStyle"]["type"] == dash
    labels = [one["label"] for one in drawn.option["series"] if "label" in one]
    assert [label["formatter"] for label in labels] == ["0.900", "0.800"]
    assert labels[0]["offset"][1] < 0 < labels[1]["offset"][1]  # the higher stands above
    assert drawn.option["xAxis"]["max"] == 2000 and drawn.option["xAxis"]["type"] == "log"
    assert "KCNet 0.400 to 0.900 and ELM 0.500 to 0.800" in drawn.alt


def test_a_band_lies_between_the_ends_of_the_interval_where_seeds_are_enough():
    drawn = width_curve(FOUND, "accuracy", 2000, 100)
    lower, upper = [one for one in drawn.option["series"] if one.get("stack") == "ELM band"]
    assert lower["data"] == [[10, 0.4], [100, 0.5]]  # the third width has one seed
    assert upper["data"] == [[10, 0.2], [100, 0.2]] and upper["areaStyle"]["opacity"] == 1


def test_before_the_first_point_the_charts_wait():
    for drawn in (width_curve(EMPTY, "accuracy", 200, 50), difference_curve([], 5, "accuracy")):
        assert "Waiting" in drawn.option["title"]["text"]
        assert "nothing measured yet" in drawn.alt


def test_the_difference_shows_mean_and_interval_after_each_seed():
    values = [-0.03, -0.02, -0.05]
    found = [mean_interval(values[:n]) for n in (1, 2, 3)]
    drawn = difference_curve(found, 5, "accuracy")
    (line,) = named(drawn, "mean difference")
    assert line["data"] == [[1, -0.03], [2, -0.025], [3, pytest.approx(-0.033333, abs=1e-5)]]
    lower, upper = [one for one in drawn.option["series"] if one.get("stack") == "interval band"]
    assert [x for x, _ in lower["data"]] == [2, 3]  # one seed has none
    assert lower["data"][1][1] + upper["data"][1][1] == pytest.approx(found[2].high, abs=1e-4)
    ends = drawn.option["yAxis"]
    assert ends["max"] == -ends["min"] >= abs(found[2].low)
    assert drawn.option["series"][-1]["label"]["formatter"] == "−0.033"
    assert "after 3 seeds: -0.0333, 95% interval" in drawn.alt


def test_outputs_name_the_true_class_in_bold_and_light_the_strongest():
    outputs = np.array([0.1, np.nan, 0.8])
    drawn = output_bars(outputs, ["a", "b", "c"], [0], "ELM", (-0.7, 1.2))
    bars = drawn.option["series"][0]["data"]
    assert [bar["value"] for bar in bars] == [0.1, None, 0.8]
    full = model_colour("ELM", False)
    assert [bar["itemStyle"]["color"] == full for bar in bars] == [False, False, True]
    names = drawn.option["xAxis"]["data"]
    assert names[0]["textStyle"]["fontWeight"] == "bold" and names[1:] == ["b", "c"]
    assert (drawn.option["yAxis"]["min"], drawn.option["yAxis"]["max"]) == (-1.0, 1.5)
    assert drawn.alt == "ELM's outputs: a 0.10, c 0.80. Strongest: c."
    rows = as_rows(drawn).option
    assert rows["yAxis"]["inverse"] and rows["xAxis"] == drawn.option["yAxis"]


def test_every_one_of_a_sparse_wiring_can_be_seen_and_a_dense_one_has_no_paper():
    W = np.zeros((40, 784), np.uint8)
    W[np.arange(40), np.arange(40) * 19] = 1
    sparse = pixels(weights_picture(W))
    paper = np.array([0xFB, 0xFA, 0xF7])
    inked = np.abs(sparse.astype(int) - paper).sum(axis=2) > 100
    up = len(sparse) // 40
    assert (inked[::up].sum(axis=1) > 0).all() and inked.mean() < 0.02
    A = np.random.default_rng(0).uniform(-1, 1, (40, 784)).astype(np.float32)
    dense = pixels(weights_picture(A))
    assert (np.abs(dense.astype(int) - paper).sum(axis=2) > 30).mean() > 0.8


def test_cells_are_as_bright_as_they_are_active_and_the_rest_is_no_cell():
    activity = np.zeros(50)
    activity[7] = 2.0
    field = pixels(cells_picture(activity, dark=True))
    brightest = field.sum(axis=2) > 600
    assert 0.01 < brightest.mean() < 0.03  # one of 50 and the margin
    assert not brightest[-1].any()
