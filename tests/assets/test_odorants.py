"""What the starter odor set promises: right structures, honest labels, enough of each character."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from rdkit import Chem
from rdkit.Chem.rdMolDescriptors import CalcMolFormula

from kcnet_core.limits import MAX_HEAVY_ATOMS, MAX_SMILES_LENGTH

ASSETS = Path(__file__).resolve().parents[2] / "assets"
FORMULA_STARTERS = ("=", "+", "-", "@")  # a spreadsheet would run such a cell

MUSKS = {
    "macrocyclic": ["muscone", "civetone", "exaltone", "exaltolide", "ethylene brassylate",
                    "ambrettolide", "habanolide", "velvione", "globanone", "muscenone"],
    "nitro": ["musk ketone", "musk xylene", "musk ambrette", "musk tibetene", "moskene"],
    "polycyclic": ["galaxolide", "tonalide", "celestolide", "phantolide", "traseolide",
                   "versalide", "cashmeran"],
    "linear": ["helvetolide", "romandolide", "serenolide", "sylkolide"],
}  # fmt: skip

WELL_KNOWN = {
    "vanillin": {"vanilla", "sweet"},
    "muscone": {"musky"},
    "limonene": {"citrus"},
    "cinnamaldehyde": {"spicy"},
    "geosmin": {"earthy"},
    "skatole": {"animalic"},
    "ethyl butyrate": {"fruity"},
    "menthol": {"minty"},
    "methyl salicylate": {"minty"},
    "ambroxide": {"ambery"},
    "glucose": {"odorless"},
    "trimethylamine": {"fishy"},
    "isovaleric acid": {"cheesy"},
    "guaiacol": {"smoky"},
    "furfuryl mercaptan": {"roasted", "sulfurous"},
    "(R)-carvone": {"minty"},
    "(S)-carvone": {"spicy"},
}


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    with (ASSETS / "odorants.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


@pytest.fixture(scope="module")
def molecules(rows) -> dict[str, Chem.Mol]:
    return {row["name"]: Chem.MolFromSmiles(row["smiles"]) for row in rows}


@pytest.fixture(scope="module")
def characters(rows) -> dict[str, set[str]]:
    return {row["name"]: set(row["characters"].split(";")) for row in rows}


@pytest.fixture(scope="module")
def vocabulary() -> set[str]:
    """The characters that ODORANTS.md explains, one table row each."""
    text = (ASSETS / "ODORANTS.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\| ([a-z]+) \| \S", text, flags=re.MULTILINE))


def test_columns_are_name_smiles_formula_characters(rows):
    assert list(rows[0]) == ["name", "smiles", "formula", "characters"]
    assert all(value and value == value.strip() for row in rows for value in row.values())


def test_there_are_at_least_400_molecules(rows):
    assert len(rows) >= 400


def test_every_smiles_parses(molecules):
    assert [name for name, molecule in molecules.items() if molecule is None] == []


def test_every_written_formula_is_that_of_the_drawn_structure(rows, molecules):
    wrong = {
        row["name"]: (row["formula"], CalcMolFormula(molecules[row["name"]]))
        for row in rows
        if row["formula"] != CalcMolFormula(molecules[row["name"]])
    }
    assert wrong == {}


def test_no_molecule_appears_twice(molecules):
    canonical = Counter(Chem.MolToSmiles(molecule) for molecule in molecules.values())
    assert [smiles for smiles, count in canonical.items() if count > 1] == []


def test_pairs_that_differ_in_stereochemistry_only_are_named_in_the_notes(molecules):
    notes = " ".join((ASSETS / "ODORANTS.md").read_text(encoding="utf-8").split())
    pairs = defaultdict(list)
    for name, molecule in molecules.items():
        pairs[Chem.MolToSmiles(molecule, isomericSmiles=False)].append(name)
    for names in pairs.values():
        assert len(names) == 1 or " and ".join(names) in notes, names


def test_names_are_unique_whatever_their_case(rows):
    names = Counter(row["name"].casefold() for row in rows)
    assert [name for name, count in names.items() if count > 1] == []


def test_every_molecule_is_within_the_limits_of_the_app(rows, molecules):
    assert max(len(row["smiles"]) for row in rows) <= MAX_SMILES_LENGTH
    assert max(molecule.GetNumHeavyAtoms() for molecule in molecules.values()) <= MAX_HEAVY_ATOMS


def test_every_molecule_is_one_uncharged_organic_fragment(molecules):
    for name, molecule in molecules.items():
        assert len(Chem.GetMolFrags(molecule)) == 1, name
        assert Chem.GetFormalCharge(molecule) == 0, name
        assert any(atom.GetAtomicNum() == 6 for atom in molecule.GetAtoms()), name


def test_no_cell_can_run_as_a_spreadsheet_formula(rows):
    cells = [value for row in rows for value in row.values()]
    assert [cell for cell in cells if cell.startswith(FORMULA_STARTERS)] == []


def test_the_characters_used_are_exactly_those_explained(characters, vocabulary):
    assert set().union(*characters.values()) == vocabulary


def test_no_molecule_repeats_a_character(rows):
    for row in rows:
        labels = row["characters"].split(";")
        assert len(labels) == len(set(labels)), row["name"]


def test_no_molecule_smells_of_everything(characters):
    assert [name for name, labels in characters.items() if len(labels) > 6] == []


def test_every_character_has_at_least_20_molecules(characters, vocabulary):
    counts = Counter(label for labels in characters.values() for label in labels)
    assert {label: counts[label] for label in vocabulary if counts[label] < 20} == {}


def test_odorless_molecules_have_no_other_character(characters):
    assert [n for n, labels in characters.items() if "odorless" in labels and len(labels) > 1] == []


def test_rose_is_always_floral_too(characters):
    assert [
        n for n, labels in characters.items() if "rose" in labels and "floral" not in labels
    ] == []


@pytest.mark.parametrize("family", MUSKS)
def test_the_musks_of_each_family_are_there_and_musky(family, characters):
    for name in MUSKS[family]:
        assert "musky" in characters.get(name, set()), name


@pytest.mark.parametrize("name", ["exaltone", "muscone", "civetone", "exaltolide", "ambrettolide"])
def test_macrocyclic_musks_are_drawn_with_their_ring_size(name, molecules):
    sizes = {"exaltone": 15, "muscone": 15, "civetone": 17, "exaltolide": 16, "ambrettolide": 17}
    assert [len(ring) for ring in molecules[name].GetRingInfo().AtomRings()] == [sizes[name]]


@pytest.mark.parametrize("name", WELL_KNOWN)
def test_well_known_odorants_have_their_well_known_character(name, characters):
    assert characters.get(name, set()) >= WELL_KNOWN[name]


@pytest.mark.parametrize(
    ("name", "centres"),
    [("menthol", "RSR"), ("limonene", "R"), ("(R)-carvone", "R"), ("(S)-carvone", "S"),
     ("muscone", "R"), ("nootkatone", "RSR")],
)  # fmt: skip
def test_handedness_is_the_one_that_gives_the_odor(name, centres, molecules):
    found = Chem.FindMolChiralCenters(molecules[name], useLegacyImplementation=False)
    assert sorted(label for _, label in found) == sorted(centres)
