"""How often the pictures of a run under way are made, and which frames a browser gets."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kcnet_core.experiments.frames import Frame
from kcnet_core.experiments.run import Run
from kcnet_core.experiments.training import TrainView
from kcnet_core.jobs import JobView
from pages.ui.train import live_film


@pytest.fixture
def visit(monkeypatch):
    """One visitor's memory, a clock that stands still, and a count of drawings."""
    made = []
    at = SimpleNamespace(
        now=100.0, made=made, job=SimpleNamespace(id="a", kind="train", config=Run())
    )
    monkeypatch.setattr(live_film.st, "session_state", {})
    monkeypatch.setattr(live_film.visitor, "dark", lambda: False)
    monkeypatch.setattr(live_film.visitor_jobs, "data_of", lambda job: None)
    monkeypatch.setattr(live_film.time, "monotonic", lambda: at.now)

    def film_data(kinds, instants, **options):
        assert kinds == ("S", "W")
        made.append([one.epoch for one in instants])
        at.whole, at.order, at.now_of_run = (options[name] for name in ("whole", "order", "now"))
        at.seconds, at.play, at.begins = (options[name] for name in ("seconds", "play", "begins"))
        return f"{made[-1:]}".encode()

    monkeypatch.setattr(live_film.figures, "film_data", film_data, raising=False)

    def view_of(n, state="running"):
        """After `n` epochs, of which a job keeps the last four and every tenth."""
        frames = tuple(frame(epoch) for epoch in range(1, n + 1))
        stored = tuple(one for one in frames if one.epoch % 10 == 1)
        snapshot = TrainView(Run(), "Training", 0.5, [], 0, stored, frames[-4:])
        return JobView(state=state, snapshot=snapshot, n_snapshots=n)

    def see(n, state="running"):
        """The live view then."""
        return live_film.latest(at.job, view_of(n, state))

    at.view_of = view_of
    at.see = see
    return at


def frame(epoch: int) -> Frame:
    counts = np.ones(60)
    small = np.zeros((2, 2))
    return Frame(epoch, small, small, counts, np.zeros(2), (2, 2), 0.0, made=float(epoch))


def before_the_first(visit) -> None:
    """As on Start: the page is drawn before there is a frame."""
    assert visit.see(0)
    visit.made.clear()
    visit.now += live_film.SECONDS_BETWEEN_DRAWINGS


def test_a_slider_moved_meanwhile_makes_no_new_pictures(visit):
    assert visit.see(1) is visit.see(2)
    assert visit.made == [[1]]


def test_every_poll_makes_new_ones_also_when_it_is_a_little_early(visit):
    visit.see(1)
    visit.now += 0.95 * live_film.SECONDS_BETWEEN_DRAWINGS
    visit.see(2)
    assert visit.made == [[1], [2]]


def test_what_has_not_changed_is_not_made_again(visit):
    first = visit.see(1)
    visit.now += 60
    assert visit.see(1) is first
    assert visit.made == [[1]]


def test_a_pause_and_every_step_show_the_latest_at_once(visit):
    visit.see(1)
    visit.see(2, "paused")
    visit.see(3, "paused")
    assert visit.made == [[1], [2], [3]]


def test_another_run_is_drawn_at_once(visit):
    visit.see(1)
    visit.job.id = "b"
    visit.see(2)
    assert visit.made == [[1], [1, 2]]


def test_each_poll_sends_the_frames_since_the_last_one(visit):
    before_the_first(visit)
    for n in (3, 5, 20):
        visit.see(n)
        visit.now += live_film.SECONDS_BETWEEN_DRAWINGS
    assert visit.made == [[1, 2, 3], [4, 5], [17, 18, 19, 20]]


def test_at_the_end_every_stored_epoch_can_be_played_again(visit):
    before_the_first(visit)
    visit.see(3)
    assert not visit.whole
    visit.see(25, "done")
    assert visit.made[1:] == [[1, 11, 21, 25]]
    assert visit.whole, "the film so far gives way to the stored one"


def test_what_is_sent_later_is_known_to_be_later_also_when_no_epoch_was_added(visit):
    visit.see(3)
    first = visit.order
    visit.now += 1
    visit.see(3, "paused")
    assert visit.order > first and not visit.now_of_run.runs


def test_who_comes_later_gets_the_stored_epochs_and_the_newest_frame(visit):
    visit.see(29)
    assert visit.made == [[1, 11, 21, 29]]
    assert visit.whole


def test_the_first_frames_come_soon_after_each_other_and_are_played_from_the_first(visit):
    visit.now = 1.1  # the first frame was made at 1.0
    visit.see(0)
    visit.now += live_film.SECONDS_AT_FIRST
    visit.see(1)
    assert visit.seconds == live_film.SECONDS_AT_FIRST and not settled(visit, 1)
    assert visit.begins and visit.play < visit.seconds, "it moves at once"
    visit.now += live_film.SECONDS_AT_FIRST
    visit.see(2)
    assert visit.made[1:] == [[1], [2]], "neither waits for a whole second"
    assert not visit.begins and visit.seconds < visit.play < live_film.SECONDS_BETWEEN_DRAWINGS
    visit.now = 1.1 + live_film.SECONDS_OF_FIRST_FRAMES
    visit.see(3)
    assert visit.seconds == live_film.SECONDS_BETWEEN_DRAWINGS and settled(visit, 3)
    assert visit.play == visit.seconds


def test_who_comes_later_begins_with_where_the_run_stands(visit):
    visit.see(29)
    assert not visit.begins


class Waiting:
    """A job whose next frame comes only if somebody waits for it."""

    def __init__(self, visit, n: int):
        self.id, self.kind, self.config = visit.job.id, "train", visit.job.config
        self.visit, self.n, self.waited = visit, n, 0

    def wait_for(self, there, patience) -> None:
        while not there(self.visit.view_of(self.n)):
            assert patience < 1
            self.n += 10  # of which one is stored
            self.waited += 1


def test_the_page_of_start_comes_with_its_first_frames_and_waits_once(visit):
    job = Waiting(visit, 0)
    live_film.wait_for_first(job)
    assert job.waited == live_film.FRAMES_TO_BEGIN_WITH
    visit.see(1)
    job.n = 0
    live_film.wait_for_first(job)
    assert job.waited == live_film.FRAMES_TO_BEGIN_WITH, "a poll does not wait"


def test_a_run_without_pictures_is_not_waited_for(visit):
    job = Waiting(visit, 0)
    job.config = Run(model="ELM")
    live_film.wait_for_first(job)
    assert not job.waited


def test_nothing_is_waited_for_where_there_is_no_wiring_to_see(visit):
    visit.job.config = Run(model="FSHN")
    assert settled(visit, 0)


def settled(visit, n: int) -> bool:
    visit.job.view = visit.view_of(n)
    return live_film.settled(visit.job)
