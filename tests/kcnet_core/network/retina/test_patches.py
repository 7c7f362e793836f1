"""The retina learns what images are made of, without labels, and sees where it is."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kcnet_core import KCNetClassifier
from kcnet_core.errors import DataError, KCNetError
from kcnet_core.network.blocked_matmul import on_one_core
from kcnet_core.network.retina import PatchRetina


def bars(n=300, side=16, channels=1, seed=0):
    """Short bars, upright (0) or lying (1), anywhere on a noisy image."""
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 0.2, (n, side, side, channels)).astype(np.float32)
    y = rng.integers(0, 2, n)
    for image, lying in zip(X, y, strict=True):
        top, left = rng.integers(0, side - 6, 2)
        if lying:
            image[top : top + 2, left : left + 6] += 2
        else:
            image[top : top + 6, left : left + 2] += 2
    return X.reshape(n, -1), y


def retina(**options):
    return PatchRetina(
        **{"n_patches": 12, "patch_size": 4, "n_samples": 3000, "random_state": 0} | options
    )


def test_a_network_behind_a_retina_tells_what_raw_pixels_do_not():
    X, y = bars(600)
    net = KCNetClassifier(100, random_state=0)
    seen = make_pipeline(retina(), StandardScaler(), net).fit(X[:400], y[:400])
    raw = clone(net).fit(X[:400], y[:400])
    assert seen.score(X[400:], y[400:]) > 0.95
    assert seen.score(X[400:], y[400:]) > raw.score(X[400:], y[400:]) + 0.05


def test_every_part_of_the_image_is_seen_apart():
    X = np.zeros((2, 16, 16), np.float32)
    X[0, 1:7, 1:3] = X[1, 9:15, 13:15] = 1  # one corner, then the opposite one
    model = retina(threshold=0.0).fit(bars()[0])
    blank = model.transform(np.zeros((1, 256), np.float32)).reshape(4, -1)
    first, last = (
        np.abs(model.transform(image.reshape(1, -1)).reshape(4, -1) - blank).sum(1) for image in X
    )
    assert first.argmax() == 0 and first[3] < 1e-6 * first[0]
    assert last.argmax() == 3 and last[0] < 1e-6 * last[3]


def test_brightness_and_contrast_of_a_whole_image_change_little():
    X, _ = bars()
    model = retina(threshold=0.0).fit(X)
    same, other = model.transform(X[:5]), model.transform(3 * X[:5] + 7)
    assert np.corrcoef(same.ravel(), other.ravel())[0, 1] > 0.95
    np.testing.assert_allclose(model.transform(X[:5] + 7), same, rtol=1e-3, atol=1e-2)


def test_colours_count():
    X, _ = bars(channels=3)
    model = retina().fit(X)
    assert model.shape_ == (16, 16, 3)
    assert model.patches_.shape == (12, 4 * 4 * 3)
    assert model.transform(X[:7]).shape == (7, 2 * 4 * 12)


def test_the_same_seed_learns_the_same_patches_whatever_the_chunks():
    X, _ = bars(230)
    a, b, c = (retina(random_state=seed).fit(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(a.filters_, b.filters_)
    assert (a.filters_ != c.filters_).any()
    np.testing.assert_allclose(
        a.transform(X)[120:130], a.transform(X[120:130]), rtol=1e-4, atol=1e-4
    )


def test_what_is_seen_does_not_depend_on_the_number_of_cores():
    X, _ = bars(430)
    eye = retina(scaled=True).fit(X)
    with on_one_core():
        alone = eye.transform(X)
    np.testing.assert_array_equal(eye.transform(X), alone)


def test_columns_have_names():
    model = retina().fit(bars()[0])
    names = model.get_feature_names_out()
    assert len(set(names)) == 96
    assert names[[0, 13, -1]].tolist() == ["patch 0+ [0, 0]", "patch 1− [0, 0]", "patch 11− [1, 1]"]


def test_one_convolution_sees_what_every_patch_by_itself_gives():
    X, _ = bars(40, channels=3)
    model = retina().fit(X)
    P = np.lib.stride_tricks.sliding_window_view(X.reshape(-1, 16, 16, 3), (4, 4), axis=(1, 2))
    P = np.moveaxis(P, 3, -1).reshape(40, 13, 13, -1)
    Z = (model._evened(P) - model.mean_) @ model.filters_
    first = Z[:, :7, :7]  # np.array_split of 13 places: 7 and 6
    wanted = np.concatenate([np.maximum(s * first - 0.25, 0).sum((1, 2)) for s in (1, -1)], 1)
    np.testing.assert_allclose(model.transform(X)[:, :24], wanted, rtol=1e-3, atol=1e-2)


def test_scaled_outputs_have_mean_0_and_deviation_1_on_the_images_learned_from():
    X, _ = bars(200)
    seen = retina(scaled=True).fit_transform(X)
    np.testing.assert_allclose(seen.mean(0), 0, atol=1e-3)
    np.testing.assert_allclose(seen.std(0), 1, atol=1e-3)


@pytest.mark.parametrize(
    ("options", "columns", "sentence"),
    [
        ({}, 255, "no square image"),
        ({"patch_size": 17}, 256, "lower patch_size"),
        ({"n_patches": 0}, 256, "n_patches must be"),
    ],
)
def test_what_cannot_be_seen_is_refused_with_a_sentence(options, columns, sentence):
    with pytest.raises((DataError, KCNetError), match=sentence):
        retina(**options).fit(bars()[0][:, :columns])
