"""A pretrained network as a retina: its weights are downloaded once, checked, and never run."""

from __future__ import annotations

import hashlib
import io

import numpy as np
import pytest
import torch

from kcnet_core.datasets import load, sources
from kcnet_core.errors import DataError
from kcnet_core.experiments.report import save
from kcnet_core.experiments.run import Run
from kcnet_core.experiments.training import train_steps
from kcnet_core.model_file import load_model
from kcnet_core.network.retina import PretrainedRetina, pretrained
from kcnet_core.network.retina.torchvision_guard import import_torchvision
from tests.kcnet_core.datasets.file_server import FileServer

RUN = Run("digits", model="KCNet", n_hidden=50, retina="pretrained")


@pytest.fixture(scope="module")
def weights():
    torch.manual_seed(0)
    file = io.BytesIO()
    torch.save(import_torchvision().models.squeezenet1_1().state_dict(), file)
    return file.getvalue()


@pytest.fixture
def published(weights, monkeypatch, tmp_path):
    """Random weights on a server of our own, in the published way."""
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path))
    monkeypatch.delenv("KCNET_DATA", raising=False)
    with FileServer().running() as server:
        name = f"squeezenet1_1-{hashlib.sha256(weights).hexdigest()[:8]}.pth"
        server.files[f"/{name}"] = weights
        monkeypatch.setattr(pretrained, "published", lambda network: f"{server.url}/{name}")
        yield server


def trained(run=RUN):
    steps, stages = train_steps(run, load("digits", n_train=20, n_test=10)), []
    while True:
        try:
            stages.append(next(steps).stage)
        except StopIteration as ended:
            return ended.value, stages


def test_a_run_downloads_the_weights_once_and_its_model_opens_again(published, tmp_path):
    result, stages = trained()
    assert any("downloading its weights" in stage for stage in stages)
    assert result.model.n_features_in_ == 512
    assert result.feature_names[0] == "squeezenet1_1 0"
    assert list(sources.fetch_weights_steps("squeezenet1_1")) == []
    assert len(published.requests) == 1
    save(result, tmp_path / "model.kcnet")
    saved, X = load_model(tmp_path / "model.kcnet"), result.dataset.X[:5]
    np.testing.assert_array_equal(saved.inputs(X), result.scaler.transform(X))
    pretrained.weights_file("squeezenet1_1").unlink()
    with pytest.raises(DataError, match="not on this machine yet"):
        saved.inputs(X)


def test_other_weights_than_the_published_are_thrown_away(published, tmp_path):
    (name,) = published.files
    published.files[name] = b"x" * 100
    with pytest.raises(DataError, match="checksum is not the published one"):
        trained()
    assert not list(tmp_path.rglob("*.pth"))


def test_without_a_connection_a_sentence_says_so(published, monkeypatch):
    monkeypatch.setattr(pretrained, "published", lambda network: "http://127.0.0.1:9/w-00.pth")
    with pytest.raises(DataError, match="cannot be downloaded: its server cannot be reached"):
        trained()


def test_a_file_that_holds_something_else_is_refused(published, tmp_path):
    place = tmp_path / "data" / pretrained.FOLDER / pretrained.published("").rpartition("/")[2]
    place.parent.mkdir(parents=True)
    torch.save({"weights": 1}, place)
    model = PretrainedRetina(image_shape=(8, 8))
    with pytest.raises(DataError, match="does not hold the weights"):
        model.fit(load("digits").X[:10])


def test_grey_and_colour_are_seen_with_the_scale_of_imagenet():
    model = PretrainedRetina(pixel_mean=0.5, pixel_std=0.25, side=32)
    model.shape_ = (4, 4, 1)
    grey = model._enlarged(np.full((2, 16), 2.0, np.float32))  # white
    wanted = (1 - np.array(pretrained.MEAN)) / np.array(pretrained.STD)
    assert grey.shape == (2, 3, 32, 32)
    np.testing.assert_allclose(grey[0, :, 5, 5], wanted, rtol=1e-5)


def test_the_published_name_holds_a_checksum():
    assert pretrained.published("squeezenet1_1").startswith("https://")
    assert len(pretrained.published("resnet18").rpartition("-")[2]) == len("12345678.pth")
