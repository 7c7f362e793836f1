"""Background jobs: steering, queueing, fairness, failure and memory, without any page."""

from __future__ import annotations

import json
import logging
import threading
from dataclasses import dataclass

import numpy as np
import pytest

from kcnet_core import limits
from kcnet_core.errors import DataError, KCNetError, LimitError, OutOfMemory
from kcnet_core.jobs import Estimate, Memory, NotOwner, measure_memory, show_log
from kcnet_core.jobs.retention import held_bytes
from tests.kcnet_core.jobs.ending_manager import EndingManager

WAIT = 10.0  # seconds after which a condition that should come is taken as never coming
GB = 2**30


@dataclass(frozen=True)
class Snapshot:
    number: int
    fraction: float | None = None
    counts_as_step: bool = True


class Clock:
    now = 1_000_000.0

    def __call__(self):
        return self.now


class Gate:
    """Steps that yield numbers, each only after the test let it through."""

    def __init__(self, n=3, result="result", fail=None):
        self.n, self.result, self.fail = n, result, fail
        self.permits = threading.Semaphore(0)
        self.entered = threading.Event()
        self.closed = threading.Event()

    def __call__(self):
        self.entered.set()
        try:
            for number in range(self.n):
                assert self.permits.acquire(timeout=WAIT)
                yield Snapshot(number, fraction=(number + 1) / self.n)
            if self.fail:
                raise self.fail
            return self.result
        finally:
            self.closed.set()

    def allow(self, n=1):
        self.permits.release(n)


def endless():
    number = 0
    while True:
        yield Snapshot(number)
        number += 1


def at_once(value=None):
    def steps():
        yield Snapshot(0)
        return value

    return steps


def reached(job, state):
    assert job.wait_for(lambda view: view.state == state, WAIT), job.view


@pytest.fixture
def managers():
    made = []

    def make(max_running=1, **options):
        made.append(EndingManager(max_running, **options))
        return made[-1]

    yield make
    for manager in made:
        manager.end()


# -- one job ---------------------------------------------------------------------------------------


def test_a_job_shows_each_snapshot_and_ends_with_the_generators_return_value(managers):
    gate = Gate(3, result={"accuracy": 0.9})
    job = managers().submit("ann", "train", {"B": 100}, gate)
    for n in (1, 2, 3):
        gate.allow()
        assert job.wait_for(lambda view, n=n: view.n_snapshots == n, WAIT)
    assert job.wait(WAIT)
    assert job.view.state == "done"
    assert job.result == {"accuracy": 0.9}
    assert job.view.snapshot == Snapshot(2, 1.0)
    assert job.view.fraction == 1.0


def test_a_view_once_taken_never_changes(managers):
    gate = Gate(2)
    job = managers().submit("ann", "train", {}, gate)
    gate.allow()
    assert job.wait_for(lambda view: view.n_snapshots == 1, WAIT)
    view = job.view
    gate.allow()
    assert job.wait(WAIT)
    assert (view.state, view.n_snapshots, view.snapshot.number) == ("running", 1, 0)
    with pytest.raises(AttributeError):
        view.state = "done"


def test_a_jobs_configuration_cannot_be_changed_after_submission(managers):
    config = {"B": 100}
    job = managers().submit("ann", "train", config, at_once())
    config["B"] = 7
    assert job.config["B"] == 100
    with pytest.raises(TypeError):
        job.config["B"] = 7


def test_ids_are_long_random_and_not_in_a_jobs_text_form(managers):
    manager = managers()
    jobs = [manager.submit(f"owner{i}", "train", {}, at_once()) for i in range(5)]
    assert len({job.id for job in jobs}) == 5
    assert all(len(job.id) >= 32 for job in jobs)
    assert all(job.id not in repr(job) for job in jobs)


def test_time_left_comes_from_the_fraction_done_and_before_that_from_the_estimate(managers):
    clock = Clock()
    gate = Gate(4)
    job = managers(clock=clock).submit("ann", "train", {}, gate, estimate=Estimate(seconds=60))
    reached(job, "running")
    clock.now += 10
    assert job.seconds_left(clock.now) == pytest.approx(50)
    gate.allow()
    assert job.wait_for(lambda view: view.n_snapshots == 1, WAIT)
    assert job.seconds_left(clock.now) == pytest.approx(30)  # a quarter took 10 s
    clock.now += 4
    assert job.seconds_left(clock.now) == pytest.approx(26)
    gate.allow(3)
    assert job.wait(WAIT)
    assert job.seconds_left() == 0


