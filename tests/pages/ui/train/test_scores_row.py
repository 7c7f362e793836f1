"""The row of numbers while a run counts them up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kcnet_core.experiments.frames import frame_of
from kcnet_core.experiments.run import Run
from kcnet_core.experiments.training import TrainView
from pages.ui.train import scores_row
from tests.kcnet_core.figures.epochs import records


def snapshot(run: Run, log: list) -> TrainView:
    return TrainView(run, "Training", 0.5, log, len(log), metric_name="accuracy")


def test_numbers_are_those_of_the_epoch_that_is_shown():
    run = Run(model="DOA", n_epochs=9)
    view = snapshot(run, records(5))
    assert scores_row.of_epoch(run, view, 2) == {
        "Validation accuracy": "0.6000",
        "Time": "",  # the browser's clock
        "Training accuracy": "0.7000",
        "Epoch": "2 of 9",
        "Density of W": "2.00%",
    }
    assert dict(row[:2] for row in scores_row.so_far(run, view))["Epoch"] == "5 of 9"


def test_an_ensembles_numbers_are_means_of_an_epoch_that_all_submodels_have_reached():
    run = Run(model="Ensemble DOA", n_epochs=9, n_submodels=3)
    halfway = records(4, 3)[:-2]  # of the fourth epoch the first submodel alone
    found = dict(row[:2] for row in scores_row.so_far(run, snapshot(run, halfway)))
    assert (found["Epoch"], found["Validation accuracy"]) == ("3 of 9", "0.6600")


def test_before_the_first_epoch_nothing_is_claimed():
    found = dict(row[:2] for row in scores_row.so_far(Run(model="DOA", n_epochs=9), None))
    assert found["Validation accuracy"] == found["Density of W"] == scores_row.UNKNOWN
    assert found["Epoch"] == "0 of 9"


def test_the_density_of_a_wiring_that_stays_is_known_before_the_solve():
    run, W = Run(model="KCNet"), np.eye(4, dtype=np.uint8)
    view = replace(snapshot(run, []), frames=(frame_of(0, None, W),))
    found = dict(row[:2] for row in scores_row.so_far(run, view))
    assert found["Density of W"] == "25.00%"
    assert found["Leave-one-out accuracy"] == scores_row.UNKNOWN
