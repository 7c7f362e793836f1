"""Full and read-only disks, kills in the middle, numbers that fail: what is left is whole."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kcnet_core import datasets
from kcnet_core.__main__ import main
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.run import Run
from kcnet_core.experiments.training import train_steps
from kcnet_core.paper.outcomes import Result
from kcnet_core.paper.recipes import RECIPES
from kcnet_core.paper.result_file import read_result, save_result
from kcnet_core.storage import folders
from kcnet_core.storage.atomic_write import SECONDS_TO_WRITE, write_whole
from kcnet_core.storage.journal import Journal
from tests.kcnet_core.jobs.ending_manager import EndingManager
from tests.kcnet_core.paper.tiny_recipe import TINY

PROJECT = Path(__file__).resolve().parents[2]
WAIT = 60.0


# -- writers on a disk that refuses ----------------------------------------------------------------


def write_model(folder: Path):
    from kcnet_core import KCNetClassifier
    from kcnet_core.model_file import save_model

    X = np.random.default_rng(0).standard_normal((20, 3))
    model = KCNetClassifier(n_hidden=10, fan_in=2, random_state=0).fit(X, np.arange(20) % 2)
    save_model(folder / "old", model, feature_names="abc", target_names="xy")


def write_result(folder: Path):
    save_result(Result("old", False, (), (), (), 0), folder)


def write_row(folder: Path):
    Journal(folder / "old").append({"id": "row"})


def unpack_download(folder: Path):
    from kcnet_core.datasets.sources import _unpacked

    with zipfile.ZipFile(folder / "pack.zip", "w") as pack:
        pack.writestr("inside/old", b"new")
    list(_unpacked(folder / "pack.zip", ("old",)))


def write_descriptors(folder: Path):
    from kcnet_core.datasets.descriptor_cache import DescribedTexts, _write

    _write(folder / "old", DescribedTexts(smiles={"C": "C"}, values={"C": np.zeros(2)}))


TELL = {"model": write_model, "row": write_row, "download": unpack_download}
REFUSALS = {"full": errno.ENOSPC, "read-only": errno.EROFS, "quota": errno.EDQUOT}


@pytest.fixture(params=REFUSALS)
def refusing(request, monkeypatch):
    """A disk that takes nothing any more; yields the system's words for it."""
    number = REFUSALS[request.param]

    def refuse(*_):
        raise OSError(number, os.strerror(number))

    def switch_on():
        monkeypatch.setattr(os, "fsync", refuse)
        return os.strerror(number)

    return switch_on


@pytest.mark.parametrize("writer", TELL)
def test_a_disk_that_refuses_is_told_without_a_path_and_the_old_file_stays(
    tmp_path, refusing, writer
):
    (tmp_path / "old").write_bytes(b"old\n")
    words = refusing()
    with pytest.raises(KCNetError, match=words) as caught:
        TELL[writer](tmp_path)
    assert str(tmp_path) not in str(caught.value)
    assert (tmp_path / "old").read_bytes().startswith(b"old\n")
    assert not list(tmp_path.glob(".*")), "no half file is left"


