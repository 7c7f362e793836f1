"""Uploads read at once, for tests that do not look at the steps."""

from __future__ import annotations

from kcnet_core.contracts import drain
from kcnet_core.datasets.uploads.images import images_steps
from kcnet_core.datasets.uploads.table import table_steps


def images_dataset(content, **options):
    return drain(images_steps(content, **options))


def table_dataset(content, guess, **options):
    return drain(table_steps(content, guess, **options))
