"""Folders for dataset tests: never the user's own cache."""

from __future__ import annotations

import os

import pytest

from tests.conftest import share_descriptors


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


@pytest.fixture
def described_data(real_data, cache, monkeypatch):
    """The same, with the descriptors that other tests have computed."""
    with monkeypatch.context() as outside:
        outside.delenv("KCNET_CACHE")
        share_descriptors(cache)
    return real_data


@pytest.fixture
def closed():
    """Closes a folder or a file to this process, which may belong to root."""
    modes = {}

    def close(path):
        modes.setdefault(path, path.stat().st_mode)
        path.chmod(0)
        os.seteuid(65534 if os.getuid() == 0 else os.getuid())

    yield close
    os.seteuid(os.getuid())
    for path, mode in modes.items():
        path.chmod(mode)