def test_a_result_that_cannot_be_written_is_told(tmp_path, refusing, monkeypatch):
    words = refusing()
    monkeypatch.setattr("kcnet_core.paper.result_file.provenance", lambda result: {})
    with pytest.raises(KCNetError, match=words) as caught:
        write_result(tmp_path)
    assert str(tmp_path) not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_what_is_only_kept_to_save_time_is_done_without(tmp_path, refusing):
    refusing()
    write_descriptors(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_up_within_a_row_costs_only_that_row(tmp_path, monkeypatch):
    journal, write = Journal(tmp_path / "rows"), os.write
    journal.append({"id": "first"})
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[: len(data) // 2]))
    with pytest.raises(KCNetError, match="disk is full"):
        journal.append({"id": "second"})
    monkeypatch.undo()
    journal.append({"id": "third"})
    again = Journal(journal.path)
    assert [again.get(name) is not None for name in ("first", "second", "third")] == [1, 0, 1]


LIMITED_SIZE = """
import os, resource, sys
from kcnet_core.errors import KCNetError
from kcnet_core.storage.journal import Journal
from kcnet_core.storage.atomic_write import write_whole

folder = sys.argv[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
try:
    write_whole(folder + "/old", bytes(5_000))
except OSError as error:
    print(error.strerror)
rows = Journal(folder + "/rows")
rows.append({"id": "first"})
try:
    rows.append({"id": "second", "text": "x" * 2_000})
except KCNetError as error:
    print(error)
"""


def test_when_the_system_itself_refuses_to_go_on_writing_the_old_files_stay(tmp_path):
    (tmp_path / "old").write_bytes(b"old")
    ended = subprocess.run(
        [sys.executable, "-c", LIMITED_SIZE, str(tmp_path)],
        cwd=PROJECT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    words, sentence = ended.stdout.splitlines()
    assert words == os.strerror(errno.EFBIG)
    assert sentence.startswith("Results cannot be written to the cache folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old", "rows"]
    assert (tmp_path / "old").read_bytes() == b"old"
    assert Journal(tmp_path / "rows").get("first") == {"id": "first"}
    assert Journal(tmp_path / "rows").get("second") is None


SMALL_DISK = """
import sys
from pathlib import Path
from kcnet_core.errors import KCNetError
from kcnet_core.storage.journal import Journal
from tests.kcnet_core.test_faults import write_model
folder = Path(sys.argv[1])
write_model(folder)
saved = (folder / "old").read_bytes()
rows, n = Journal(folder / "rows"), 0
try:
    while True:
        rows.append({"id": str(n), "text": "x" * 5_000})
        n += 1
except KCNetError as error:
    print(error)
try:
    write_model(folder)
except KCNetError as error:
    print(error)
print((folder / "old").read_bytes() == saved, sorted(path.name for path in folder.iterdir()))
again = Journal(folder / "rows")
print(n > 0, all(again.get(str(k)) for k in range(n)), again.get(str(n)))
"""


def test_a_disk_that_is_really_full_keeps_what_was_written_before(tmp_path):
    """A file system of 300 kB in memory, mounted for one process only."""
    mounted = ["unshare", "--map-root-user", "--mount", "sh", "-c",
               'mount -t tmpfs -o size=300k tmpfs "$0" && exec "$@"', str(tmp_path)]  # fmt: skip
    try:
        allowed = subprocess.run([*mounted, "true"], capture_output=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("this system has no unshare")
    if allowed.returncode:
        pytest.skip("this system lets us mount nothing")
    ended = subprocess.run(
        [*mounted, sys.executable, "-c", SMALL_DISK, str(tmp_path)],
        cwd=PROJECT, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    row, model, files, read_again = ended.stdout.splitlines()
    full = os.strerror(errno.ENOSPC)
    assert row.startswith("Results cannot be written") and (full in row or "disk is full" in row)
    assert full in model and str(tmp_path) not in row + model
    assert files == "True ['old', 'rows']"
    assert read_again == "True True None"


def test_a_user_without_a_home_still_has_a_cache_folder(monkeypatch, tmp_path):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    for name in ("KCNET_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert folders.cache_folder() == tmp_path / f"kcnet-{os.getuid()}"
    assert datasets.available()


# -- killed in the middle --------------------------------------------------------------------------

KILLED_WRITE = """
import os, signal, sys
from kcnet_core.storage.atomic_write import write_whole

os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
write_whole(sys.argv[1], bytes(1_000))
"""


def test_a_later_write_takes_away_what_killed_writes_of_the_same_name_left(tmp_path):
    path = tmp_path / "model [1].kcnet"
    write_whole(path, b"old")
    for _ in range(2):
        killed = subprocess.run([sys.executable, "-c", KILLED_WRITE, str(path)], cwd=PROJECT)
        assert killed.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    left = sorted(set(tmp_path.iterdir()) - {path})
    assert len(left) == 2
    old = time.time() - SECONDS_TO_WRITE - 1
    os.utime(left[0], (old, old))
    other = tmp_path / ".other.kcnet.00000000.part"
    other.touch()
    os.utime(other, (old, old))
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert sorted(tmp_path.iterdir()) == sorted([path, left[1], other]), "a young one may be alive"


KILLED_REPRODUCE = """
import os, signal
from kcnet_core.__main__ import main
from kcnet_core.paper.recipes import RECIPES
from tests.kcnet_core.jobs.ending_manager import EndingManager
from tests.kcnet_core.paper.tiny_recipe import TINY

RECIPES["tiny"] = TINY
write, rows = os.write, []

def dying(handle, data):
    if b'"id"' in data:
        rows.append(data)
        if len(rows) == 4:
            write(handle, data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
    return write(handle, data)

os.write = dying
main(["reproduce", "tiny"])
"""


def test_reproduce_killed_in_the_middle_of_a_row_keeps_the_others_and_goes_on(
    tmp_path, monkeypatch, capsys
):
    ended = subprocess.run(
        [sys.executable, "-c", KILLED_REPRODUCE], cwd=PROJECT, timeout=120,
        env={**os.environ, "KCNET_CACHE": str(tmp_path), "PYTHONPATH": str(PROJECT)},
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    assert ended.returncode == -signal.SIGKILL
    journal = tmp_path / "reproduce" / "journal.jsonl"
    before = journal.read_bytes()
    assert before.count(b'"id"') == 4
    left = read_result(tmp_path / "reproduce" / "tiny.json")
    assert 1 <= left.finished <= 3 and left.about["under_way"]
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path))
    monkeypatch.setitem(RECIPES, "tiny", TINY)
    assert main(["reproduce", "tiny"]) == 0
    after = journal.read_bytes()
    assert after.startswith(before), "finished rows stay as they were"
    assert after.count(b'"id"') == 4 + 7, "the three that were whole are not measured again"
    result = json.loads((tmp_path / "reproduce" / "tiny.json").read_text())
    assert result["complete"] and len(result["rows"]) == 10 and "under_way" not in result


# -- numbers that fail, inside a job ---------------------------------------------------------------


@pytest.fixture
def run_job():
    manager = EndingManager(1)

    def run(config: Run, dataset):
        job = manager.submit("ann", "train", config, lambda: train_steps(config, dataset))
        assert job.wait(WAIT)
        return job

    yield run
    manager.end()


@pytest.fixture(scope="module")
def digits():
    return datasets.load("digits")


@pytest.mark.parametrize("model", ["KCNet", "DOA", "ELM", "FSHN"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_no_number_fails_with_a_sentence_and_not_as_our_fault(
    run_job, digits, model, value
):
    X = digits.X.copy()
    X[7, 3] = value
    config = Run(dataset="digits", model=model, n_hidden=20, n_epochs=2)
    job = run_job(config, replace(digits, X=X))
    assert job.view.state == "failed"
    assert "fault of the program" not in job.view.error
    assert "NaN" in job.view.error or "infinity" in job.view.error


@pytest.mark.parametrize("fill", ["constant", "repeated", "huge"])
@pytest.mark.parametrize("model", ["KCNet", "DOA", "ELM"])
def test_a_singular_or_overflowing_gram_matrix_ends_in_a_result_or_a_sentence(
    run_job, digits, model, fill
):
    X = digits.X.copy()
    if fill == "constant":
        X[:] = 1.0
    elif fill == "repeated":
        X[:] = X[:, :1]
    else:
        X *= 1e30
    config = Run(dataset="digits", model=model, n_hidden=60, n_epochs=2, alpha=1e-3)
    job = run_job(config, replace(digits, X=X))
    if job.view.state == "done":
        assert np.isfinite(job.result.probabilities).all()
        assert np.isfinite(job.result.headline[1])
    else:
        assert "fault of the program" not in job.view.error, job.view.error


def test_running_out_of_memory_inside_a_fit_is_told_and_the_next_job_runs(
    run_job, digits, monkeypatch
):
    from kcnet_core.network.ridge import RidgeSums

    def no_memory(self):
        raise MemoryError("Unable to allocate 38.1 GiB")

    config = Run(dataset="digits", model="KCNet", n_hidden=20)
    with monkeypatch.context() as patch:
        patch.setattr(RidgeSums, "_to_gram", no_memory)
        job = run_job(config, digits)
    assert job.view.state == "failed" and "memory" in job.view.error
    assert "fault of the program" not in job.view.error
    assert run_job(config, digits).view.state == "done"
