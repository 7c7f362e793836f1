"""DOA: gradients against finite differences, and the loop against Algorithm 1."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from kcnet_core.errors import DataError
from kcnet_core.network.doa import (
    WiringSearch,
    initial_scores,
    loss_gradient,
    split_rows,
    with_fan_ins,
)
from kcnet_core.network.doa_settings import DOASettings
from kcnet_core.network.wiring import Wiring

SETTINGS = DOASettings(
    rule="varpro",
    n_epochs=8,
    learning_rate=0.05,
    alpha=1.0,
    inhibition=1.0,
    gradient_mask="none",
    gradient_rows="batch",
    batch_rows=10_000,
    validation_fraction=0.25,
    stop_metric=None,
    stop_rule="algorithm1",
    restore_best=True,
    fan_in_penalty=0.0,
    keep_fan_in=False,
    fan_in_target=4,
    metric="accuracy",
    kind="multiclass",
)


def problem(n=300, d=20, c=3, seed=0, signal=2.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(c, size=n)
    X = rng.normal(size=(n, d)) + signal * rng.normal(size=(c, d))[y]
    tensors = (torch.from_numpy(a.astype(np.float32)) for a in (X, np.eye(c)[y], np.ones(n)))
    return tuple(tensors)


def search(settings=SETTINGS, n_hidden=12, seed=0, groups=None, **options):
    X, Y, w = problem(**options)
    wiring = Wiring.sample(n_hidden, X.shape[1], 4, np.random.default_rng(seed))
    rng = np.random.default_rng(seed + 1)
    return WiringSearch(X, Y, w, groups, wiring, settings, rng, torch.device("cpu"))


# -- gradients --------------------------------------------------------------------------------


def hidden(W, X, C, mean=None):
    xbar = W @ X.T
    return np.maximum(xbar - (C * xbar.mean(0) if mean is None else mean), 0)


def ridge(H, Y, w, alpha):
    return np.linalg.solve((H * w) @ H.T + alpha * np.eye(len(H)), (H * w) @ Y)


def finite_differences(loss, W, h=1e-6):
    gradient = np.zeros_like(W)
    for index in np.ndindex(*W.shape):
        step = np.zeros_like(W)
        step[index] = h
        gradient[index] = (loss(W + step) - loss(W - step)) / (2 * h)
    return gradient


def real_problem(c=3):
    """W is taken as real numbers: the smooth surrogate in which DOA's gradient is exact."""
    rng = np.random.default_rng(4)
    W, X = rng.random((5, 6)), rng.normal(size=(40, 6))
    Y = np.eye(c)[rng.integers(c, size=40)]
    return W, X, Y, rng.random(40) + 0.5


def gradient_of(beta, W, X, Y, w, rule, kind, C):
    H = hidden(W, X, C)
    tensors = map(torch.from_numpy, (beta, X, H, Y, w))
    return loss_gradient(*tensors, rule, kind, C).numpy()


@pytest.mark.parametrize("C", [0.0, 0.7, 1.0])
def test_varpro_is_the_exact_gradient_of_the_loss_with_beta_solved_anew(C):
    W, X, Y, w = real_problem()
    alpha = 0.8

    def projected_loss(W):
        H = hidden(W, X, C)
        beta = ridge(H, Y, w, alpha)  # beta follows W
        return 0.5 * (w * ((H.T @ beta - Y) ** 2).sum(1)).sum() + 0.5 * alpha * (beta**2).sum()

    beta = ridge(hidden(W, X, C), Y, w, alpha)
    found = gradient_of(beta, W, X, Y, w, "varpro", "multiclass", C)
    np.testing.assert_allclose(found, finite_differences(projected_loss, W), atol=1e-5)


@pytest.mark.parametrize("kind", ["multiclass", "multilabel"])
def test_the_papers_gradient_is_that_of_the_cross_entropy_with_beta_and_mean_held(kind):
    W, X, Y, w = real_problem()
    C = 1.0
    beta = ridge(hidden(W, X, C), Y, w, 0.8)
    mean = C * (W @ X.T).mean(0)  # appendix A does not differentiate the other cells' inhibition

    def cross_entropy(W):
        Z = hidden(W, X, C, mean).T @ beta
        if kind == "multiclass":
            losses = (np.log(np.exp(Z).sum(1, keepdims=True)) - Z) * Y
        else:
            losses = np.logaddexp(0, Z) - Y * Z
        return (w * losses.sum(1)).sum()

    found = gradient_of(beta, W, X, Y, w, "paper", kind, C)
    np.testing.assert_allclose(found, finite_differences(cross_entropy, W), atol=1e-5)


