"""Pictures that hide work behind a small width and height."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from kcnet_core import limits
from kcnet_core.datasets.uploads.picture import START_OF_SCAN, read_picture
from kcnet_core.errors import DataError


def tiled(tile: int) -> bytes:
    """A TIFF of 16 × 16 pixels, in one black tile of `tile` × `tile`."""
    packer, row = zlib.compressobj(9), bytes(tile)
    body = b"".join(packer.compress(row) for _ in range(tile)) + packer.flush()
    tags = {256: 16, 257: 16, 258: 8, 259: 8, 262: 1, 277: 1, 322: tile, 323: tile, 324: 8,
            325: len(body)}  # fmt: skip
    table = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
    head = b"II*\0" + struct.pack("<I", 8 + len(body))
    return head + body + struct.pack("<H", len(tags)) + table + bytes(4)


def test_tiles_larger_than_their_picture_are_not_unpacked():
    assert read_picture(tiled(64), (8, 8))[0].shape == (8, 8)
    # With tiles of 32,768 × 32,768, a file of 1 MB took 1,025 MB.
    with pytest.raises(DataError, match=r"tiles of 2,016 × 2,016 pixels.*MAX_IMAGE_PIXELS"):
        read_picture(tiled(2016), (8, 8))


def test_a_picture_that_is_drawn_over_and_over_is_refused():
    noise = np.random.default_rng(0).integers(0, 256, (64, 64), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(noise).save(file, "JPEG", progressive=True)
    content = file.getvalue()
    assert read_picture(content, (8, 8))[0].shape == (8, 8)
    last = content.rindex(START_OF_SCAN)
    again = content[:-2] + content[last:-2] * limits.MAX_JPEG_SCANS + content[-2:]
    with pytest.raises(DataError, match="MAX_JPEG_SCANS"):
        read_picture(again, (8, 8))
