"""What is installed: exact versions, none of them withdrawn, none with a known weakness."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = ("requirements.txt", "tests/requirements.txt")


def pins(file: str) -> list[str]:
    lines = (line.split("#")[0].strip() for line in (ROOT / file).read_text().splitlines())
    return [line for line in lines if line and not line.startswith("-r")]


@pytest.mark.parametrize("file", FILES)
def test_every_version_is_pinned(file):
    assert pins(file)
    for line in pins(file):
        assert re.fullmatch(r"[\w\-\[\]]+==\d[\w.]*", line), line


@pytest.mark.slow
def test_no_pinned_version_has_been_withdrawn(tmp_path):
    report = tmp_path / "report.json"
    ended = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet",
         "--report", report, "-r", ROOT / "requirements.txt"],
        capture_output=True, text=True,
    )  # fmt: skip
    if ended.returncode:
        pytest.skip("the package registry cannot be asked from here")
    assert "yanked" not in ended.stderr
    withdrawn = [
        item["metadata"]["name"]
        for item in json.loads(report.read_text())["install"]
        if item.get("is_yanked")
    ]
    assert withdrawn == []


@pytest.mark.slow
def test_no_pinned_version_has_a_known_weakness():
    if importlib.util.find_spec("pip_audit") is None:
        pytest.skip("pip-audit is not installed")
    ended = subprocess.run(
        [sys.executable, "-m", "pip_audit", "-r", ROOT / "requirements.txt"],
        capture_output=True, text=True,
    )  # fmt: skip
    if ended.returncode and "Found" not in ended.stderr:
        pytest.skip("no advisory service can be reached from here")
    assert ended.returncode == 0, ended.stdout
