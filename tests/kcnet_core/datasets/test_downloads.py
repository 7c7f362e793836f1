"""A download ends as a whole, checked file or not at all, and goes on where it was interrupted."""

from __future__ import annotations

import errno
import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from kcnet_core.contracts import drain
from kcnet_core.datasets import downloads
from kcnet_core.datasets.downloads import download_steps
from kcnet_core.errors import DataError, LimitError
from tests.kcnet_core.datasets.file_server import FileServer

CONTENT = np.random.default_rng(0).bytes(3_000_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
MD5 = hashlib.md5(CONTENT).hexdigest()
WHOLE = {"sha256": SHA256, "size": len(CONTENT)}


def download(url, target, progress=None, **options):
    drain(download_steps(url, target, **options), progress)


@pytest.fixture
def server():
    with FileServer().running() as server:
        server.files["/ratings.csv"] = CONTENT
        yield server


@pytest.fixture
def target(tmp_path):
    return tmp_path / "deep" / "ratings.csv"


def part(target):
    return target.with_name("ratings.csv.part")


@pytest.mark.parametrize("checks", [WHOLE, {"md5": MD5}, {}])
def test_a_download_stores_the_whole_file_and_reports_progress(server, target, checks):
    seen = []
    download(server.url + "/ratings.csv", target, progress=lambda *p: seen.append(p), **checks)
    assert target.read_bytes() == CONTENT
    assert not part(target).exists()
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_file_that_is_there_is_not_fetched_again(server, target):
    target.parent.mkdir()
    target.write_bytes(b"mine")
    download(server.url + "/ratings.csv", target, **WHOLE)
    assert target.read_bytes() == b"mine"
    assert server.requests == []


def test_a_broken_connection_is_taken_up_where_it_ended(server, target):
    server.cut_after = [1_000_000, 500_000]
    download(server.url + "/ratings.csv", target, **WHOLE)
    assert target.read_bytes() == CONTENT
    assert [r for _, r in server.requests] == [None, "bytes=1000000-", "bytes=1500000-"]


def test_a_connection_that_keeps_breaking_leaves_a_part_that_the_next_download_continues(
    server, target
):
    server.cut_after = [100_000] * downloads.ATTEMPTS
    with pytest.raises(DataError, match=r"ended after 300,000 of 3,000,000 bytes\. 300,000 bytes"):
        download(server.url + "/ratings.csv", target, **WHOLE)
    assert not target.exists()
    assert part(target).stat().st_size == 300_000
    download(server.url + "/ratings.csv", target, **WHOLE)
    assert target.read_bytes() == CONTENT
    assert server.requests[-1][1] == "bytes=300000-"


def test_a_server_without_ranges_starts_from_the_beginning(server, target):
    server.ranges = False
    server.cut_after = [100_000]
    download(server.url + "/ratings.csv", target, **WHOLE)
    assert target.read_bytes() == CONTENT


def test_stopping_keeps_the_part_and_leaves_no_file(server, target):
    steps = download_steps(server.url + "/ratings.csv", target, **WHOLE)
    assert any(step.done >= 500_000 for step in steps)
    steps.close()
    assert not target.exists()
    assert 500_000 <= part(target).stat().st_size < len(CONTENT)
    download(server.url + "/ratings.csv", target, **WHOLE)
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("check", [{"sha256": SHA256}, {"md5": MD5}])
def test_wrong_content_is_thrown_away(server, target, check):
    server.files["/ratings.csv"] = CONTENT[:-1] + b"?"
    with pytest.raises(DataError, match="checksum is not the published one"):
        download(server.url + "/ratings.csv", target, **check)
    assert list(target.parent.iterdir()) == []


def test_a_file_of_another_size_is_thrown_away(server, target):
    with pytest.raises(DataError, match="3,000,000 bytes instead of 2,999,999"):
        download(server.url + "/ratings.csv", target, size=2_999_999)
    assert list(target.parent.iterdir()) == []


@pytest.mark.parametrize("old", [b"x" * 1000, b"x" * 3_000_000, b"x" * 3_000_100])
@pytest.mark.parametrize("checks", [WHOLE, {"sha256": SHA256}])
def test_a_stale_part_is_replaced_by_a_fresh_download(server, target, old, checks):
    target.parent.mkdir()
    part(target).write_bytes(old)
    download(server.url + "/ratings.csv", target, **checks)
    assert target.read_bytes() == CONTENT


def test_a_whole_part_needs_no_network(target):
    target.parent.mkdir()
    part(target).write_bytes(CONTENT)
    download("http://127.0.0.1:9/ratings.csv", target, **WHOLE)
    assert target.read_bytes() == CONTENT


def test_a_silent_server_is_given_up_after_the_timeout(server, target):
    server.stall_after = 1000
    with pytest.raises(DataError, match=r"sent nothing for 0\.2 seconds\. .* bytes are kept"):
        download(server.url + "/ratings.csv", target, timeout=0.2, **WHOLE)
    assert part(target).stat().st_size >= 1000


@pytest.mark.parametrize("status, words", [(404, "answered 404"), (503, "answered 503")])
def test_a_refusal_is_told_and_leaves_nothing(server, target, status, words):
    server.status = status
    with pytest.raises(DataError, match=words):
        download(server.url + "/ratings.csv", target, **WHOLE)
    assert list(target.parent.iterdir()) == []


def test_an_unreachable_server_is_told(target):
    with pytest.raises(DataError, match="cannot be reached"):
        download("http://127.0.0.1:9/ratings.csv", target, **WHOLE)


def test_other_schemes_are_refused(target):
    with pytest.raises(DataError, match="only be downloaded over http"):
        download("file:///etc/hostname", target)


def test_a_full_disk_is_told_before_the_transfer(server, target, monkeypatch):
    usage = type("Usage", (), {"free": 10_000})
    monkeypatch.setattr(downloads.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(DataError, match=r"needs 3\.0 MB and the disk has 0\.0 MB free"):
        download(server.url + "/ratings.csv", target, **WHOLE)
    assert list(target.parent.iterdir()) == []


@pytest.mark.parametrize(
    "number, words",
    [(errno.ENOSPC, "disk became full"), (errno.EROFS, "cannot be written to .*KCNET_CACHE")],
)
def test_a_disk_that_refuses_while_writing_is_told(server, target, monkeypatch, number, words):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(downloads.os, "fsync", refuse)
    with pytest.raises(DataError, match=words):
        download(server.url + "/ratings.csv", target, **WHOLE)
    assert not target.exists()


def test_a_folder_that_cannot_be_made_is_told_without_its_path(server, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataError, match="cannot be written to") as caught:
        download(server.url + "/ratings.csv", tmp_path / "file" / "ratings.csv", **WHOLE)
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_told(server, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(DataError, match="cannot be written to"):
        download(server.url + "/ratings.csv", tmp_path / "ratings.csv", **WHOLE)


def test_two_downloads_of_one_file_do_not_disturb_each_other(server, target):
    target.parent.mkdir()
    with (
        downloads._part_file(part(target)),
        pytest.raises(DataError, match="being downloaded already"),
    ):
        download(server.url + "/ratings.csv", target, **WHOLE)


def test_an_endless_file_is_cut_off_at_the_limit(server, target, monkeypatch):
    monkeypatch.setattr(downloads, "MAX_DOWNLOAD_BYTES", 1_000_000)
    with pytest.raises(LimitError, match="MAX_DOWNLOAD_BYTES"):
        download(server.url + "/ratings.csv", target)
    assert not target.exists()


def test_a_killed_download_leaves_no_half_file_and_is_continued(server, target):
    server.stall_after = 700_000
    code = (
        "import sys; from pathlib import Path; from kcnet_core.contracts import drain; "
        "from kcnet_core.datasets.downloads import download_steps; "
        "drain(download_steps(sys.argv[1], Path(sys.argv[2])))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, server.url + "/ratings.csv", str(target)],
        cwd=Path(downloads.__file__).parents[2],
    )
    deadline = time.monotonic() + 20
    while not (part(target).exists() and part(target).stat().st_size > 0):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not target.exists()
    server.stall_after = None
    download(server.url + "/ratings.csv", target, **WHOLE)
    assert target.read_bytes() == CONTENT
    assert server.requests[-1][1] is not None, "continued, not started again"
