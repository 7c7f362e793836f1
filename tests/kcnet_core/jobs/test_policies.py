"""Who has a slot while others wait: turns, jobs that step back, and pauses that end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcnet_core import limits
from kcnet_core.errors import LimitError
from kcnet_core.jobs import Estimate, Memory, NotOwner, memory, policies
from tests.kcnet_core.jobs.ending_manager import EndingManager
from tests.kcnet_core.jobs.test_jobs import (
    GB,
    WAIT,
    Clock,
    Machine,
    Snapshot,
    at_once,
    endless,
    reached,
)


class Sum:
    """Adds 0 to n - 1, one number for each permit, and ends with another permit."""

    def __init__(self, n=100):
        self.n, self.permits = n, threading.Semaphore(0)

    def __call__(self):
        total = 0
        for number in range(self.n):
            assert self.permits.acquire(timeout=WAIT)
            total += number
            yield Snapshot(number, fraction=(number + 1) / self.n)
        assert self.permits.acquire(timeout=WAIT)
        return total


def step(job, work):
    """Let a running job do one step, and see what became of it."""
    before = job.view.n_snapshots
    work.permits.release()
    assert job.wait_for(lambda view: view.n_snapshots > before or view.finished, WAIT)


def finish(job, work):
    work.permits.release(work.n + 1)
    assert job.wait(WAIT)


@pytest.fixture
def managers():
    with managed() as make:
        yield make


@contextmanager
def managed():
    made = []

    def make(max_running=2, kind=EndingManager, **options):
        made.append(kind(max_running, **options))
        return made[-1]

    try:
        yield make
    finally:
        for manager in made:
            manager.stop_all()
            for job in manager.submitted:
                if isinstance(job.steps, Sum):
                    job.steps.permits.release()  # out of the step in hand
            manager.end()


def four_of_ann(manager, n=3):
    works = [Sum(n) for _ in range(4)]
    return works, [manager.submit("ann", "train", {}, work) for work in works]


def states(jobs):
    return [job.view.state for job in jobs]


# -- stepping back ---------------------------------------------------------------------------------


def test_a_newcomer_begins_after_one_step_of_an_owners_second_job_which_goes_on_later(managers):
    clock = Clock()
    manager = managers(clock=clock)
    works, jobs = four_of_ann(manager)
    reached(jobs[1], "running")
    step(jobs[1], works[1])
    clock.now += 5
    bob_work = Sum(1)
    bob = manager.submit("bob", "train", {}, bob_work)
    assert bob.view.position == 1
    step(jobs[0], works[0])
    assert states([*jobs, bob]) == ["running", "running", "queued", "queued", "queued"]
    step(jobs[1], works[1])
    assert states([*jobs, bob]) == ["running", "queued", "queued", "queued", "running"]
    assert [job.view.position for job in jobs] == [None, 1, 2, 3], "first among its owner's own"
    waiting = jobs[1].view
    assert (waiting.n_snapshots, waiting.fraction) == (2, pytest.approx(2 / 3))
    clock.now += 100
    assert waiting.seconds(clock.now) == 5
    finish(bob, bob_work)
    reached(jobs[1], "running")
    assert jobs[1].view.started == waiting.started
    for job, work in zip(jobs, works, strict=True):
        finish(job, work)
    assert [job.result for job in jobs] == [3] * 4
    assert jobs[1].view.n_snapshots == 3


def test_nobody_steps_back_for_an_owner_who_has_a_slot_or_none_that_waits(managers):
    manager = managers()
    works, jobs = four_of_ann(manager)
    for job, work in zip(jobs[:2], works[:2], strict=True):
        step(job, work)
    assert states(jobs) == ["running", "running", "queued", "queued"]
    with_a_slot = managers(max_running=3)
    bob_work = Sum()
    bob = with_a_slot.submit("bob", "train", {}, bob_work)
    works, jobs = four_of_ann(with_a_slot)
    with_a_slot.submit("bob", "train", {}, endless)
    step(jobs[1], works[1])
    assert states([bob, *jobs[:2]]) == ["running"] * 3


def test_a_free_slot_goes_to_an_owner_without_one(managers):
    manager = managers()
    works = [Sum(), Sum()]
    ann = manager.submit("ann", "train", {}, works[0])
    other = manager.submit("cat", "train", {}, works[1])
    second = manager.submit("ann", "train", {}, endless)
    bob = manager.submit("bob", "train", {}, endless)
    assert (bob.view.position, second.view.position) == (1, 2)
    finish(other, works[1])
    assert states([ann, second, bob]) == ["running", "queued", "running"]


def test_nobody_steps_back_for_a_job_that_waits_for_memory(managers):
    manager = managers(memory=Machine(10 * GB))
    works = [Sum(), Sum()]
    jobs = [
        manager.submit("ann", "train", {}, work, estimate=Estimate(bytes=2 * GB)) for work in works
    ]
    large = manager.submit("bob", "train", {}, endless, estimate=Estimate(bytes=4 * GB))
    step(jobs[1], works[1])
    assert states([*jobs, large]) == ["running", "running", "queued"]
    small = manager.submit("bob", "train", {}, endless, estimate=Estimate(bytes=GB))
    step(jobs[1], works[1])
    assert small.view.state == "queued", "it does not pass the large one that room is made for"


def stepped_back(manager):
    works, jobs = four_of_ann(manager)
    bob_work = Sum()
    bob = manager.submit("bob", "train", {}, bob_work)
    reached(jobs[1], "running")
    step(jobs[1], works[1])
    assert states([jobs[1], bob]) == ["queued", "running"]
    return jobs[1], works[1], bob, bob_work


def test_a_job_that_stepped_back_can_be_stopped(managers):
    manager = managers()
    job, _, bob, _ = stepped_back(manager)
    job.control("ann", "stop")
    reached(job, "cancelled")
    assert job.view.snapshot == Snapshot(0, fraction=1 / 3)
    assert bob.view.state == "running"


def test_a_job_that_stepped_back_can_be_paused_and_resumed(managers):
    manager = managers()
    job, work, bob, bob_work = stepped_back(manager)
    assert job.control("ann", "pause").state == "paused"
    others = [one for one in manager.owned_by("ann") if one is not job]
    for other in others:
        other.control("ann", "stop")
    finish(bob, bob_work)
    assert job.view.state == "paused"
    job.control("ann", "resume")
    finish(job, work)
    assert job.result == 3


def test_a_job_that_stepped_back_can_be_stepped(managers):
    manager = managers()
    job, work, bob, bob_work = stepped_back(manager)
    job.control("ann", "step")
    assert job.view.state == "queued"
    finish(bob, bob_work)
    reached(job, "running")
    step(job, work)
    assert (job.view.state, job.view.n_snapshots) == ("paused", 2)


# -- turns -----------------------------------------------------------------------------------------


def test_an_owner_who_was_served_before_is_not_overtaken_by_one_newcomer_after_another(managers):
    manager = managers(max_running=1)
    assert manager.submit("old", "train", {}, at_once()).wait(WAIT)
    work = Sum()
    running = manager.submit("other", "train", {}, work)
    old = manager.submit("old", "train", {}, Sum())
    newcomers = [manager.submit(f"new{i}", "train", {}, endless) for i in range(5)]
    assert [job.view.position for job in (old, *newcomers)] == [1, 2, 3, 4, 5, 6]
    finish(running, work)
    reached(old, "running")


class Watched(EndingManager):
    """Counts for each owner who waits without a slot how often each other one gets a slot."""

    def __init__(self, *args, **options):
        self.passed: dict[str, Counter] = {}
        self.most_passes = self.most_slots_beside = 0
        super().__init__(*args, **options)

    def _give_slot(self, job):
        super()._give_slot(job)
        slots = Counter(other.owner for other in self._running)
        without = {other.owner for other in self._queue if not slots[other.owner]}
        self.passed = {owner: self.passed.get(owner, Counter()) for owner in without}
        for counter in self.passed.values():
            counter[job.owner] += 1
            self.most_passes = max(self.most_passes, *counter.values())
        if without:
            self.most_slots_beside = max(self.most_slots_beside, slots[job.owner])


wishes = st.lists(
    st.one_of(
        st.tuples(st.just("submit"), st.sampled_from("abcde"), st.integers(1, 4)),
        st.tuples(st.sampled_from(["step", "pause", "resume", "stop"]), st.integers(0, 9)),
    ),
    min_size=10, max_size=60,
)  # fmt: skip


@settings(max_examples=40)
@given(st.integers(1, 3), wishes)
def test_whoever_waits_without_a_slot_is_passed_at_most_once_by_each_other(slots, wishes):
    with managed() as make:
        manager = make(slots, kind=Watched, memory=lambda: Memory(GB, 0))
        works = {}

        def in_state(*names):
            return [job for job in works if job.view.state in names]

        for what, *details in wishes:
            if what == "submit":
                owner, n = details
                try:
                    job = manager.submit(owner, "train", {}, (work := Sum(n)))
                except LimitError:
                    continue
                works[job] = work
                continue
            wanted = {"step": ("running",), "resume": ("paused",)}.get(what, ("queued", "paused"))
            if not (found := in_state(*wanted)):
                continue
            job = found[details[0] % len(found)]
            if what == "step":
                step(job, works[job])
            else:
                job.control(job.owner, what)
                assert what != "stop" or job.wait(WAIT)
        for job in in_state("paused"):
            job.control(job.owner, "resume")
        while running := in_state("running"):
            step(running[-1], works[running[-1]])
        assert in_state("queued", "failed") == []
        assert all(job.result == sum(range(works[job].n)) for job in in_state("done"))
        assert manager.most_passes <= 1
        assert manager.most_slots_beside <= 1


# -- pauses ----------------------------------------------------------------------------------------


def test_paused_jobs_of_others_do_not_refuse_a_newcomer(managers):
    manager = managers()
    for owner in range(6):
        for _ in range(4):
            manager.submit(f"owner{owner}", "train", {}, endless, paused=True)
    newcomer = manager.submit("newcomer", "train", {}, at_once("served"))
    assert newcomer.wait(WAIT) and newcomer.result == "served"
    with pytest.raises(LimitError, match="already have 4"):
        manager.submit("owner0", "train", {}, endless)


def test_beyond_the_most_pauses_the_longest_of_whoever_has_the_most_ends(managers):
    clock = Clock()
    manager = managers(max_running=1, max_paused=4, clock=clock)
    running = manager.submit("zoe", "train", {}, (work := Sum()))
    jobs = []
    for owner in ("cat", "ann", "ann", "bob"):
        clock.now += 1
        jobs.append(manager.submit(owner, "train", {}, endless, paused=True))
    assert states(jobs) == ["paused"] * 4
    late = manager.submit("dan", "train", {}, endless, paused=True)
    assert states([*jobs, late]) == ["paused", "queued", "paused", "paused", "paused"]
    finish(running, work)
    reached(jobs[1], "running")


def test_however_visitors_pause_and_resume_the_unfinished_jobs_are_bounded(managers):
    manager = managers(max_running=1, max_queued=3, max_paused=2)
    jobs = []
    for i in range(20):
        for paused in (True, False):
            try:
                jobs.append(manager.submit(f"o{i}{paused}", "train", {}, endless, paused=paused))
            except LimitError:
                continue
        for job in jobs:
            if job.view.state == "queued":
                job.control(job.owner, "pause")
                break
    assert len(jobs) <= 1 + 3 + 2


# -- runs that nobody looks at ---------------------------------------------------------------------


@pytest.fixture
def left(monkeypatch):
    """A manager whose visitors may leave, and its clock; it looks again after every step."""
    monkeypatch.setattr("kcnet_core.jobs.manager.SECONDS_BETWEEN_NOTES", 0.01)
    clock = Clock()
    manager = EndingManager(1, alone=False, clock=clock)
    yield manager, clock
    manager.end()


def slowly():
    while True:
        time.sleep(0.02)
        yield None


def test_a_run_that_nobody_looks_at_rests_goes_on_when_somebody_comes_and_ends_at_last(left):
    manager, clock = left
    job = manager.submit("ann", "train", {}, slowly)
    reached(job, "running")
    clock.now += limits.UNWATCHED_PAUSE_SECONDS + 1
    reached(job, "paused")
    assert job.view.left_alone
    manager.attend("somebody", [job.id])
    reached(job, "running")
    clock.now += limits.UNWATCHED_PAUSE_SECONDS + 1
    reached(job, "paused")
    clock.now += limits.UNWATCHED_END_SECONDS
    reached(job, "cancelled")
    assert "Nobody has looked at this run for 60 minutes" in job.view.error


def test_a_run_is_not_left_alone_while_its_owner_is_here_or_has_said_to_keep_it(left):
    manager, clock = left
    job = manager.submit("ann", "train", {}, slowly)
    for _ in range(3):
        clock.now += limits.UNWATCHED_PAUSE_SECONDS - 1
        manager.attend("ann")
    seen = job.view.n_snapshots
    assert job.wait_for(lambda view: view.n_snapshots > seen + 2, WAIT)
    job.control("ann", "keep", 10 * limits.KEPT_RUNNING_SECONDS)
    clock.now = time.time() + limits.KEPT_RUNNING_SECONDS - 60
    seen = job.view.n_snapshots
    assert job.wait_for(lambda view: view.n_snapshots > seen + 2, WAIT)
    clock.now += limits.UNWATCHED_PAUSE_SECONDS + 120
    reached(job, "paused")
    with pytest.raises(NotOwner):
        job.control("bob", "keep", 60)


def test_a_pause_of_its_owner_stays_one_when_they_come_back(left):
    manager, clock = left
    job = manager.submit("ann", "train", {}, slowly)
    reached(job, "running")
    job.control("ann", "pause")
    reached(job, "paused")
    clock.now += limits.UNWATCHED_PAUSE_SECONDS + 1
    time.sleep(0.1)
    manager.attend("ann")
    assert job.view.state == "paused" and not job.view.left_alone


def test_without_pages_jobs_go_on_alone():
    clock = Clock()
    manager = EndingManager(1, clock=clock)
    job = manager.submit("ann", "train", {}, slowly)
    reached(job, "running")
    clock.now += 100 * limits.UNWATCHED_END_SECONDS
    seen = job.view.n_snapshots
    assert job.wait_for(lambda view: view.n_snapshots > seen + 2, WAIT)
    manager.end()


def test_a_finished_run_that_nobody_looks_at_is_lightened_and_kept(left):
    manager, clock = left

    class Trained:
        sums = True

        def forget_sums(self):
            self.sums = False

    job = manager.submit("ann", "train", {}, at_once(Trained()))
    reached(job, "done")
    for seconds, held in ((limits.UNWATCHED_LIGHTEN_SECONDS - 1, True), (2, False)):
        clock.now += seconds
        manager._weighed = 0.0
        assert manager.get(job.id).result.sums is held
        if held:
            manager.attend("somebody else")


@pytest.mark.parametrize("low", ["", "1"])
def test_a_small_machine_gets_one_run_and_one_molecule_process_at_a_time(low):
    code = (
        "from kcnet_core import limits; from kcnet_core.molecules import pool\n"
        "from kcnet_core.experiments.beside import plan\n"
        "from kcnet_core.experiments.comparison.plan import Comparison\n"
        "print(limits.MAX_RUNNING_JOBS, pool.MAX_PROCESSES, limits.MAX_FINISHED_BYTES >> 20)\n"
        "usual = plan.Beside(Comparison())\n"
        "print(usual.widest, usual.comparison.rows, plan.MAX_TEST_ROWS, max(plan.WIDEST))"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "KCNET_LOW_MEMORY": low},
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    small, usual = "1 1 32 1000 1500 200 1000", "2 8 2048 2000 4000 1000 4000"
    assert told == (small if low else usual).split()


@pytest.mark.parametrize(("low", "told"), [(False, {-8: 2}), (True, {-8: 2, -3: 2**18, -1: 2**18})])
def test_little_is_held_by_the_allocator_and_on_small_machines_less(monkeypatch, low, told):
    heard: dict[int, int] = {}
    library = SimpleNamespace(mallopt=heard.__setitem__)
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda _: library)
    memory.hold_little(low)
    assert heard == told


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="threads have no niceness there")
def test_a_job_lets_visitors_go_first_and_the_jobs_after_it_no_more_than_that():
    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    before, seen = niceness(), []

    def job(after: int) -> None:
        policies.step_aside()
        seen.append(niceness())
        if after:  # a job that ends starts the next one
            next_one = threading.Thread(target=job, args=(after - 1,))
            next_one.start()
            next_one.join()

    thread = threading.Thread(target=job, args=(2,))
    thread.start()
    thread.join()
    assert seen == [min(19, before + policies.JOB_NICENESS)] * 3 and niceness() == before
