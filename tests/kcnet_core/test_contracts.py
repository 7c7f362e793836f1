"""Work that goes step by step: its result, its shares, and what closing it ends."""

from __future__ import annotations

import pytest

from kcnet_core.contracts import Counted, drain, share_of_work


def work(n, ended):
    try:
        for k in range(1, n + 1):
            yield Counted(k, n)
        return "result"
    finally:
        ended.append(n)


def test_draining_gives_the_result_and_tells_how_far_the_work_is():
    seen, ended = [], []
    assert drain(work(2, ended), lambda *far: seen.append(far)) == "result"
    assert (seen, ended) == ([(1, 2), (2, 2)], [2])


def test_a_listener_that_raises_ends_the_work():
    ended = []
    with pytest.raises(ZeroDivisionError) as kept:  # and with it the frames
        drain(work(3, ended), lambda *_: 1 / 0)
    assert ended == [3] and kept


def test_shares_of_one_work_make_one_count():
    def both():
        yield from share_of_work(work(100, []), 0.0, 0.2)
        return (yield from share_of_work(work(50, []), 0.2, 0.8))

    fractions = []
    assert drain(both(), lambda done, total: fractions.append(done / total)) == "result"
    assert fractions == sorted(fractions)
    assert (fractions[99], fractions[-1]) == (0.2, 1)


def test_closing_a_share_ends_the_work():
    ended = []
    steps = share_of_work(work(3, ended), 0.0, 0.5)
    next(steps)
    steps.close()
    assert ended == [3]
