"""A user's own table: columns are guessed, can be corrected, and bad rows cost only themselves."""

from __future__ import annotations

import string
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kcnet_core.datasets.uploads import table
from kcnet_core.datasets.uploads.columns import LABEL_KINDS, guess_table
from kcnet_core.datasets.uploads.table import table_bytes
from kcnet_core.errors import DataError, KCNetError, LimitError
from tests.kcnet_core.datasets.uploads.at_once import table_dataset

SMILES = ["CCO", "CCCO", "CCCCO", "CCCCCO", "CC(=O)OCC", "CC(=O)OCCC", "CC(=O)OCCCC", "c1ccccc1C=O"]


def csv_bytes(header, *columns, separator=","):
    rows = [header, *zip(*columns, strict=True)]
    return "\n".join(separator.join(map(str, row)) for row in rows).encode()


def load(content, **changes):
    guess = guess_table(content)
    return table_dataset(content, replace(guess, **changes))


LIST = csv_bytes(
    ["Name", "SMILES", "Odor"],
    [f"m{k}" for k in range(8)],
    SMILES,
    ["green;fatty"] * 4 + ["Fruity; Sweet"] * 3 + ["almond;sweet"],
)
YES_NO = csv_bytes(["smiles", "sweet", "musky"], SMILES, [0, 1] * 4, ["yes", "no", "no", "no"] * 2)
CLASSES = csv_bytes(["structure", "class"], SMILES, ["alcohol"] * 4 + ["ester"] * 3 + ["aldehyde"])


def test_a_list_of_characters_is_recognised():
    guess = guess_table(LIST)
    assert guess.smiles_column == "SMILES"
    assert guess.name_column == "Name"
    assert guess.label_columns == ("Odor",)
    assert (guess.label_kind, guess.list_separator) == ("list", ";")
    assert guess.n_rows == 8
    assert guess.preview[0] == ("m0", "CCO", "green;fatty")
    assert guess.notes == ()


def test_a_list_of_characters_becomes_a_multilabel_dataset():
    data, errors = load(LIST)
    assert errors == ()
    assert data.target_names == ("fatty", "Fruity", "green", "Sweet")  # almond has one row only
    assert data.y.sum(axis=0).tolist() == [4, 3, 4, 4]
    assert any("almond (1)" in sentence for sentence in data.report)
    assert data.row_names[0] == "m0"
    assert (data.name, data.kind) == ("uploaded", "odor")
    assert data.X.dtype == np.float32


def test_yes_no_columns_are_recognised_and_become_labels():
    guess = guess_table(YES_NO)
    assert (guess.label_columns, guess.label_kind) == (("sweet", "musky"), "yes_no")
    data, _ = load(YES_NO)
    assert data.target_names == ("sweet", "musky")
    assert data.y.tolist() == [[0, 1], [1, 0], [0, 0], [1, 0]] * 2


def test_one_yes_no_column_is_a_two_class_problem():
    data, _ = load(YES_NO, label_columns=("sweet",))
    assert data.target_names == ("not sweet", "sweet")
    assert data.y.tolist() == [0, 1] * 4


def test_a_class_column_gives_classes_and_lone_classes_are_left_out():
    guess = guess_table(CLASSES)
    assert (guess.smiles_column, guess.label_columns) == ("structure", ("class",))
    assert guess.label_kind == "class"
    data, errors = load(CLASSES)
    assert data.target_names == ("alcohol", "ester")
    assert data.y.tolist() == [0] * 4 + [1] * 3
    assert [(error.where, error.text) for error in errors] == [("line 9", "aldehyde")]


def test_numbered_classes_are_recognised_by_their_title():
    guess = guess_table(
        csv_bytes(["smiles", "weight", "label"], SMILES, range(8), [0, 1, 2, 3] * 2)
    )
    assert (guess.label_columns, guess.label_kind) == (("label",), "class")


def test_a_table_without_titles_is_recognised_by_its_cells():
    content = csv_bytes([*SMILES[:1], "sweet"], SMILES[1:], ["sweet", "sour"] * 3 + ["sour"])
    guess = guess_table(content)
    assert not guess.has_header
    assert guess.columns == ("column 1", "column 2")
    assert (guess.smiles_column, guess.label_columns) == ("column 1", ("column 2",))
    data, _ = table_dataset(content, guess)
    assert len(data.X) == 8


