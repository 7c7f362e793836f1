"""CIFAR-10 is fetched as torchvision publishes it, and read without unpickling it."""

from __future__ import annotations

import hashlib
import io
import pickle
import struct
import tarfile

import numpy as np
import pytest

from kcnet_core import datasets
from kcnet_core.datasets import cifar, sources
from kcnet_core.datasets.sources import RemoteFile
from kcnet_core.errors import DataError
from tests.kcnet_core.datasets.file_server import FileServer

RNG = np.random.default_rng(0)


def python2_batch(images, labels, by_columns=False) -> bytes:
    """A batch as Python 2 wrote those that are published: protocol 2, text as bytes."""

    def text(content: bytes) -> bytes:
        return b"T" + struct.pack("<I", len(content)) + content

    def short(content: str) -> bytes:
        return b"U" + bytes([len(content)]) + content.encode()

    rows = images.transpose(0, 3, 1, 2).reshape(len(images), -1)
    numbers = b"".join(b"K" + bytes([label]) for label in labels)
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\nq\x06cnumpy\nndarray\nq\x07K\x00\x85U\x01b\x87R"
        b"(K\x01" + b"M" + struct.pack("<H", len(rows)) + b"M\x00\x0c\x86"
        b"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        + (b"\x88" if by_columns else b"\x89")
        + text(rows.tobytes(order="F" if by_columns else "C"))
        + b"tb"
    )
    return (
        b"\x80\x02}q\x01(" + short("batch_label") + b"q\x02" + short("training batch 1 of 5")
        + short("labels") + b"q\x04]q\x05(" + numbers + b"e" + short("data") + array
        + short("filenames") + b"](" + short("a_s_000446.png") + b"eu."
    )  # fmt: skip


def made(n, first=0):
    images = RNG.integers(0, 256, (n, 32, 32, 3)).astype(np.uint8)
    return images, (first + np.arange(n)) % 10


def archive(batches) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as pack:
        for name, content in batches.items():
            entry = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            entry.size = len(content)
            pack.addfile(entry, io.BytesIO(content))
        for name in ("../outside", "cifar-10-batches-py/readme.html"):
            pack.addfile(tarfile.TarInfo(name))
    return buffer.getvalue()


@pytest.fixture
def served(cache, monkeypatch):
    """A function that serves some batches instead of the real archive."""
    with FileServer().running() as server:

        def serve(batches):
            content = archive(batches)
            server.files["/cifar.tar.gz"] = content
            (real,) = sources.remote_files("cifar10")
            remote = RemoteFile(
                real.path, (f"{server.url}/cifar.tar.gz",), len(content),
                md5=hashlib.md5(content).hexdigest(), members=real.members,
            )  # fmt: skip
            monkeypatch.setattr(sources, "remote_files", lambda name: (remote,))

        yield serve


def test_the_pixels_and_labels_of_a_published_batch_are_found(tmp_path):
    images, labels = made(30)
    for by_columns in (False, True):
        (tmp_path / "batch").write_bytes(python2_batch(images, labels, by_columns))
        read, classes = cifar.read_batch(tmp_path / "batch")
        np.testing.assert_array_equal(read, images)
        np.testing.assert_array_equal(classes, labels)
    loaded = pickle.loads(python2_batch(images, labels), encoding="latin1")
    assert loaded["labels"] == labels.tolist(), "the test's own batch is a real pickle"


def test_a_batch_that_would_run_code_runs_none(tmp_path):
    (tmp_path / "batch").write_bytes(
        b"cos\nsystem\n(S'touch " + str(tmp_path).encode() + b"/ran'\ntR."
    )
    with pytest.raises(DataError, match="0 labels"):
        cifar.read_batch(tmp_path / "batch")
    assert not (tmp_path / "ran").exists()
    (tmp_path / "batch").write_bytes(b"no pickle")
    with pytest.raises(DataError, match=r"batch is damaged.*download it again"):
        cifar.read_batch(tmp_path / "batch")


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps({"labels": [-1], "data": bytes(3072)}, 2),
        b"\x80\x04\x8e" + struct.pack("<Q", 2**62) + b"a.",  # a text that claims 4 exabytes
        b"\x80\x02" + b"(" * 1_100_000 + b".",
    ],
    ids=["a label below zero", "a text of exabytes", "a million steps"],
)
def test_a_batch_made_to_deceive_is_a_sentence(tmp_path, content):
    (tmp_path / "batch").write_bytes(content)
    with pytest.raises(DataError, match="download it again"):
        cifar.read_batch(tmp_path / "batch")


def test_cifar_is_fetched_and_loaded_in_colour(served, cache):
    parts = {name: made(20, k) for k, name in enumerate((*cifar.TRAIN, *cifar.TEST))}
    served({name: python2_batch(*part) for name, part in parts.items()})
    with pytest.raises(DataError, match=r"CIFAR-10 is not on this machine yet.*170 MB"):
        datasets.load("cifar10")
    datasets.fetch("cifar10")
    found = sorted(path.name for path in (cache / "data").rglob("*") if path.is_file())
    assert found == sorted(parts), "the archive, and what else was in it, is gone"
    data = datasets.load("cifar10")
    assert (data.X.shape, data.n_train, data.image_shape) == ((120, 3072), 100, (32, 32, 3))
    assert data.feature_names[:4] == (
        "pixel [0, 0] red", "pixel [0, 0] green", "pixel [0, 0] blue", "pixel [0, 1] red",
    )  # fmt: skip
    shown = data.raw_pixels(data.X[100:]).reshape(-1, 32, 32, 3) * 255
    np.testing.assert_allclose(shown, parts["test_batch"][0], atol=1e-2)
    assert {info.name: info for info in datasets.available()}["cifar10"].status == "present"


def test_an_archive_without_a_batch_is_thrown_away(served, cache):
    served({"data_batch_1": python2_batch(*made(3))})
    with pytest.raises(DataError, match="does not hold the files"):
        datasets.fetch("cifar10")
    assert not (cache / "data" / cifar.ARCHIVE).exists()


def test_the_class_names_and_files_are_torchvisions():
    from kcnet_core.network.retina.torchvision_guard import import_torchvision

    source = import_torchvision().datasets.CIFAR10
    (remote,) = sources.remote_files("cifar10")
    assert remote.md5 == source.tgz_md5
    listed = [name for name, _ in (*source.train_list, *source.test_list)]
    assert list(remote.members) == [f"{source.base_folder}/{name}" for name in listed]
