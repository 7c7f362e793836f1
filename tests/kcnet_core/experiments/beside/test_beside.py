"""KCNet beside ELM: every width from one factorisation, against networks fitted one by one."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn.linear_model import Ridge

from kcnet_core import ELMClassifier, KCNetClassifier, datasets
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.beside.curves import curves, differences, nearest, scene_of
from kcnet_core.experiments.beside.growth import Growth
from kcnet_core.experiments.beside.plan import LEVELS, MAX_ROWS, Beside
from kcnet_core.experiments.beside.steps import beside_job
from kcnet_core.experiments.comparison.noise import spoil
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.comparison.rows import PlannedRows
from kcnet_core.experiments.fitting import prepare
from kcnet_core.network.scores import accuracy, auroc

DIGITS = Beside(Comparison(dataset="digits", rows=300), 200, 2)


@pytest.fixture(scope="module")
def digits():
    return datasets.load("digits")


@pytest.fixture(scope="module")
def points(digits):
    return list(beside_job(DIGITS, digits).steps())[-1].items


def outputs(H, Y, H_test, alpha):
    """Ridge by scikit-learn: other formulas, other libraries. Arrays (n, B), (n, c), (m, B)."""
    return Ridge(alpha, fit_intercept=False, solver="svd").fit(H, Y).predict(H_test)


@pytest.mark.parametrize(("n", "alpha"), [(90, 0.5), (25, 3.0)])  # more rows than units, and fewer
def test_every_width_of_one_factorisation_equals_a_fit_of_its_own(n, alpha):
    rng = np.random.default_rng(0)
    H, H_test, Y = rng.random((n, 60)), rng.random((7, 60)), rng.random((n, 3))
    growth, before = Growth(60, torch.from_numpy(Y), 7, alpha), 0
    for width in (1, 2, 10, 11, 37, 60):
        units = slice(before, width)
        growth.add(torch.from_numpy(H[:, units].T), torch.from_numpy(H_test[:, units].T))
        expected = outputs(H[:, :width], Y, H_test[:, :width], alpha)
        np.testing.assert_allclose(growth.outputs, expected, rtol=1e-9, atol=1e-12)
        before = width


def first_fold(plan, dataset):
    planned = PlannedRows(plan.comparison, dataset)
    split = planned.splits()[0]
    return planned, split, prepare(dataset, split)


def independent_activity(name, fold, X, B, seed):
    """H (n, B) by the networks' formulas in NumPy, from the weights that the estimators draw."""
    estimator = {"KCNet": KCNetClassifier, "ELM": ELMClassifier}[name](B, random_state=seed)
    net = estimator.fit(fold.X_train[:60], fold.y_train[:60])
    sums = X.astype(float) @ net.weights_.astype(float).T
    if name == "ELM":
        return 1 / (1 + np.exp(-(sums + net.biases_)))
    return np.maximum(sums - sums.mean(axis=1, keepdims=True), 0)  # the mean over all cells drawn


@pytest.mark.parametrize("width", [10, 51, 200])
@pytest.mark.parametrize(("place", "name"), [(0, "KCNet"), (1, "ELM")])
def test_the_curve_equals_independent_fits_inhibited_by_all_cells_drawn(
    points, digits, place, name, width
):
    _, split, fold = first_fold(DIGITS, digits)
    H, *tests = (
        independent_activity(name, fold, X, 200, split.seed)
        for X in (
            fold.X_train,
            fold.X_test,
            spoil(fold.X_test, "noise", LEVELS[-1], dataset=digits, seed=split.seed),
        )
    )
    point = next(p for p in points if (p.repeat, p.width) == (0, width))
    alpha = scene_of(points).layers[place].alpha
    for level, H_test in zip((0, -1), tests, strict=True):
        Z = outputs(H[:, :width], np.eye(10)[fold.y_train], H_test[:, :width], alpha)
        assert point.scores[place, level] == accuracy(fold.y_test, Z.argmax(1))
        shown = point.outputs[place, level]
        np.testing.assert_allclose(shown, Z[: len(shown)], atol=1e-4)


