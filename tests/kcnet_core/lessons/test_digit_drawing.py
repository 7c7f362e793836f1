"""Drawings are centred as MNIST's digits are, and travel in links unharmed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import center_of_mass

from kcnet_core.errors import DataError
from kcnet_core.lessons import digit_drawing


def bar(rows, columns):
    pixels = np.zeros((28, 28))
    pixels[rows, columns] = 1
    return pixels


@pytest.mark.parametrize(
    "corner", [(slice(0, 12), slice(1, 4)), (slice(14, 26), slice(20, 23))], ids=["top", "bottom"]
)
def test_a_digit_drawn_anywhere_ends_in_the_middle_of_a_twenty_pixel_box(corner):
    centred = digit_drawing.centre_like_mnist(bar(*corner))
    assert center_of_mass(centred) == pytest.approx((14, 14), abs=0.2)
    rows = np.flatnonzero((centred > 0.5).any(axis=1))
    assert np.ptp(rows) + 1 == pytest.approx(20, abs=2)


def test_proportions_survive_centring():
    centred = digit_drawing.centre_like_mnist(bar(slice(4, 24), slice(10, 20)))
    height = np.ptp(np.flatnonzero((centred > 0.5).any(axis=1))) + 1
    width = np.ptp(np.flatnonzero((centred > 0.5).any(axis=0))) + 1
    assert height / width == pytest.approx(2, rel=0.15)


def test_a_dot_stays_a_dot():
    centred = digit_drawing.centre_like_mnist(bar(slice(3, 5), slice(3, 5)))
    assert 0 < (centred > 0.5).sum() < 40


def test_a_blank_drawing_stays_blank():
    assert digit_drawing.is_blank(np.zeros((28, 28)))
    assert not digit_drawing.centre_like_mnist(np.zeros((28, 28))).any()


def test_mnists_own_digits_hardly_move():
    from kcnet_core.datasets import load

    sample = load("mnist_sample", n_train=200, n_test=50)
    raw = np.clip(sample.X[:40] * sample.pixel_std + sample.pixel_mean, 0, 1).reshape(-1, 28, 28)
    for image in raw:
        again = digit_drawing.centre_like_mnist(image)
        assert np.corrcoef(image.ravel(), again.ravel())[0, 1] > 0.87


def test_a_drawing_survives_its_link():
    pixels = digit_drawing.centre_like_mnist(bar(slice(2, 14), slice(3, 6)))
    code = digit_drawing.to_code(pixels)
    assert len(code) < 400
    assert code.replace("-", "").replace("_", "").isalnum()
    np.testing.assert_allclose(digit_drawing.from_code(code), pixels, atol=0.5 / 15 + 1e-6)


def bomb():
    import base64
    import zlib

    return base64.urlsafe_b64encode(zlib.compress(bytes(10_000_000), 9)).decode()[:1999]


@pytest.mark.parametrize("code", ["rubbish", "eJw", "a" * 5000, "ünïcode", "====", bomb()])
def test_a_damaged_link_is_refused_with_a_sentence(code):
    with pytest.raises(DataError, match="clear it and draw"):
        digit_drawing.from_code(code)


@pytest.mark.parametrize("values", [None, "x", [1, 2, 3], [float("nan")] * 784, [[1], [2, 3]]])
def test_what_is_no_drawing_is_refused(values):
    with pytest.raises(DataError, match="28 x 28"):
        digit_drawing.read_pixels(values)


def test_a_surface_sends_bytes_and_gets_brightness():
    pixels = digit_drawing.read_pixels([255] * 28 + [0] * 756)
    assert pixels.shape == (28, 28)
    assert pixels[0].min() == 1
    assert pixels[1:].max() == 0
