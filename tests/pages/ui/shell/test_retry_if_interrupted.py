"""A click that another one interrupts still counts."""

from __future__ import annotations

import pytest
from streamlit.runtime.scriptrunner import RerunException
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

from pages.ui.shell.retry_if_interrupted import whole


def test_an_interrupted_callback_is_done_again_and_the_rerun_still_follows():
    calls = []

    @whole
    def click(name):
        calls.append(name)
        if len(calls) == 1:
            raise RerunException(RerunData())
        calls.append("done")

    with pytest.raises(RerunException):
        click("start")
    assert calls == ["start", "start", "done"]
    assert click("again") is None and calls[-2:] == ["again", "done"]


def test_other_errors_are_not_repeated():
    calls = []

    @whole
    def click():
        calls.append(1)
        raise ValueError

    with pytest.raises(ValueError):
        click()
    assert len(calls) == 1