# -- the loop ---------------------------------------------------------------------------------


def test_initial_scores_agree_with_the_wiring_and_the_published_ranges():
    wiring = Wiring.sample(200, 30, 7, np.random.default_rng(0))
    S = initial_scores(wiring, np.random.default_rng(1)).numpy()
    W = wiring.matrix().astype(bool)
    assert ((S > 0) == W).all()
    assert S[W].max() <= 0.02
    assert S[W].mean() == pytest.approx(0.01, abs=0.001)
    assert S[~W].min() >= -1
    assert S[~W].mean() == pytest.approx(-0.5, abs=0.02)


@pytest.mark.parametrize("rule", ["varpro", "paper"])
def test_the_wiring_always_follows_the_scores_and_flips_are_counted(rule):
    records = list(search(replace(SETTINGS, rule=rule, learning_rate=0.02)).epochs(matrices=True))
    assert [r.epoch for r in records] == list(range(9))
    for before, after in pairwise(records):
        assert ((after.S > 0) == after.W.astype(bool)).all()
        assert np.abs(after.S).max() <= 1
        change = after.W.astype(int) - before.W
        assert after.flips_on == (change == 1).sum()
        assert after.flips_off == (change == -1).sum()
        assert after.density == pytest.approx(after.W.mean())
    assert sum(r.flips_on for r in records) > 0


@pytest.mark.parametrize("rule", ["varpro", "paper"])
@pytest.mark.parametrize("gradient_rows", ["batch", "held_out"])
def test_doa_improves_a_small_network(rule, gradient_rows):
    settings = replace(
        SETTINGS, rule=rule, gradient_rows=gradient_rows, n_epochs=30, learning_rate=0.02
    )
    records = list(search(settings, n_hidden=6, n=900, d=40, signal=0.5).epochs())
    best = max(r.validation_metric for r in records)
    assert best > records[0].validation_metric + 0.03


def test_only_existing_connections_move_under_the_papers_mask_so_w_only_loses_ones():
    settings = replace(SETTINGS, rule="paper", gradient_mask="connected", learning_rate=0.05)
    records = list(search(settings).epochs(matrices=True))
    assert sum(r.flips_on for r in records) == 0
    assert sum(r.flips_off for r in records) > 0


def test_inputs_that_no_cell_uses_never_move_under_the_published_mask():
    settings = replace(SETTINGS, gradient_mask="used_inputs", restore_best=False)
    found = search(settings, n_hidden=2)
    unused = ~found.wiring.matrix().any(0)
    before = found.scores.clone()
    list(found.epochs())
    assert unused.any()
    assert (found.scores[:, unused] == before[:, unused]).all()


def test_the_best_epochs_wiring_is_restored_unless_told_otherwise():
    records, kept = {}, {}
    for restore in (True, False):
        one = search(replace(SETTINGS, learning_rate=0.3, n_epochs=12, restore_best=restore))
        records[restore], kept[restore] = list(one.epochs(matrices=True)), one
    best = max(records[True], key=lambda r: r.validation_metric)
    assert best.epoch < 12
    assert (kept[True].wiring.matrix() == best.W).all()
    assert (kept[True].scores.numpy() == best.S).all()
    assert (kept[False].wiring.matrix() == records[False][-1].W).all()
    assert f"epoch {best.epoch}" in kept[True].stopped
    assert "last wiring" in kept[False].stopped


def test_algorithm_1_stops_before_the_update_once_the_metric_is_reached():
    one = search(replace(SETTINGS, stop_metric=0.01))
    start = one.wiring.matrix()
    records = list(one.epochs())
    assert len(records) == 1
    assert (one.wiring.matrix() == start).all()
    assert "reached 0.01 at epoch 0" in one.stopped


