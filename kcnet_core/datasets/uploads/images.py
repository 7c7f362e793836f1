"""The user's own images: a zip with one folder per class, or an .npz with X and y."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath
from zipfile import ZipInfo

import numpy as np

from kcnet_core.contracts import Counted, Steps
from kcnet_core.datasets.dataset import UPLOADED, Dataset, RowError, left_out
from kcnet_core.datasets.pixels import image_dataset, stratified_rows
from kcnet_core.datasets.uploads.archive import UploadedZip, entry_name, open_zip, read_entry
from kcnet_core.datasets.uploads.arrays import CHUNK_VALUES, arrays_from_npz, n_announced
from kcnet_core.datasets.uploads.picture import read_picture
from kcnet_core.datasets.uploads.quota import UploadBytes
from kcnet_core.errors import DataError, LimitError
from kcnet_core.limits import (
    MAX_IMAGE_CLASSES,
    MAX_IMAGE_PIXELS,
    MAX_IMAGE_SIDE,
    MAX_IMAGE_VALUES,
    MAX_IMAGES,
    MAX_UPLOAD_PIXELS,
)

DEFAULT_SIZE = (28, 28)
_TEST_FRACTION = 0.2  # of every class
_PICTURE_BYTES = 16 * MAX_IMAGE_PIXELS  # of one picture while it is decoded, with its colours
_ROW_BYTES = 2_000  # of a file's entry, place and label
_NOT_PICTURES = frozenset(("thumbs.db", "desktop.ini", "readme.txt", "readme.md"))
_TRAIN = frozenset(("train", "training"))
_TEST = frozenset(("test", "testing", "val", "valid", "validation"))


def images_steps(
    content: bytes,
    *,
    size: tuple[int, int] | None = None,
    invert: bool = False,
    title: str = "Uploaded images",
) -> Steps[Counted, tuple[Dataset, tuple[RowError, ...]]]:
    """Turn an uploaded archive into a dataset; yields how many pictures of it have been read.

    Parameters
    ----------
    content : bytes
        A zip with one folder of pictures per class (perhaps inside a `train` and a `test` folder,
        which are then the split), or an .npz with X and y.
    size : (height, width) or None
        All images are brought to it; None: 28 x 28, or an .npz's own size if that is small.
    invert : bool
        Turn dark ink on light paper into light on dark, as in MNIST.

    Returns
    -------
    dataset : Dataset
        Training rows first, `n_train` of them.
    errors : tuple of RowError
        Files that were left out, and why; the others are in the dataset.
    """
    if size is not None and not all(2 <= side <= MAX_IMAGE_SIDE for side in size):
        raise LimitError(
            f"Images can be brought to 2 to {MAX_IMAGE_SIDE} pixels a side (MAX_IMAGE_SIDE); "
            f"{size[0]} × {size[1]} was asked for."
        )
    pack, entries = open_zip(content)
    errors: list[RowError] = []
    report: list[str] = []
    if _are_arrays(entries):
        pixels, labels = arrays_from_npz(pack, entries)
        pixels = _resized(pixels, size, report)
        places, in_test = [f"image {k}" for k in range(len(labels))], None
    else:
        files, labels, in_test = _files_by_class(entries, errors)
        size = size or DEFAULT_SIZE
        _refuse_too_much(len(files), size)
        pixels, read = yield from _decoded(pack, files, size, errors)
        labels = [labels[k] for k in read]
        places = [entry_name(files[k]) for k in read]
        in_test = None if in_test is None else np.array([in_test[k] for k in read], dtype=bool)
        report.append(f"All pictures were made grey and brought to {size[0]} × {size[1]} pixels.")
    kept = _without_lone_classes(labels, places, errors)
    if errors:
        report.append(f"{left_out(len(errors), 'image')}; the reasons are listed with the upload.")
    classes = sorted({labels[k] for k in kept}, key=_natural)
    _check_classes(classes, errors)
    y = np.array([classes.index(labels[k]) for k in kept])
    in_test = None if in_test is None else in_test[kept]
    order, n_train = _split(y, in_test, report)
    pixels = pixels[np.array(kept)[order]]
    if invert:
        pixels = 255 - pixels
    elif pixels[:n_train].mean() > 140:
        report.append("Most pixels are light; invert makes the ink light instead, as in MNIST.")
    dataset = image_dataset(
        pixels,
        y[order],
        n_train=n_train,
        title=title[:80],
        **UPLOADED,
        target_names=tuple(classes),
        report=tuple(report),
    )
    return dataset, tuple(errors)


def images_bytes(content: bytes, size: tuple[int, int]) -> UploadBytes:
    """Memory that `images_steps` will need, from the table of contents; nothing is unpacked."""
    pack, entries = open_zip(content)
    unpacked, one = 0, _PICTURE_BYTES
    if _are_arrays(entries):
        n = n_announced(pack, entries)
        unpacked = sum(entry.file_size for entry in entries)
        one = 8 * max(CHUNK_VALUES, unpacked // max(1, n))
    else:
        n = sum(_may_be_picture(_path(entry)) for entry in entries)
    _refuse_too_much(n, size)
    # Bytes of the images, the same in another order, and float32; an array is also copied once.
    values = n * size[0] * size[1]
    reading = max(2 * unpacked, unpacked + 6 * values) + one + _ROW_BYTES * n
    return UploadBytes(reading, kept=4 * values)


def _are_arrays(entries) -> bool:
    return bool(entries) and all(entry.filename.endswith(".npy") for entry in entries)


def _path(entry) -> PurePosixPath:
    return PurePosixPath(entry.filename.replace("\\", "/"))


def _files_by_class(entries, errors):
    """Picture files, the class each one's folder names, and whether it is set aside for testing."""
    paths = [_path(entry) for entry in entries]
    wanted = [k for k, path in enumerate(paths) if _may_be_picture(path)]
    if not wanted:
        raise DataError("The archive holds no pictures; pack one folder of pictures per class.")
    folders = {paths[k].parent.parts for k in wanted}
    depth = 0  # folders around everything say nothing about classes
    while len(folders) > 1 and len({parts[: depth + 1] for parts in folders}) == 1:
        depth += 1
    splits = {parts[depth].lower() for parts in folders if len(parts) > depth + 1}
    split = len(splits) > 1 and splits & _TRAIN and splits & _TEST and splits <= _TRAIN | _TEST
    files, labels, in_test = [], [], []
    for k in wanted:
        parts = paths[k].parent.parts[depth:]
        part = parts[0].lower() if split and parts else None
        name = "/".join(parts[1:] if split else parts)
        if not name:
            reason = "It lies in no class folder; put it into the folder of its class."
            errors.append(RowError(entry_name(entries[k]), "", reason))
            continue
        files.append(entries[k])
        labels.append(name[-60:])
        in_test.append(part in _TEST)
    if not files:
        raise DataError(
            "The pictures lie in no folders; put those of each class into a folder with its name."
        )
    return files, labels, in_test if split else None