def test_the_beginning_of_a_run_says_nothing_about_its_length(managers):
    clock = Clock()
    gate = Gate(100)
    job = managers(clock=clock).submit("ann", "train", {}, gate, estimate=Estimate(seconds=60))
    reached(job, "running")
    clock.now += 10  # most of which loaded and split something
    gate.allow()
    assert job.wait_for(lambda view: view.n_snapshots == 1, WAIT)
    assert job.seconds_left(clock.now) == pytest.approx(50)
    job.control("ann", "slow", 0.01)
    assert job.seconds_left(clock.now) is None, "its rests are not in the estimate"
    job.control("ann", "stop")
    gate.allow()


def test_time_left_is_unknown_without_fraction_and_estimate(managers):
    job = managers().submit("ann", "train", {}, endless)
    assert job.seconds_left() is None


# -- steering --------------------------------------------------------------------------------------


def test_stopping_before_the_start_means_the_steps_never_run(managers):
    manager = managers()
    first, second = Gate(1), Gate(1)
    running = manager.submit("ann", "train", {}, first)
    waiting = manager.submit("ann", "train", {}, second)
    assert waiting.control("ann", "stop").state == "cancelled"
    first.allow()
    assert running.wait(WAIT)
    assert running.view.state == "done"
    assert not second.entered.is_set()


def test_stopping_in_the_middle_closes_the_generator_and_keeps_the_last_snapshot(managers):
    gate = Gate(5)
    job = managers().submit("ann", "train", {}, gate)
    gate.allow()
    assert job.wait_for(lambda view: view.n_snapshots == 1, WAIT)
    assert job.control("ann", "stop").asked == "stop"
    gate.allow()
    assert job.wait(WAIT)
    assert gate.closed.wait(WAIT)
    assert job.view.state == "cancelled"
    assert job.view.snapshot.number == 1
    assert job.result is None


def test_stopping_while_paused(managers):
    job = managers().submit("ann", "train", {}, endless)
    job.control("ann", "pause")
    reached(job, "paused")
    job.control("ann", "stop")
    reached(job, "cancelled")


def test_pause_holds_the_job_and_resume_lets_it_go_on(managers):
    gate = Gate(3)
    job = managers().submit("ann", "train", {}, gate)
    assert job.control("ann", "pause").asked == "pause"
    gate.allow(3)
    reached(job, "paused")
    assert job.view.n_snapshots == 1
    job.control("ann", "resume")
    assert job.wait(WAIT)
    assert (job.view.state, job.view.n_snapshots) == ("done", 3)


def test_step_runs_exactly_one_step_and_pauses_again(managers):
    job = managers().submit("ann", "train", {}, endless)
    job.control("ann", "pause")
    reached(job, "paused")
    for _ in range(3):
        before = job.view.n_snapshots
        job.control("ann", "step")
        assert job.wait_for(
            lambda view, n=before: view.state == "paused" and view.n_snapshots > n, WAIT
        )
        assert job.view.n_snapshots == before + 1


def test_step_runs_through_progress_inside_an_epoch(managers):
    def steps():
        for epoch in range(10):
            for _ in range(3):
                yield Snapshot(epoch, counts_as_step=False)
            yield Snapshot(epoch)

    gate = threading.Event()
    manager = managers()
    blocker = manager.submit("bob", "train", {}, lambda: iter_after(gate))
    job = manager.submit("ann", "train", {}, steps)
    job.control("ann", "step")  # asked while it still waits: it will stop after its first epoch
    gate.set()
    assert blocker.wait(WAIT)
    reached(job, "paused")
    assert job.view.n_snapshots == 4
    assert job.view.snapshot.counts_as_step


