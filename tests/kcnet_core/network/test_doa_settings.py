"""What DOA's automatic settings come to."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kcnet_core import KCNetClassifier
from kcnet_core.network.doa_settings import InitialPath, default_batch_rows
from kcnet_core.network.wiring import Wiring


def initial_path(noise, n=600, d=20, groups=None, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = rng.normal(size=(n, d)) + 3 * rng.normal(size=(2, d))[y]
    y = np.where(rng.random(n) < noise, rng.integers(2, size=n), y)
    rows = (a.astype(np.float32) for a in (X, np.eye(2)[y], np.ones(n)))
    return InitialPath(*rows, groups, 1.0, np.random.default_rng(1), torch.device("cpu"))


WIRING = Wiring.sample(300, 20, 7, np.random.default_rng(0))


def test_rows_are_held_out_where_labels_are_mostly_noise_and_not_where_they_are_clear():
    assert initial_path(noise=0.9).gradient_rows(WIRING) == "held_out"
    assert initial_path(noise=0.05).gradient_rows(WIRING) == "batch"


def test_many_rows_or_hardly_any_are_never_held_out():
    assert initial_path(noise=1.0, n=6000).gradient_rows(WIRING) == "batch"
    assert initial_path(noise=1.0, n=8).gradient_rows(WIRING) == "batch"
    three_groups = np.arange(600) % 3
    assert initial_path(noise=1.0, groups=three_groups).gradient_rows(WIRING) == "batch"


def test_twins_in_a_group_do_not_make_noise_look_learnable():
    one = initial_path(noise=1.0, n=300)
    twice = (np.repeat(a, 2, axis=0) for a in (one.X, one.Y, one.w))
    twins = InitialPath(
        *twice, np.repeat(np.arange(300), 2), 1.0, np.random.default_rng(1), torch.device("cpu")
    )
    assert twins.gradient_rows(WIRING) == "held_out"


def test_lambda_grows_with_the_rows_that_the_sample_stands_for():
    one = initial_path(noise=0.3, n=400)
    twice = (np.repeat(a, 2, axis=0) for a in (one.X, one.Y, one.w))
    doubled = InitialPath(
        *twice, np.repeat(np.arange(400), 2), 1.0, np.random.default_rng(1), torch.device("cpu")
    )
    assert doubled.best_alpha(WIRING) == pytest.approx(2 * one.best_alpha(WIRING), rel=0.8)
    assert doubled.best_alpha(WIRING) > one.best_alpha(WIRING)


@pytest.mark.parametrize(
    ("n_hidden", "n_rows", "batch"),
    [(100, 60_000, 1000), (650, 60_000, 2600), (6500, 60_000, 10_000), (2000, 900, 900)],
)
def test_batches_grow_with_the_cells_within_limits(n_hidden, n_rows, batch):
    assert default_batch_rows(n_hidden, n_rows) == batch


def test_the_notes_of_a_fit_spell_out_every_automatic_choice():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 12)), rng.integers(2, size=200)
    noisy = KCNetClassifier(n_hidden=30, n_epochs=1, random_state=0).fit(X, y)
    assert "held out from beta" in noisy.doa_notes_
    assert "learning rate 0.03" in noisy.doa_notes_
    assert "lambda 1" in noisy.doa_notes_
    paper = KCNetClassifier(n_hidden=30, n_epochs=1, doa_rule="paper", random_state=0).fit(X, y)
    assert "validation rows" in paper.doa_notes_
    assert "mask used_inputs" in paper.doa_notes_
