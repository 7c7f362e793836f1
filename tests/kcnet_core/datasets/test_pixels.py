"""Choosing rows keeps class balance; standardisation uses training rows only and can be undone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcnet_core.datasets.pixels import (
    NORMALISATIONS,
    image_dataset,
    softened,
    softening,
    stratified_rows,
    training_rows_first,
)
from kcnet_core.errors import DataError


@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(1, 40), min_size=1, max_size=8),
    share=st.floats(0, 1),
    seed=st.integers(0, 9),
)
def test_stratified_rows_are_distinct_and_cover_every_class(counts, share, seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    n = len(counts) + int(share * (len(y) - len(counts)))
    rows = stratified_rows(y, n, rng)
    assert len(rows) == n == len(np.unique(rows))
    assert np.bincount(y[rows], minlength=len(counts)).min() >= 1


def test_class_shares_are_kept_to_the_nearest_row():
    y = np.repeat([0, 1, 2], [600, 300, 100])
    rows = stratified_rows(y, 100, np.random.default_rng(0))
    assert np.bincount(y[rows]).tolist() == [60, 30, 10]


def test_a_rare_class_is_never_lost():
    y = np.repeat([0, 1], [999, 1])
    assert 1 in y[stratified_rows(y, 2, np.random.default_rng(0))]


@pytest.mark.parametrize("n", [0, 1, 7])
def test_an_impossible_number_of_rows_is_refused(n):
    with pytest.raises(DataError, match=r"between 2 .* and 6"):
        stratified_rows(np.array([0, 0, 0, 1, 1, 1]), n, np.random.default_rng(0))


def test_training_rows_come_first_and_every_row_once():
    y = np.repeat(np.arange(5), 20)
    order = training_rows_first(y, 80, seed=3)
    assert sorted(order) == list(range(100))
    assert np.bincount(y[order[:80]]).tolist() == [16] * 5
    assert (order == training_rows_first(y, 80, seed=3)).all()


@pytest.fixture
def pixels():
    return np.random.default_rng(0).integers(0, 256, (50, 4, 6), dtype=np.uint8)


def make(pixels, **options):
    return image_dataset(
        pixels, np.arange(len(pixels)) % 2, name="a", title="A", target_names=("x", "y"), **options
    )


@pytest.mark.parametrize("normalise", ["global", "per_pixel"])
def test_standardisation_is_that_of_the_training_rows_and_can_be_undone(pixels, normalise):
    pixels[:, 0, 0] = 0  # a pixel that never changes
    data = make(pixels, n_train=30, normalise=normalise)
    raw = pixels.reshape(50, 24) / 255
    axis = None if normalise == "global" else 0
    np.testing.assert_allclose(data.pixel_mean, raw[:30].mean(axis=axis), rtol=1e-6)
    assert data.X.dtype == np.float32
    np.testing.assert_allclose(data.raw_pixels(data.X), raw, atol=1e-6)
    np.testing.assert_allclose(data.X[:30].mean(axis=axis), 0, atol=1e-5)
    spread = data.X[:30].std(axis=axis)
    np.testing.assert_allclose(spread if axis is None else spread[1:], 1, atol=1e-5)


@pytest.mark.parametrize("normalise, low", [("none", 0), ("half", -1)])
def test_pixels_can_have_a_scale_that_no_image_decides(pixels, normalise, low):
    pixels[0, 0, :2] = 0, 255
    data = make(pixels, n_train=30, normalise=normalise)
    raw = pixels.reshape(50, 24) / 255
    np.testing.assert_allclose(data.X, low + raw * (1 - low), atol=1e-6)
    assert (data.X.min(), data.X.max()) == pytest.approx((low, 1), abs=1e-6)
    np.testing.assert_allclose(data.raw_pixels(data.X), raw, atol=1e-6)


@pytest.mark.parametrize("normalise", NORMALISATIONS)
def test_the_way_back_to_raw_pixels_is_the_inverse_of_the_scaling(pixels, normalise):
    data = make(pixels, n_train=30, normalise=normalise)
    raw = data.raw_pixels(data.X)
    assert raw.dtype == np.float32
    np.testing.assert_array_equal(raw, data.X * data.pixel_std + data.pixel_mean)
    np.testing.assert_allclose(data.scaled_pixels(raw), data.X, atol=1e-5)
    np.testing.assert_allclose(data.raw_pixels(data.scaled_pixels(0.0)), 0, atol=1e-7)


def test_softened_pixels_are_mixed_with_their_neighbours_and_then_standardised(pixels):
    data = make(pixels, n_train=30, normalise="soft")
    wide = np.pad(pixels / 255, ((0, 0), (1, 1), (1, 1)), mode="edge")
    soft = sum(
        (2 - abs(down))
        * (2 - abs(across))
        / 16
        * wide[:, 1 + down : 5 + down, 1 + across : 7 + across]
        for down in (-1, 0, 1)
        for across in (-1, 0, 1)
    ).reshape(50, 24)
    np.testing.assert_allclose(data.raw_pixels(data.X), soft, atol=1e-6)
    assert data.softened and data.pixel_mean == pytest.approx(soft[:30].mean())
    assert (data.X[:30].mean(), data.X[:30].std()) == pytest.approx((0, 1), abs=1e-5)


def test_colours_are_softened_each_by_itself():
    images = np.zeros((1, 5, 5, 3), np.uint8)
    images[0, 2, 2, 1] = 100
    soft = softened(images.astype(np.uint16))
    assert soft[0, :, :, 1].tolist() == [
        [0, 0, 0, 0, 0], [0, 100, 200, 100, 0], [0, 200, 400, 200, 0], [0, 100, 200, 100, 0],
        [0, 0, 0, 0, 0],
    ]  # fmt: skip
    assert not soft[..., [0, 2]].any()


def test_rows_are_softened_as_a_model_file_says(pixels):
    rows = pixels.reshape(50, 24) / 255
    data = make(pixels, n_train=30, normalise="soft")
    np.testing.assert_allclose(softening([4, 6], 24)(rows), data.raw_pixels(data.X), atol=1e-6)
    assert softening(None, 24)(rows) is rows
    for damaged in ([4, 5], [24], "46", [4, 6.0], [-4, -6]):
        with pytest.raises((ValueError, TypeError)):
            softening(damaged, 24)


@pytest.mark.parametrize("normalise", NORMALISATIONS)
def test_data_know_how_far_their_inputs_spread(pixels, normalise):
    data = make(pixels, n_train=30, normalise=normalise)
    assert data.input_std == pytest.approx(data.X[:30].std(), rel=1e-5)


def test_a_title_names_every_scale_but_the_papers(pixels):
    titles = {make(pixels, n_train=30, normalise=name).title for name in NORMALISATIONS}
    assert "A" in titles and "A, pixels from 0 to 1" in titles
    assert len(titles) == len(NORMALISATIONS)


def test_pixels_are_named_by_row_and_column(pixels):
    data = make(pixels, n_train=None)
    assert data.feature_names[0] == "pixel [0, 0]"
    assert data.feature_names[-1] == "pixel [3, 5]"


def test_an_unknown_normalisation_is_refused(pixels):
    with pytest.raises(DataError, match="global, per_pixel"):
        make(pixels, n_train=30, normalise="zca")
