"""Robustness curves: trained on clean rows, tested on spoiled ones, the same for all models."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from sklearn.linear_model import LogisticRegression

from kcnet_core.datasets import load
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.comparison.noise import DAMAGES, noise_steps, noise_summary, spoil
from kcnet_core.experiments.protocols import splits
from tests.kcnet_core.experiments.made_data import blobs, made_dataset


def images(per_pixel=False):
    rng = np.random.default_rng(0)
    raw = rng.random((30, 16)).astype(np.float32)
    mean, std = (raw.mean(0), raw.std(0)) if per_pixel else (0.4, 0.2)
    dataset = made_dataset((raw - mean) / std, np.arange(30) % 2, image_shape=(4, 4))
    return replace(dataset, pixel_mean=mean, pixel_std=std), raw


@pytest.mark.parametrize("kind", DAMAGES)
def test_level_zero_changes_nothing(kind):
    dataset, _ = images()
    assert spoil(dataset.X, kind, 0.0, dataset=dataset, seed=0) is dataset.X


def test_noise_has_the_stated_deviation_and_the_same_pattern_at_every_level():
    dataset = made_dataset(np.zeros((400, 50)), np.arange(400) % 2)
    half, whole = (spoil(dataset.X, "noise", v, dataset=dataset, seed=3) for v in (0.5, 1.0))
    assert half.std() == pytest.approx(0.5, rel=0.02) and half.dtype == np.float32
    np.testing.assert_allclose(2 * half, whole, rtol=1e-6)


@pytest.mark.parametrize("normalise", ["none", "half"])
def test_the_same_damage_on_another_scale_gives_the_same_picture(normalise):
    standard, scaled = load("digits"), load("digits", normalise=normalise)
    for kind in DAMAGES:
        pictures = [
            data.raw_pixels(spoil(data.X[:20], kind, 0.5, dataset=data, seed=1))
            for data in (standard, scaled)
        ]
        np.testing.assert_allclose(*pictures, atol=1e-5)


def test_dropped_pixels_are_black_and_dropped_descriptors_are_at_the_mean():
    dataset, _ = images()
    X = spoil(dataset.X, "dropped", 0.5, dataset=dataset, seed=0)
    changed = dataset.X != X
    assert changed.mean() == pytest.approx(0.5, abs=0.06)
    np.testing.assert_allclose(X[changed] * 0.2 + 0.4, 0, atol=1e-6)
    odors = blobs()
    assert (spoil(odors.X, "dropped", 1.0, dataset=odors, seed=0) == 0).all()


@pytest.mark.parametrize("per_pixel", [False, True])
def test_blur_is_the_blur_of_the_raw_picture(per_pixel):
    dataset, raw = images(per_pixel)
    X = spoil(dataset.X, "blur", 1.0, dataset=dataset, seed=0)
    expected = gaussian_filter(raw.reshape(-1, 4, 4), (0, 1, 1), mode="constant").reshape(-1, 16)
    np.testing.assert_allclose(X * dataset.pixel_std + dataset.pixel_mean, expected, atol=1e-5)


@pytest.mark.parametrize("kind, level", [("fog", 1), ("noise", -1), ("dropped", 1.5), ("blur", 1)])
def test_senseless_damage_is_refused(kind, level):
    with pytest.raises(KCNetError):
        spoil(blobs().X, kind, level, dataset=blobs(), seed=0)


def test_accuracy_falls_as_inputs_get_worse_and_rows_name_kind_and_level():
    dataset = blobs(n=400)
    made = splits(dataset, "unseen_molecules", n_repeats=2, test_fraction=0.3)
    kinds = ("noise", "dropped")
    rows = list(noise_steps({"m": lambda seed: LogisticRegression()}, dataset, made, kinds=kinds))
    assert len(rows) == 2 * (len(DAMAGES["noise"].levels) + len(DAMAGES["dropped"].levels))
    for kind in kinds:
        curve = [row["accuracy"] for row in rows if row["kind"] == kind and row["repeat"] == 0]
        assert curve[0] > 0.9 and curve[0] > curve[-1] + 0.1
    lines = noise_summary(rows, "accuracy")
    clean = lines[(lines["kind"] == "noise") & (lines["level"] == 0)].iloc[0]
    both = [row["accuracy"] for row in rows if row["kind"] == "noise" and row["level"] == 0]
    assert clean["mean"] == pytest.approx(np.mean(both)) and clean["n"] == 2
    assert len(lines) == len(rows) / 2


def test_no_rows_give_an_empty_summary():
    assert noise_summary([], "accuracy").empty


def test_a_model_that_fails_gives_a_sentence():
    dataset = blobs()
    models = {"bad": lambda seed: 1 / 0, "good": lambda seed: LogisticRegression()}
    made = splits(dataset, "paper_split")
    rows = list(noise_steps(models, dataset, made, kinds=["noise"]))
    assert "ZeroDivisionError" in rows[0]["error"]
    assert all(row["error"] is None for row in rows[1:])
    assert noise_summary(rows, "accuracy")["model"].unique().tolist() == ["good"]