@pytest.mark.parametrize("paused", [False, True])
def test_finish_brings_a_job_to_its_result(managers, paused):
    enough = threading.Event()

    def steps():
        while not enough.is_set():
            yield Snapshot(0)
        return "the best so far"

    job = managers().submit("ann", "train", {}, steps, paused=paused, finish=enough.set)
    if paused:
        reached(job, "paused")
    with pytest.raises(NotOwner):
        job.control("bob", "finish")
    job.control("ann", "finish")
    assert job.wait(WAIT)
    assert (job.view.state, job.result) == ("done", "the best so far")


def test_finish_does_nothing_to_a_job_that_has_no_early_end(managers):
    job = managers().submit("ann", "train", {}, endless, paused=True)
    assert job.control("ann", "finish").state == "paused"


def iter_after(event):
    assert event.wait(WAIT)
    yield Snapshot(0)


def test_a_job_submitted_paused_can_be_stepped_from_its_first_epoch(managers):
    job = managers().submit("ann", "train", {}, endless, paused=True)
    assert (job.view.state, job.view.n_snapshots, job.view.started) == ("paused", 0, None)
    job.control("ann", "step")
    assert job.wait_for(lambda view: view.state == "paused" and view.n_snapshots > 0, WAIT)
    assert job.view.n_snapshots == 1


def test_a_waiting_job_can_be_paused_and_resumed_before_it_starts(managers):
    manager = managers()
    gate = Gate(1)
    running = manager.submit("ann", "train", {}, gate)
    waiting = manager.submit("ann", "train", {}, at_once("later"))
    waiting.control("ann", "pause")
    assert (waiting.view.state, waiting.view.position) == ("paused", None)
    gate.allow()
    assert running.wait(WAIT)
    assert waiting.view.state == "paused"
    waiting.control("ann", "resume")
    assert waiting.wait(WAIT)
    assert waiting.result == "later"


def test_slow_motion_rests_after_each_step_and_wakes_at_once_when_steered(managers):
    job = managers().submit("ann", "train", {}, endless)
    assert job.control("ann", "slow", 1e9).slow == limits.MAX_SLOW_SECONDS
    seen = job.view.n_snapshots
    job.control("ann", "slow", 0.01)
    assert job.wait_for(lambda view: view.n_snapshots >= seen + 3, WAIT)
    job.control("ann", "slow", limits.MAX_SLOW_SECONDS)
    job.control("ann", "stop")
    assert job.wait(limits.MAX_SLOW_SECONDS / 2), "stop must not wait for the rest to be over"


def test_steering_a_finished_job_does_nothing(managers):
    job = managers().submit("ann", "train", {}, at_once("kept"))
    assert job.wait(WAIT)
    for action in ("pause", "resume", "step", "stop", "slow"):
        assert job.control("ann", action).state == "done"
    assert job.result == "kept"


def test_only_the_owner_steers_and_others_watch(managers):
    manager = managers()
    gate = Gate(1)
    job = manager.submit("ann", "train", {}, gate)
    watched = manager.get(job.id)
    assert watched is job
    assert job.owned_by("ann") and not job.owned_by("bob")
    for action in ("pause", "resume", "step", "stop", "slow"):
        with pytest.raises(NotOwner, match="Only the person who started"):
            watched.control("bob", action)
    gate.allow()
    assert job.wait(WAIT)
    assert job.view.state == "done"


def test_an_unknown_action_is_a_fault_of_the_caller(managers):
    job = managers().submit("ann", "train", {}, endless)
    with pytest.raises(ValueError, match="unknown action"):
        job.control("ann", "explode")


# -- the queue -------------------------------------------------------------------------------------


def started_order(manager, jobs):
    for job in jobs:
        assert job.wait(WAIT)
    return sorted(jobs, key=lambda job: job.view.started)


class Ticking(Clock):
    """Every reading is later than the one before, so that start times can be ordered."""

    def __call__(self):
        self.now += 1
        return self.now


def test_one_owners_jobs_run_in_the_order_they_came(managers):
    manager = managers(clock=Ticking())
    gate = Gate(1)
    jobs = [manager.submit("ann", "train", {}, gate)]
    jobs += [manager.submit("ann", "train", {}, at_once()) for _ in range(3)]
    assert [job.view.position for job in jobs] == [None, 1, 2, 3]
    gate.allow()
    assert started_order(manager, jobs) == jobs


