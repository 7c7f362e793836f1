"""A run carried out: honest splits, steps that can be watched, a result that can be repeated."""

from __future__ import annotations

import json
import math
import runpy
from dataclasses import replace

import numpy as np
import pytest

from kcnet_core.datasets import load
from kcnet_core.errors import DataError
from kcnet_core.experiments import report
from kcnet_core.experiments.frames import Replay
from kcnet_core.experiments.lambda_path import LambdaPath
from kcnet_core.experiments.protocols import split_of, subsampled
from kcnet_core.experiments.reopen import reopen, run_of
from kcnet_core.experiments.run import NETWORK_NAMES, Run
from kcnet_core.experiments.training import train_steps
from kcnet_core.model_file import load_model
from kcnet_core.network.history import EpochRecord

QUICK = {"dataset": "digits", "n_hidden": 60, "n_epochs": 3, "n_submodels": 3}


@pytest.fixture(scope="module")
def digits():
    return load("digits")


def carried_out(run, dataset, most_views=math.inf):
    """All views and the result; finished early after `most_views`."""
    views = []
    steps = train_steps(run, dataset, lambda: len(views) > most_views)
    while True:
        try:
            views.append(next(steps))
        except StopIteration as end:
            return views, end.value


@pytest.mark.parametrize("model", NETWORK_NAMES)
def test_every_model_trains_and_is_scored_on_rows_it_never_saw(model, digits):
    views, trained = carried_out(Run(model=model, **QUICK), digits)
    assert trained.scores["accuracy"] > 0.5
    assert not set(trained.train_rows) & set(trained.test_rows)
    assert len(trained.predictions) == len(trained.test_rows)
    fractions = [view.fraction for view in views]
    assert fractions == sorted(fractions)
    assert set(trained.timings) >= {"evaluate"}


@pytest.mark.parametrize("model", ["DOA", "Ensemble DOA"])
def test_a_run_that_is_finished_early_is_a_run_of_so_many_epochs(model, digits):
    long = Run(model=model, **QUICK | {"n_epochs": 100})
    _, early = carried_out(long, digits, most_views=7)  # within a round of the ensemble
    assert 0 < early.run.n_epochs < 100
    _, same = carried_out(early.run, digits)
    assert (early.model.coef_ == same.model.coef_).all()
    assert early.scores == same.scores
    assert early.model.get_params() == same.model.get_params()
    assert "ended by hand" in early.notes[0] and "ended by hand" not in same.notes[0]


def test_finishing_at_once_still_makes_one_epoch(digits):
    *_, last = (steps := train_steps(Run(model="DOA", **QUICK), digits, lambda: True))
    assert not list(steps)
    assert [record.epoch for record in last.records] == [0, 1]


def test_only_epochs_count_as_steps(digits):
    views, _ = carried_out(Run(model="Ensemble DOA", **QUICK), digits)
    assert sum(view.counts_as_step for view in views) == (3 + 1) * 3


def test_a_view_does_not_change_when_training_goes_on(digits):
    steps = train_steps(Run(model="DOA", **QUICK), digits)
    early = next(view for view in steps if view.n_records == 1)
    list(steps)
    assert len(early.records) == 1
    assert early.records[0].epoch == 0


def test_the_replay_begins_with_the_drawn_wiring_and_ends_with_the_kept_one(digits):
    _, trained = carried_out(Run(model="DOA", **QUICK), digits)
    first, last = trained.frames[0], trained.frames[-1]
    assert first.W.sum(axis=1).tolist() == [7] * 60
    assert np.array_equal(last.W, trained.model.weights_)
    assert np.array_equal(last.S > 0, last.W == 1)


def test_a_wiring_that_stays_is_seen_while_its_rows_are_summed(digits):
    views, trained = carried_out(Run(model="KCNet", **QUICK), digits)
    summing = next(view for view in views if view.stage.startswith("Summing"))
    assert np.array_equal(summing.frames[0].W, trained.model.weights_)
    assert trained.frames is summing.frames, "and it is the result's"


def test_an_ensembles_frames_hold_all_submodels(digits):
    _, trained = carried_out(Run(model="Ensemble DOA", **QUICK), digits)
    assert all(frame.shape == (60, 64) for frame in trained.frames)


def test_a_long_replay_stays_bounded_and_keeps_both_ends():
    replay = Replay(capacity=10)
    for epoch in range(100):
        W = np.full((4, 5), epoch % 2, np.uint8)
        replay.add(EpochRecord(epoch, 0, None, 0.5, 0, 0, 0.5, 0.0, W, W - 0.5))
    replay.finish(99, None, W)
    assert len(replay.frames) <= 10
    assert replay.frames[0].epoch == 0
    assert replay.frames[-1].epoch == 99


def test_fewer_training_rows_keep_the_classes_in_proportion(digits):
    train = np.arange(digits.n_train)
    few = subsampled(digits, train, 200, seed=0)
    assert len(few) == len(set(few)) == 200
    shares = np.bincount(digits.y[few], minlength=10) / 200
    whole = np.bincount(digits.y[train], minlength=10) / len(train)
    assert np.abs(shares - whole).max() < 0.01


