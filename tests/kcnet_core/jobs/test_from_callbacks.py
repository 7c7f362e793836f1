"""Callback work driven as a generator: progress, result, failure and stopping."""

import threading

import pytest

from kcnet_core.contracts import Counted
from kcnet_core.jobs.from_callbacks import callback_steps


def drained(steps):
    seen = []
    while True:
        try:
            seen.append(next(steps))
        except StopIteration as end:
            return seen, end.value


def test_progress_comes_out_and_the_result_is_returned():
    def work(progress, should_stop):
        progress(3, 4)
        return "done"

    seen, result = drained(callback_steps(work))
    assert seen == [Counted(3, 4)]
    assert seen[0].fraction == 0.75
    assert result == "done"


def test_an_error_of_the_work_is_raised_to_the_driver():
    def work(progress, should_stop):
        progress(1, None)
        raise ValueError("no")

    steps = callback_steps(work)
    with pytest.raises(ValueError, match="no"):
        drained(steps)


def test_closing_asks_the_work_to_stop_and_waits_for_it():
    ended = threading.Event()

    def work(progress, should_stop):
        k = 0
        while not should_stop():
            progress(k := k + 1, None)
        ended.set()

    steps = callback_steps(work)
    next(steps)
    steps.close()
    assert ended.is_set()


def test_a_slow_viewer_gets_the_newest_progress():
    halfway = threading.Event()

    def work(progress, should_stop):
        for k in range(1, 1001):
            progress(k, 1000)
        halfway.set()

    steps = callback_steps(work)
    first = next(steps)
    halfway.wait(10)
    rest, _ = drained(steps)
    assert len(rest) < 1000
    assert [first, *rest][-1].done == 1000