def test_owners_take_turns_and_positions_say_so(managers):
    manager = managers(clock=Ticking())
    gate = Gate(1)
    first = manager.submit("ann", "train", {}, gate)
    ann = [manager.submit("ann", "train", {}, at_once()) for _ in range(3)]
    bob = [manager.submit("bob", "train", {}, at_once()) for _ in range(2)]
    # Ann is being served, so Bob, who came last, is next; then they alternate.
    expected = [bob[0], ann[0], bob[1], ann[1], ann[2]]
    assert sorted(ann + bob, key=lambda job: job.view.position) == expected
    gate.allow()
    assert started_order(manager, [first, *ann, *bob]) == [first, *expected]


def test_an_owner_who_keeps_submitting_does_not_starve_another(managers):
    manager = managers(clock=Ticking())
    gates = [Gate(1) for _ in range(4)]
    first = manager.submit("ann", "train", {}, gates[0])
    bob = [manager.submit("bob", "train", {}, gates[i]) for i in (1, 2)]
    gates[0].allow()
    assert first.wait(WAIT)
    again = manager.submit("ann", "train", {}, gates[3])
    reached(bob[0], "running")
    gates[1].allow()
    reached(again, "running")
    third = manager.submit("ann", "train", {}, at_once())
    assert (bob[1].view.position, third.view.position) == (1, 2)
    for gate in gates[2:]:
        gate.allow()


def test_a_paused_job_gives_its_slot_away_and_queues_again_when_resumed(managers):
    manager = managers()
    job = manager.submit("ann", "train", {}, endless)
    gate = Gate(1)
    other = manager.submit("bob", "train", {}, gate)
    job.control("ann", "pause")
    reached(other, "running")
    assert job.view.state == "paused"
    assert job.control("ann", "resume").position == 1
    gate.allow()
    assert other.wait(WAIT)
    reached(job, "running")


def test_a_pause_ends_by_itself_after_the_limit(managers):
    clock = Clock()
    manager = managers(clock=clock)
    job = manager.submit("ann", "train", {}, endless)
    job.control("ann", "pause")
    reached(job, "paused")
    clock.now += limits.MAX_PAUSED_SECONDS - 1
    assert manager.status().paused == 1
    clock.now += 2
    manager.status()
    reached(job, "running")


def test_work_time_leaves_out_queueing_and_pauses(managers):
    clock = Clock()
    gate = Gate(3)
    job = managers(clock=clock).submit("ann", "train", {}, gate)
    reached(job, "running")
    clock.now += 5
    job.control("ann", "pause")
    gate.allow()
    reached(job, "paused")
    clock.now += 100
    assert job.view.seconds(clock.now) == pytest.approx(5)
    job.control("ann", "resume")
    reached(job, "running")
    clock.now += 2
    gate.allow(2)
    assert job.wait(WAIT)
    assert job.view.seconds(clock.now) == pytest.approx(7)


def test_a_press_that_arrives_twice_begins_one_run(managers):
    clock = Clock()
    manager = managers(clock=clock, max_running=2)
    job = manager.submit("ann", "train", Config(), endless)
    assert manager.submit("ann", "train", Config(), endless) is job
    others = [
        manager.submit("bob", "train", Config(), endless),
        manager.submit("ann", "train", Config(n_hidden=7), endless),
        manager.submit("ann", "compare", Config(), endless),
    ]
    assert len({job, *others}) == 4
    clock.now += 3
    others[1].control("ann", "stop")
    assert others[1].wait(WAIT)
    assert manager.submit("ann", "train", Config(), endless) is not job, "later, it is meant"


def test_a_run_can_be_started_again_at_once_after_it_was_stopped_or_ended(managers):
    manager = managers()
    first = manager.submit("ann", "train", Config(), at_once())
    assert first.wait(WAIT)
    second = manager.submit("ann", "train", Config(), endless)
    second.control("ann", "stop")
    third = manager.submit("ann", "train", Config(), endless)
    assert len({first, second, third}) == 3


def test_an_owner_may_not_fill_the_queue(managers):
    manager = managers(max_per_owner=2)
    for _ in range(2):
        manager.submit("ann", "train", {}, endless)
    with pytest.raises(LimitError, match="already have 2 unfinished runs"):
        manager.submit("ann", "train", {}, endless)
    manager.submit("bob", "train", {}, endless)


