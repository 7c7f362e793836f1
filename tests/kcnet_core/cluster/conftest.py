"""Two worker processes for all tests of this folder."""

from __future__ import annotations

import distributed
import pytest

from kcnet_core.cluster import connection


@pytest.fixture(scope="package")
def client():
    with (
        connection.local_workers(2) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client
