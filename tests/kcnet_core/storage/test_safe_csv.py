"""Tables that people open in a spreadsheet hold text there, never formulas."""

from __future__ import annotations

import pandas as pd
import pytest

from kcnet_core.storage.safe_csv import csv_text, harmless

FORMULAS = ["=1+1", "+A1", "-A1", "@SUM", "\t=1", "\r=1", "\n=1", "＝1+1", "＋A1", "－A1", "＠x"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_text_is_taken_for_a_formula(formula):
    assert harmless(formula) == f"'{formula}"


@pytest.mark.parametrize("text", ["-1.5", "+2", "-1e-3", "CC=O", "", "a=b", "'=1"])
def test_numbers_and_other_texts_stay_as_they_are(text):
    assert harmless(text) == text


@pytest.mark.parametrize("mark", [";", "|", "\t", "\n", "\r"])
def test_nor_what_follows_another_countrys_separator(mark):
    assert harmless(f"x{mark}=1+1{mark}") == f"x{mark}'=1+1{mark}"
    assert harmless(f'x{mark} "=1') == f"x{mark}' \"=1"
    assert harmless(f"x{mark}-5{mark}2") == f"x{mark}-5{mark}2", "numbers are no formulas"


@pytest.mark.parametrize("word", ["-inf", "+nan", "-infinity", "-1_000"])
def test_what_only_python_takes_for_a_number_is_text(word):
    assert harmless(word) == f"'{word}"


def test_titles_and_cells_of_a_table_are_harmless():
    written = csv_text(pd.DataFrame({"=title": ["＝1+1", "plain"], "n": [-1, 2]}))
    assert written == "'=title,n\n'＝1+1,-1\nplain,2\n"
