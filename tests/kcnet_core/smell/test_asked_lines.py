"""What people type becomes molecules, or a sentence that helps."""

from __future__ import annotations

import pandas as pd
import pytest

from kcnet_core.contracts import drain
from kcnet_core.errors import LimitError
from kcnet_core.limits import MAX_PASTED_CHARACTERS
from kcnet_core.molecules.read import check_steps, frame_lines
from kcnet_core.molecules.text import split_lines
from kcnet_core.smell.names.known_names import KnownNames, our_names
from kcnet_core.smell.table import frame_of, molecule_and_name_columns, titled_columns

VANILLIN, LIMONENE = "COc1cc(C=O)ccc1O", "C=C(C)[C@H]1CC=C(C)CC1"
NAMES = KnownNames.of(
    ["vanillin", "limonene", "ethyl butyrate", "(R)-carvone", "CO"],
    [VANILLIN, LIMONENE, "CCCC(=O)OCC", "CC1=CC[C@@H](C(C)=C)CC1=O", "[C-]#[O+]"],
    "the test set",
    table=(),
)


def checked(text):
    """The rows of a text, asked of somebody who knows `NAMES`."""
    return checked_lines(split_lines(text))


def checked_lines(lines):
    return NAMES.suggest(
        drain(check_steps([NAMES.look_up(line) for line in lines], keep_duplicates=True))
    )


def only(text):
    (row,) = checked(text)
    return row


@pytest.mark.parametrize("text", ["vanillin", "Vanillin", "  VANILLIN  "])
def test_a_known_name_stands_for_its_molecule_whatever_its_case(text):
    row = only(text)
    assert (row.molecule.smiles, row.name, row.text) == (VANILLIN, "vanillin", text.strip())


def test_names_may_hold_spaces_and_brackets():
    assert only("Ethyl  butyrate").molecule.smiles == "CCCC(=O)OCC"
    assert only("(r)-carvone").ok


def test_a_known_name_is_found_whatever_the_header_says_of_columns():
    for header in ("smiles", "smiles,name", "name;smiles", "name\tsmiles"):
        (row,) = checked(f"{header}\nEthyl  butyrate")
        assert (row.molecule.smiles, row.name) == ("CCCC(=O)OCC", "ethyl butyrate")


def test_a_smiles_is_never_taken_for_a_name():
    assert only("CO").molecule.formula == "CH4O"


def test_names_and_smiles_may_be_mixed_and_keep_their_line_numbers():
    rows = checked("# my list\nCCO ethanol\n\nlimonene\nnonsense word\n")
    assert [(row.number, row.name, row.ok) for row in rows] == [
        (2, "ethanol", True), (4, "limonene", True), (5, "word", False),
    ]  # fmt: skip


def test_an_unknown_word_gets_the_nearest_names_and_a_structure_to_take():
    row = only("limonen")
    assert "Is it limonene?" in row.error and "the test set" in row.error
    assert row.suggestion == LIMONENE


def test_part_of_a_name_finds_the_whole():
    assert "(R)-carvone" in only("carvone").error


def test_a_broken_smiles_keeps_the_reason_why_it_is_broken():
    assert "ring closure 1" in only("C1CCCC").error


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "**bold** _x_", "😀", "=1+1", "50-00-0"]
)
def test_what_is_no_molecule_is_refused_with_a_sentence(text):
    row = only(text)
    assert not row.ok and row.error.endswith((".", "?"))


def test_a_molecule_that_comes_twice_is_answered_twice_and_says_so():
    first, second = checked("vanillin\n" + VANILLIN)
    assert first.ok and second.ok and "row 1" in second.note


def test_ten_megabytes_are_refused_by_their_limit():
    with pytest.raises(LimitError, match=f"{MAX_PASTED_CHARACTERS:,}"):
        checked("C" * 10_000_000)


def test_a_table_may_hold_names_too():
    frame = pd.DataFrame({"SMILES": ["CCO", "limonene", "what"], "label": ["a", "", "c"]})
    rows = checked_lines(frame_lines(frame, "SMILES", "label"))
    assert [(row.name, row.ok) for row in rows] == [("a", True), ("limonene", True), ("c", False)]


@pytest.mark.parametrize(
    ("titles", "found"),
    [
        (["Name", "Canonical SMILES"], ("Canonical SMILES", "Name")),
        (["smiles"], ("smiles", None)),
        (["x", "y"], (None, None)),
        (["Material", "SMILES"], ("SMILES", "Material")),
        (["Ingredients"], (None, "Ingredients")),
        (["Nr", "Stoff"], (None, "Stoff")),
        (["odor", "Odorant name"], (None, "Odorant name")),
        (["CAS No.", "price"], (None, "CAS No.")),
    ],
)
def test_columns_are_found_by_their_titles(titles, found):
    assert titled_columns(titles) == found


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("Nr,Was,SMILES\n1,Hedione,CCO\n2,Ambroxan,CCC\n", ("SMILES", "Was")),
        ("Nr;Material\n1;Hedione\n2;Ambroxan\n", ("Material", None)),
        ("1;Hedione;5\n2;Ambroxan;3\n", ("column 2", None)),
        ("121-33-5;5\n119-36-8;3\n", ("column 1", None)),
        ("CCO;5\nCCC;3\n", ("column 1", None)),
        ("ID,Artikel\n1,Hedione\n2,Ambroxan\n", ("Artikel", None)),
        ("Nom,Structure\nmien,CCCCO\ntien,CCCC=O\n", ("Structure", "Nom")),
        ("Ingredient,Use\nunknown stuff,base\nmore of it,top\n", ("Ingredient", None)),
    ],
)
def test_columns_without_a_telling_title_are_found_by_their_content(content, found):
    assert molecule_and_name_columns(frame_of(content.encode()), our_names()) == found


def test_a_row_without_a_structure_is_known_by_its_name():
    frame = pd.DataFrame({"SMILES": ["", "n/a"], "Material": ["limonene", "vanilla"]})
    first, second = checked_lines(frame_lines(frame, "SMILES", "Material"))
    assert (first.molecule.smiles, first.name) == (LIMONENE, "limonene")
    assert not second.ok


def test_a_file_without_a_header_loses_no_row():
    assert frame_of(b"CCO\nCCC\n").shape == (2, 1)
    assert list(frame_of(b"smiles;name\nCCO;ethanol\n").columns) == ["smiles", "name"]
