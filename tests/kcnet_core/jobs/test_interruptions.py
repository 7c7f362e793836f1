"""The journal of jobs: after a server's death its unfinished jobs are known, and nothing else."""

from __future__ import annotations

import errno
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from kcnet_core import limits
from kcnet_core.__main__ import main
from kcnet_core.experiments.run import Run
from kcnet_core.jobs import JobJournal
from tests.kcnet_core.jobs.ending_manager import EndingManager
from tests.kcnet_core.jobs.test_jobs import WAIT, Clock, Gate, at_once, reached

PROJECT = Path(__file__).resolve().parents[3]
DEAD_SERVER = """
import os, signal, sys, threading
from dataclasses import dataclass
from kcnet_core.jobs import JobJournal, JobManager
from kcnet_core.experiments.run import Run
import kcnet_core.jobs.manager as manager

manager.SECONDS_BETWEEN_NOTES = 0.0

@dataclass(frozen=True)
class Epoch:
    epoch: int

@dataclass(frozen=True)
class View:
    records: tuple
    fraction: float

def nothing():
    yield None

def training():
    for k in range(1, 4):
        yield View((Epoch(k),), k / 10)
    hold.set()
    threading.Event().wait()

hold = threading.Event()
notes = JobJournal(sys.argv[1])
jobs = JobManager(1, journal=notes)
done = jobs.submit("secret-owner", "train", Run(seed=1), nothing, title="first")
done.wait()
cut = jobs.submit("secret-owner", "train", Run(dataset="digits", seed=2), training, title="second")
late = jobs.submit("secret-owner", "compare", {}, training, title="third")
hold.wait()
notes.flush()
print(done.id, cut.id, late.id, flush=True)
os.kill(os.getpid(), signal.SIGKILL) if sys.argv[2] == "die" else sys.stdin.read()
"""


def server(folder, *, dies: bool) -> tuple[subprocess.Popen, list[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", DEAD_SERVER, str(folder), "die" if dies else "live"],
        cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return process, process.stdout.readline().split()


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """The folder and job ids (done, running, queued) that a killed process left behind."""
    folder = tmp_path_factory.mktemp("jobs")
    process, ids = server(folder, dies=True)
    assert process.wait(WAIT) == -signal.SIGKILL
    return folder, ids


@pytest.fixture
def journal(tmp_path):
    made = JobJournal(tmp_path / "jobs")
    yield made
    made.close()


@pytest.fixture
def managers():
    made = []

    def make(*args, **options):
        made.append(EndingManager(*args, **options))
        return made[-1]

    yield make
    for manager in made:
        manager.end()


def written(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.iterdir())


def test_a_run_that_a_killed_server_took_along_is_known_with_its_settings(killed):
    folder, (_, cut, _) = killed
    known = JobJournal(folder).interrupted(cut)
    assert (known.kind, known.title) == ("train", "second")
    assert Run.from_query(known.query) == (Run(dataset="digits", seed=2), [])
    assert "interrupted when the server stopped (last seen at " in known.sentence
    assert "epoch 3, 30% done" in known.sentence and "Start runs it again" in known.sentence


def test_a_run_that_still_waited_is_known_too(killed):
    folder, (_, _, late) = killed
    known = JobJournal(folder).interrupted(late)
    assert "still waiting when the server stopped" in known.sentence
    assert known.query == {}


def test_a_run_that_had_ended_is_not_interrupted(killed):
    folder, (done, _, _) = killed
    assert JobJournal(folder).interrupted(done) is None


@pytest.mark.parametrize("job_id", ["", "guess", "../../etc/passwd", "\ud800", "x" * 100_000])
def test_an_id_that_nobody_had_is_nothing(killed, job_id):
    assert JobJournal(killed[0]).interrupted(job_id) is None


def test_neither_ids_nor_owners_are_on_the_disk(killed):
    folder, ids = killed
    text = written(folder)
    assert "second" in text and "secret-owner" not in text
    assert not any(job_id in text or job_id[:8] in text for job_id in ids)


def test_jobs_of_another_server_that_still_lives_are_not_interrupted(tmp_path, managers):
    process, (_, cut, late) = server(tmp_path, dies=False)
    own = JobJournal(tmp_path)
    gate = Gate(1)
    mine = managers(1, journal=own).submit("ann", "train", Run(), gate)
    reached(mine, "running")
    assert own.flush()
    assert own.interrupted(cut) is None and own.interrupted(late) is None
    process.kill()  # that one, and only its jobs
    process.wait(WAIT)
    assert own.interrupted(cut) is not None
    assert own.interrupted(mine.id) is None
    gate.allow()


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.99])
def test_a_file_cut_off_at_any_place_is_read_as_far_as_it_goes(killed, tmp_path, keep):
    folder, ids = killed
    data = next(folder.glob("*.jsonl")).read_bytes()
    (tmp_path / "cut.jsonl").write_bytes(data[: int(keep * len(data))])
    for job_id in ids:
        known = JobJournal(tmp_path).interrupted(job_id)
        assert known is None or known.title in ("first", "second", "third")


