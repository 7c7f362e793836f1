"""Curves of a run under way: the same places and axes from before the first epoch to the last."""

from __future__ import annotations

import json

import numpy as np
import pytest

from kcnet_core import figures
from kcnet_core.experiments.frames import SCORE_BINS, score_counts
from kcnet_core.experiments.run import Run
from kcnet_core.experiments.training import TrainView
from kcnet_core.figures.live.charts import density_chart, flips_chart, metric_chart, scores_chart
from kcnet_core.network.history import EpochRecord
from tests.kcnet_core.figures.epochs import frame, records, scores

DOA = Run(model="DOA", n_epochs=9)


def named(chart: dict, name: str) -> dict:
    return next(one for one in chart["series"] if one["name"] == name)


def charts(run: Run, made: list[EpochRecord]) -> list[dict]:
    view = TrainView(run, "Training", 0.5, made, len(made), (), (frame(scores()),))
    return figures.training_charts(run, view)


@pytest.mark.parametrize("model, n", [("DOA", 4), ("Ensemble DOA", 4), ("FSHN", 1)])
def test_places_and_the_axis_of_epochs_are_there_before_the_first_epoch(model, n):
    run = Run(model=model, n_epochs=9)
    before, after = figures.training_charts(run, None), charts(run, records(3))
    assert len(before) == len(after) == n
    for one, other in zip(before, after, strict=True):
        assert (one["title"], one["x"]) == (other["title"], other["x"])
        assert all(chart["alt"].endswith(".") and len(chart["alt"]) > 20 for chart in (one, other))
        assert not any(y for series in one["series"] for y in series["y"])
        json.dumps([one, other], allow_nan=False)


def test_the_curve_of_one_network_has_a_ring_and_a_level_where_it_would_stop():
    run = Run(model="DOA", n_epochs=60, stop_metric=0.9)
    chart = metric_chart(run, records(5), "accuracy", dark=False)
    line = named(chart, "validation")
    assert line["x"] == [1, 2, 3, 4, 5] and line["y"][-1] == pytest.approx(0.75)
    assert line["ring"] == "best, kept" and line["end"] == 3
    assert named(chart, "training")["dash"]
    assert chart["x"] == {"name": "Epoch", "min": 0, "max": 60}
    assert chart["title"] == "Accuracy" and chart["level"]["at"] == 0.9
    assert "0.7500 in epoch 5" in chart["alt"]


def test_an_ensemble_has_a_thin_line_per_submodel_their_mean_and_no_ring():
    run = Run(model="Ensemble DOA", n_epochs=9)
    chart = metric_chart(run, records(4, n_submodels=3), "accuracy", dark=False)
    assert [named(chart, f"submodel {k}")["y"][0] for k in (1, 2, 3)] == [0.55, 0.56, 0.57]
    mean = named(chart, "validation, mean")
    assert mean["y"][0] == pytest.approx(0.56) and mean["ring"] is None
    in_legend = [one["name"] for one in chart["series"] if one["named"]]
    assert in_legend == ["training, mean", "validation, mean"]


def test_flips_go_up_for_on_and_down_for_off_over_all_submodels():
    chart = flips_chart(DOA, records(2, n_submodels=2), dark=False)
    assert named(chart, "switched on")["y"] == [21, 41]
    assert named(chart, "switched off")["y"] == [-6, -12]
    assert chart["y"]["min"] == -chart["y"]["max"], "one scale for both"


def test_of_very_many_epochs_a_bar_is_the_mean_of_a_few():
    many = [EpochRecord(e, 0, None, None, e, 2, 0.1, 0.1) for e in range(1001)]
    chart = flips_chart(Run(model="DOA", n_epochs=1000), many, dark=False)
    on = named(chart, "switched on")
    assert len(on["x"]) <= 251 and chart["bar"] == 4
    assert (on["x"][:2], on["y"][:2]) == ([0, 4], [1.5, 5.5])
    assert on["y"][-1] == 1000


def test_density_is_shown_in_per_cent():
    chart = density_chart(DOA, records(3), dark=False)
    assert chart["series"][0]["y"] == pytest.approx([1, 2, 3])


def test_the_scores_are_parted_into_on_and_off_and_every_one_is_counted():
    S = scores()
    counts = score_counts(S)
    assert (counts == np.histogram(S, np.linspace(-1, 1, SCORE_BINS + 1))[0]).all()
    off, on = scores_chart(counts, dark=False)["series"]
    assert max(off["x"]) < 0 < min(on["x"])
    assert sum(off["y"]) + sum(on["y"]) == pytest.approx(100, abs=0.01)
    assert sum(on["y"]) == pytest.approx(100 * (S > 0).mean(), abs=0.01)
    assert (off["first"], on["first"]) == (0, len(off["x"])), "which bins of a moment are theirs"


def test_a_thousand_epochs_of_fifty_submodels_stay_small_to_send():
    run = Run(model="Ensemble DOA", n_epochs=1000, n_submodels=50)
    assert len(json.dumps(charts(run, records(1000, 50)))) < 150_000
