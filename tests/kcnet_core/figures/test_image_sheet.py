"""A sheet of images: markup, labels, colours."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from kcnet_core import figures


@pytest.mark.parametrize("dark", [False, True])
def test_a_sheet_of_images_is_safe_markup_with_every_label(dark):
    images, labels = np.random.default_rng(0).random((12, 64)), ["<b>&", *"abcdefghijk"]
    root = ElementTree.fromstring(figures.image_sheet(images, (8, 8), labels, dark=dark))
    assert [node.text for node in root.iter() if node.tag.endswith("}text")] == labels
    (picture,) = [node for node in root.iter() if node.tag.endswith("}image")]
    assert picture.get("href").startswith("data:image/png;base64,")
