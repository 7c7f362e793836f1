"""Image sets load with the sizes, classes and orientation they were published with."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from kcnet_core import datasets
from kcnet_core.datasets.images import IDX_SETS
from kcnet_core.errors import DataError


def raw(data, row):
    return (data.X[row] * data.pixel_std + data.pixel_mean).reshape(data.image_shape)


@pytest.fixture
def mini_mnist(tmp_path, monkeypatch):
    """A data folder with a tiny MNIST of 40 + 20 images."""
    from tests.kcnet_core.datasets.test_idx import idx_bytes

    folder = tmp_path / "images/MNIST/raw"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for prefix, n in (("train", 40), ("t10k", 20)):
        pictures = rng.integers(0, 256, (n, 28, 28))
        (folder / f"{prefix}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx_bytes(pictures)))
        labels = idx_bytes(np.arange(n) % 10)
        (folder / f"{prefix}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(labels))
    monkeypatch.setenv("KCNET_DATA", str(tmp_path))
    return folder


def test_the_mnist_sample_is_split_4000_to_1000_with_every_digit_in_proportion():
    data = datasets.load("mnist_sample")
    assert data.X.shape == (5000, 784)
    assert data.X.dtype == np.float32
    assert data.image_shape == (28, 28)
    assert data.n_train == 4000
    assert np.bincount(data.y[:4000]).tolist() == [400] * 10
    assert np.bincount(data.y[4000:]).tolist() == [100] * 10
    assert len(np.unique(data.y[:50])) > 5, "shuffled, not sorted by class"
    assert data.X[:4000].mean() == pytest.approx(0, abs=1e-4)
    assert data.X[:4000].std() == pytest.approx(1, abs=1e-4)


def test_the_mnist_sample_is_the_same_every_time():
    first, second = datasets.load("mnist_sample"), datasets.load("mnist_sample")
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y, second.y)


def test_digits_have_1400_training_rows_and_pixels_between_0_and_1():
    data = datasets.load("digits")
    assert data.X.shape == (1797, 64)
    assert data.n_train == 1400
    share = np.bincount(data.y) * 1400 / 1797
    assert np.abs(np.bincount(data.y[:1400]) - share).max() < 1
    picture = raw(data, 0)
    assert picture.min() == pytest.approx(0, abs=1e-5)
    assert picture.max() == pytest.approx(1, abs=0.1)


def test_subsampling_keeps_class_balance_and_its_own_training_constants():
    data = datasets.load("mnist_sample", n_train=500, n_test=100, seed=1)
    assert data.X.shape == (600, 784)
    assert np.bincount(data.y[:500]).tolist() == [50] * 10
    assert np.bincount(data.y[500:]).tolist() == [10] * 10
    assert data.X[:500].mean() == pytest.approx(0, abs=1e-4)
    other = datasets.load("mnist_sample", n_train=500, n_test=100, seed=2)
    assert not np.array_equal(data.X, other.X)


@pytest.mark.parametrize("options", [{"n_train": 5}, {"n_test": 1001}])
def test_too_few_or_too_many_images_are_refused_with_the_possible_range(options):
    with pytest.raises(DataError, match="Choose between 10 and"):
        datasets.load("mnist_sample", **options)


def test_whole_mnist_loads_from_packed_files_with_the_paper_constants(real_data):
    before = sorted(path.name for path in (real_data / IDX_SETS["mnist"].folder).iterdir())
    data = datasets.load("mnist")
    assert data.X.shape == (70_000, 784)
    assert data.n_train == 60_000
    assert data.pixel_mean == pytest.approx(0.1307, abs=5e-5)
    assert data.pixel_std == pytest.approx(0.3081, abs=5e-5)
    assert data.y[:5].tolist() == [5, 0, 4, 1, 9]
    after = sorted(path.name for path in (real_data / IDX_SETS["mnist"].folder).iterdir())
    assert after == before, "nothing is unpacked in place"


def test_fashion_mnist_has_its_own_class_names(real_data):
    data = datasets.load("fashion_mnist", n_train=1000, n_test=100)
    assert data.target_names[data.y[data.n_train]]
    assert data.target_names[9] == "Ankle boot"
    assert np.bincount(data.y[:1000]).tolist() == [100] * 10


def test_partial_emnist_says_so_and_has_47_characters(real_data):
    data = datasets.load("emnist_balanced")
    assert data.n_train == 9_120
    assert len(data.X) == 9_424
    assert len(data.target_names) == 47
    assert any("9,120 of its 112,800" in sentence for sentence in data.report)
    info = {info.name: info for info in datasets.available()}["emnist_balanced"]
    assert (info.status, info.n_rows) == ("present", 9_424)


def test_emnist_pictures_are_upright(real_data):
    """A T has its bar on top; a 7 has its bar on top and its stem on the right."""
    data = datasets.load("emnist_balanced")

    def mean_picture(letter):
        rows = np.flatnonzero(data.y == data.target_names.index(letter))
        return np.mean([raw(data, row) for row in rows], axis=0)

    T = mean_picture("T")
    assert T[:12].sum() > T[16:].sum()
    assert T.sum(axis=1).argmax() < 12
    seven = mean_picture("7")
    assert seven[:10, :].sum(axis=1).max() > seven[18:, :].sum(axis=1).max()
    assert seven[:, 16:].sum() > seven[:, :12].sum()


def test_the_47_names_match_torchvision():
    from kcnet_core.network.retina.torchvision_guard import import_torchvision

    torchvision = import_torchvision()
    assert (
        list(IDX_SETS["emnist_balanced"].classes)
        == (torchvision.datasets.EMNIST.classes_split_dict["balanced"])
    )
    assert list(IDX_SETS["fashion_mnist"].classes) == torchvision.datasets.FashionMNIST.classes


def test_torchvision_transforms_work_behind_the_guard():
    from kcnet_core.network.retina.torchvision_guard import import_torchvision

    torchvision = import_torchvision()
    import torch

    turned = torchvision.transforms.functional.hflip(torch.arange(6).reshape(1, 2, 3))
    assert turned[0, 0].tolist() == [2, 1, 0]


def test_a_small_folder_of_packed_files_loads(mini_mnist):
    data = datasets.load("mnist")
    assert data.X.shape == (60, 784)
    assert data.n_train == 40
    assert any("40 of its 60,000" in sentence for sentence in data.report)


def test_a_truncated_file_in_the_data_folder_is_named(mini_mnist):
    path = mini_mnist / "train-images-idx3-ubyte.gz"
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(DataError, match=r"train-images-idx3-ubyte\.gz is truncated"):
        datasets.load("mnist")
    assert {info.name: info for info in datasets.available()}["mnist"].status == "present"


def test_images_and_labels_that_do_not_belong_together_are_refused(mini_mnist):
    shutil.copy(mini_mnist / "t10k-labels-idx1-ubyte.gz", mini_mnist / "train-labels-idx1-ubyte.gz")
    with pytest.raises(DataError, match="one image per label"):
        datasets.load("mnist")


def test_a_missing_file_is_named_with_how_to_get_it(mini_mnist):
    (mini_mnist / "t10k-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(DataError, match=r"t10k-labels-idx1-ubyte.*12 MB.*KCNET_DATA"):
        datasets.load("mnist")
    assert {info.name: info for info in datasets.available()}["mnist"].status == "download"


def test_unknown_names_and_options_are_refused_with_the_choices():
    with pytest.raises(DataError, match=r"choose one of .*mnist_sample"):
        datasets.load("imagenet")
    with pytest.raises(DataError, match=r"no option colour; it has normalise"):
        datasets.load("digits", colour=True)


def test_listing_datasets_imports_nothing_heavy():
    code = (
        "import sys; from kcnet_core import datasets; datasets.available(); "
        "print([m for m in ('torch','torchvision','rdkit','sklearn','pandas') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_a_fingerprint_is_the_one_that_stored_results_carry_and_sees_every_change():
    digits = datasets.load("digits")
    assert digits.fingerprint() == (1797, 64, 493930, 1118905196)
    assert replace(digits, title="renamed").fingerprint() == digits.fingerprint()
    y = digits.y.copy()
    y[-1] += 1
    assert replace(digits, y=y).fingerprint() != digits.fingerprint()
    X = digits.X.copy()
    X[1, 1] += 1
    assert replace(digits, X=X).fingerprint() != digits.fingerprint()
    assert digits.fingerprint(100) != digits.fingerprint()
