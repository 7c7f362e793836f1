"""Archives that promise little and hold much cost no memory, whoever wrote their headers."""

from __future__ import annotations

import bz2
import io
import lzma
import re
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from kcnet_core.datasets import sources
from kcnet_core.datasets.uploads import archive
from kcnet_core.datasets.uploads.archive import open_zip, read_entry
from kcnet_core.datasets.uploads.images import images_bytes
from kcnet_core.errors import DataError, KCNetError, LimitError
from kcnet_core.limits import MEGABYTE
from tests.kcnet_core.datasets.uploads.at_once import images_dataset

N_BOMB = 64 * MEGABYTE


def zipped(files, method=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as pack:
        for name, content in files.items():
            pack.writestr(name, content)
    return buffer.getvalue()


def bomb(name, method, head=b""):
    """A tiny archive of one file that announces 1,000 bytes and holds `N_BOMB` more than `head`."""
    pack_up = {
        zipfile.ZIP_BZIP2: bz2.BZ2Compressor(1),
        zipfile.ZIP_LZMA: lzma.LZMACompressor(
            lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA1, "preset": 0}]
        ),
    }[method]
    packed = pack_up.compress(head)
    for _ in range(N_BOMB // MEGABYTE):
        packed += pack_up.compress(bytes(MEGABYTE))
    packed += pack_up.flush()
    if method == zipfile.ZIP_LZMA:
        filters = {"id": lzma.FILTER_LZMA1, "preset": 0}
        properties = lzma._encode_filter_properties(filters)
        packed = struct.pack("<BBH", 9, 4, len(properties)) + properties + packed
    content = zipped({name: packed}, zipfile.ZIP_STORED)
    content = bytearray(content)
    at = content.index(b"PK\x01\x02")
    content[at + 10 : at + 12] = struct.pack("<H", method)
    content[at + 24 : at + 28] = struct.pack("<I", 1000)
    return bytes(content)


def npy(descr, shape, body=b""):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": descr, "fortran_order": False, "shape": shape}
    )
    return header.getvalue() + body


def peak_of(function, *arguments):
    """The sentence with which a call refuses, and the most memory it took until then."""
    tracemalloc.start()
    try:
        with pytest.raises(KCNetError) as refusal:
            function(*arguments)
        return str(refusal.value), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("name", ["cat/1.png", "X.npy"])
def test_a_bomb_of_another_method_than_deflate_is_not_unpacked(name, method):
    content = bomb(name, method, npy("|u1", (6, 4, 4)))
    assert len(content) < 50_000
    for read in (images_dataset, lambda content: images_bytes(content, (28, 28))):
        sentence, peak = peak_of(read, content)
        assert 'method "deflate" or "store"' in sentence
        assert peak < 10 * MEGABYTE


def test_a_downloaded_bomb_is_thrown_away(tmp_path):
    archive = tmp_path / "gzip.zip"
    archive.write_bytes(bomb("gzip/a.gz", zipfile.ZIP_BZIP2))
    sentence, peak = peak_of(lambda path: list(sources._unpacked(path, ("a.gz",))), archive)
    assert "thrown away" in sentence
    assert peak < 10 * MEGABYTE
    assert not list(tmp_path.iterdir())


def test_the_method_that_a_file_itself_names_is_not_believed():
    content = bytearray(zipped({"a": b"hello" * 100}))
    content[8:10] = struct.pack("<H", zipfile.ZIP_LZMA)
    pack, (entry,) = open_zip(bytes(content))
    assert read_entry(pack, entry) == b"hello" * 100


def test_files_that_overlap_are_refused():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as pack:
        pack.writestr("a", bytes(10_000))
        pack.filelist = pack.filelist * 2
    with pytest.raises(DataError, match="overlap"):
        open_zip(buffer.getvalue())


def test_bytes_are_counted_as_they_are_unpacked():
    content = io.BytesIO(zipped({"a": bytes(600), "b": bytes(400)}))
    pack, (a, b) = archive.open_archive(content, 1_000)
    assert len(read_entry(pack, a, max_bytes=100)) == 100
    assert pack.bytes_left == 1_000, "a glance is free"
    assert len(read_entry(pack, a)) == 600
    with pytest.raises(LimitError, match="MAX_UNZIPPED_BYTES"):
        read_entry(pack, a)
    assert len(read_entry(pack, b)) == 400
    assert pack.bytes_left == 0


