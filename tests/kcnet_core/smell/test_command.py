"""`python -m kcnet_core smell`: SMILES, names and files in; table, JSON or CSV out."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from kcnet_core.__main__ import main
from kcnet_core.datasets import substructures
from kcnet_core.paper.recipes import RECIPES
from kcnet_core.smell import elsewhere
from kcnet_core.smell.recipes import NOSE_RECIPES


@pytest.fixture(autouse=True)
def small(monkeypatch, nose):
    """The nose of these tests in place of the full one."""
    monkeypatch.setattr(elsewhere, "taught_nose", lambda dataset: nose)
    monkeypatch.setattr(substructures, "with_substructures", lambda dataset, *_: dataset)


def test_the_table_names_characters_truth_and_errors(capsys):
    assert main(["smell", "vanillin", "C1CC", "limonnene"]) == 0
    out = capsys.readouterr().out
    assert "Known in Starter odorants: Balsamic, Creamy, Powdery, Sweet, Vanilla." in out
    assert "ring closure 1" in out and "Is it limonene" in out


def test_a_question_that_nothing_answers_fails(capsys):
    assert main(["smell", "C1CC", "nonsense"]) == 1
    assert "C1CC" in capsys.readouterr().out, "each with its reason"


def test_json_holds_every_row(capsys):
    assert main(["smell", "--json", "CCO ethanol", "nonsense"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert first["name"] == "ethanol" and 0 <= first["Ethereal"] <= 1
    assert second["error"]


def test_a_file_of_lines_and_a_csv_are_read(tmp_path, capsys):
    lines = tmp_path / "mine.smi"
    lines.write_text("# comment\nCCO ethanol\nvanillin\n")
    assert main(["smell", "--format", "csv", str(lines)]) == 0
    table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["name"] for row in table] == ["ethanol", "vanillin"]
    sheet = tmp_path / "mine.csv"
    sheet.write_text("Name;SMILES\nfirst;CCO\nsecond;CCC\n")
    assert main(["smell", "--json", str(sheet)]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == ["first", "second"]


def test_nothing_to_smell_is_said(capsys):
    assert main(["smell"]) == 2
    assert "No molecule is given" in capsys.readouterr().err


def test_an_unknown_dataset_is_said(capsys, monkeypatch):
    assert main(["smell", "CCO", "--data", "nothing"]) == 2
    assert "There is no dataset" in capsys.readouterr().err


def test_the_molecules_one_step_away_are_listed_and_ranked_by_a_character(capsys):
    assert main(["smell", "butyric acid", "--edits", "--json", "--top", "30"]) == 0
    steps = json.loads(capsys.readouterr().out)
    ester = next(one for one in steps if one["step"] == "methyl ester for acid")
    assert ester["smiles"] == "CCCC(=O)OC" and ester["from"] == "butyric acid"
    assert main(["smell", "butyric acid", "--edits", "fruity", "--top", "1"]) == 0
    assert "Fruity +" in capsys.readouterr().out
    assert main(["smell", "butyric acid", "--edits", "purple"]) == 2
    assert "is not a character" in capsys.readouterr().err


def test_two_to_four_molecules_stand_side_by_side_with_reasons(capsys):
    assert main(["smell", "vanillin", "limonene", "--side-by-side", "--json", "--top", "3"]) == 0
    rows = json.loads(capsys.readouterr().out)
    apart = [abs(row["1 vanillin"] - row["2 limonene"]) for row in rows]
    assert apart == sorted(apart, reverse=True) and apart[0] > 0.3
    assert rows[0]["character"] in ("Vanilla", "Citrus") and rows[0]["why"]
    assert main(["smell", "vanillin", "--side-by-side"]) == 2
    assert "two to 4 molecules; 1 could be read" in capsys.readouterr().err


def test_the_nose_is_measured_as_a_recipe_and_written_where_asked(capsys, tmp_path, monkeypatch):
    recipe = NOSE_RECIPES["dream"]
    told = recipe.path.read_text(encoding="utf-8")
    again = replace(recipe, measure=lambda say: say("one of one") or told)
    monkeypatch.setitem(NOSE_RECIPES, "dream", again)
    main(["reproduce", "dream", "--results", str(tmp_path)])
    out, err = capsys.readouterr()
    assert "Intensity" in out and recipe.read().how in out and "one of one" in err
    assert (tmp_path / recipe.file).read_text(encoding="utf-8") == told
    main(["reproduce", "gs-lf", "--known"])
    assert "Nearest neighbours" in capsys.readouterr().out


def test_every_recipe_of_the_nose_ships_its_result_and_is_listed(capsys):
    assert main(["reproduce"]) == 0
    listed = capsys.readouterr().out
    for name, recipe in NOSE_RECIPES.items():
        assert name in listed and name not in RECIPES
        columns = recipe.table(recipe.read())
        assert len({len(column) for column in columns.values()}) == 1 and recipe.read().how
