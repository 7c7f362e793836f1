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
