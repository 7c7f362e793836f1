"""What a session remembers: by key, and no more than it should."""

from __future__ import annotations

import pytest

from pages.ui.shell.memo import memo, st


@pytest.fixture(autouse=True)
def session(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})


def test_a_value_is_made_once_for_its_key_and_slot():
    made = []

    def make():
        made.append(1)
        return [len(made)]

    assert memo("a", 1, make) is memo("a", 1, make)
    assert memo("b", 1, make) == [2]
    assert memo("a", 2, make) == [3]


def test_the_value_that_was_not_used_for_longest_goes_first():
    for key in (1, 2, 1, 3):
        memo("a", key, lambda key=key: key, size=2)
    assert memo("a", 1, lambda: "new", size=2) == 1
    assert memo("a", 2, lambda: "new", size=2) == "new"


def test_what_could_not_be_made_is_tried_again():
    with pytest.raises(ZeroDivisionError):
        memo("a", 1, lambda: 1 / 0)
    assert memo("a", 1, lambda: "now") == "now"
