"""Drawings: every valid molecule gets one, in colours for its page, with halos where asked."""

from __future__ import annotations

import base64
import re
from xml.etree import ElementTree

import pytest
from rdkit import Chem

from kcnet_core.molecules import pictures
from kcnet_core.molecules.pictures import mol_file, molecule_svg, molecule_svgs, svg_data_uri
from kcnet_core.molecules.pool import MoleculePool, RememberedTask

VANILLIN = "COc1cc(C=O)ccc1O"
SVG = "{http://www.w3.org/2000/svg}"


def halos(svg):
    return ElementTree.fromstring(svg).findall(f"{SVG}circle")


@pytest.mark.parametrize(
    "smiles",
    [
        "C",
        "CC1CCCCCCCCCCCCC(=O)C1",
        "C[C@]12CCCC([C@@H]1CC[C@]3([C@@H]2CCO3)C)(C)C",
        "C12C3C4C1C5C2C3C45",
        "C" * 150,
        "C[N+](C)(C)C",
        "C[Se]C",
        "c1ccc2c(c1)c1ccccc1c1ccccc21",
        "O=C1c2ccccc2C(=O)c2ccccc21",
    ],
)
def test_every_molecule_gets_a_drawing_of_the_size_asked_for(smiles):
    svg = molecule_svg(smiles, 200, 120)
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg" and root.get("viewBox") == "0 0 200 120"
    assert root.findall(f"{SVG}path")
    assert "no drawing" not in svg


def test_the_background_is_transparent_and_the_element_can_stand_inside_a_page():
    svg = molecule_svg(VANILLIN)
    assert svg.startswith("<svg")
    assert "<rect" not in svg and "#FFFFFF" not in svg.upper()


def test_bonds_are_light_on_a_dark_page_and_dark_on_a_light_one():
    bonds = {
        dark: set(re.findall("#[0-9A-F]{6}", molecule_svg("CC", dark=dark))) for dark in (0, 1)
    }
    assert bonds == {0: {"#22262E"}, 1: {"#ECE9E2"}}


def test_text_that_is_no_molecule_gives_a_neutral_picture():
    for text in ("C1CC", "", "<script>alert(1)</script>", "\x00"):
        svg = molecule_svg(text, 100, 80)
        assert "no drawing" in svg and "script" not in svg
        ElementTree.fromstring(svg)


def test_halos_show_sign_by_colour_and_size_by_strength():
    svg = molecule_svg("CCO", atom_weights=[2.0, -1.0, 0.0])
    up, down = halos(svg)
    assert "up" in up.get("fill") and "down" in down.get("fill")
    assert float(up.get("opacity")) == pytest.approx(2 * float(down.get("opacity")), abs=0.01)


def test_halos_lie_behind_the_bonds():
    svg = molecule_svg("CCO", atom_weights=[1, 1, 1])
    assert svg.rindex("<circle") < svg.index("<path")


def test_weights_without_size_draw_no_halo():
    assert halos(molecule_svg("CCO", atom_weights=[0, 0, 0])) == []
    assert len(halos(molecule_svg("CCO", atom_weights=[float("nan"), 0, 1]))) == 1


def test_weights_are_per_atom_also_when_the_drawing_adds_hydrogens():
    bridged = "C[C@]12CCCC([C@@H]1CC[C@]3([C@@H]2CCO3)C)(C)C"
    assert len(halos(molecule_svg(bridged, atom_weights=[1.0] * 17))) == 17
    with pytest.raises(ValueError, match="2 atom weights for the 3 atoms of CCO"):
        molecule_svg("CCO", atom_weights=[1, 2])


def test_many_drawings_come_in_order_and_fit_into_an_address():
    drawings = molecule_svgs(["CCO", "C1CC", "CCC"], 100, 80)
    assert drawings[0] == molecule_svg("CCO", 100, 80)
    assert drawings[2] == molecule_svg("CCC", 100, 80)
    coded = svg_data_uri(drawings[1]).removeprefix("data:image/svg+xml;base64,")
    assert "no drawing" in base64.b64decode(coded).decode()


HIDE_DRAWING = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name == "rdkit.Chem.Draw.rdMolDraw2D":
            raise ImportError("libXrender.so.1: cannot open shared object file: No such file")
sys.meta_path.insert(0, Refuse())
"""


@pytest.fixture
def without_drawing_library(tmp_path, monkeypatch):
    """New workers find a system without libXrender, as slim containers are."""
    (tmp_path / "sitecustomize.py").write_text(HIDE_DRAWING)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    pool = MoleculePool(size=1)
    monkeypatch.setattr("kcnet_core.molecules.pool.shared_pool", lambda: pool)
    monkeypatch.setattr(pictures, "_draw", RememberedTask("draw", capacity=4))
    yield pool
    pool.close()


def test_without_the_drawing_library_all_but_drawings_works_and_the_picture_names_it(
    without_drawing_library,
):
    checked, described, edited = (
        without_drawing_library.run(task, [VANILLIN])[0]
        for task in ("check", "describe", "without_atoms")
    )
    assert checked.value["formula"] == "C8H8O3"
    assert described.failure is None and edited.failure is None
    svg = molecule_svg(VANILLIN, 220, 160)
    assert "libXrender.so.1 is missing" in svg and "package libxrender1" in svg
    ElementTree.fromstring(svg)
    assert pictures.missing_library() == "libXrender.so.1"


def test_where_the_library_is_there_nothing_is_missing():
    assert pictures.missing_library() is None


@pytest.mark.parametrize(
    "smiles",
    [
        "CC/C=C\\CCO", "CC/C=C/CCO", "CCC=CCCO", "C/C=C/C=CC", "CC(C)=CCCC(C)=CC=O",
        "C=C1CC/C=C(\\C)CC[C@@H]2[C@@H]1CC2(C)C", "O=C1CCCCCCC/C=C/CCCCCCO1",
        "CC(C)[C@@H]1CC[C@@H](C)C[C@H]1O", "CCC(C)O", "C[N+](C)(C)CC([O-])=O",
    ],
)  # fmt: skip
def test_a_mol_file_holds_the_stereochemistry_that_is_told_and_no_other(smiles):
    assert Chem.CanonSmiles(Chem.MolToSmiles(Chem.MolFromMolBlock(mol_file(smiles)))) == (
        Chem.CanonSmiles(smiles)
    )


def test_what_is_no_molecule_has_no_mol_file():
    assert mol_file("C1CC") is None