def test_the_script_repeats_the_run_exactly(digits, tmp_path, capsys):
    _, trained = carried_out(Run(model="DOA", rows=500, **QUICK), digits)
    path = tmp_path / "repeat.py"
    path.write_text(report.repeat_script(trained))
    scores = runpy.run_path(str(path))["scores"]
    assert scores == trained.scores


def test_the_report_names_data_protocol_and_versions(digits):
    _, trained = carried_out(Run(model="KCNet", **QUICK), digits)
    said = json.loads(report.report_json(trained))
    assert said["protocol"]["test_rows"] == len(trained.test_rows)
    assert said["run"]["n_hidden"] == 60
    assert said["dataset"]["licence"]
    assert "torch" in said["versions"]
    assert report.report_csv(trained).startswith("submodel,epoch,")


@pytest.mark.parametrize("model", ["DOA", "FSHN"])
def test_a_saved_model_opens_with_the_same_scores(model, digits):
    _, trained = carried_out(Run(model=model, **QUICK), digits)
    saved = load_model(report.model_file(trained))
    run = run_of(saved)
    assert run == trained.run
    assert reopen(saved, run, digits).scores == trained.scores


@pytest.mark.parametrize("pixels", ["per_pixel", "none"])
def test_script_and_saved_model_keep_the_scale_of_the_pixels(pixels, tmp_path, capsys):
    run = Run(model="KCNet", pixels=pixels, **QUICK)
    _, trained = carried_out(run, run.load())
    path = tmp_path / "repeat.py"
    path.write_text(report.repeat_script(trained))
    assert runpy.run_path(str(path))["scores"] == trained.scores
    saved = load_model(report.model_file(trained))
    again = run_of(saved)
    assert again == run
    assert reopen(saved, again, again.load()).scores == trained.scores


@pytest.mark.parametrize("model", ["KCNet", "Ensemble DOA"])
def test_a_locally_wired_run_can_be_repeated_by_script_and_reopened(model, digits, tmp_path):
    fields = {"wiring": "local", "min_field": 3, "max_field": 5}
    run = Run(model=model, **QUICK, **fields)
    _, trained = carried_out(run, digits)
    path = tmp_path / "again.py"
    path.write_text(report.repeat_script(trained))
    assert runpy.run_path(str(path))["scores"] == trained.scores
    saved = load_model(report.model_file(trained))
    assert run_of(saved) == run
    again = reopen(saved, run, digits)
    assert again.scores == trained.scores
    assert (again.model.fields_ == trained.model.fields_).all()


def test_images_that_are_not_square_are_wired_in_their_own_shape(digits):
    cut = digits.X.reshape(-1, 8, 8)[:, :, :6].reshape(-1, 48)
    wide = replace(
        digits, X=cut, image_shape=(8, 6), feature_names=tuple(f"pixel {i}" for i in range(48))
    )
    _, trained = carried_out(Run(model="KCNet", **QUICK, wiring="local", min_field=3), wide)
    assert trained.model.wiring_.fields.shape == (8, 6, 1)


def test_local_wiring_is_refused_for_a_table_of_ones_own(digits):
    table = replace(digits, image_shape=None, title="My table")  # 64 columns, but no image
    with pytest.raises(DataError, match="My table has no pixels"):
        carried_out(Run(**QUICK, wiring="local"), table)


def test_a_model_file_from_before_pixels_could_be_scaled_opens(digits):
    _, trained = carried_out(Run(model="KCNet", **QUICK), digits)
    saved = load_model(report.model_file(trained))
    del saved.info["run"]["pixels"]
    assert run_of(saved) == trained.run


def test_moving_lambda_to_the_trained_value_changes_nothing(digits):
    _, trained = carried_out(Run(model="KCNet", alpha=5.0, **QUICK), digits)
    path = LambdaPath(trained)
    assert path.at(5.0).test_score == pytest.approx(trained.scores["accuracy"])
    assert path.at(5.0).coef_norm == pytest.approx(np.linalg.norm(trained.model.coef_), rel=1e-3)


def test_molecules_are_kept_apart_by_default():
    starter = load("starter")
    protocol, split = split_of(Run(dataset="starter"), starter)
    assert protocol == "unseen_molecules"
    assert not set(starter.groups[split.train]) & set(starter.groups[split.test])


def test_odor_scaling_sees_training_rows_only():
    starter = load("starter")
    run = Run(dataset="starter", model="KCNet", n_hidden=100)
    _, split = split_of(run, starter)
    _, clean = carried_out(run, starter)
    poisoned = starter.X.copy()
    poisoned[split.test] *= 1000
    from dataclasses import replace

    _, other = carried_out(run, replace(starter, X=poisoned))
    assert np.array_equal(clean.model.coef_, other.model.coef_)