@pytest.mark.parametrize(("place", "make"), [(0, KCNetClassifier), (1, ELMClassifier)])
def test_the_widest_point_is_the_very_network_that_compare_would_fit(points, digits, place, make):
    planned, split, fold = first_fold(DIGITS, digits)
    variant = planned.variants[place]
    net = variant.make(split.seed).fit(fold.X_train, fold.y_train)
    assert isinstance(net, make)
    widest = next(p for p in points if (p.repeat, p.width) == (0, 200))
    assert abs(widest.scores[place, 0] - net.score(fold.X_test, fold.y_test)) < 0.006
    scene = scene_of(points)
    assert scene.layers[place].alpha == pytest.approx(net.alpha_, rel=1e-4)
    np.testing.assert_array_equal(scene.layers[place].window, net.weights_[:40])
    np.testing.assert_allclose(
        scene.layers[place].hidden[0], net.hidden(fold.X_test[:60]), atol=1e-4
    )


def test_a_narrow_kcnet_drawn_alone_is_inhibited_by_other_cells(points, digits):
    """Why the page says whose mean it is: alone, ten cells give other outputs."""
    _, split, fold = first_fold(DIGITS, digits)
    H = independent_activity("KCNet", fold, fold.X_train, 200, split.seed)[:, :10]
    net = KCNetClassifier(200, random_state=split.seed).fit(fold.X_train[:60], fold.y_train[:60])
    alone, alone_test = (
        np.maximum(sums - sums.mean(axis=1, keepdims=True), 0)
        for sums in (X @ net.weights_[:10].T for X in (fold.X_train, fold.X_test))
    )
    assert np.abs(H - alone).max() > 0.1
    point, Y = points[0], np.eye(10)[fold.y_train]
    Z = outputs(alone, Y, alone_test, scene_of(points).layers[0].alpha)
    assert np.abs(point.outputs[0, 0] - Z[:60]).max() > 0.05


def test_seeds_come_one_after_the_other_and_each_grows_from_narrow_to_wide(points):
    assert [(p.repeat, p.width) for p in points] == [
        (repeat, width) for repeat in (0, 1) for width in DIGITS.widths
    ]
    assert DIGITS.widths[0] == 10 and DIGITS.widths[-1] == 200
    assert sorted(set(DIGITS.widths)) == list(DIGITS.widths)
    first = [p.seconds for p in points if p.repeat == 0]
    assert all(a[k] < b[k] for a, b in itertools.pairwise(first) for k in (0, 1))
    assert points[0].scene is not None and all(p.scene is None for p in points[1:])
    assert all((p.outputs is None) == (p.repeat > 0) for p in points)


def test_a_score_is_that_of_the_answers_to_all_test_rows(points, digits):
    _, split, _ = first_fold(DIGITS, digits)
    point, scene = points[-1 - len(DIGITS.widths)], scene_of(points)
    assert point.n_test == len(split.test) and point.n_train == 300
    assert (scene.rows == split.test[:60]).all()
    right = point.outputs[0, 0].argmax(1) == digits.y[scene.rows]
    assert abs(right.mean() - point.scores[0, 0]) < 0.15  # 60 of 397 rows


def test_several_odor_characters_at_once_are_judged_by_auroc():
    starter = datasets.load("starter")
    plan = Beside(Comparison(dataset="starter", rows=200), 200, 1)
    points = list(beside_job(plan, starter).steps())[-1].items
    _, split, fold = first_fold(plan, starter)
    wide, scene = points[-1], scene_of(points)
    H, H_test = (
        independent_activity("KCNet", fold, X, 200, split.seed) for X in (fold.X_train, fold.X_test)
    )
    Z = outputs(H, fold.y_train, H_test, scene.layers[0].alpha)
    assert wide.scores[0, 0] == pytest.approx(auroc(fold.y_test, Z), abs=1e-4)
    assert scene.layers[0].alpha == 100.0  # what a comparison on odors takes


def test_a_class_that_no_training_row_has_is_never_the_answer(digits):
    rare = digits.y.copy()
    rare[: digits.n_train][rare[: digits.n_train] == 7] = 1
    odd = replace(digits, y=rare)
    points = list(beside_job(replace(DIGITS, seeds=1), odd).steps())[-1].items
    assert np.isnan(points[-1].outputs[..., 7]).all()
    assert np.isfinite(np.delete(points[-1].outputs, 7, axis=-1)).all()
    assert points[-1].scores[0, 0] < 0.95  # sevens of the test rows are missed


def test_the_difference_has_the_t_interval_of_its_seeds(points):
    found = differences(points, 100, 0)
    values = [p.scores[0, 0] - p.scores[1, 0] for p in points if p.width == 100]
    assert [one.n for one in found] == [1, 2]
    assert np.isnan(found[0].low) and found[0].mean == values[0]
    reach = stats.t.ppf(0.975, 1) * np.std(values, ddof=1) / np.sqrt(2)
    assert found[1].low == pytest.approx(np.mean(values) - reach)
    assert found[1].high == pytest.approx(np.mean(values) + reach)


