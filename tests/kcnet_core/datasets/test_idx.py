"""The idx files of the MNIST family are read exactly, and damage is named."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest

from kcnet_core.datasets.idx import idx_path, idx_shape, read_idx
from kcnet_core.errors import DataError, LimitError


def idx_bytes(array):
    header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return header + array.astype(np.uint8).tobytes()


@pytest.fixture
def images():
    return np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)


@pytest.mark.parametrize("packed", [True, False])
def test_packed_and_plain_files_give_the_same_array(tmp_path, images, packed):
    content = idx_bytes(images)
    path = tmp_path / ("a.gz" if packed else "a")
    path.write_bytes(gzip.compress(content) if packed else content)
    assert idx_path(tmp_path, "a") == path
    assert idx_shape(path) == (2, 3, 4)
    np.testing.assert_array_equal(read_idx(path), images)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: gzip.compress(content)[:-12],
        lambda content: gzip.compress(content)[:6],
        lambda content: b"",
        lambda content: b"<html>not found</html>",
        lambda content: gzip.compress(content[:-1]),
        lambda content: gzip.compress(content + b"\0"),
        lambda content: gzip.compress(content[:9]),
        lambda content: gzip.compress(b"\0\0\x0d\x03" + content[4:]),
        lambda content: gzip.compress(content)[:-8] + b"\xff" * 8,
    ],
    ids=["cut", "cut header", "empty", "html", "short", "long", "no sizes", "floats", "bit rot"],
)
def test_a_damaged_file_is_named_with_what_to_do(tmp_path, images, spoil):
    path = tmp_path / "train-images-idx3-ubyte.gz"
    path.write_bytes(spoil(idx_bytes(images)))
    with pytest.raises(DataError, match=r"train-images-idx3-ubyte\.gz .*download it again"):
        read_idx(path)


def test_a_header_that_announces_terabytes_is_refused_before_reading(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(bytes([0, 0, 8, 3]) + struct.pack(">3I", 2**31, 2**10, 2**10))
    with pytest.raises(LimitError, match="MAX_UNZIPPED_BYTES"):
        read_idx(path)