def _may_be_picture(path: PurePosixPath) -> bool:
    hidden = any(part.startswith(".") or part == "__MACOSX" for part in path.parts)
    return not hidden and path.name.lower() not in _NOT_PICTURES


def _refuse_too_much(n, size):
    if n > MAX_IMAGES:
        raise LimitError(
            f"The archive holds {n:,} pictures; the limit is {MAX_IMAGES:,} (MAX_IMAGES)."
        )
    if n * size[0] * size[1] > MAX_IMAGE_VALUES:
        raise LimitError(
            f"{n:,} images of {size[0]} × {size[1]} pixels are more than {MAX_IMAGE_VALUES:,} "
            "values (MAX_IMAGE_VALUES); choose a smaller size."
        )


def _decoded(
    pack: UploadedZip, files: list[ZipInfo], size: tuple[int, int], errors: list[RowError]
) -> Steps[Counted, tuple[np.ndarray, list[int]]]:
    """Grey bytes of every file that is a picture, and which files those are."""
    pixels = np.empty((len(files), *size), dtype=np.uint8)
    read: list[int] = []
    budget = MAX_UPLOAD_PIXELS
    for k, entry in enumerate(files):
        yield Counted(k, len(files))
        try:
            pixels[len(read)], n_pixels = read_picture(read_entry(pack, entry), size)
            read.append(k)
        except DataError as error:
            errors.append(RowError(entry_name(entry), "", str(error)))
            continue
        budget -= n_pixels
        if budget < 0:
            raise LimitError(
                f"The pictures have more than {MAX_UPLOAD_PIXELS:,} pixels together, which is the "
                "limit (MAX_UPLOAD_PIXELS). Make them smaller first, or bring fewer."
            )
    yield Counted(len(files), len(files))
    if not read:
        raise DataError(
            f"None of the {len(files):,} files is a picture. The first, {errors[0].where}: "
            f"{errors[0].reason}"
        )
    return pixels[: len(read)], read