def test_the_difference_of_splits_that_share_rows_has_a_wider_interval(points):
    shared = [replace(p, protocol="paper_split") for p in points]
    narrow, wide = (differences(one, 100, 0)[-1] for one in (points, shared))
    grow = np.sqrt((1 / 2 + points[0].n_test / points[0].n_train) / (1 / 2))
    assert wide.high - wide.low == pytest.approx(grow * (narrow.high - narrow.low))


def test_curves_hold_what_is_there_while_a_seed_still_grows(points):
    half = points[: len(DIGITS.widths) + 5]
    found = curves(half, 1)
    assert list(found.widths) == list(DIGITS.widths)
    assert list(found.seeds) == [2] * 5 + [1] * (len(DIGITS.widths) - 5)
    assert np.isnan(found.low[:, 5:]).all() and np.isfinite(found.low[:, :5]).all()
    assert found.mean[1, 6] == half[6].scores[1, 1]
    assert curves([], 0).mean.shape == (2, 0)
    assert nearest(points[:4], 150).width == DIGITS.widths[3] and nearest([], 10) is None


def test_a_sparse_wiring_takes_fewer_bytes_than_a_dense_one(points):
    kcnet, elm = scene_of(points).layers
    assert kcnet.bytes[100] == -(-100 * 7 * 6 // 8) + 4 * 100 * 10  # 64 inputs have 6 bits
    assert elm.bytes[100] == 4 * 100 * (64 + 1 + 10)


def test_plans_that_measure_the_same_are_equal():
    other = replace(
        DIGITS.comparison, models=("SVM",), hidden=(30,), n_repeats=9, fshn_size="hidden"
    )
    assert Beside(replace(other, settings='{"DOA": {"n_epochs": 3}}'), 200, 2) == DIGITS
    assert Beside(Comparison(), 200).comparison.rows == MAX_ROWS
    assert Beside(replace(other, settings='{"KCNet": {"alpha": 3.0}}'), 200, 2) != DIGITS


def test_settings_of_kcnet_reach_the_live_network_with_one_lambda_for_all_widths(digits):
    chosen = '{"KCNet": {"alpha": 3.0, "alpha_loo": true, "fan_in": 4}}'
    plan = Beside(replace(DIGITS.comparison, settings=chosen), 200, 1)
    scene = scene_of(list(beside_job(plan, digits).steps())[-1].items)
    assert scene.layers[0].alpha == 3.0
    assert (scene.layers[0].window.sum(axis=1) == 4).all()


def test_a_wiring_by_another_plan_grows_as_the_estimator_draws_it(digits):
    plan = Beside(replace(DIGITS.comparison, wirings=("local", "random")), 200, 1)
    assert plan.comparison.wirings == ("local",)
    points = list(beside_job(plan, digits).steps())[-1].items
    planned, split, fold = first_fold(plan, digits)
    net = planned.variants[0].make(split.seed).fit(fold.X_train, fold.y_train)
    assert net.wiring == "local"
    np.testing.assert_array_equal(scene_of(points).layers[0].window, net.weights_[:40])
    assert abs(points[-1].scores[0, 0] - net.score(fold.X_test, fold.y_test)) < 0.006


def test_seeds_that_are_there_are_not_grown_again(points, digits):
    kept = [*points[: len(DIGITS.widths)], *points[len(DIGITS.widths) : -1]]  # seed 1 is a stump
    views = list(beside_job(DIGITS, digits, kept).steps())
    items = views[-1].items
    assert items[: len(DIGITS.widths)] == points[: len(DIGITS.widths)]
    assert views[0].done == len(DIGITS.widths) and len(items) == len(points)
    np.testing.assert_array_equal(items[-1].scores, points[-1].scores)


@pytest.mark.parametrize("wrong", [{"widest": 12}, {"seeds": 0}, {"seeds": 99}])
def test_a_plan_that_cannot_be_carried_out_is_refused_with_its_limits(wrong):
    with pytest.raises(KCNetError, match=r"cells\.|between 1 and 20"):
        Beside(Comparison(), **wrong)


def test_the_bar_moves_within_a_seed_and_ends_full(digits):
    views = list(beside_job(replace(DIGITS, seeds=1), digits).steps())
    fractions = [view.fraction for view in views]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    assert len(set(fractions)) > 10 and views[-1].total == len(DIGITS.widths)
