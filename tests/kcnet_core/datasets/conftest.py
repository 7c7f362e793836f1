"""Folders for dataset tests: never the user's own cache."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """An empty cache folder of this test alone, and no data folder."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("KCNET_CACHE", str(folder))
    monkeypatch.delenv("KCNET_DATA", raising=False)
    return folder


@pytest.fixture
def real_data(shared_data, monkeypatch):
    """The data folder is the one with the real datasets."""
    monkeypatch.setenv("KCNET_DATA", str(shared_data))
    return shared_data