@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff" * 100, b"[1]\n", b'{"id": 3}\n', b'{"id": "HASH"}\n']
)
def test_a_foreign_file_in_the_folder_harms_nothing(killed, tmp_path, content):
    import hashlib

    job_id = "some-job"
    name = hashlib.sha256(job_id.encode()).hexdigest()[:32].encode()
    (tmp_path / "odd.jsonl").write_bytes(content.replace(b"HASH", name))
    assert JobJournal(tmp_path).interrupted(job_id) is None


def test_every_note_is_one_line_of_json_and_the_last_one_is_the_end(journal, managers):
    job = managers(1, journal=journal).submit("ann", "train", Run(seed=5), at_once(), title="one")
    assert job.wait(WAIT)
    assert journal.flush()
    notes = [json.loads(line) for line in written(journal.folder).splitlines() if line]
    assert [note["state"] for note in notes] == ["queued", "running", "done"]
    assert notes[-1]["ended"] >= notes[-1]["started"] and notes[-1]["query"] == {"seed": "5"}


def test_a_job_is_not_lost_when_the_file_has_grown_too_large(tmp_path, managers, monkeypatch):
    monkeypatch.setattr(limits, "MAX_JOURNAL_BYTES", 3_000)
    journal = JobJournal(tmp_path)
    gate = Gate(1)
    manager = managers(2, journal=journal)
    long = manager.submit("ann", "train", Run(), gate, title="long")
    for _ in range(30):
        assert manager.submit("bob", "train", Run(), at_once(), title="short").wait(WAIT)
    journal.close()  # as if the process had died here
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 4_000
    assert JobJournal(tmp_path).interrupted(long.id).title == "long"
    gate.allow()


def test_journals_of_servers_that_ended_long_ago_are_cleared_away(tmp_path, managers):
    clock = Clock()
    for k in range(limits.MAX_JOURNALS + 5):
        (tmp_path / f"{k:02}.jsonl").write_bytes(b"\n{}\n")
        os.utime(tmp_path / f"{k:02}.jsonl", (clock.now - k, clock.now - k))
    os.utime(tmp_path / "00.jsonl", (0, 0))
    (tmp_path / ".killed.part").touch()
    os.utime(tmp_path / ".killed.part", (clock.now - 100, clock.now - 100))
    journal = JobJournal(tmp_path, clock)
    assert managers(1, journal=journal).submit("ann", "train", Run(), at_once()).wait(WAIT)
    journal.close()
    names = {path.name for path in tmp_path.iterdir()}
    assert len(names) == limits.MAX_JOURNALS + 1
    assert "00.jsonl" not in names and "24.jsonl" not in names and "01.jsonl" in names


# -- a disk that refuses ---------------------------------------------------------------------------


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("call", ["open", "write", "fsync"])
def test_a_full_or_read_only_folder_harms_no_job_and_warns_once(
    tmp_path, managers, monkeypatch, caplog, number, call
):
    real = getattr(os, call)

    def refuse(*args, **options):
        if threading.current_thread().name == "job-journal":
            raise OSError(number, os.strerror(number))
        return real(*args, **options)

    monkeypatch.setattr(os, call, refuse)
    journal = JobJournal(tmp_path / "jobs")
    manager = managers(1, journal=journal)
    with caplog.at_level(logging.WARNING, "kcnet.jobs"):
        for _ in range(3):
            job = manager.submit("ann", "train", Run(), at_once("fine"))
            assert job.wait(WAIT) and job.result == "fine"
        assert journal.flush()
    assert len(caplog.records) == 1
    assert os.strerror(number) in caplog.text and str(tmp_path) not in caplog.text
    assert manager.interrupted("anything") is None