def _resized(pixels, size, report):
    """Arrays of another size, brought to it."""
    from PIL import Image

    own = pixels.shape[1:]
    if size is None:
        size = own if max(own) <= MAX_IMAGE_SIDE else DEFAULT_SIZE
    _refuse_too_much(len(pixels), size)
    if tuple(size) == tuple(own):
        return pixels
    report.append(
        f"The images of {own[0]} × {own[1]} pixels were brought to {size[0]} × {size[1]}."
    )
    resized = np.empty((len(pixels), *size), dtype=np.uint8)
    for k, image in enumerate(pixels):
        resized[k] = Image.fromarray(image).resize((size[1], size[0]), Image.Resampling.BILINEAR)
    return resized


def _without_lone_classes(labels, places, errors) -> list[int]:
    counts, kept = Counter(labels), []
    for k, label in enumerate(labels):
        if counts[label] > 1:
            kept.append(k)
        else:
            reason = f"It is the only image of the class {label}; a class needs at least two."
            errors.append(RowError(places[k], label, reason))
    return kept


def _check_classes(classes, errors):
    if len(classes) < 2:
        first = f" The first trouble is {errors[0].where}: {errors[0].reason}" if errors else ""
        raise DataError(
            f"{len(classes)} class{'' if len(classes) == 1 else 'es'} with at least two images "
            f"can be used; two are needed, so that there is something to tell apart.{first}"
        )
    if len(classes) > MAX_IMAGE_CLASSES:
        raise LimitError(
            f"There are {len(classes):,} classes; the limit is {MAX_IMAGE_CLASSES} "
            "(MAX_IMAGE_CLASSES)."
        )


def _split(y, in_test, report) -> tuple[np.ndarray, int]:
    """An order with training rows first, every class in proportion on both sides."""
    rng = np.random.default_rng(0)
    n_classes = len(np.unique(y))
    if in_test is not None and len(np.unique(y[~in_test])) == n_classes and in_test.any():
        test = np.flatnonzero(in_test)
        report.append("The train and test folders of the archive are the split.")
    else:
        n_test = min(max(n_classes, round(_TEST_FRACTION * len(y))), len(y) - n_classes)
        test = stratified_rows(y, n_test, rng)
        report.append(
            f"{len(y) - len(test):,} images were chosen for training and {len(test):,} for "
            "testing, every class in proportion."
        )
    train = np.setdiff1d(np.arange(len(y)), test)
    return np.concatenate([rng.permutation(train), rng.permutation(test)]), len(train)


def _natural(name: str):
    """Numbers by value, then words by letter: 2 before 10 before cat."""
    return (0, int(name), name) if name.isascii() and name.isdigit() else (1, 0, name.casefold())
