"""How often the pictures of a run under way are made."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kcnet_core.jobs import JobView
from pages.ui.train import live_view


@pytest.fixture
def visit(monkeypatch):
    """One visitor's memory, a clock that stands still, and a count of drawings."""
    made = []
    at = SimpleNamespace(now=100.0, made=made, job=SimpleNamespace(id="a"))
    monkeypatch.setattr(live_view.st, "session_state", {})
    monkeypatch.setattr(live_view.visitor, "dark", lambda: False)
    monkeypatch.setattr(live_view.time, "monotonic", lambda: at.now)
    monkeypatch.setattr(live_view, "panels", lambda job, snapshot: snapshot)
    monkeypatch.setattr(live_view, "picture_data", lambda rows: made.append(rows) or {"of": rows})
    at.see = lambda n, state="running": live_view.latest_pictures(
        at.job, JobView(state=state, snapshot=n, n_snapshots=n)
    )
    return at


def test_a_slider_moved_meanwhile_makes_no_new_pictures(visit):
    assert visit.see(1) is visit.see(2)
    assert visit.made == [1]


def test_every_poll_makes_new_ones_also_when_it_is_a_little_early(visit):
    visit.see(1)
    visit.now += 0.95 * live_view.SECONDS_BETWEEN_DRAWINGS
    assert visit.see(2) == {"of": 2}


def test_what_has_not_changed_is_not_made_again(visit):
    visit.see(1)
    visit.now += 60
    assert visit.see(1) == {"of": 1}
    assert visit.made == [1]


def test_a_pause_and_every_step_show_the_latest_at_once(visit):
    visit.see(1)
    assert visit.see(2, "paused") == {"of": 2}
    assert visit.see(3, "paused") == {"of": 3}


def test_another_run_is_drawn_at_once(visit):
    visit.see(1)
    visit.job.id = "b"
    assert visit.see(2) == {"of": 2}
