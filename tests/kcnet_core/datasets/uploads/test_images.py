"""A user's own images: archives are never trusted, bad files cost only themselves."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from kcnet_core.datasets.uploads import archive, arrays, images, picture, quota
from kcnet_core.datasets.uploads.images import images_bytes
from kcnet_core.errors import DataError, KCNetError, LimitError
from tests.kcnet_core.datasets.uploads.at_once import images_dataset

RNG = np.random.default_rng(0)


def drawn(value=None, size=(8, 8), format="PNG", mode="L"):
    pixels = RNG.integers(0, 256, (*size, 3), dtype=np.uint8)
    if value is not None:
        pixels[:] = value
    buffer = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(buffer, format)
    return buffer.getvalue()


def zipped(files, **options):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, **options) as pack:
        for name, content in files.items():
            pack.writestr(name, content)
    return buffer.getvalue()


def two_classes(prefix="", n=10):
    return {
        f"{prefix}{name}/{k}.png": drawn(value) for name, value in (("cat", 0), ("dog", 200))
        for k in range(n)
    }  # fmt: skip


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def raw(data):
    return (data.X * data.pixel_std + data.pixel_mean) * 255


def test_one_folder_per_class_becomes_a_standardised_dataset():
    data, errors = images_dataset(zipped(two_classes()))
    assert errors == ()
    assert data.X.shape == (20, 784)
    assert data.X.dtype == np.float32
    assert data.target_names == ("cat", "dog")
    assert (data.name, data.kind, data.image_shape) == ("uploaded", "image", (28, 28))
    assert data.n_train == 16
    assert np.bincount(data.y[:16]).tolist() == [8, 8]
    assert np.bincount(data.y[16:]).tolist() == [2, 2]
    np.testing.assert_allclose(raw(data).mean(axis=1), np.where(data.y == 0, 0, 200), atol=0.5)


@pytest.mark.parametrize("prefix", ["", "photos/", "photos/2024/", "photos\\"])
def test_folders_around_everything_do_not_count(prefix):
    data, _ = images_dataset(zipped(two_classes(prefix)))
    assert data.target_names == ("cat", "dog")


def test_train_and_test_folders_are_the_split():
    files = {**two_classes("set/train/", 6), **two_classes("set/test/", 2)}
    data, _ = images_dataset(zipped(files))
    assert data.target_names == ("cat", "dog")
    assert data.n_train == 12
    assert any("are the split" in sentence for sentence in data.report)


def test_what_operating_systems_leave_behind_is_ignored():
    files = {
        **two_classes(),
        "__MACOSX/cat/._1.png": b"junk",
        "cat/.DS_Store": b"junk",
        ".git/config": b"junk",
        "dog/Thumbs.db": b"junk",
    }
    data, errors = images_dataset(zipped(files))
    assert errors == ()
    assert len(data.X) == 20


def test_files_that_are_no_pictures_are_named_and_the_others_kept():
    files = {
        **two_classes(),
        "cat/notes.png": b"this is text",
        "dog/half.png": drawn()[:60],
        "dog/page.html": b"<html></html>",
        "loose.png": drawn(),
    }
    data, errors = images_dataset(zipped(files))
    assert len(data.X) == 20
    assert {error.where for error in errors} == {
        "cat/notes.png",
        "dog/half.png",
        "dog/page.html",
        "loose.png",
    }
    assert any("4 images were left out" in sentence for sentence in data.report)


@pytest.mark.parametrize("format", ["PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF", "PPM"])
@pytest.mark.parametrize("size", [(8, 8), (40, 20)])
def test_common_formats_and_sizes_are_read(format, size):
    files = {
        f"{name}/{k}": drawn(value, size, format, "RGB")
        for name, value in (("dark", 30), ("light", 220))
        for k in range(3)
    }
    data, errors = images_dataset(zipped(files), size=(10, 12))
    assert errors == ()
    assert data.image_shape == (10, 12)
    np.testing.assert_allclose(raw(data).mean(axis=1), np.where(data.y == 0, 30, 220), atol=3)


def test_transparency_shows_white_paper():
    ink = Image.new("RGBA", (8, 8), (0, 0, 0, 0))
    buffer = io.BytesIO()
    ink.save(buffer, "PNG")
    pixels, _ = picture.read_picture(buffer.getvalue(), (4, 4))
    assert (pixels == 255).all()


def test_sixteen_bits_become_eight():
    buffer = io.BytesIO()
    Image.fromarray(np.full((8, 8), 32768, dtype=np.uint16)).save(buffer, "PNG")
    pixels, _ = picture.read_picture(buffer.getvalue(), (4, 4))
    assert (pixels == 127).all()


def test_invert_turns_dark_ink_light():
    files = {**two_classes("paper/")}
    plain, _ = images_dataset(zipped(files))
    inverted, _ = images_dataset(zipped(files), invert=True)
    np.testing.assert_allclose(raw(plain) + raw(inverted), 255, atol=0.1)


def test_light_paper_is_remarked_on():
    files = {f"{name}/{k}": drawn(v) for name, v in (("a", 240), ("b", 250)) for k in range(3)}
    data, _ = images_dataset(zipped(files))
    assert any("invert" in sentence for sentence in data.report)


def test_a_class_with_one_image_is_left_out():
    files = {**two_classes(), "bird/1.png": drawn()}
    data, errors = images_dataset(zipped(files))
    assert data.target_names == ("cat", "dog")
    assert "only image of the class bird" in errors[0].reason


def test_every_class_is_on_both_sides_of_the_split():
    files = {f"{k}/{j}": drawn() for k in range(12) for j in range(2)}
    data, _ = images_dataset(zipped(files))
    assert set(data.y[: data.n_train]) == set(data.y[data.n_train :]) == set(range(12))
    assert data.target_names == tuple(map(str, range(12))), "numbers in order of value"


def test_the_split_is_the_same_every_time():
    content = zipped({f"{k}/{j}": drawn() for k in range(2) for j in range(20)})
    first, again = images_dataset(content)[0], images_dataset(content)[0]
    np.testing.assert_array_equal(first.X, again.X)


@pytest.mark.parametrize(
    "name", ["../cat/1.png", "cat/../../x.png", "/etc/cat/1.png", "C:/cat/1.png", "..\\x\\1.png"]
)
def test_paths_that_lead_out_of_the_archive_are_refused(name):
    with pytest.raises(DataError, match="leads out of it"):
        images_dataset(zipped({**two_classes(), name: drawn()}))


def test_a_class_may_have_any_name_that_is_one_folder():
    name = "**x** :smile: <b>"
    content = zipped({f"{name}/{k}.png": drawn() for k in range(6)} | two_classes())
    assert name in images_dataset(content)[0].target_names


def announcing(content, n_bytes):
    """The archive with another size of its first file in the table of contents."""
    content = bytearray(content)
    at = content.index(b"PK\x01\x02")
    content[at + 24 : at + 28] = struct.pack("<I", n_bytes)
    return bytes(content)


def test_a_zip_bomb_is_refused_by_its_table_of_contents():
    with pytest.raises(LimitError, match="MAX_ZIP_RATIO"):
        images_dataset(zipped({"cat/1.png": bytes(20_000_000)}))
    with pytest.raises(LimitError, match="MAX_UNZIPPED_BYTES"):
        images_dataset(announcing(zipped(two_classes()), 600_000_000))


def test_a_bomb_that_lies_about_its_size_gives_no_more_than_it_announced():
    content = announcing(zipped({"cat/bomb.png": bytes(50_000_000), **two_classes()}), 1000)
    tracemalloc.start()
    try:
        _, errors = images_dataset(content)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert errors[0].where == "cat/bomb.png"
    assert peak < 20_000_000


def huge_png(side):
    def chunk(kind, body):
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    body = zlib.compress(bytes(1000))
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    )


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("side", [3_000, 12_000, 60_000])
def test_a_picture_of_huge_dimensions_is_never_decoded(side):
    tracemalloc.start()
    try:
        _, errors = images_dataset(zipped({**two_classes(), "cat/huge.png": huge_png(side)}))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert errors[0].where == "cat/huge.png"
    assert "MAX_IMAGE_PIXELS" in errors[0].reason
    assert peak < 20_000_000


def test_an_encrypted_archive_is_told():
    content = bytearray(zipped(two_classes()))
    at = content.index(b"PK\x01\x02")
    content[at + 8] |= 1
    with pytest.raises(DataError, match="encrypted"):
        images_dataset(bytes(content))


def test_a_file_without_a_name_is_told():
    content = zipped({"x": drawn(), **two_classes()}).replace(b"x", b"\0")
    with pytest.raises(DataError, match="damaged"):
        images_dataset(content)


@pytest.mark.parametrize(
    "content, words",
    [
        (b"", "no zip archive"),
        (b"GIF89a not a zip", "no zip archive"),
        (zipped({}), "no pictures"),
        (zipped({".hidden/x": b"1"}), "no pictures"),
        (zipped({"1.png": b"x", "2.png": b"y"}), "in no folders"),
        (zipped({"a/1.png": b"x", "b/1.png": b"y"}), "None of the 2 files is a picture"),
        (zipped({"a/1.png": drawn(), "a/2.png": drawn()}), "1 class with at least two"),
        (zipped({"a/1.png": drawn(), "b/2.png": drawn()}), "0 classes with at least two"),
    ],
)
def test_archives_that_cannot_be_learned_from_are_told(content, words):
    with pytest.raises(DataError, match=words):
        images_dataset(content)


def test_limits_are_named(monkeypatch):
    content = zipped(two_classes())
    for module, limit, value in (
        (quota, "MAX_UPLOAD_BYTES", 10),
        (archive, "MAX_ZIP_ENTRIES", 5),
        (images, "MAX_IMAGES", 5),
        (images, "MAX_IMAGE_VALUES", 1000),
        (images, "MAX_UPLOAD_PIXELS", 100),
        (images, "MAX_IMAGE_CLASSES", 1),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, limit, value)
            with pytest.raises(LimitError, match=limit):
                images_dataset(content)
    with pytest.raises(LimitError, match="MAX_IMAGE_SIDE"):
        images_dataset(content, size=(500, 500))


def test_every_picture_counts_and_closing_reads_no_more(monkeypatch):
    content = zipped(two_classes())
    n = len(two_classes())
    steps = images.images_steps(content)
    assert [(step.done, step.total) for step in steps] == [(k, n) for k in range(n + 1)]
    steps = images.images_steps(content)
    assert next(steps).done == 0
    monkeypatch.setattr(images, "read_picture", None)  # reading on would fail
    steps.close()


@pytest.mark.parametrize(
    "X",
    [
        RNG.integers(0, 256, (12, 5, 5), dtype=np.uint8),
        RNG.integers(0, 256, (12, 25)).astype(np.int64),
        RNG.integers(0, 256, (12, 5, 5, 1), dtype=np.uint8),
        RNG.integers(0, 256, (12, 1, 5, 5)).astype(np.float32),
    ],
)
def test_arrays_of_bytes_keep_their_pixels(X):
    data, _ = images_dataset(npz(X=X, y=np.arange(12) % 3))
    assert data.image_shape == (5, 5)
    found = {tuple(np.round(row)) for row in raw(data)}
    assert found == {tuple(row) for row in X.reshape(12, 25).astype(float)}


def test_arrays_between_0_and_1_and_in_colour_are_understood():
    X = np.zeros((8, 6, 6, 3), dtype=np.float64)
    X[::2, ..., 1] = 1.0  # pure green
    data, _ = images_dataset(npz(X=X, y=np.array(["a", "b"] * 4)))
    assert data.target_names == ("a", "b")
    np.testing.assert_allclose(raw(data).mean(axis=1), np.where(data.y == 0, 150, 0), atol=0.5)


def test_large_arrays_are_brought_to_a_small_size():
    X = RNG.integers(0, 256, (6, 100, 90), dtype=np.uint8)
    data, _ = images_dataset(npz(X=X, y=np.arange(6) % 2))
    assert data.image_shape == (28, 28)
    data, _ = images_dataset(npz(X=X, y=np.arange(6) % 2), size=(8, 10))
    assert data.image_shape == (8, 10)


GOOD = RNG.integers(0, 256, (6, 4, 4), dtype=np.uint8)


@pytest.mark.parametrize(
    "arrays, words",
    [
        ({"images": GOOD, "y": [0, 1] * 3}, "no array X; it has images, y"),
        ({"X": GOOD}, "no array y"),
        ({"X": GOOD, "y": [0, 1]}, "6 images, but y has 2 labels"),
        ({"X": GOOD, "y": np.zeros((6, 2))}, "one label per image"),
        ({"X": GOOD, "y": [0.5] * 6}, "fractions"),
        ({"X": GOOD, "y": [1e30, 1.0] * 3}, "beyond 2"),
        ({"X": GOOD, "y": [-1e30, 1.0] * 3}, "beyond 2"),
        ({"X": GOOD, "y": [1j] * 6}, "whole numbers or text"),
        ({"X": GOOD, "y": [1] * 6}, "1 class with"),
        ({"X": GOOD, "y": np.array([{}] * 6, dtype=object)}, "Python objects"),
        ({"X": np.array([{}] * 6, dtype=object), "y": [0, 1] * 3}, "Python objects"),
        ({"X": np.full((6, 4, 4), np.nan), "y": [0, 1] * 3}, "not finite"),
        ({"X": np.full((6, 4, 4), -1.0), "y": [0, 1] * 3}, "from 0 to 1 or from 0 to 255"),
        ({"X": np.zeros((6, 7)), "y": [0, 1] * 3}, "of a square"),
        ({"X": np.zeros((0, 4, 4)), "y": []}, "no images"),
        ({"X": np.array(["a"] * 6), "y": [0, 1] * 3}, "images are numbers"),
    ],
)
def test_arrays_that_are_no_images_are_told(arrays, words):
    with pytest.raises(DataError, match=words):
        images_dataset(npz(**{key: np.asarray(value) for key, value in arrays.items()}))


def test_an_array_header_that_announces_terabytes_is_refused():
    header = {"descr": "|u1", "fortran_order": False, "shape": (10**6, 10**6)}
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, header)
    labels = io.BytesIO()
    np.save(labels, np.arange(6))
    content = zipped({"X.npy": buffer.getvalue(), "y.npy": labels.getvalue()})
    with pytest.raises(DataError, match="announces more values than it holds"):
        images_dataset(content)


def test_limits_on_arrays_are_named(monkeypatch):
    content = npz(X=GOOD, y=np.arange(6) % 2)
    for limit in ("MAX_IMAGES", "MAX_IMAGE_PIXELS", "MAX_UPLOAD_PIXELS"):
        with monkeypatch.context() as patch:
            patch.setattr(arrays, limit, 5)
            with pytest.raises(LimitError, match=limit):
                images_dataset(content)


BASES = [zipped(two_classes(n=3)), npz(X=GOOD, y=np.arange(6) % 2)]


@settings(max_examples=150, deadline=None)
@given(
    base=st.sampled_from(BASES),
    changes=st.lists(
        st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=6
    ),
    cut=st.none() | st.floats(0, 1),
)
def test_a_damaged_archive_gives_a_dataset_or_a_sentence(base, changes, cut):
    content = bytearray(base)
    for place, value in changes:
        content[int(place * len(content))] = value
    if cut is not None:
        content = content[: int(cut * len(content))]
    try:
        data, _ = images_dataset(bytes(content))
    except KCNetError as error:
        assert str(error)
    else:
        assert np.isfinite(data.X).all()


def mostly_blank(n, *shape, dtype=np.uint8, high=256):
    X = np.zeros((n, *shape), dtype=dtype)
    X[:, ::3, ::5] = RNG.integers(0, high, X[:, ::3, ::5].shape)
    return X


@pytest.mark.parametrize(
    "X, size",
    [
        (mostly_blank(4_000, 28, 28), (28, 28)),
        (mostly_blank(4_000, 28, 28, high=2), (28, 28)),
        (mostly_blank(3_000, 40, 30), (28, 28)),
        (mostly_blank(1_000, 28, 28, dtype=np.float64), (28, 28)),
        (mostly_blank(500, 64, 64, 3), (64, 64)),
        (mostly_blank(3_000, 8, 8), (64, 64)),
        (mostly_blank(4, 1_500, 1_500, high=2), (28, 28)),
    ],
    ids=["bytes", "zeros and ones", "made smaller", "doubles", "colours", "made larger", "few"],
)
def test_an_array_needs_no_more_memory_than_is_told_from_its_table_of_contents(X, size):
    content, n = npz(X=X, y=np.arange(len(X)) % 2), len(X)
    tracemalloc.start()
    try:
        told, kept = images_bytes(content, size)
        _, looking = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        data, _ = images_dataset(content, size=size, invert=True)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(data.X) == n
    assert looking < 1_000_000, "nothing is unpacked for it"
    assert 0.4 * told < peak < told
    assert kept == data.X.nbytes


def test_pictures_need_no_more_memory_than_is_told_from_the_table_of_contents():
    content = zipped({f"{name}/{k}.png": drawn() for name in "ab" for k in range(700)})
    told, kept = images_bytes(content, (64, 64))
    tracemalloc.start()
    try:
        data, _ = images_dataset(content, size=(64, 64), invert=True)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept == data.X.nbytes
    assert peak < told - images._PICTURE_BYTES < 1.5 * peak


def test_what_cannot_be_an_archive_of_images_is_told_before_it_is_unpacked(monkeypatch):
    with pytest.raises(DataError, match="no zip archive"):
        images_bytes(b"PK nonsense", (28, 28))
    with pytest.raises(LimitError, match="MAX_IMAGE_VALUES"):
        images_bytes(npz(X=np.zeros((60_000, 2, 2), np.uint8), y=np.arange(60_000)), (64, 64))
    monkeypatch.setattr(archive, "MAX_ZIP_ENTRIES", 4)
    with pytest.raises(LimitError, match="far more files than the limit of 4"):
        images_bytes(zipped(two_classes()), (28, 28))
    assert images_bytes(npz(images=GOOD), (28, 28)).reading > 0, "reading it says what is wrong"
