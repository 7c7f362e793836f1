"""Molecules: each line or row ends as a molecule or as a reason a chemist understands."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcnet_core import limits
from kcnet_core.errors import DataError, LimitError
from kcnet_core.molecules.read import read_frame, read_smiles, skeletons


def one(text):
    (row,) = read_smiles(text)
    assert row.ok == (row.error is None)
    return row


def test_a_good_line_becomes_a_canonical_molecule_with_its_name():
    row = one("O=Cc1ccc(O)c(OC)c1 vanillin")
    assert row.number == 1
    assert row.molecule.smiles == "COc1cc(C=O)ccc1O"
    assert row.name == "vanillin"
    assert row.molecule.formula == "C8H8O3"
    assert row.molecule.heavy_atoms == 11
    assert row.molecule.weight == pytest.approx(152.15, abs=0.01)
    assert row.note is None and row.suggestion is None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("CCO ethyl alcohol", ["ethyl alcohol"]),
        ("CCO\tethanol\tfruity", ["ethanol"]),
        ("CCO,ethanol,fruity", ["ethanol"]),
        ("CCO; ethanol", ["ethanol"]),
        ('"CCO","ethanol, pure"', ["ethanol, pure"]),
        ("CCO |$;;R$| ethanol", ["ethanol"]),
        ("smiles,name\nCCO,ethanol", ["ethanol"]),
        ("Name;Canonical SMILES\nethanol;CCO", ["ethanol"]),
        ("SMILES Name\nCCO ethyl alcohol", ["ethyl alcohol"]),
        ("\ufeffsmiles\n# a comment\n\n  CCO  \r\n", [""]),
        ("CCO éthanol", ["éthanol"]),
    ],
)
def test_names_headers_comments_and_separators_are_read_as_people_write_them(text, names):
    rows = read_smiles(text)
    assert [row.molecule.smiles for row in rows] == ["CCO"]
    assert [row.name for row in rows] == names


def test_row_numbers_are_the_lines_of_the_paste():
    assert [row.number for row in read_smiles("smiles\n\nCCO\n# note\nCCC")] == [3, 5]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CC(C", "opened but never closed at position 3"),
        ("CC)C", "closed but never opened at position 3"),
        ("CCX", "position 3, near 'X'"),
        ("CCC1", "ring closure 1 (position 4) has no partner"),
        ("CC1CCC%12C", "ring closures 1 (position 3) and 12 (position 7) have no partner"),
        ("CC(C)(C)(C)(C)C", "C at position 2 has more bonds than its valence permits"),
        ("[13CH3]N(C)(C)C", "N at position 8"),
        ("CCo1CCCC1", "O at position 3 has more bonds"),
        ("n1cccc1", "[nH]"),
        ("cc", "in no ring"),
        ("NA", "Empty"),
        ("C" * 400, f"400 heavy atoms, the limit is {limits.MAX_HEAVY_ATOMS}"),
        ("C" * 1001, f"1,001 characters, the limit is {limits.MAX_SMILES_LENGTH:,}"),
        ("[Na]", "metal (Na)"),
        ("C[Hg]C", "metal (Hg)"),
        ("O", "No carbon"),
        ("S", "No carbon"),
        ("[H][H]", "No carbon"),
        ("*C", "wildcard"),
        ("C$C", "bond that is not single"),
        ("C->N", "bond that is not single"),
        ("<script>alert(1)</script>", "HTML"),
        ("CCO>>CC=O", "reaction"),
        ("64-17-5", "CAS"),
        ("C2H6O", "formula"),
        ('=HYPERLINK("x")', "spreadsheet formula"),
        ("LFQSCWFLJHTTHZ-UHFFFAOYSA-N", "InChIKey"),
        ("C\x00O", "control character (U+0000) at position 2"),
        ("エタノール", "U+30A8"),
        ("**vanillin**", "Does not parse"),
    ],
)
def test_what_cannot_be_used_says_why(text, reason):
    assert reason in one(text).error


@pytest.mark.parametrize(
    ("text", "reason", "suggestion"),
    [
        ("CC(=O)[O-].[Na+]", "metal salt (Na)", "CC(=O)O"),
        ("CCN.Cl", "salt", "CCN"),
        ("CC(C)O.CCCCO", "mixture of 2", "CCCCO"),
        ("[Na+].[Cl-]", "metal salt (Na)", None),
        ("CC[O]", "1 unpaired electron)", "CCO"),
        ("[C]", "4 unpaired electrons", "C"),
        ("C−C=O", "U+2212", "CC=O"),
        ("ethanol CCO", "Put the SMILES first", "CCO"),
    ],
)
def test_what_was_probably_meant_is_offered(text, reason, suggestion):
    row = one(text)
    assert reason in row.error
    assert row.suggestion == suggestion
    if suggestion is not None:
        assert one(suggestion).ok


@pytest.mark.parametrize(
    ("text", "smiles", "note"),
    [
        ("[2H]C([2H])([2H])O", "CO", "Isotope"),
        ("InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3", "CCO", "Read from its InChI"),
        ("[13CH3][C@H]([2H])O", "CCO", "Isotope"),
        ("[CH3:1][OH:2]", "CO", "Atom map"),
        ("CC(=O)[O-]", "CC(=O)[O-]", "ion (charge -1)"),
    ],
)
def test_labels_are_removed_and_ions_named_in_a_note(text, smiles, note):
    row = one(text)
    assert row.molecule.smiles == smiles
    assert note in row.note


@pytest.mark.parametrize(
    ("smiles", "elements", "charge"),
    [
        ("CC(=O)Cl", {"C", "O", "Cl"}, 0),
        ("c1ccsc1Br", {"C", "S", "Br"}, 0),
        ("C[Si](C)(C)c1cc[nH+]cc1", {"C", "Si", "N"}, 1),
        ("[se]1cccc1", {"Se", "C"}, 0),
        ("O=C([O-])C", {"C", "O"}, -1),
        ("C[N+](C)(C)CC[N+](C)(C)C", {"C", "N"}, 2),
        ("[O-][N+](=O)C", {"C", "N", "O"}, 0),
        ("[O-]C(=O)C([O-])=O", {"C", "O"}, -2),
    ],
)
def test_a_molecule_knows_its_elements_and_its_charge(smiles, elements, charge):
    molecule = one(smiles).molecule
    assert (molecule.elements, molecule.charge) == (elements, charge)


def test_mirror_images_are_different_molecules():
    rows = read_smiles("C[C@H](O)CC\nC[C@@H](O)CC")
    assert len({row.molecule.smiles for row in rows}) == 2


def test_a_duplicate_is_kept_once_and_names_the_first_row():
    rows = read_smiles("CCO ethanol\nCCC\nOCC spirit")
    assert [row.ok for row in rows] == [True, True, False]
    assert "row 1 (ethanol)" in rows[2].error
    kept = read_smiles("CCO ethanol\nCCC\nOCC spirit", keep_duplicates=True)
    assert [row.ok for row in kept] == [True, True, True]
    assert "row 1 (ethanol)" in kept[2].note
    assert kept[2].name == "spirit"


def test_one_bad_row_never_stops_the_rest():
    rows = read_smiles("\n".join(["CCO", "C1CC", "[Fe]", "<b>", "CCC", "C" * 5000, "CCCC"]))
    assert [row.ok for row in rows] == [True, False, False, False, True, False, True]


def test_a_huge_paste_is_refused_with_the_limit():
    with pytest.raises(LimitError, match=r"10,000,000 characters; at most 500,000"):
        read_smiles("C" * 10_000_000)
    with pytest.raises(LimitError, match=f"at most {limits.MAX_MOLECULES:,} molecules"):
        read_smiles("C\n" * (limits.MAX_MOLECULES + 1))


def test_nothing_pasted_gives_no_rows():
    assert read_smiles("") == []
    assert read_smiles("# only a comment\n\n") == []
    assert read_smiles("smiles,name") == []


def test_a_frame_gives_one_row_per_row_also_for_empty_and_odd_cells():
    frame = pd.DataFrame(
        {"structure": ["CCO", None, float("nan"), 7, "OCC", ""], "label": list("abcdef")}
    )
    rows = read_frame(frame, "structure", "label")
    assert [row.number for row in rows] == [1, 2, 3, 4, 5, 6]
    assert [row.name for row in rows] == list("abcdef")
    assert [row.ok for row in rows] == [True, False, False, False, False, False]
    assert "Empty" in rows[1].error and "Empty" in rows[2].error
    assert "row 1 (a)" in rows[4].error


def test_a_frame_without_the_column_says_which_there_are():
    with pytest.raises(DataError, match=r"no column 'smiles'; the table has a, b"):
        read_frame(pd.DataFrame({"a": [], "b": []}), "smiles")


def test_the_real_molecules_have_exactly_the_known_quirks(shared_data):
    table = pd.read_csv(shared_data / "keller_2016" / "molecules.csv")
    rows = read_frame(table, "CanonicalSMILES", "OdorName")
    errors = {row.name: row.error for row in rows if not row.ok}
    assert sum("Empty" in error for error in errors.values()) == 2
    assert sum("The same molecule" in error for error in errors.values()) == 5
    assert "No carbon" in errors["Water"]
    assert "salt" in errors["Thiamine hydrochloride"]
    assert "metal salt (Na)" in errors["Sodium phosphate dibasic"]
    assert len(rows) == 481 and len(errors) == 11
    again = read_smiles("\n".join(row.molecule.smiles for row in rows if row.ok))
    assert all(row.ok and row.molecule.smiles == row.text for row in again)


def test_reading_molecules_does_not_load_rdkit_into_the_server():
    code = (
        "import sys; from kcnet_core.molecules.read import read_smiles; "
        "assert read_smiles('CCO')[0].ok; "
        "sys.exit(any(name.split('.')[0] == 'rdkit' for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


_smiles_like = st.text("CNOSPFIBclnos[]()=#$%@+-.:/\\123456790H*~ \t,;|{}<>", max_size=40)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=200), _smiles_like, st.lists(_smiles_like).map("\n".join)))
def test_any_text_gives_rows_that_are_a_molecule_or_an_error(text):
    for row in read_smiles(text):
        assert (row.molecule is None) == (row.error is not None)
        assert row.error is None or row.error.endswith((".", ")"))


def test_skeletons_have_no_stereo_marks():
    pair = ["C[C@H](O)CC", "C[C@@H](O)CC", "CCC(C)O", "C/C=C/CO", "C/C=C\\CO", "CC=CCO"]
    assert skeletons(pair) == ["CCC(C)O"] * 3 + ["CC=CCO"] * 3


def test_skeletons_are_found_outside_the_server_process(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("RDKit ran in the server's own process")

    monkeypatch.setattr("rdkit.Chem.MolFromSmiles", refuse)
    assert skeletons(["C[C@H](N)CCC", "CCO"]) == ["CCCC(C)N", "CCO"]


def test_a_text_that_rdkit_fails_on_is_its_own_skeleton():
    assert skeletons(["C[C@H", "CCO"]) == ["C[C@H", "CCO"]
