"""Uploads share one memory: together they stay below a limit, and what is let go is free."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.datasets.uploads import quota
from kcnet_core.datasets.uploads.quota import HeldUploads
from kcnet_core.errors import LimitError
from kcnet_core.limits import MEGABYTE


def upload(megabytes: float) -> Dataset:
    X = np.zeros((int(megabytes * MEGABYTE) // 16, 4), np.float32)
    return Dataset("uploaded", "mine.csv", X, np.zeros(len(X), int), tuple("abcd"), ("x", "y"))


@pytest.fixture(autouse=True)
def limit(monkeypatch):
    monkeypatch.setattr(quota, "MAX_HELD_UPLOAD_BYTES", 10 * MEGABYTE)


def test_uploads_of_everybody_together_stay_below_the_limit():
    uploads = HeldUploads()
    held = [upload(4), upload(4)]
    for dataset in held:
        uploads.add(dataset)
    uploads.refuse_beyond(2 * MEGABYTE)
    with pytest.raises(LimitError, match=r"hold 8 MB now.* add 3 MB;.* at most 10 MB .*try again"):
        uploads.refuse_beyond(3 * MEGABYTE)
    with pytest.raises(LimitError, match="MAX_HELD_UPLOAD_BYTES"):
        uploads.add(upload(3))


def test_what_nobody_holds_any_more_is_not_counted():
    uploads = HeldUploads()
    dataset = upload(9)
    uploads.add(dataset)
    with pytest.raises(LimitError):
        uploads.refuse_beyond(9 * MEGABYTE)
    del dataset
    gc.collect()
    uploads.refuse_beyond(9 * MEGABYTE)


def test_an_upload_may_take_the_place_of_the_one_it_replaces():
    uploads = HeldUploads()
    mine, theirs = upload(6), upload(3)
    uploads.add(mine)
    uploads.add(theirs)
    uploads.refuse_beyond(7 * MEGABYTE, weakref.ref(mine))
    with pytest.raises(LimitError, match="hold 3 MB now"):
        uploads.refuse_beyond(8 * MEGABYTE, weakref.ref(mine))