def test_the_published_rule_measures_after_the_update_with_the_old_output_weights():
    one = search(replace(SETTINGS, stop_metric=0.01, stop_rule="published", restore_best=False))
    start = one.wiring.matrix()
    assert len(list(one.epochs())) == 1
    assert (one.wiring.matrix() != start).any()
    assert "reached" in one.stopped


def test_all_epochs_run_when_the_metric_is_out_of_reach():
    one = search(replace(SETTINGS, stop_metric=1.01))
    assert len(list(one.epochs())) == SETTINGS.n_epochs + 1
    assert one.stopped.startswith("All 8 epochs were run")


def test_the_fan_in_penalty_holds_the_fan_in_near_its_target():
    fan_in = {}
    for strength in (0.0, 3.0):
        settings = replace(
            SETTINGS, fan_in_penalty=strength, n_epochs=60, restore_best=False, fan_in_target=5
        )
        one = search(settings, d=60)
        list(one.epochs())
        fan_in[strength] = one.wiring.fan_in.mean()
    assert fan_in[0.0] > 10
    assert abs(fan_in[3.0] - 5) < 2


def test_fan_ins_can_be_kept_exactly_while_who_is_heard_changes():
    one = search(replace(SETTINGS, keep_fan_in=True, n_epochs=30, restore_best=False), d=60)
    start = one.wiring.matrix()
    losses = [record.train_metric for record in one.epochs()]
    end = one.wiring.matrix()
    assert (end.sum(axis=1) == start.sum(axis=1)).all()
    assert (end != start).mean() > 0.02 and losses[-1] > losses[0]
    assert ((one.scores > 0).numpy() == end).all()


def test_kept_fan_ins_survive_scores_that_tie():
    S = torch.tensor([[1.0, 1.0, 1.0, -1.0], [-1.0, -1.0, -1.0, -1.0], [0.3, 0.2, 0.1, 0.9]])
    kept = with_fan_ins(S, torch.tensor([[2], [1], [4]]))
    assert (kept > 0).sum(1).tolist() == [2, 1, 4]
    assert torch.isfinite(kept).all()


def test_rows_of_one_group_stay_on_one_side_in_every_epoch():
    groups = np.arange(300) // 3
    for settings in (replace(SETTINGS, rule="paper"), replace(SETTINGS, gradient_rows="held_out")):
        one = search(settings, groups=groups)
        for _ in range(5):
            fit_rows, gradient_rows, measured = one._draw_rows()
            for other in (gradient_rows, measured):
                assert not set(groups[fit_rows]) & set(groups[other])
            assert set(groups[gradient_rows]) == set(groups[measured]) or not (
                set(groups[gradient_rows]) & set(groups[measured])
            )


def test_validation_rows_of_varpro_are_never_trained_on():
    one = search(replace(SETTINGS, batch_rows=50))
    validation = None
    for _ in range(10):
        fit_rows, gradient_rows, measured = one._draw_rows()
        validation = measured if validation is None else validation
        assert (measured == validation).all()
        assert len(fit_rows) == 50
        assert not set(measured) & (set(fit_rows) | set(gradient_rows))


def test_a_split_needs_two_rows_or_two_groups():
    rng = np.random.default_rng(0)
    kept, held = split_rows(np.arange(2), 0.01, None, rng)
    assert len(kept) == len(held) == 1
    with pytest.raises(DataError, match="at least two rows"):
        split_rows(np.arange(1), 0.5, None, rng)
    with pytest.raises(DataError, match="at least two groups"):
        split_rows(np.arange(5), 0.5, np.zeros(5), rng)


def test_chunks_and_one_piece_give_the_same_epoch(monkeypatch):
    settings = replace(SETTINGS, n_epochs=1, rule="paper", learning_rate=0.01)
    whole, parts = search(settings), search(settings)
    list(whole.epochs())
    monkeypatch.setattr("kcnet_core.network.doa.CHUNK_VALUES", 100)
    monkeypatch.setattr("kcnet_core.network.doa.rows_per_chunk", lambda n_hidden: 37)
    list(parts.epochs())
    assert torch.allclose(whole.scores, parts.scores, atol=1e-4)
