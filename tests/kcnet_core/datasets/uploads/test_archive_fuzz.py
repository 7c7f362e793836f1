"""Archives and arrays made to deceive, with a fixed seed: a sentence or a dataset, and never more
than twice the memory that was estimated before anything was unpacked.

    pytest -m slow -s tests/kcnet_core/datasets/uploads/test_archive_fuzz.py
"""

from __future__ import annotations

import bz2
import io
import lzma
import pickle
import random
import struct
import tracemalloc
import zlib
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from kcnet_core.commands.predict import read_npz
from kcnet_core.datasets.uploads.images import images_bytes
from kcnet_core.errors import KCNetError
from kcnet_core.limits import MEGABYTE
from tests.kcnet_core.datasets.uploads.at_once import images_dataset
from tests.kcnet_core.datasets.uploads.test_images import npz, two_classes, zipped

SEED, N_FEW, N_MANY = 2021, 80, 20_000
SIZE = (8, 8)
TABLES = 2 * MEGABYTE  # of contents and of names, which no estimate counts
STORED, DEFLATED, BZIP2, LZMA = 0, 8, 12, 14
PACK = {
    STORED: bytes,
    DEFLATED: lambda raw: zlib.compress(raw)[2:-4],
    BZIP2: bz2.compress,
    LZMA: lambda raw: b"\x09\x04\x05\x00" + lzma.compress(raw, lzma.FORMAT_ALONE)[:5],
}
METHODS = (STORED, STORED, DEFLATED, DEFLATED, DEFLATED, BZIP2, LZMA, 9, 93, 99, 65535)
SIZES = (0, 1, 10, 2**20, 2**31, 2**32 - 2, 2**32 - 1)
TYPES = (
    "|u1", "|u1", "|u1", "<f4", "<f8", "<i8", "|b1", "|S0", "<U0", "|S3", "<U9", "|O", "|V4",
    "<c16", ">u2", "|S2000000", "[('a', '<i4')]", "<M8[s]", "<f2", "|i1", "'; import os",
)  # fmt: skip
SIDES = (0, 1, 2, 8, 12, 12, 12, 64, 10**6, 10**12, -1, 2**63)

X = np.arange(12 * 64, dtype=np.uint8).reshape(12, 8, 8)
HONEST = (zipped(two_classes(n=4)), npz(X=X, y=np.arange(12) % 2))


def npy(rng: random.Random) -> bytes:
    """A numpy file whose header may promise anything."""
    kind = rng.choice(TYPES)
    shape = tuple(rng.choice(SIDES) for _ in range(rng.choice((0, 1, 1, 2, 3, 3, 4, 40))))
    if rng.random() < 0.4:
        kind, shape = "|u1", rng.choice(((12, 8, 8), (12,), (12, 64), (12, 8, 8, 3)))
    descr = kind if kind.startswith("[") else repr(kind)
    header = f"{{'descr': {descr}, 'fortran_order': {rng.random() < 0.2}, 'shape': {shape}, }}"
    if rng.random() < 0.1:
        header = rng.choice((header[:-9], "(" * 5000, header * 200, "{'shape': 9**9**9}", ""))
    version = rng.choice(((1, 0), (1, 0), (1, 0), (2, 0), (3, 0), (9, 9)))
    text = header.encode() + b"\n"
    length = struct.pack("<H" if version[0] == 1 else "<I", len(text) % 65536)
    values = rng.choice((b"", bytes(12), bytes(768), bytes(rng.randbytes(768)), bytes(2304)))
    if rng.random() < 0.1:
        values = pickle.dumps(print)
    return b"\x93NUMPY" + bytes(version) + length + text + values


def picture(rng: random.Random) -> bytes:
    """A picture that may be cut short, lie about its size, or be none."""
    file, side = io.BytesIO(), rng.choice((1, 8, 30))
    mode, kind = rng.choice(
        (("L", "PNG"), ("RGB", "PNG"), ("P", "GIF"), ("1", "BMP"), ("RGB", "JPEG"), ("L", "TIFF"))
    )
    Image.new(mode, (side, side), rng.randrange(2)).save(file, kind)
    content = bytearray(file.getvalue())
    if rng.random() < 0.3:
        content[16:24] = struct.pack(">II", rng.choice(SIZES), rng.choice(SIZES))
    return bytes(content[: rng.randrange(1, len(content) + 1)] if rng.random() < 0.2 else content)