def test_a_disk_that_never_answers_holds_up_no_job(tmp_path, managers, monkeypatch, caplog):
    stuck, real = threading.Event(), os.fsync

    def hang(handle):
        if threading.current_thread().name == "job-journal":
            assert stuck.wait(WAIT)
        real(handle)

    monkeypatch.setattr(os, "fsync", hang)
    monkeypatch.setattr("kcnet_core.jobs.interruptions.NOTES_WAITING", 4)
    journal = JobJournal(tmp_path)
    manager = managers(1, journal=journal)
    for _ in range(5):
        assert manager.submit("ann", "train", Run(), at_once()).wait(WAIT)
    assert "does not answer" in caplog.text
    stuck.set()
    assert journal.flush()


def test_a_folder_that_was_cleared_while_the_server_runs_is_made_again(tmp_path, managers):
    journal = JobJournal(tmp_path / "jobs")
    manager = managers(1, journal=journal)
    assert manager.submit("ann", "train", Run(), at_once()).wait(WAIT)
    assert journal.flush()
    for path in journal.folder.iterdir():
        path.unlink()
    journal.folder.rmdir()
    gate = Gate(1)
    job = manager.submit("ann", "train", Run(), gate)
    reached(job, "running")
    journal.close()
    assert JobJournal(tmp_path / "jobs").interrupted(job.id) is not None
    gate.allow()


@dataclass(frozen=True)
class Broken:
    def to_query(self):
        raise RuntimeError("no address for this")


def test_a_configuration_without_an_address_does_not_stop_the_job(journal, managers):
    job = managers(1, journal=journal).submit("ann", "train", Broken(), at_once("fine"))
    assert job.wait(WAIT) and job.result == "fine"


def test_a_system_without_file_locks_has_no_journal_and_no_harm(killed, managers, monkeypatch):
    folder, (_, cut, _) = killed
    monkeypatch.setattr("kcnet_core.jobs.interruptions.fcntl", None)
    before = written(folder)
    manager = managers(1, journal=JobJournal(folder))
    assert manager.submit("ann", "train", Run(), at_once()).wait(WAIT)
    assert manager.interrupted(cut) is None and written(folder) == before


def test_a_server_that_is_told_to_end_leaves_its_runs_interrupted_without_a_traceback(
    tmp_path, caplog
):
    notes, go_on = JobJournal(tmp_path), threading.Event()
    manager = EndingManager(1, journal=notes)

    def training():
        yield None
        go_on.wait(WAIT)  # inside a step when the server ends
        raise RuntimeError("cannot schedule new futures after interpreter shutdown")

    running = manager.submit("owner", "train", Run(seed=1), training)
    waiting = manager.submit("owner", "train", Run(seed=2), at_once)
    assert running.wait_for(lambda view: view.n_snapshots == 1, WAIT)
    manager.shut_down(seconds=0.0)
    go_on.set()
    assert running.wait(WAIT) and waiting.wait(WAIT)
    notes.close()
    later = JobJournal(tmp_path)
    assert later.interrupted(running.id).state == "running"
    assert later.interrupted(waiting.id).state == "queued"
    assert not [record for record in caplog.records if record.exc_info]


def test_whoever_may_write_to_the_folder_lists_runs_and_ends_one(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path))
    monkeypatch.setattr("kcnet_core.jobs.manager.SECONDS_BETWEEN_NOTES", 0.0)
    notes = JobJournal(tmp_path / "jobs")
    manager = EndingManager(2, journal=notes)
    gates = [Gate(5), Gate(5)]
    ended, other = (
        manager.submit("owner", "train", Run(seed=k), gate, title=f"run {k}")
        for k, gate in enumerate(gates)
    )
    for gate, job in zip(gates, (ended, other), strict=True):
        gate.allow()
        assert job.wait_for(lambda view: view.n_snapshots == 1, WAIT)
    assert notes.flush()
    assert main(["runs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines[1:]] == ["running", "running"]
    assert "run 0" in lines[1] and not any(job.id in "".join(lines) for job in (ended, other))
    assert main(["runs", "--end", lines[1].split()[0]]) == 0
    for gate in gates:
        gate.allow()
    reached(ended, "cancelled")
    assert ended.view.error == "Whoever runs this server has ended this run."
    gates[1].allow(5)
    reached(other, "done")
    assert main(["runs", "--end", "nothing"]) == 2
    notes.close()
