"""`python -m kcnet_core reproduce`: lists, measures, resumes, and prints paper beside ours."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kcnet_core.__main__ import main
from kcnet_core.paper.recipes import RECIPES
from tests.kcnet_core.paper.tiny_recipe import TINY

PROJECT = Path(__file__).resolve().parents[3]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path))
    monkeypatch.setitem(RECIPES, "tiny", TINY)
    return tmp_path / "reproduce"


def test_without_a_name_it_lists_every_recipe_with_estimates(cache, capsys):
    assert main(["reproduce"]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in RECIPES)
    assert "Table 1: Odor perception" in printed


def test_it_prints_paper_ours_and_interval_and_writes_json(cache, capsys):
    assert main(["reproduce", "tiny"]) == 0
    printed = capsys.readouterr().out
    line = next(part for part in printed.splitlines() if part.startswith("Digits · KCNet"))
    assert "0.2000" in line and " to " in line and "beyond our interval" in line
    assert "Do more cells help?" in printed
    data = json.loads((cache / "tiny.json").read_text())
    assert data["complete"] and not data["quick"] and len(data["rows"]) == 10


def test_the_quick_version_is_marked_and_the_full_one_goes_on_from_it(cache, capsys):
    main(["reproduce", "tiny", "--quick"])
    assert json.loads((cache / "tiny.quick.json").read_text())["quick"]
    before = (cache / "journal.jsonl").read_text().count('"id"')
    main(["reproduce", "tiny"])
    after = (cache / "journal.jsonl").read_text().count('"id"')
    assert (before, after) == (4, 10)
    assert "too few to compare" in capsys.readouterr().out


def test_results_can_go_to_another_folder_and_known_measures_nothing(cache, capsys, tmp_path):
    main(["reproduce", "tiny", "--quick"])
    rows = (cache / "journal.jsonl").read_bytes()
    main(["reproduce", "tiny", "--known", "--results", str(tmp_path / "elsewhere")])
    assert (cache / "journal.jsonl").read_bytes() == rows
    data = json.loads((tmp_path / "elsewhere" / "tiny.json").read_text())
    assert not data["complete"] and len(data["rows"]) == 4


def test_a_time_budget_that_is_used_up_stops_cleanly(cache, capsys):
    assert main(["reproduce", "tiny", "--minutes", "0.0001"]) == 0
    assert not (cache / "tiny.json").exists()


def test_mistakes_are_sentences(cache, capsys):
    assert main(["reproduce", "table9"]) == 2
    assert "There is no recipe 'table9'" in capsys.readouterr().err
    assert main(["reproduce", "tiny", "--minutes", "-3"]) == 2
    assert "--minutes must be above 0" in capsys.readouterr().err


@pytest.mark.slow
def test_a_polite_kill_sums_up_what_is_known_and_the_next_run_goes_on(tmp_path, shared_data):
    environment = {**os.environ, "KCNET_CACHE": str(tmp_path), "KCNET_DATA": str(shared_data)}
    command = [sys.executable, "-m", "kcnet_core", "reproduce", "twin-leak"]
    process = subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=subprocess.PIPE)
    journal, deadline = tmp_path / "reproduce" / "journal.jsonl", time.monotonic() + 120
    while time.monotonic() < deadline and not (
        journal.exists() and journal.read_text().count('"id"') >= 5
    ):
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    printed = process.communicate(timeout=60)[0].decode()
    assert process.returncode == 130 and "run it again to go on" in printed
    rows = len(json.loads((tmp_path / "reproduce" / "twin-leak.json").read_text())["rows"])
    assert rows >= 4  # the fifth may have been in hand
    subprocess.run([*command, "--minutes", "0.2"], cwd=PROJECT, env=environment, check=True)
    again = json.loads((tmp_path / "reproduce" / "twin-leak.json").read_text())
    assert len(again["rows"]) > rows
