"""A sheet of images: markup, labels, colours."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from kcnet_core import figures


@pytest.mark.parametrize("dark", [False, True])
def test_a_sheet_of_images_is_safe_markup_with_every_label(dark):
    images, labels = np.random.default_rng(0).random((12, 64)), ["<b>&", *"abcdefghijk"]
    tiles = figures.image_tiles(images, (8, 8), labels, dark=dark)
    root = ElementTree.fromstring(re.sub("(<img [^>]*)>", r"\1/>", tiles))
    assert [node.text for node in root.iter("figcaption")] == labels
    pictures = [node.get("src") for node in root.iter("img")]
    assert len(pictures) == len(labels)
    assert all(source.startswith("data:image/png;base64,") for source in pictures)


def test_photographs_keep_their_colours_and_maps_add_them_up():
    import base64
    import io

    from PIL import Image

    from kcnet_core.figures.pictures import cell_pictures, contribution_map, image_grid, pixel_map

    shape, values = (4, 5, 3), np.arange(60, dtype=np.float32)
    red = np.zeros((1, 60), np.float32)
    red[:, ::3] = 1
    source = image_grid(red, shape).data[0].source
    shown = np.asarray(Image.open(io.BytesIO(base64.b64decode(source.split(",")[1]))))
    assert shown[0, 0].tolist() == [255, 0, 0]
    assert np.asarray(pixel_map(values, shape).data[0].z).shape == (4, 5)
    assert np.asarray(pixel_map(values, shape).data[0].z).max() == 57 + 58 + 59
    seen, added = contribution_map(values, red[0], shape).data
    assert seen.type == "image"
    assert np.asarray(added.z)[0, 0] == 3
    assert "3 to 3 each" in str(cell_pictures(np.tile(values < 3, (2, 1)), shape, [0, 1]).layout)
