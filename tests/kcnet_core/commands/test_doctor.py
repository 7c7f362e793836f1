"""`doctor` says what is here, and every fault as a sentence with its remedy."""

from __future__ import annotations

import pytest

from kcnet_core.__main__ import main
from kcnet_core.commands import doctor
from kcnet_core.errors import KCNetError
from kcnet_core.molecules import pictures


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path / "not yet" / "cache"))
    for name in ("KCNET_DATA", "KCNET_CLUSTER"):
        monkeypatch.delenv(name, raising=False)


def test_a_sound_machine_is_told_so_and_nothing_is_written(tmp_path, capsys):
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert "Nothing is wrong here." in said and "Wrong:" not in said
    assert "torch" in said and "starter" in said and list(tmp_path.iterdir()) == []


def test_faults_are_sentences_with_a_remedy(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path / ("x" * 300)))
    monkeypatch.setenv("KCNET_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr(doctor, "LEAST_FREE_BYTES", 2**60)
    monkeypatch.setattr(pictures, "missing_library", lambda: "libXrender.so.1")
    monkeypatch.setattr(doctor, "_not_writable", lambda folder: "Read-only file system")
    assert main(["doctor"]) == doctor.SOMETHING_WRONG
    wrong = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Wrong:")]
    for words in ("KCNET_CACHE", "KCNET_DATA names", "of memory are free", "package libxrender1"):
        assert sum(words in line for line in wrong) == 1, words
    assert len(wrong) == 4


def test_a_folder_that_cannot_be_made_is_not_writable():
    assert doctor._not_writable(doctor.Path("/proc/kcnet"))


def test_a_cluster_that_cannot_be_used_is_named_with_the_reason(monkeypatch):
    def connected(name):
        raise KCNetError(f"No scheduler answers at {name}.")

    monkeypatch.setenv("KCNET_CLUSTER", "tcp://10.0.0.5:8786")
    monkeypatch.setattr("kcnet_core.cluster.connection.connected", connected)
    wrong: list[str] = []
    assert list(doctor._cluster(wrong)) == [("cluster", "tcp://10.0.0.5:8786 (cannot be used)")]
    assert wrong == ["No scheduler answers at tcp://10.0.0.5:8786."]