def test_a_smiles_column_with_another_title_is_recognised_by_its_cells():
    guess = guess_table(csv_bytes(["what", "Struktur", "sweet"], "abcdefgh", SMILES, [0, 1] * 4))
    assert guess.has_header
    assert guess.smiles_column == "Struktur"


def test_a_person_may_say_whether_the_first_row_holds_titles():
    content = csv_bytes(["smiles", "sweet"], SMILES, [0, 1] * 4)
    guess = guess_table(content, has_header=False)
    assert (guess.columns, guess.n_rows) == (("column 1", "column 2"), 9)
    assert guess.smiles_column == "column 1"
    content = csv_bytes([SMILES[0], "odor"], SMILES[1:], ["sweet", "sour"] * 3 + ["sour"])
    guess = guess_table(content, has_header=True)
    assert (guess.columns, guess.smiles_column) == ((SMILES[0], "odor"), SMILES[0])
    assert guess.n_rows == 7


def test_crosses_mean_yes_and_blanks_no():
    content = csv_bytes(["smiles", "sweet"], SMILES, ["x", "", "X", "", "", "x", "", ""])
    data, errors = load(content)
    assert data.y.tolist() == [1, 0, 1, 0, 0, 1, 0, 0]
    assert errors == ()


def test_a_blank_among_zeros_and_ones_is_a_row_error():
    data, errors = load(csv_bytes(["smiles", "sweet"], SMILES, [1, 0, "", 1, 0, "maybe", 0, 1]))
    assert data.y.tolist() == [1, 0, 1, 0, 0, 1]
    assert [(e.where, e.reason) for e in errors] == [
        ("line 4", "sweet is blank; write 0 or 1, or yes or no."),
        ("line 7", "sweet holds 'maybe'; write 0 or 1, or yes or no."),
    ]


def test_decimal_commas_and_semicolons_are_understood():
    content = csv_bytes(
        ["smiles", "dilution", "sweet"],
        SMILES[:4] * 2,
        ["0,1"] * 4 + ["0.001"] * 4,
        ["1,0", "0,0"] * 4,
        separator=";",
    )
    guess = guess_table(content)
    assert guess.dilution_column == "dilution"
    data, errors = table_dataset(content, guess)
    assert errors == (), "a molecule may come once per dilution"
    assert data.feature_names[-2:] == ("dilution 0.1", "dilution 0.001")
    assert data.y.tolist() == [1, 0] * 4
    assert len(set(data.groups)) == 4


def test_bad_rows_are_named_and_the_others_kept():
    content = csv_bytes(["smiles", "sweet"], [*SMILES, "C1CC", "", "OCC", "<b>CCO</b>"], [0, 1] * 6)
    data, errors = load(content)
    assert len(data.X) == 8
    assert [error.where for error in errors] == ["line 10", "line 11", "line 12", "line 13"]
    assert "Empty" in errors[1].reason
    assert "same molecule as in line 2; it is kept once." in errors[2].reason
    assert "HTML" in errors[3].reason
    assert any("4 rows were left out of 12" in sentence for sentence in data.report)


def test_a_molecule_whose_first_row_has_no_label_is_kept_by_its_second():
    content = csv_bytes(["smiles", "sweet"], ["OCC", *SMILES], ["", *[1, 0] * 4])
    data, errors = load(content)
    assert data.smiles[0] == "CCO"
    assert data.y.tolist() == [1, 0] * 4
    assert [error.where for error in errors] == ["line 2"]


def test_a_molecule_is_kept_once_per_dilution():
    content = csv_bytes(
        ["smiles", "dilution", "sweet"],
        [*SMILES, "OCC", "OCC"],
        [0.1] * 9 + [0.01],
        [0, 1] * 5,
    )
    data, errors = load(content)
    assert len(data.X) == 9
    assert [error.where for error in errors] == ["line 10"]
    assert "in line 2, at the same dilution" in errors[0].reason


