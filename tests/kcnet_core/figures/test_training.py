"""A metric by epoch: a chart that stands still while its lines grow."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from kcnet_core import figures
from tests.kcnet_core.figures.epochs import records


def named(curve, name) -> dict:
    return next(one for one in curve.option["series"] if one["name"] == name)


def xs(series) -> list:
    return [x for x, _ in series["data"]]


def ys(series) -> list:
    return [y for _, y in series["data"]]


def test_the_validation_curve_of_one_network():
    curve = figures.validation_curve(records(5), "accuracy", n_epochs=60, stop_metric=0.9)
    line = named(curve, "validation")
    assert xs(line) == [1, 2, 3, 4, 5]
    assert ys(line)[-1] == pytest.approx(0.75)
    assert named(curve, "training")["lineStyle"]["type"] == "dotted"
    assert curve.option["xAxis"]["max"] == 60
    assert curve.option["yAxis"]["name"] == "Accuracy"
    assert curve.option["series"][-1]["markLine"]["data"] == [{"yAxis": 0.9}]
    assert "0.7500 in epoch 5" in curve.alt


def test_the_newest_number_stands_at_the_end_of_its_line_and_a_ring_around_the_best():
    made = [*records(3), replace(records(4)[-1], validation_metric=0.6)]
    curve = figures.validation_curve(made, mark_best=True)
    assert named(curve, "")["label"]["formatter"] == "0.600"
    assert named(curve, "best, kept")["data"] == [[3, 0.65]]


def test_the_words_at_the_stop_line_keep_away_from_the_curves():
    def place(train):
        made = [replace(one, train_metric=train, validation_metric=0.65) for one in records(100)]
        curve = figures.validation_curve(made, stop_metric=0.87)
        return curve.option["series"][-1]["markLine"]["label"]["position"]

    assert place(0.91).endswith("Bottom"), "the training curve runs just above the line"
    assert place(0.99) == "insideStartTop"


def test_an_ensemble_has_a_line_per_submodel_and_their_mean():
    curve = figures.validation_curve(records(4, n_submodels=3))
    assert [named(curve, f"submodel {k}")["data"][0][1] for k in (1, 2, 3)] == [0.55, 0.56, 0.57]
    assert ys(named(curve, "validation, mean"))[0] == pytest.approx(np.mean([0.55, 0.56, 0.57]))
    assert curve.option["legend"]["data"] == ["training, mean", "validation, mean"]


def test_the_mean_waits_for_the_slowest_submodel():
    behind = [r for r in records(4, 2) if not (r.submodel == 1 and r.epoch > 2)]
    assert xs(named(figures.validation_curve(behind), "validation, mean")) == [1, 2]


def test_axes_stand_still_while_a_curve_grows():
    def axes(n):
        option = figures.validation_curve(records(n), n_epochs=60).option
        return option["xAxis"], option["grid"]

    assert axes(1) == axes(2) == axes(5)


def test_a_thousand_epochs_of_fifty_submodels_stay_small_to_send():
    assert len(json.dumps(figures.validation_curve(records(1000, 50)).option)) < 150_000


def test_a_curve_without_any_epoch_is_empty_and_not_an_error():
    curve = figures.validation_curve([], n_epochs=10)
    assert curve.option["title"]["text"] == "Waiting for the first numbers"
    assert curve.alt