def test_a_file_shorter_than_announced_is_told():
    content = bytearray(zipped({"a": b"hello"}, zipfile.ZIP_STORED))
    at = content.index(b"PK\x01\x02")
    content[at + 24 : at + 28] = struct.pack("<I", 400)
    pack, (entry,) = open_zip(bytes(content))
    with pytest.raises(DataError, match="pack it again"):
        read_entry(pack, entry)


IMAGES = npy("|u1", (6, 4, 4), bytes(range(96)))
LABELS = npy("|u1", (6,), bytes([0, 1] * 3))
LONG_HEADER = b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1) + b"{'descr'"


@pytest.mark.parametrize(
    "X, y, words",
    [
        (IMAGES, npy("|S0", (20 * 10**6,)), "y .* of no bytes"),
        (IMAGES, npy("<U0", (20 * 10**6,)), "y .* of no bytes"),
        (IMAGES, npy("|V0", (6,)), "y .* of no bytes"),
        (IMAGES, npy("|S0", (10**12,)), "y .* of no bytes"),
        (npy("|S0", (10**12, 4, 4)), LABELS, "X .* of no bytes"),
        (IMAGES, npy("|u1", (10**12,)), "y announces more"),
        (npy("<f8", (10**12, 4, 4)), LABELS, "X announces more"),
        (npy("<f8", (10**12, 0)), LABELS, "X announces more"),
        (IMAGES, npy("<i8", (10**4000, 0)), "y announces more"),
        (npy("<f8", (-6, -4, 4), bytes(768)), LABELS, "X announces more"),
        (npy([("a", "|u1")], (6, 4, 4), bytes(96)), LABELS, "X .* several fields"),
        (IMAGES, npy([("a", "|u1")], (6,), bytes(6)), "y .* several fields"),
        (npy(("|u1", (4, 4)), (6,), bytes(96)), LABELS, "X .* several fields"),
        (npy("|u1", (1,) * 500, bytes(1)), LABELS, "axes"),
        (LONG_HEADER, LABELS, "X is no plain numpy array"),
        (IMAGES, LONG_HEADER, "y is no plain numpy array"),
        (IMAGES, npy("|u1", (10**6,), bytes(10**6)), "6 images, but y has 1,000,000 labels"),
        (npy("|u1", (10**6, 1, 1), bytes(10**6)), npy("|u1", (10**6,), bytes(10**6)), "MAX_IMAGES"),
    ],
)
def test_arrays_that_promise_too_much_are_told_before_they_are_read(X, y, words, monkeypatch):
    monkeypatch.setattr(archive, "MAX_ZIP_RATIO", 10**6)
    content = zipped({"X.npy": X, "y.npy": y})
    monkeypatch.setattr(np, "load", None)
    sentence, peak = peak_of(images_dataset, content)
    assert re.search(words, sentence)
    assert len(sentence) < 500
    assert peak < 5 * MEGABYTE


def test_long_labels_of_bytes_are_not_widened_all_at_once():
    y = np.array([b"a" * 200_000, b"b" * 200_000] * 20)
    X = np.zeros((40, 4, 4), np.uint8)
    out = io.BytesIO()
    np.savez(out, X=X, y=y)
    tracemalloc.start()
    try:
        data, _ = images_dataset(out.getvalue())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert data.target_names == ("a" * 60, "b" * 60)
    assert peak < 4 * y.nbytes


def test_of_two_arrays_with_one_name_the_same_is_counted_and_read():
    large = npy("|u1", (60_000, 2, 2), bytes(240_000))
    buffer = io.BytesIO()
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(buffer, "w") as pack:
        for name, content in (("X.npy", IMAGES), ("y.npy", LABELS), ("X.npy", large)):
            pack.writestr(name, content)
    with pytest.raises(LimitError, match="MAX_IMAGE_VALUES"):
        images_bytes(buffer.getvalue(), (64, 64))
