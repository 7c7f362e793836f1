"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine must not fail a test: none of them measures time.
settings.register_profile("kcnet", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kcnet")

PROJECT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real datasets: in KCNET_TEST_DATA, or in `../shared/data` beside the project."""
    folder = Path(os.environ.get("KCNET_TEST_DATA", PROJECT.parent / "shared" / "data"))
    if not (folder / "keller_2016").is_dir() or not (folder / "images").is_dir():
        pytest.skip("the real datasets are not beside the project (see README, Tests)")
    return folder
