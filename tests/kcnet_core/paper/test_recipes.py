"""Recipes are complete, consistent data: every figure the paper prints, with its settings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kcnet_core.errors import KCNetError
from kcnet_core.experiments.models import MODELS
from kcnet_core.experiments.presets import TUNED
from kcnet_core.experiments.protocols import PROTOCOLS
from kcnet_core.experiments.run import Run
from kcnet_core.paper.altered_data import ALTERATIONS
from kcnet_core.paper.cost import line_cost, recipe_cost, search_seconds
from kcnet_core.paper.engine import identity
from kcnet_core.paper.images import TABLE_2
from kcnet_core.paper.odor import TABLE_1
from kcnet_core.paper.recipe import GROUPS, quickened
from kcnet_core.paper.recipes import RECIPES, find_recipe

OPTIONS_OF_A_RUN = ("normalise", "missing", "characters")
PAPER = Path(__file__).resolve().parents[3].parent / "shared" / "kcnet_paper.tex"
everyone = pytest.mark.parametrize("recipe", RECIPES.values(), ids=list(RECIPES))


@everyone
def test_lines_have_names_of_their_own_and_known_models_and_data(recipe):
    from kcnet_core.datasets import available

    names = {info.name for info in available()}
    assert len({line.key for line in recipe.lines}) == len(recipe.lines)
    for line in recipe.lines:
        assert line.model in MODELS and line.protocol in PROTOCOLS and line.dataset in names
        assert line.alteration is None or line.alteration[0] in ALTERATIONS


@everyone
def test_contrasts_and_references_point_at_something(recipe):
    for contrast in recipe.contrasts:
        assert recipe.line(contrast.first) and recipe.line(contrast.second)
    assert set(recipe.see_also) <= set(RECIPES)
    assert recipe.group in GROUPS


@everyone
def test_every_network_line_can_be_built_and_opened_on_the_train_page(recipe):
    for line in recipe.lines:
        model = line.make(seed=3)
        run = line.run(repeat=3)
        if not MODELS[line.model].network:
            assert run is None
            continue
        again, ignored = Run.from_query(run.to_query())
        assert again == run and not ignored
        same = run.estimator().set_params(**line.beyond)
        assert model.get_params() == same.get_params()
        scale = {k: v for k, v in line.options.items() if k in OPTIONS_OF_A_RUN}
        assert run.data_options() == scale | ({"target": line.target} if line.target else {})


@everyone
def test_the_quick_version_is_smaller_and_says_when_it_is_not_comparable(recipe):
    quick = quickened(recipe)
    assert quick.is_quick and len(quick.units()) <= len(recipe.units())
    assert recipe_cost(quick).seconds < recipe_cost(recipe).seconds
    assert quickened(quick) is quick
    for line in quick.lines:
        full = recipe.line(line.key)
        if (line.settings, line.rows) != (full.settings, full.rows):
            assert not line.comparable


@everyone
def test_what_the_paper_only_plots_has_no_made_up_numbers(recipe):
    if recipe.plot_only:
        # A sweep may repeat the one printed point, which Table 1 or 2 has for that very size.
        printed = {paper.mean for row in (*TABLE_1.values(), *TABLE_2.values()) for paper in row}
        assert all(line.paper is None or line.paper.mean in printed for line in recipe.lines)


def test_every_number_of_both_tables_is_in_the_paper():
    if not PAPER.is_file():
        pytest.skip("the paper's text is not beside the project")
    text = PAPER.read_text()
    tables = text[text.index("label{fig:results_odor}") : text.index("mnist_kcnet_elm_hsize")]
    for row in (*TABLE_1.values(), *TABLE_2.values()):
        for paper in row:
            spread = rf"[}}$]*_\{{\\pm\s*(\\textbf\{{)?{paper.sd:g}" if paper.sd else ""
            number = f"{paper.mean:g}".ljust(5, "0") if paper.mean == 0.798 else f"{paper.mean:g}"
            assert re.search(re.escape(number) + spread, tables), paper


def test_table_one_has_nine_models_two_tasks_and_both_protocols_over_twenty_splits():
    table = find_recipe("table1")
    assert len(table.lines) == 9 * 2 * 2
    assert table.repeats >= 20
    assert all(line.paper for line in table.lines)
    tried = {line.tried for line in table.lines if line.tuning}
    assert len(tried) == 1  # every baseline has the same search budget


def test_rules_are_compared_with_the_same_search_budget():
    rules = [line for line in find_recipe("doa-rules").lines if line.model == "DOA"]
    budgets = {(line.tuning.n_trials, line.tuning.n_folds) for line in rules}
    first_epochs = {line.tuning.untuned["n_epochs"] for line in rules}
    assert len(budgets) == len(first_epochs) == 1
    assert {line.settings["doa_rule"] for line in rules} == {"paper", "varpro"}


def test_each_rule_starts_its_search_at_the_rate_that_its_authors_name():
    first = {
        line.settings["doa_rule"]: line.tuning.untuned["learning_rate"]
        for line in find_recipe("doa-rules").lines
        if line.model == "DOA"
    }
    assert first == {"paper": 0.5, "varpro": TUNED["learning_rate"]}


def test_no_time_is_taken_over_from_a_recipe_where_only_scores_count():
    def work(recipes):
        return {identity(line, 0, []) for recipe in recipes for line in recipe.lines}

    timed = [recipe for recipe in RECIPES.values() if recipe.metric == "seconds"]
    others = [recipe for recipe in RECIPES.values() if recipe.metric != "seconds"]
    assert timed and not work(timed) & work(others)


def test_first_repeats_of_all_lines_come_first():
    units = find_recipe("table2").units()
    repeats = [repeat for _, repeat in units]
    assert repeats == sorted(repeats)


def test_a_search_costs_as_many_fits_as_it_has_trials_and_folds():
    line = find_recipe("table1").lines[0]
    assert search_seconds(line) == pytest.approx(
        line.tuning.n_trials * line.tuning.n_folds * line_cost(line).seconds
    )


def test_an_unknown_name_is_a_sentence_with_the_known_ones():
    with pytest.raises(KCNetError, match="choose from table1"):
        find_recipe("table9")
