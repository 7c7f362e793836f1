"""Scaling learns from training rows only, keeps every promise of a scikit-learn transformer."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm, rankdata
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import DataError
from kcnet_core.network.scaling import (
    MAX_QUANTILES,
    METHODS,
    ODOR_CLIP,
    FeatureScaler,
    default_scaler,
)

RNG = np.random.default_rng(0)
SCALERS = [FeatureScaler(method, clip) for method in METHODS for clip in (None, 2.0)]


EXPECTED_FAILURES = {
    "check_estimators_pickle": "its rows hold NaN in every column, so no column is left to scale; "
    "test_pickling_keeps_the_scale does the same with finite rows",
}


@pytest.mark.parametrize("scaler", SCALERS, ids=str)
def test_scaler_is_a_scikit_learn_transformer(scaler):
    check_estimator(scaler, expected_failed_checks=EXPECTED_FAILURES, on_skip=None)


@pytest.mark.parametrize("scaler", SCALERS, ids=str)
def test_pickling_keeps_the_scale(scaler):
    X = RNG.normal(size=(20, 3))
    scaler = clone(scaler).fit(X)
    again = pickle.loads(pickle.dumps(scaler))
    np.testing.assert_array_equal(again.transform(X), scaler.transform(X))


def test_standard_gives_mean_zero_and_deviation_one_in_float32():
    X = RNG.normal(50, 9, (200, 4))
    Z = FeatureScaler().fit_transform(X)
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(Z.std(axis=0), 1, rtol=1e-5)


def test_constant_and_not_finite_columns_are_dropped_by_name():
    frame = pd.DataFrame(
        {"size": [1.0, 2, 3], "flat": [7.0, 7, 7], "holes": [1, np.nan, 2], "huge": [1, np.inf, 2]}
    )
    scaler = FeatureScaler().fit(frame)
    assert scaler.dropped_.tolist() == ["flat", "holes", "huge"]
    assert scaler.get_feature_names_out().tolist() == ["size"]
    assert scaler.transform(frame).shape == (3, 1)


def test_without_scaling_a_constant_pixel_stays_so_that_images_keep_their_shape():
    X = np.array([[0.0, 1.0], [0.0, 2.0]])
    scaler = FeatureScaler("none").fit(X)
    np.testing.assert_array_equal(scaler.transform(X), X)
    assert scaler.dropped_.size == 0


def test_tiny_numbers_are_not_taken_for_constant():
    X = np.float32([[1e-20], [3e-20], [2e-20]])
    np.testing.assert_allclose(FeatureScaler().fit_transform(X).std(), 1, rtol=1e-5)


def test_large_offsets_do_not_spoil_the_deviation():
    X = (1e6 + RNG.normal(size=(500, 1))).astype(np.float64)
    np.testing.assert_allclose(FeatureScaler().fit_transform(X).std(), 1, rtol=1e-3)


def test_nothing_left_is_said_in_a_sentence():
    with pytest.raises(DataError, match="None of the 2 columns can be used"):
        FeatureScaler().fit(np.ones((5, 2)))


def test_a_new_row_with_a_hole_is_named():
    scaler = FeatureScaler().fit(RNG.normal(size=(9, 3)))
    X = np.zeros((4, 3))
    X[2, 1] = np.nan
    with pytest.raises(DataError, match=r"Row 2 .* not finite in x1"):
        scaler.transform(X)


def test_a_hole_in_a_dropped_column_does_no_harm():
    scaler = FeatureScaler().fit([[1.0, 5.0], [2.0, 5.0]])
    assert scaler.transform([[1.0, np.nan]]).tolist() == [[-1.0]]


def test_rank_is_the_normal_score_of_the_midrank():
    x = RNG.lognormal(0, 3, 200)
    expected = norm.ppf((rankdata(x) - 0.5) / 200)
    Z = FeatureScaler("rank").fit_transform(x[:, None])
    np.testing.assert_allclose(Z[:, 0], expected, atol=1e-5)


def test_rank_gives_a_zero_one_column_the_middle_of_its_ties():
    x = np.repeat([0.0, 1.0], [150, 50])[:, None]
    Z = FeatureScaler("rank").fit_transform(x)
    assert Z[0, 0] == pytest.approx(norm.ppf(0.375), abs=0.01)
    assert Z[-1, 0] == pytest.approx(norm.ppf(0.875), abs=0.01)


def test_rank_keeps_rare_values_apart_even_with_more_rows_than_quantiles():
    x = np.zeros((20 * MAX_QUANTILES, 1))
    x[3] = 1.0
    Z = FeatureScaler("rank").fit_transform(x)
    assert Z[3, 0] > Z[0, 0] + 1


@given(
    arrays(np.float32, (30, 2), elements=st.floats(-(2.0**100), 2.0**100, width=32)),
    arrays(np.float32, (8, 2), elements=st.floats(-(2.0**100), 2.0**100, width=32)),
    st.sampled_from(["standard", "rank"]),
)
@settings(deadline=None, max_examples=60)
def test_scaling_keeps_the_order_and_stays_finite(train, new, method):
    train[:2] = [[0, 0], [1, 1]]
    scaler = FeatureScaler(method, clip=8.0).fit(train)
    Z = scaler.transform(new)
    assert np.isfinite(Z).all() and np.abs(Z).max() <= 8
    for j in range(2):
        ordered = Z[np.argsort(new[:, j], kind="stable"), j]
        assert (np.diff(ordered) >= -1e-5).all()


@pytest.mark.parametrize("scaler", SCALERS, ids=str)
def test_state_makes_the_same_scaler_again(scaler):
    X = RNG.lognormal(0, 2, (80, 5))
    X[:, 2] = 4
    names = list("abcde")
    scaler = clone(scaler).fit(X)
    state = scaler.get_state()
    assert all(isinstance(value, np.ndarray) and value.dtype != object for value in state.values())
    again = FeatureScaler.from_state(scaler.get_params(), state, names)
    np.testing.assert_array_equal(again.transform(X), scaler.transform(X))
    if scaler.method != "none":
        assert again.dropped_.tolist() == ["c"]


@pytest.mark.parametrize("name", ["kept_", "mean_"])
def test_incomplete_or_wrong_state_is_refused(name):
    scaler = FeatureScaler().fit(RNG.normal(size=(9, 3)))
    state = scaler.get_state()
    with pytest.raises(DataError, match="lacks"):
        FeatureScaler.from_state({}, {k: v for k, v in state.items() if k != name})
    with pytest.raises(DataError, match="does not fit"):
        FeatureScaler.from_state({}, state | {"mean_": np.zeros(7)})


@pytest.mark.parametrize("params", [{"method": "minmax"}, {"clip": 0}, {"clip": -1.0}])
def test_unknown_settings_are_refused(params):
    with pytest.raises(DataError):
        FeatureScaler(**params).fit(RNG.normal(size=(9, 3)))


def test_in_a_pipeline_the_test_rows_never_reach_the_scale():
    X, y = RNG.normal(size=(60, 3)), np.arange(60) % 2
    model = make_pipeline(FeatureScaler(), LogisticRegression())
    before = model.fit(X[:40], y[:40])[0].mean_.copy()
    X[40:] = 1e9
    model.predict(X[40:])
    np.testing.assert_array_equal(model[0].mean_, before)
    np.testing.assert_array_equal(clone(model).fit(X[:40], y[:40])[0].mean_, before)


def test_odors_are_scaled_and_images_are_not():
    odors = Dataset("o", "Odors", np.zeros((2, 1)), np.arange(2), ("a",), ("no", "yes"))
    assert default_scaler(odors).get_params() == {"method": "standard", "clip": ODOR_CLIP}
    assert default_scaler(replace(odors, image_shape=(1, 1))) is None