def test_a_full_queue_says_so(managers):
    manager = managers(max_queued=2)
    for i in range(3):
        manager.submit(f"owner{i}", "train", {}, endless)
    with pytest.raises(LimitError, match="queue is full"):
        manager.submit("late", "train", {}, endless)


def test_eight_jobs_from_four_threads_never_see_each_others_snapshots(managers):
    manager = managers(max_running=2)
    jobs, errors = {}, []

    def steps(mark):
        for i in range(200):
            yield (mark, i)
        return mark

    def visitor(owner):
        try:
            for k in range(2):
                mark = f"{owner}-{k}"
                jobs[mark] = manager.submit(owner, "train", {"mark": mark}, lambda m=mark: steps(m))
            for mark, job in list(jobs.items()):
                if mark.startswith(owner):
                    while not job.wait_for(lambda v: v.finished, 0.001):
                        snapshot = job.view.snapshot
                        assert snapshot is None or snapshot[0] == mark
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=visitor, args=(f"owner{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert not errors
    assert len(jobs) == 8
    for mark, job in jobs.items():
        assert job.wait(WAIT)
        assert (job.result, job.view.snapshot, job.config["mark"]) == (mark, (mark, 199), mark)
        assert job.view.n_snapshots == 200


def test_never_more_jobs_at_work_than_slots(managers):
    manager = managers(max_running=2, max_per_owner=10)
    at_work, most, lock = 0, 0, threading.Lock()

    def steps():
        nonlocal at_work, most
        with lock:
            at_work += 1
            most = max(most, at_work)
        yield
        with lock:
            at_work -= 1

    jobs = [manager.submit("ann", "train", {}, steps) for _ in range(10)]
    for job in jobs:
        assert job.wait(WAIT)
    assert most <= 2


def test_a_job_stays_on_one_thread_over_pauses(managers):
    seen = []

    def steps():
        for _ in range(3):
            seen.append(threading.get_ident())
            yield Snapshot(0)

    job = managers().submit("ann", "train", {}, steps)
    for _ in range(4):
        job.control("ann", "step")
        assert job.wait_for(lambda view: view.finished or view.state == "paused", WAIT)
    assert job.wait(WAIT)
    assert len(seen) == 3 and len(set(seen)) == 1


# -- memory ----------------------------------------------------------------------------------------


class Machine:
    """A machine whose free memory the test decides."""

    def __init__(self, available, used=0):
        self.memory = Memory(available, used)

    def __call__(self):
        return self.memory


def test_a_job_that_can_never_fit_is_refused_with_the_numbers(managers):
    manager = managers(memory=Machine(10 * GB))
    with pytest.raises(OutOfMemory, match=r"needs about 7\.0 GB .* at most 6\.0 GB .* Lower the"):
        manager.submit("ann", "train", {}, endless, estimate=Estimate(bytes=7 * GB))
    assert manager.status().queued == 0


def test_a_job_that_fits_later_waits_although_a_slot_is_free(managers):
    manager = managers(max_running=2, memory=Machine(10 * GB))
    gate = Gate(1)
    first = manager.submit("ann", "train", {}, gate, estimate=Estimate(bytes=4 * GB))
    second = manager.submit("bob", "train", {}, at_once("fits"), estimate=Estimate(bytes=4 * GB))
    assert (second.view.state, second.view.position) == ("queued", 1)
    assert manager.status().planned_bytes == 4 * GB
    gate.allow()
    assert first.wait(WAIT)
    assert second.wait(WAIT)
    assert second.result == "fits"


def test_memory_that_running_jobs_already_took_is_not_counted_twice(managers):
    machine = Machine(10 * GB, used=1 * GB)
    manager = managers(max_running=2, memory=machine)
    manager.submit("ann", "train", {}, endless, estimate=Estimate(bytes=3 * GB))
    machine.memory = Memory(7 * GB, used=4 * GB)
    second = manager.submit("bob", "train", {}, endless, estimate=Estimate(bytes=3 * GB))
    reached(second, "running")


def test_a_small_job_does_not_pass_a_large_one_that_running_jobs_make_room_for(managers):
    manager = managers(max_running=2, memory=Machine(10 * GB))
    manager.submit("ann", "train", {}, endless, estimate=Estimate(bytes=4 * GB))
    large = manager.submit("bob", "train", {}, endless, estimate=Estimate(bytes=4 * GB))
    small = manager.submit("cat", "train", {}, endless, estimate=Estimate(bytes=1 * GB))
    assert (large.view.position, small.view.position) == (1, 2)


def test_a_small_job_passes_a_large_one_that_only_a_paused_job_stands_in_the_way_of(managers):
    manager = managers(max_running=1, memory=Machine(10 * GB))
    paused = manager.submit("ann", "train", {}, endless, estimate=Estimate(bytes=4 * GB))
    paused.control("ann", "pause")
    reached(paused, "paused")
    large = manager.submit("bob", "train", {}, endless, estimate=Estimate(bytes=4 * GB))
    small = manager.submit("cat", "train", {}, endless, estimate=Estimate(bytes=1 * GB))
    reached(small, "running")
    assert large.view.state == "queued"
    paused.control("ann", "stop")
    small.control("cat", "stop")
    reached(large, "running")


def test_a_waiting_job_fails_with_a_sentence_when_its_memory_never_comes_back(managers):
    machine = Machine(10 * GB)
    manager = managers(memory=machine)
    gate = Gate(1)
    manager.submit("ann", "train", {}, gate, estimate=Estimate(bytes=5 * GB))
    waiting = manager.submit("bob", "train", {}, endless, estimate=Estimate(bytes=5 * GB))
    machine.memory = Memory(2 * GB, 0)
    gate.allow()
    reached(waiting, "failed")
    assert "needs about 5.0 GB" in waiting.view.error


def test_in_a_container_its_own_limit_counts(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("700\n")
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 100\n")
    monkeypatch.setattr("kcnet_core.jobs.memory.CGROUP", tmp_path)
    assert measure_memory().available == 400
    (tmp_path / "memory.max").write_text("max\n")
    assert measure_memory().available > 1_000_000


def test_measured_memory_is_plausible():
    memory = measure_memory()
    assert memory.available > 0
    assert memory.used > 1_000_000


# -- failure ---------------------------------------------------------------------------------------


def test_an_error_of_ours_is_shown_as_its_own_sentence(managers):
    gate = Gate(1, fail=DataError("Row 7 has no label; give it one."))
    job = managers().submit("ann", "train", {}, gate)
    gate.allow()
    assert job.wait(WAIT)
    assert (job.view.state, job.view.error) == ("failed", "Row 7 has no label; give it one.")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("Unable to allocate 38.1 GiB"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"),
        type("OutOfMemoryError", (RuntimeError,), {})("CUDA out of memory"),
    ],
)
def test_running_out_of_memory_says_what_to_lower(managers, error):
    gate = Gate(0, fail=error)
    job = managers().submit("ann", "train", {}, gate)
    assert job.wait(WAIT)
    assert "Lower the number of Kenyon cells" in job.view.error


@pytest.mark.parametrize("error", [ZeroDivisionError("/secret/path"), SystemExit("/secret/path")])
def test_a_surprise_shows_a_reference_and_keeps_the_traceback_in_the_log(managers, caplog, error):
    gate = Gate(0, fail=error)
    with caplog.at_level(logging.INFO, "kcnet.jobs"):
        job = managers().submit("ann", "train", {}, gate)
        assert job.wait(WAIT)
    assert job.view.state == "failed"
    assert "secret" not in job.view.error
    reference = job.view.error.rstrip(".").split()[-1]
    records = [record for record in caplog.records if reference in record.getMessage()]
    assert any(record.exc_info and record.exc_info[1] is error for record in records)


def test_steps_that_cannot_even_start_fail_the_job_and_not_the_queue(managers):
    def broken():
        raise KCNetError("The dataset is not there; download it on the Data page.")

    manager = managers()
    job = manager.submit("ann", "train", {}, broken)
    after = manager.submit("ann", "train", {}, at_once("fine"))
    assert job.wait(WAIT) and after.wait(WAIT)
    assert job.view.error.startswith("The dataset is not there")
    assert after.result == "fine"


def test_a_generator_that_fails_while_being_stopped_is_still_cancelled(managers):
    def steps():
        try:
            while True:
                yield Snapshot(0)
        finally:
            raise RuntimeError("cleaning up failed")

    manager = managers()
    job = manager.submit("ann", "train", {}, steps)
    assert job.wait_for(lambda view: view.n_snapshots > 0, WAIT)
    job.control("ann", "stop")
    assert job.wait(WAIT)
    assert job.view.state == "cancelled"
    assert manager.status().running == 0


# -- ageing, log, end ------------------------------------------------------------------------------


def test_finished_jobs_age_out_and_free_their_result(managers):
    clock = Clock()
    manager = managers(clock=clock)
    job = manager.submit("ann", "train", {}, at_once("big"))
    assert job.wait(WAIT)
    clock.now += limits.FINISHED_JOB_SECONDS - 1
    assert manager.get(job.id) is job
    clock.now += 2
    assert manager.get(job.id) is None
    assert job.result is None and job.view.snapshot is None
    assert manager.owned_by("ann") == []


def test_only_a_bounded_number_of_finished_jobs_is_kept_oldest_going_first(managers):
    manager = managers(max_finished=3, clock=Ticking())
    jobs = []
    for i in range(5):
        jobs.append(manager.submit("ann", "train", {}, at_once(i)))
        assert jobs[-1].wait(WAIT)
    assert manager.status().finished == 3
    assert [manager.get(job.id) for job in jobs] == [None, None, *jobs[2:]]


def test_unfinished_jobs_never_age_out(managers):
    clock = Clock()
    manager = managers(clock=clock)
    gate = Gate(1)
    job = manager.submit("ann", "train", {}, gate)
    clock.now += 10 * limits.FINISHED_JOB_SECONDS
    assert manager.get(job.id) is job
    gate.allow()


@dataclass(frozen=True)
class Config:
    n_hidden: int = 100
    dataset: str = 'digits\n"quoted"'


def test_start_and_end_are_one_structured_log_line_each(managers, caplog):
    with caplog.at_level(logging.INFO, "kcnet.jobs"):
        job = managers().submit("ann-secret", "train", Config(), at_once())
        assert job.wait(WAIT)
    lines = [record.getMessage() for record in caplog.records]
    assert all("\n" not in line for line in lines)
    start, end = map(json.loads, lines)
    assert (start["event"], end["event"], end["outcome"]) == ("start", "end", "done")
    for line in (start, end):
        assert job.id.startswith(line["job"]) and len(line["job"]) < 8
        assert line["kind"] == "train"
        assert line["config"] == {"n_hidden": 100, "dataset": 'digits\n"quoted"'}
        assert line["memory_mb"] > 0 and line["waited"] >= 0
    assert end["seconds"] >= 0
    assert end["peak_memory_mb"] > 0
    assert job.id not in "".join(lines) and "ann-secret" not in "".join(lines)


def test_the_log_reaches_the_servers_output_once(managers, capsys):
    ours = logging.getLogger("kcnet")
    before = ours.level, list(ours.handlers)
    show_log()
    show_log()
    try:
        job = managers().submit("ann", "train", {}, at_once())
        assert job.wait(WAIT)
    finally:
        ours.setLevel(before[0])
        ours.handlers[:] = before[1]
    printed = [line.split(" kcnet.jobs ") for line in capsys.readouterr().err.splitlines()]
    assert [json.loads(text)["event"] for _, text in printed] == ["start", "end"]


@pytest.mark.parametrize("config", [{(1, 2): "a tuple as key"}, {"long": "x" * 10_000}, object()])
def test_a_configuration_that_cannot_be_logged_does_not_stop_the_job(managers, caplog, config):
    with caplog.at_level(logging.INFO, "kcnet.jobs"):
        job = managers().submit("ann", "train", config, at_once("fine"))
        assert job.wait(WAIT)
    assert job.result == "fine"
    assert all(len(record.getMessage()) < 4_000 for record in caplog.records)


def test_a_system_without_threads_fails_the_job_with_a_sentence(managers, monkeypatch):
    def no_threads(self):
        raise RuntimeError("can't start new thread")

    manager = managers()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", no_threads)
        job = manager.submit("ann", "train", {}, at_once())
    assert job.view.state == "failed"
    assert "too busy" in job.view.error
    later = manager.submit("ann", "train", {}, at_once("fine"))
    assert later.wait(WAIT) and later.result == "fine"


def test_a_job_cancelled_before_its_start_is_accounted_for_in_the_log(managers, caplog):
    manager = managers()
    manager.submit("ann", "train", {}, endless)
    waiting = manager.submit("ann", "train", {}, endless)
    with caplog.at_level(logging.INFO, "kcnet.jobs"):
        caplog.clear()
        waiting.control("ann", "stop")
    assert [json.loads(r.getMessage())["outcome"] for r in caplog.records] == ["cancelled"]


def test_status_counts_jobs_by_state(managers):
    manager = managers(max_running=1, memory=Machine(10 * GB, used=2 * GB))
    paused = manager.submit("ann", "train", {}, endless, estimate=Estimate(bytes=GB))
    paused.control("ann", "pause")
    reached(paused, "paused")
    assert manager.submit("bob", "train", {}, at_once()).wait(WAIT)
    manager.submit("bob", "train", {}, endless)
    manager.submit("bob", "train", {}, endless)
    status = manager.status()
    assert (status.running, status.queued, status.paused, status.finished) == (1, 1, 1, 1)
    assert status.memory == Memory(10 * GB, 2 * GB)
    assert status.planned_bytes == GB


# -- what finished jobs hold -----------------------------------------------------------------------


class Trained:
    """A result with sums that it can do without, like that of a training run."""

    def __init__(self, coefficients=100, sums=900):
        self.coefficients, self.sums = np.zeros(coefficients, np.uint8), np.zeros(sums, np.uint8)

    def forget_sums(self):
        self.sums = None


def kept(managers, results, budget):
    manager = managers(clock=Ticking(), max_finished_bytes=budget)
    jobs = []
    for result in results:
        jobs.append(manager.submit("ann", "train", {}, at_once(result)))
        assert jobs[-1].wait(WAIT)
    manager.status()
    return manager, jobs


def test_the_oldest_finished_jobs_forget_their_sums_before_the_memory_is_too_much(managers):
    results = [Trained() for _ in range(4)]
    manager, jobs = kept(managers, results, budget=2_200)
    assert [result.sums is None for result in results] == [True, True, False, False]
    assert [manager.get(job.id) for job in jobs] == jobs
    assert sum(held_bytes([job.result], set()) for job in jobs) == 2_200


def test_jobs_go_when_they_are_too_large_even_without_sums(managers):
    results = [Trained(1_000, 0) for _ in range(4)]
    manager, jobs = kept(managers, results, budget=2_500)
    assert [manager.get(job.id) for job in jobs] == [None, None, *jobs[2:]]
    assert jobs[0].result is None and jobs[0].view.snapshot is None


def test_the_newest_finished_job_stays_whole_however_large(managers):
    results = [Trained(10, 10), Trained(5_000, 5_000)]
    manager, jobs = kept(managers, results, budget=2_000)
    assert [manager.get(job.id) for job in jobs] == [None, jobs[1]]
    assert results[1].sums is not None


def test_data_that_many_runs_share_is_counted_once(managers):
    data = np.zeros(1_000, np.uint8)
    manager, _ = kept(managers, [{"data": data[k:]} for k in range(10)], budget=1_500)
    assert manager.status().finished == 10


def test_what_pages_add_to_a_finished_run_is_weighed_too(managers, monkeypatch):
    monkeypatch.setattr("kcnet_core.jobs.manager.SECONDS_BETWEEN_WEIGHINGS", -1.0)
    results = [Trained(), Trained()]
    manager, jobs = kept(managers, results, budget=2_200)
    results[1].path = np.zeros(900, np.uint8)
    assert manager.get(jobs[0].id) is jobs[0]
    assert results[0].sums is None


def test_all_arrays_and_tensors_of_a_result_are_found_and_rings_do_not_matter():
    import torch

    ring = {"array": np.zeros((10, 10)), "parts": [Trained(), (torch.zeros(5, 4)[1:],)]}
    ring["self"] = ring
    assert held_bytes([ring], set()) == 800 + 1_000 + 80