def test_repeats_that_contradict_each_other_are_told():
    content = csv_bytes(
        ["name", "smiles", "odor"],
        [*"abcdefgh", "i", "j"],
        [*SMILES, "OCC", "OCCC"],
        ["sweet;sour", "sweet", "sour", "sweet"] * 2 + ["sour;sweet", "sour"],
    )
    data, errors = load(content, label_kind="list", list_separator=";")
    assert len(data.X) == 8
    assert [(error.where, error.text) for error in errors] == [
        ("line 10", "OCC"),
        ("line 11", "OCCC"),
    ]
    assert "labels differ" not in errors[0].reason
    assert "in line 3 (b)" in errors[1].reason
    assert "Its labels differ: sour here, sweet there" in errors[1].reason
    assert any("1 of the rows that repeat a molecule contradict" in line for line in data.report)


def test_the_organic_part_of_a_salt_is_offered():
    _, errors = load(
        csv_bytes(["smiles", "sweet"], [*SMILES, "CC(=O)[O-].[Na+]", "C1CC"], [0, 1] * 5)
    )
    assert "largest organic part is offered" in errors[0].reason
    assert [error.suggestion for error in errors] == ["CC(=O)O", ""]


def test_a_row_with_too_many_cells_is_a_row_error():
    content = LIST + b"\nextra,CCCCCCO,green;fatty,more\n"
    _, errors = load(content)
    assert "4 cells where the table has 3 columns" in errors[0].reason


def test_a_quote_that_is_never_closed_is_named_and_the_table_still_read():
    rows = "".join(f'"{smiles}","{k % 2}"\n' for k, smiles in enumerate(SMILES))
    content = f'"smiles","sweet"\n{rows}"CCN,1\n'.encode()
    guess = guess_table(content)
    assert guess.columns == ("smiles", "sweet")
    assert "Line 10 has a quotation mark that is never closed" in guess.notes[0]
    data, errors = table_dataset(content, guess)
    assert (len(data.X), errors) == (9, ())


def test_html_and_formulas_stay_text():
    names = ["<script>alert(1)</script>", "=HYPERLINK('x')", "+1", "@x", *"efgh"]
    content = csv_bytes(["name", "smiles", "sweet"], names, SMILES, [0, 1] * 4)
    data, _ = load(content)
    assert list(data.row_names) == names


def test_the_same_label_in_another_case_is_one_label():
    data, _ = load(
        csv_bytes(["smiles", "odor"], SMILES, ["Sweet", "sweet", "SWEET", "sour"] * 2),
        label_kind="class",
    )
    assert data.target_names == ("sour", "Sweet")


@pytest.mark.parametrize(
    "content, words",
    [
        (csv_bytes(["name", "sweet"], "abcdefgh", [0, 1] * 4), "No column is chosen as SMILES"),
        (csv_bytes(["smiles", "mass"], SMILES, range(8)), "No label column is chosen"),
        (csv_bytes(["smiles", "sweet"], SMILES, [1] * 8), "same label, so there is nothing"),
        (
            csv_bytes(["smiles", "sweet"], SMILES, [1] + [0] * 7),
            "1 of 8 rows are sweet; at least two",
        ),
        (csv_bytes(["smiles", "odor"], SMILES, ["a"] * 7 + ["b"]), "same label"),
        (csv_bytes(["smiles", "sweet"], ["x1"] * 4, [0, 1] * 2), "is a molecule. The first says"),
        (
            csv_bytes(["smiles", "sweet"], [*SMILES[:1], "O", "N"], [0, 1, 1]),
            "1 of 3 rows can be used",
        ),
        (b"smiles,sweet\n", "no rows below it"),
    ],
)
def test_a_table_that_cannot_be_learned_from_is_told(content, words):
    with pytest.raises(DataError, match=words):
        load(content)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"smiles_column": "nowhere"}, "no column 'nowhere'; the table has smiles, sweet, musky"),
        ({"label_columns": ("smiles",)}, "cannot be both"),
        ({"label_kind": "list"}, "choose one label column"),
        ({"label_kind": "magic"}, "label_kind must be one of"),
    ],
)
def test_a_wrong_correction_is_told(changes, words):
    with pytest.raises(DataError, match=words):
        load(YES_NO, **changes)


def test_limits_on_labels_and_dilutions_are_named(monkeypatch):
    monkeypatch.setattr(table, "MAX_CSV_CHARACTERS", 3)
    with pytest.raises(LimitError, match="MAX_CSV_CHARACTERS"):
        load(LIST)
    content = csv_bytes(["smiles", "amount", "sweet"], SMILES, range(8), [0, 1] * 4)
    monkeypatch.setattr(table, "MAX_CSV_DILUTIONS", 5)
    with pytest.raises(LimitError, match="MAX_CSV_DILUTIONS"):
        load(content, dilution_column="amount")


