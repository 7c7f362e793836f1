"""The controls of the data, which all pages share."""

from __future__ import annotations

from contextlib import contextmanager

from kcnet_core.errors import DataError
from kcnet_core.experiments.run import Run
from pages.ui.shell import data_controls


def test_while_data_is_read_the_page_says_so_by_its_name(monkeypatch):
    said, told_while_read = [], []

    @contextmanager
    def spinner(text):
        said.append(text)
        yield
        said.pop()

    def dataset(run):
        told_while_read.extend(said)
        raise DataError("half of it is missing")  # which the page itself will say

    monkeypatch.setattr(data_controls.st, "spinner", spinner)
    monkeypatch.setattr(data_controls.visitor_data, "dataset", dataset)
    data_controls.read(Run(dataset="mnist"), "MNIST*")
    assert told_while_read == ["Reading MNIST\\*"] and not said
