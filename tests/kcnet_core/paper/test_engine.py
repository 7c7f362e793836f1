"""One engine measures every recipe, goes on after an interruption, and says how ours compares."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
import torch

from kcnet_core.commands.reproduce import paper_and_ours
from kcnet_core.contracts import drain
from kcnet_core.errors import DataError, KCNetError
from kcnet_core.paper import engine
from kcnet_core.paper.altered_data import background, oversampled
from kcnet_core.paper.differences import answer, differences_of
from kcnet_core.paper.engine import known_result, reproduce_steps
from kcnet_core.paper.outcomes import (
    AGREES,
    CLOSE,
    HIGHER,
    LOWER,
    Outcome,
    Result,
    sentence,
    summed_up,
)
from kcnet_core.paper.recipe import Contrast, Paper, Quick, Recipe, RecipeLine, Tuning, quickened
from kcnet_core.paper.recipes import RECIPES
from kcnet_core.paper.recording import Recorded, matrices_of, packed, records_of, unpacked
from kcnet_core.paper.result_file import (
    KEPT_RESULTS,
    find_results,
    known_rows,
    provenance,
    read_result,
    result_text,
    save_result,
)
from kcnet_core.storage.journal import Journal
from tests.kcnet_core.experiments.made_data import blobs

SMALL = {"n_hidden": 20, "alpha": 1.0}
DOA = {**SMALL, "doa_rule": "paper", "n_epochs": 3, "learning_rate": 0.1}


def made_recipe(*lines, **about):
    about = {
        "name": "made", "title": "A made table", "where": "Table 0", "question": "Does it work?",
        "group": "tables", "view": "table", "metric": "weighted F1", "repeats": 2, **about,
    }  # fmt: skip
    return Recipe(lines=lines, **about)


def made_line(label="KCNet", model="KCNet", **about):
    about = {"dataset": "keller_2016", "protocol": "unseen_molecules", "settings": SMALL} | about
    return RecipeLine(label=label, model=model, **about)


def load(name, **options):
    return blobs(n=80)


def load_benchmark(name, **options):
    return replace(blobs(n=80), n_train=60)


def finished(recipe, journal, **options):
    """All steps and the result."""
    steps, seen = reproduce_steps(recipe, journal, load=load, **options), []
    while True:
        try:
            seen.append(next(steps))
        except StopIteration as end:
            return seen, end.value


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "cache" / "journal.jsonl")


def test_every_line_and_repeat_becomes_one_row_with_mean_and_interval(journal):
    recipe = made_recipe(made_line(paper=Paper(0.5, 0.1)), made_line("KNN", "KNN", settings={}))
    seen, result = finished(recipe, journal)
    assert result.complete and result.finished == 4
    assert [step.done for step in seen if step.counts_as_step] == [1, 2, 3, 4]
    assert seen[-1].fraction == 1.0
    for outcome in result.outcomes:
        values = [row["weighted F1"] for row in result.rows if row["line"] == outcome.key]
        assert outcome.mean == pytest.approx(np.mean(values))
        assert outcome.low <= outcome.mean <= outcome.high
        assert outcome.n == 2 and outcome.n_train + outcome.n_test == 80


def test_a_run_that_was_killed_goes_on_without_repeating_rows(journal, monkeypatch):
    recipe = made_recipe(made_line(), made_line("FSHN", "FSHN", settings={"n_epochs": 2}))
    whole = finished(recipe, Journal(journal.path.with_name("whole.jsonl")))[1]
    with closing(reproduce_steps(recipe, journal, load=load)) as steps:
        for step in steps:
            if step.done == 3:
                break
    trained = []
    make = RecipeLine.make
    monkeypatch.setattr(
        RecipeLine, "make", lambda self, *a: trained.append(self.key) or make(self, *a)
    )
    seen, result = finished(recipe, Journal(journal.path))
    assert seen[0].done == 3 and len(trained) == 1
    scores = [[row["weighted F1"] for row in r.rows] for r in (whole, result)]
    assert scores[0] == scores[1]


def test_a_line_cut_off_by_a_kill_costs_only_itself(journal):
    journal.append({"id": "first", "value": 1})
    with open(journal.path, "ab") as file:
        file.write(b'{"id": "torn", "val')
    again = Journal(journal.path)
    assert again.get("torn") is None
    again.append({"id": "second", "value": 2})
    third = Journal(journal.path)
    assert third.get("first")["value"] == 1 and third.get("second")["value"] == 2


def test_a_journal_sees_what_another_process_appended(journal):
    other = Journal(journal.path)
    other.append({"id": "theirs"})
    assert journal.get("theirs") is None
    journal.refresh()
    assert journal.get("theirs") == {"id": "theirs"}


def test_two_processes_at_once_measure_no_row_twice(journal, monkeypatch):
    monkeypatch.setattr(engine, "SECONDS_BETWEEN_LOOKS", 0.0)
    recipe = made_recipe(made_line("FSHN", "FSHN", settings={"n_epochs": 2}), made_line())
    measured = []
    make = RecipeLine.make
    monkeypatch.setattr(
        RecipeLine, "make", lambda self, *a: measured.append(self.key) or make(self, *a)
    )
    one = reproduce_steps(recipe, journal, load=load)
    while not measured:  # until it is in the midst of its first row
        next(one)
    other = reproduce_steps(recipe, Journal(journal.path), load=load)
    waiting = next(step for step in other if "waiting for another process" in step.stage)
    assert waiting.done == 3 and len(measured) == 4
    results = [drain(steps) for steps in (one, other)]
    assert len(measured) == 4 and all(result.complete for result in results)
    assert results[0].rows == results[1].rows
    assert [path.name for path in journal.path.parent.iterdir()] == [journal.path.name]


def test_a_claim_whose_holder_was_killed_is_free(journal):
    code = (
        "import os, sys, signal\n"
        "from kcnet_core.storage.journal import Journal\n"
        "with Journal(sys.argv[1]).claimed('row') as free:\n"
        "    print(free, flush=True)\n"
        "    sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(journal.path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert holder.stdout.readline() == "True\n"
    with journal.claimed("row") as free:
        assert not free
    holder.kill()
    holder.communicate()
    with journal.claimed("row") as free:
        assert free


def test_a_cache_folder_that_cannot_be_searched_is_a_sentence_not_a_fault(tmp_path):
    unsearchable = tmp_path / ("x" * 300)  # as for a folder without the right to look into it
    assert find_results("table1", [unsearchable]) == []
    with pytest.raises(KCNetError, match="KCNET_CACHE"):
        Journal(unsearchable / "journal.jsonl")


def test_a_result_file_is_enough_to_go_on_from(journal, tmp_path, monkeypatch):
    line = made_line(settings=DOA, model="DOA", keep=("curves",))
    recipe = made_recipe(line, repeats=3)
    with closing(reproduce_steps(recipe, journal, load=load)) as steps:
        save_result(next(step for step in steps if step.done == 2).result, tmp_path)
    elsewhere = Journal(tmp_path / "another machine" / "journal.jsonl")
    elsewhere.learn(known_rows(tmp_path))
    trained, make = [], RecipeLine.make
    monkeypatch.setattr(
        RecipeLine, "make", lambda self, *a: trained.append(self.key) or make(self, *a)
    )
    seen, result = finished(recipe, elsewhere)
    assert seen[0].done == 2 and len(trained) == 1 and result.complete
    assert len(records_of(result.kept["curves"]["KCNet"])) == 4
    assert not Journal(elsewhere.path).get(result.rows[0]["id"])  # only what was measured there


def test_an_interrupted_search_goes_on_from_its_last_trial(journal):
    line = made_line("KNN", "KNN", settings={}, tuning=Tuning(4, n_folds=2))
    recipe = made_recipe(line, repeats=1)
    whole = finished(recipe, Journal(journal.path.with_name("whole.jsonl")))[1]
    finished(made_recipe(replace(line, tuning=Tuning(2, n_folds=2)), repeats=1), journal)
    before = journal.path.read_text().count('"trial"')
    result = finished(recipe, Journal(journal.path))[1]
    assert before == 2 and journal.path.read_text().count('"trial"') == 4
    assert result.rows[0]["found"] == whole.rows[0]["found"]
    assert result.outcomes[0].tried == 4 and result.rows[0]["tried"] == 4


def test_repeats_of_a_benchmark_share_one_search_and_odor_splits_do_not(journal):
    tuned = {"settings": {}, "tuning": Tuning(2, n_folds=2)}
    for protocol, n_searches in (("benchmark", 1), ("unseen_molecules", 2)):
        own = Journal(journal.path.with_name(f"{protocol}.jsonl"))
        recipe = made_recipe(made_line("KNN", "KNN", protocol=protocol, **tuned))
        for _ in reproduce_steps(recipe, own, load=load_benchmark):
            pass
        assert own.path.read_text().count('"trial"') == 2 * n_searches


def test_a_result_file_is_enough_to_know_what_a_shared_search_found(journal, tmp_path):
    tuned = {"settings": {}, "tuning": Tuning(3, n_folds=2), "protocol": "benchmark"}
    recipe = made_recipe(made_line("KNN", "KNN", **tuned), repeats=2)
    with closing(reproduce_steps(recipe, journal, load=load_benchmark)) as steps:
        first = next(step for step in steps if step.done == 1).result
    save_result(first, tmp_path)
    elsewhere = Journal(tmp_path / "another machine" / "journal.jsonl")
    elsewhere.learn(known_rows(tmp_path))
    for step in reproduce_steps(recipe, elsewhere, load=load_benchmark):
        last = step.result
    assert last.complete and '"trial"' not in elsewhere.path.read_text()
    one, two = last.rows
    assert one["found"] == two["found"] and one["search_seconds"] == two["search_seconds"]


def test_tuning_of_a_submodel_is_used_by_the_ensemble(journal):
    fixed = {"alpha": 1.0, "doa_rule": "varpro"}
    line = made_line(
        "Ensemble DOA", "Ensemble DOA", settings={**fixed, "n_hidden": 40, "n_submodels": 2},
        tuning=Tuning(1, n_folds=2, model="DOA", settings={**fixed, "n_hidden": 20}),
    )  # fmt: skip
    row = finished(made_recipe(line, repeats=1), journal)[1].rows[0]
    assert row["found"]["n_epochs"] == 60  # the untuned setting, which trial 0 tries
    assert row["updates"] == 60


def test_the_same_work_in_another_recipe_is_not_done_again(journal):
    finished(made_recipe(made_line(paper=Paper(0.5)), name="one"), journal)
    seen, result = finished(made_recipe(made_line("other words"), name="two"), journal)
    assert seen[0].done == 2 and result.complete


def test_other_settings_splits_and_data_are_other_work():
    line = made_line()
    marks = ["keller", 80, 10, 7]
    known = engine.identity(line, 0, marks)
    for other in (
        replace(line, settings={**SMALL, "alpha": 2.0}),
        replace(line, beyond={"restore_best": False}),
        replace(line, protocol="paper_split"),
        replace(line, oversampling=True),
        replace(line, alteration=("oversampled", 0.0)),
        replace(line, tuning=Tuning(2)),
        replace(line, rows=10),
    ):
        assert engine.identity(other, 0, marks) != known
    assert engine.identity(line, 1, marks) != known
    assert engine.identity(line, 0, [*marks[:3], 8]) != known
    assert engine.identity(replace(line, label="x", paper=Paper(0.1)), 0, marks) == known


def test_a_deadline_stops_cleanly_and_keeps_what_is_known(journal):
    recipe = made_recipe(made_line(), repeats=3)
    with closing(reproduce_steps(recipe, journal, load=load)) as steps:
        next(step for step in steps if step.done == 1)
    result = finished(recipe, journal, deadline=time.monotonic())[1]
    assert result.finished == 1 and not result.complete
    assert known_result(recipe, journal, load).finished == 1


def test_missing_data_are_named_and_the_other_lines_go_on(journal):
    def partly(name, **options):
        if name == "emnist_balanced":
            raise DataError("EMNIST-Balanced is not on this machine yet.")
        return load(name)

    lines = made_line(), made_line("images", dataset="emnist_balanced")
    steps = reproduce_steps(made_recipe(*lines), journal, load=partly)
    try:
        while True:
            next(steps)
    except StopIteration as end:
        result = end.value
    assert result.skipped == {"emnist_balanced": "EMNIST-Balanced is not on this machine yet."}
    assert [outcome.n for outcome in result.outcomes] == [2, 0]


def test_a_failed_row_is_a_sentence_and_is_tried_again_next_time(journal):
    recipe = made_recipe(made_line(settings={"n_hidden": 20}, beyond={"alpha": -1.0}), repeats=1)
    result = finished(recipe, journal)[1]
    assert "alpha must be" in result.failed["KCNet"]
    assert finished(recipe, journal)[0][0].done == 0


def test_random_rows_know_nothing_of_molecules(journal):
    cache = engine.DatasetCache(load)
    assert cache.dataset(made_line(protocol="paper_split"), 0).groups is None
    assert cache.dataset(made_line(), 0).groups is not None


def test_a_row_is_the_run_that_the_train_page_opens(journal):
    from kcnet_core.experiments.training import train_steps

    line = made_line(settings=DOA, model="DOA")
    row = finished(made_recipe(line, repeats=2), journal)[1].rows[1]
    steps = train_steps(line.run(repeat=1), load(""))
    try:
        while True:
            next(steps)
    except StopIteration as end:
        trained = end.value
    assert trained.scores["weighted F1"] == pytest.approx(row["weighted F1"], abs=1e-6)


def test_curves_and_pictures_of_the_wiring_are_kept(journal):
    line = made_line(
        settings=DOA, model="DOA", keep=("curves", "matrices"), beyond={"restore_best": False}
    )
    result = finished(made_recipe(line, repeats=1), journal)[1]
    curves = records_of(result.kept["curves"]["KCNet"])
    assert [record.epoch for record in curves] == [0, 1, 2, 3]
    film = result.kept["matrices"]["KCNet"]
    assert film["shape"] == [20, 10]
    before, after = (unpacked(film[when]["W"]) for when in ("before", "after"))
    assert before.shape == (20, 10) and before.mean() == pytest.approx(film["density"][0], abs=0.02)
    assert (before != after).any()
    assert "curves" not in result.rows[0] and "matrices" not in result.rows[0]


def test_the_film_starts_with_the_wiring_as_it_was_drawn():
    line = made_line(settings=DOA, model="DOA")
    dataset = load("")
    recorded = Recorded(line.make(0))
    for _ in recorded.fit_steps(dataset.X, dataset.y):
        pass
    plain = line.make(0).set_params(n_epochs=0).fit(dataset.X, dataset.y)
    drawn = unpacked(matrices_of(recorded)["before"]["W"])
    np.testing.assert_array_equal(drawn.round(), plain.weights_)


def test_packed_matrices_come_back_to_within_a_shade():
    M = np.random.default_rng(0).uniform(-1, 1, (30, 40)).astype(np.float32)
    np.testing.assert_allclose(unpacked(packed(M, -1, 1)), M, atol=2 / 15)


def test_updates_are_counted_under_both_stop_rules(journal):
    lines = [
        made_line(rule, "DOA", settings={**DOA, "stop_metric": 0.01}, beyond={"stop_rule": rule})
        for rule in ("algorithm1", "published")
    ]
    result = finished(made_recipe(*lines, repeats=1), journal)[1]
    # Random wiring reaches the stop metric at once: Algorithm 1 ends, the published code updates.
    assert [outcome.updates for outcome in result.outcomes] == [0, 1]


@pytest.mark.parametrize(
    "paper, sd, low, high, verdict, words",
    [
        (0.80, None, 0.78, 0.82, AGREES, "lies in our interval"),
        (0.80, 0.05, 0.81, 0.83, CLOSE, "within the paper's ± 0.05"),
        (0.80, 0.01, 0.81, 0.83, HIGHER, "0.0200 higher, beyond our interval"),
        (0.80, None, 0.70, 0.72, LOWER, "0.0900 lower, beyond our interval"),
    ],
)
def test_verdicts_follow_from_the_interval(paper, sd, low, high, verdict, words):
    middle, reach = (low + high) / 2, (high - low) / 2
    steps = np.array([-2, -1, 0, 1, 2])
    steps = steps * reach / (2.776 * steps.std(ddof=1) / math.sqrt(5))  # t, four degrees of freedom
    rows = {
        ("KCNet", k): {
            "weighted F1": middle + step, "protocol": "benchmark", "n_train": 10, "n_test": 5,
            "seconds": 1.0,
        }
        for k, step in enumerate(steps)
    }  # fmt: skip
    recipe = made_recipe(made_line(protocol="benchmark", paper=Paper(paper, sd)), repeats=5)
    result = summed_up(recipe, rows)
    assert result.outcomes[0].low == pytest.approx(low, abs=1e-4)
    assert result.outcomes[0].verdict == verdict
    assert words in sentence(result.outcomes[0])


def scored(*scores_by_line, **about):
    """Rows by (line, repeat) with these scores."""
    about = {"protocol": "paper_split", "n_train": 90, "n_test": 10, "seconds": 1.0} | about
    return {
        (line, k): {"weighted F1": score, **about}
        for line, scores in scores_by_line
        for k, score in enumerate(scores)
    }


SCATTERED = (0.60, 0.66, 0.70, 0.74, 0.80)


@pytest.mark.parametrize(("paper", "verdict"), [(0.71, AGREES), (0.85, CLOSE), (0.99, LOWER)])
def test_a_figure_of_one_split_is_judged_by_where_single_splits_lie(paper, verdict):
    line = made_line(protocol="paper_split", paper=Paper(paper))
    (outcome,) = summed_up(made_recipe(line, repeats=5), scored(("KCNet", SCATTERED))).outcomes
    reach = 2.776 * np.std(SCATTERED, ddof=1) * math.sqrt(1 + 1 / 5)
    assert outcome.one_high == pytest.approx(outcome.mean + reach, abs=1e-3)
    assert outcome.verdict == verdict
    if verdict != AGREES:
        but = "but" if verdict == CLOSE else "and"
        assert f"{but} single splits lie between" in sentence(outcome)


def test_a_protocol_that_the_paper_did_not_use_is_not_compared_with_it():
    line = made_line(protocol="unseen_molecules", paper=Paper(0.71))
    rows = scored(("KCNet", SCATTERED), protocol="unseen_molecules")
    (outcome,) = summed_up(made_recipe(line, repeats=5), rows).outcomes
    assert outcome.verdict == "" and "the paper split rows at random" in sentence(outcome)


def test_differences_are_paired_only_on_the_same_test_rows():
    above = [score + 0.02 + 0.001 * k for k, score in enumerate(SCATTERED)]
    for protocol, paired in (("paper_split", True), ("unseen_molecules", False)):
        lines = made_line(protocol="paper_split"), made_line("other", protocol=protocol)
        recipe = made_recipe(*lines, contrasts=(Contrast("?", "other", "KCNet"),), repeats=5)
        rows = scored(("KCNet", SCATTERED)) | scored(("other", above), protocol=protocol)
        (found,) = summed_up(recipe, rows).differences
        assert found.mean == pytest.approx(0.022)
        assert found.paired == found.clear == paired


def test_the_more_questions_the_surer_a_difference_must_be():
    names = [f"line {k}" for k in range(8)]
    noise = np.array([-1.5, 0.5, 0.3, 0.4, 0.3])
    scores = [("KCNet", SCATTERED)] + [
        (name, SCATTERED + 0.02 * noise + (0.045 if k == 0 else 0.0))
        for k, name in enumerate(names)
    ]
    clear = {}
    for n in (1, 8):
        asked = tuple(Contrast(name, name, "KCNet") for name in names[:n])
        lines = [made_line(name, protocol="paper_split") for name in ("KCNet", *names)]
        recipe = made_recipe(*lines, contrasts=asked, repeats=5)
        first = summed_up(recipe, scored(*scores)).differences[0]
        assert first.low > 0
        clear[n] = first.clear
    assert clear == {1: True, 8: False}


def test_a_few_repeats_agree_with_nothing(journal):
    line = made_line(protocol="paper_split", paper=Paper(0.5))
    outcome = finished(made_recipe(line), journal)[1].outcomes[0]
    assert outcome.verdict == "" and sentence(outcome) == "2 repeats are too few to compare"


def test_partial_data_and_quick_versions_are_not_compared_with_the_paper(journal):
    line = made_line(dataset="mnist", protocol="benchmark", paper=Paper(0.9735, 0.003))
    recipe = made_recipe(line, quick=Quick(rows=40))
    for version, words in ((recipe, "60 of the paper's 60,000"), (quickened(recipe), "smaller")):
        for step in reproduce_steps(version, journal, load=load_benchmark):
            last = step
        outcome = last.result.outcomes[0]
        assert outcome.verdict == "" and words in sentence(outcome)


def test_contrasts_are_answered_with_an_interval(journal):
    lines = made_line(), made_line("few rows", rows=4)
    asked = Contrast("Do more rows help?", "KCNet", "few rows")
    result = finished(made_recipe(*lines, contrasts=(asked,), repeats=3), journal)[1]
    (found,) = result.differences
    means = {outcome.key: outcome.mean for outcome in result.outcomes}
    assert found.mean == pytest.approx(means["KCNet"] - means["few rows"])
    assert found.low <= found.mean <= found.high and found.n == 3
    assert "over 3 repeats" in answer(found)


def test_the_real_fly_is_told_with_intervals_and_permutation_tests():
    """What is kept is what its rows say; real and its controls tie."""
    kept = read_result(KEPT_RESULTS / "real-fly.json")
    known = {(row["line"], row["repeat"]): row for row in kept.rows}
    again = differences_of(RECIPES["real-fly"], known)
    assert len(again) == len(kept.differences) == 15
    for one, other in zip(again, kept.differences, strict=True):
        assert one.p_permutation == pytest.approx(other.p_permutation, abs=0.002)
        assert one.mean == pytest.approx(other.mean, abs=1e-5)
        assert "over 20 repeats, permutation test p = " in answer(other)
        assert answer(other).endswith(": may be chance") and other.low < 0 < other.high
    by_hand = {d.question: d.p_permutation for d in kept.differences}
    assert by_hand["Chemical class: is real better than shuffled?"] == pytest.approx(0.06, abs=0.01)


def test_equal_lines_have_no_difference_rather_than_a_chance_one(journal):
    lines = made_line(), made_line("twin", beyond={"restore_best": False})  # without DOA the same
    result = finished(made_recipe(*lines, contrasts=(Contrast("?", "KCNet", "twin"),)), journal)[1]
    assert answer(result.differences[0]) == "no difference in any of 2 repeats"


def test_a_result_file_says_where_it_came_from_and_comes_back(journal, tmp_path):
    line = made_line(protocol="paper_split", paper=Paper(0.5, 0.1), goal=(0.0, 1.0))
    recipe = made_recipe(line)
    result = finished(recipe, journal)[1]
    path = save_result(result, tmp_path / "results")
    data = json.loads(path.read_text())
    assert data["seeds"] == [0, 1] and data["settings_tried"] == 2
    assert re.match(r"\d{4}-\d\d-\d\dT", data["date"])
    assert {"python", "numpy", "torch"} <= set(data["versions"])
    assert {"processor", "cores", "memory_gb", "system"} == set(data["machine"])
    assert data["threads"] == [torch.get_num_threads()]
    assert data["since"] <= data["date"] == max(row["time"] for row in data["rows"])
    again = read_result(path)
    assert again.outcomes == tuple(
        replace(o, goal=[0.0, 1.0]) for o in result.outcomes
    ) and again.outcomes[0].goal_met  # fmt: skip
    assert again.finished == result.finished and again.complete


def test_a_result_file_names_neither_host_nor_path(journal, tmp_path):
    import platform

    text = result_text(finished(made_recipe(made_line(), repeats=1), journal)[1])
    path = save_result(finished(made_recipe(made_line(), repeats=1), journal)[1], tmp_path)
    for words in (text, path.read_text()):
        assert str(tmp_path) not in words
        assert platform.node() == "" or platform.node() not in words


def test_the_most_telling_result_is_found_first_and_broken_files_are_passed_over(journal, tmp_path):
    recipe = made_recipe(made_line(), quick=Quick(repeats=1))
    full, quick = tmp_path / "full", tmp_path / "quick"
    save_result(finished(quickened(recipe), journal)[1], quick)
    assert [r.quick for r in find_results("made", [full, quick])] == [True]
    save_result(finished(recipe, journal)[1], full)
    assert [r.quick for r in find_results("made", [full, quick])] == [False, True]
    (full / "made.json").write_text("{")
    assert [r.quick for r in find_results("made", [full, quick])] == [True]
    assert find_results("made", [tmp_path / "nowhere"]) == []


def test_oversampling_before_the_split_makes_rows_of_all_rows():
    dataset = blobs(n=80)
    fewer = replace(
        dataset, X=dataset.X[:60], y=np.r_[np.zeros(45, int), np.ones(15, int)],
        groups=dataset.groups[:60],
    )  # fmt: skip
    more = oversampled(fewer, 0.0, 0)
    assert len(more.X) > 60 and len(more.groups) == len(more.X)
    assert set(more.groups[60:]) <= set(fewer.groups[45:])  # with molecules of their own class
    assert "ADASYN added" in more.report[-1]


def test_a_background_hides_darker_pixels_and_keeps_images_standardised():
    pixels = np.tile(np.array([0.0, 1.0], np.float32), (20, 2))
    dataset = replace(
        blobs(n=20, d=4), X=(pixels - 0.5) / 0.5, image_shape=(2, 2), n_train=10,
        pixel_mean=0.5, pixel_std=0.5,
    )  # fmt: skip
    altered = background(dataset, 0.5, seed=0)
    raw = altered.X * altered.pixel_std + altered.pixel_mean
    assert (raw[:, 1::2] > 0.99).all()
    assert 0.1 < raw[:, ::2].mean() < 0.4 and raw[:, ::2].max() <= 0.5 + 1e-6
    assert altered.X[:10].mean() == pytest.approx(0, abs=1e-5)
    assert altered.X[:10].std() == pytest.approx(1, abs=1e-5)
    assert background(dataset, 0.0, seed=0) is dataset


def test_unmeasured_lines_say_so():
    outcome = Outcome("k", "l", "p", "s", "KCNet", "accuracy", paper=0.9)
    assert sentence(outcome) == "not measured yet"


@pytest.mark.parametrize(("protocol", "searches"), [("benchmark", 1), ("unseen_molecules", 2)])
def test_a_search_that_repeats_share_counts_once(protocol, searches):
    rows = tuple(
        {"line": "a", "protocol": protocol, "repeat": k, "seed": k, "tried": 10, "seconds": 1.0,
         "search_seconds": 5.0}
        for k in range(2)
    )  # fmt: skip
    about = provenance(Result("x", False, (), (), rows, 2))
    assert about["settings_tried"] == 10 * searches
    assert about["seconds"] == 2 + 5 * searches


@pytest.mark.parametrize(("second", "told"), [({"threads": 1}, [1, 2]), ({}, [])])
def test_threads_are_told_only_where_every_row_tells_its_own(second, told):
    row = {"line": "a", "protocol": "benchmark", "repeat": 0, "seed": 0, "seconds": 1.0}
    rows = ({**row, "threads": 2}, {**row, "repeat": 1, **second})
    assert provenance(Result("x", False, (), (), rows, 2))["threads"] == told


def test_a_line_that_stores_its_bytes_tells_them_with_the_accuracy_in_8_bits(journal):
    recipe = made_recipe(made_line(keep=("stored",)), repeats=2)
    _, result = finished(recipe, journal)
    (outcome,) = result.outcomes
    assert outcome.stored_bytes_8bit == np.mean([row["stored_bytes_8bit"] for row in result.rows])
    assert 0 < outcome.stored_bytes_8bit < min(row["stored_bytes"] for row in result.rows)
    accuracies = [row["accuracy"] for row in result.rows]
    assert abs(outcome.accuracy_8bit - np.mean(accuracies)) < 0.1
    assert {"KiB", "in 8 bits"} <= set(paper_and_ours(result))