def test_a_hundred_thousand_rows_are_refused_with_the_limit():
    with pytest.raises(LimitError, match=r"20,000 rows.*MAX_CSV_ROWS"):
        guess_table(b"smiles,sweet\n" + b"CCO,1\n" * 100_000)


def test_titles_are_made_unique_and_blank_ones_numbered():
    guess = guess_table(b"smiles,,odor,odor\nCCO,1,a,b\nCCC,2,a,b\n")
    assert guess.columns == ("smiles", "column 2", "odor", "odor (2)")


def test_every_molecule_counts_and_closing_describes_no_more(monkeypatch):
    smiles = ["C" * n + "OC(C)=O" for n in range(1, 40)]
    content = csv_bytes(["smiles", "sweet"], smiles, [0, 1, 1] * 13)
    guess = guess_table(content)
    steps = table.table_steps(content, guess)
    next(steps)
    with monkeypatch.context() as patch:
        patch.setattr(table, "describe_steps", None)  # going on would fail
        steps.close()
    seen = [step.fraction for step in table.table_steps(content, guess)]
    assert seen == sorted(seen) and seen[-1] == 1, "checking and describing are one count"


cell = st.text(string.printable + "é€✓ ", max_size=8) | st.sampled_from(
    ["0", "1", "yes", "no", "sweet;sour", "CCO", "c1ccccc1", "smiles", "", "=1+1", "<b>", '"']
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    rows=st.lists(st.lists(cell, min_size=1, max_size=5), min_size=0, max_size=8),
    separator=st.sampled_from([",", ";", "\t", "|"]),
    encoding=st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]),
)
def test_any_table_is_guessed_or_refused_with_a_sentence(rows, separator, encoding):
    content = "\n".join(separator.join(row) for row in rows).encode(encoding)
    try:
        guess = guess_table(content)
    except KCNetError as error:
        assert str(error)
        return
    used = [guess.smiles_column, guess.name_column, guess.dilution_column, *guess.label_columns]
    used = [column for column in used if column is not None]
    assert set(used) <= set(guess.columns)
    assert len(used) == len(set(used)), "no column has two meanings"
    assert guess.label_kind in LABEL_KINDS


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    labels=st.lists(cell, min_size=3, max_size=6),
    kind=st.sampled_from(["yes_no", "list", "class"]),
    separator=st.sampled_from([";", ",", "/", "|"]),
)
def test_any_labels_give_a_dataset_or_a_sentence(labels, kind, separator):
    labels = [label.replace('"', "'") for label in labels]
    rows = zip(SMILES, labels, strict=False)
    content = "smiles,odor\n" + "\n".join(f'{smiles},"{label}"' for smiles, label in rows)
    guess = replace(
        guess_table(content.encode()),
        label_columns=("odor",),
        label_kind=kind,
        list_separator=separator,
        name_column=None,
        dilution_column=None,
    )
    try:
        data, errors = table_dataset(content.encode(), guess)
    except KCNetError as error:
        assert str(error)
    else:
        assert len(data.X) + len(errors) == len(labels)
        assert len(np.unique(data.y)) > 1


@pytest.mark.parametrize("n_columns", [0, 250])
def test_a_table_needs_no_more_memory_than_is_told_from_its_guess(n_columns):
    load(CLASSES)  # what is imported once is no part of it
    smiles = [f"{'C' * k}C(Cl)C{'C(C)' * n}O" for k in range(1, 13) for n in range(12)]
    columns = [[k * c % 97 for k in range(len(smiles))] for c in range(n_columns)]
    titles = ["smiles", "class", "dilution", *(f"c{c}" for c in range(n_columns))]
    kinds, dilutions = ["x", "y"] * 72, ["1/10", "1/1000", "1/10"] * 48
    content = csv_bytes(titles, smiles, kinds, dilutions, *columns)
    guess = replace(guess_table(content), label_columns=("class",), label_kind="class")
    tracemalloc.start()
    try:
        data, _ = table_dataset(content, guess)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    told = table_bytes(content, guess)
    assert peak < told.reading < 5 * peak
    assert len(data.X) == 144
    assert data.X.nbytes <= told.kept