def archive(rng: random.Random) -> bytes:
    """A zip file put together by hand: methods, sizes, names, flags and places may all lie."""
    if rng.random() < 0.1:
        return HONEST[rng.random() < 0.5]
    arrays, local, table = rng.random() < 0.6, b"", b""
    names = ["X.npy", "y.npy"] if arrays else [f"{c}/{k}.png" for c in "ab" for k in range(4)]
    names += rng.choices(("../x.npy", "/etc/x", "X.npy", "a/" * 500, "\x00", "CON", "b\\c.png"),
                         k=rng.choice((0, 0, 0, 1, 2)))  # fmt: skip
    for name in names:
        raw = npy(rng) if arrays else picture(rng)
        if rng.random() < 0.05:
            raw = bytes(rng.choice((10**6, 10**7)))
        method = rng.choice(METHODS) if rng.random() < 0.3 else rng.choice((STORED, DEFLATED))
        packed = PACK.get(method, bytes)(raw)
        told = rng.choice(SIZES) if rng.random() < 0.1 else len(raw)
        n_packed = rng.choice(SIZES) if rng.random() < 0.05 else len(packed)
        crc = zlib.crc32(raw) if rng.random() < 0.95 else 0
        flags = rng.choice((0, 0, 0, 0, 0, 0, 1, 8, 2048))
        about = struct.pack("<HHHHIIIHH", flags, method, 0, 33, crc, n_packed, told, len(name), 0)
        place = len(local) if rng.random() < 0.97 else 0
        encoded = name.encode("latin-1")
        local += b"PK\x03\x04\x14\x00" + about + encoded + packed
        table += b"PK\x01\x02\x14\x00\x14\x00" + about + struct.pack(
            "<HHHII", 0, 0, 0, 0, place) + encoded  # fmt: skip
    n = len(names) if rng.random() < 0.95 else rng.choice((0, 1, 65535))
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, n, n, len(table), len(local), 0)
    whole = local + table + end
    return whole[: rng.randrange(len(whole))] if rng.random() < 0.05 else whole


def peak_of(read) -> tuple[str, int]:
    """What came of it, and the most bytes that it held at once."""
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        read()
        outcome = "taken"
    except KCNetError as refused:
        assert str(refused).endswith((".", "!", ")")), refused
        outcome = "refused"
    return outcome, tracemalloc.get_traced_memory()[1] - before


def read_both(content: bytes, path) -> None:
    images_dataset(content, size=SIZE)
    np.savez(path, X=np.zeros((2, 64)))
    read_npz(path, range(64))


def attack(n: int, tmp_path) -> Counter:
    rng, outcomes, path = random.Random(SEED), Counter(), tmp_path / "rows.npz"
    read_both(HONEST[0], path)  # what is imported on the way is not counted
    tracemalloc.start()
    try:
        for k in range(n):
            content = archive(rng)
            try:
                most = 2 * images_bytes(content, SIZE).reading + TABLES
            except KCNetError:
                most = TABLES + 2 * len(content)
            outcome, peak = peak_of(lambda content=content: images_dataset(content, size=SIZE))
            assert peak <= most, (k, peak, most)
            outcomes[outcome] += 1
            path.write_bytes(content)
            outcome, peak = peak_of(lambda: read_npz(path, range(64), 10 * MEGABYTE))
            assert peak <= 2 * 10 * MEGABYTE + TABLES, (k, peak)
            outcomes[f"rows {outcome}"] += 1
    finally:
        tracemalloc.stop()
    return outcomes


def test_a_few_deceitful_archives(tmp_path):
    outcomes = attack(N_FEW, tmp_path)
    assert outcomes["taken"] and outcomes["refused"] and outcomes["rows taken"]


@pytest.mark.slow
def test_many_deceitful_archives(tmp_path, capsys):
    outcomes = attack(N_MANY, tmp_path)
    with capsys.disabled():
        print(dict(outcomes))
    assert outcomes["taken"] + outcomes["refused"] == N_MANY
