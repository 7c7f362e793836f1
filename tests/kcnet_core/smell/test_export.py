"""Tables of answers: whole, and harmless in a spreadsheet."""

from __future__ import annotations

import csv
import io

import pytest

from kcnet_core.molecules.text import split_lines
from kcnet_core.smell.answers import smell
from kcnet_core.smell.export import records, to_csv
from kcnet_core.smell.ratings.raters import Rating


@pytest.fixture(scope="module")
def answers(nose):
    return smell(nose, split_lines('vanillin\nCCO =HYPERLINK("x")\n@SUM(A1)\n'))


def test_every_row_is_there_with_its_probabilities_or_its_error(nose, answers):
    good, other, bad = records(nose, answers)
    assert good["known"] and good["characters"].startswith("Vanilla")
    assert good["Vanilla lowest fly"] <= good["Vanilla"] <= good["Vanilla highest fly"]
    assert other["error"] == "" and bad["error"] and "Vanilla" not in bad


def test_no_cell_of_the_csv_can_run_as_a_formula(nose, answers):
    table = list(csv.reader(io.StringIO(to_csv(nose, answers))))
    assert len(table) == 4
    for line in table[1:]:
        for cell in line:
            assert not cell.startswith(("=", "@", "+")), cell
    assert any(cell == "'@SUM(A1)" for cell in table[3])


def test_ratings_stand_beside_what_was_answered_only(nose, answers):
    class Fixed:
        def rate(self, X, flat):
            assert len(X) == 2 and flat == ["COc1cc(C=O)ccc1O", "CCO"]
            return [Rating("Intensity", 60.04, 30, 90, None) for _ in flat]

    good, other, bad = records(nose, answers, raters=[Fixed()])
    assert [good[f"Intensity{end}"] for end in ("", " low", " high")] == [60.0, 30, 90]
    assert other["Intensity"] == 60.0 and "Intensity" not in bad


def test_only_offered_characters_are_named(nose, answers):
    vanilla = nose.characters.index("Vanilla")
    offered = set(range(len(nose.characters))) - {vanilla}
    assert "Vanilla" not in records(nose, answers, offered)[0]["characters"]
