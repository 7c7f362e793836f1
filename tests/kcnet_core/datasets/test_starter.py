"""The starter odor set loads without a network, quickly the second time."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from kcnet_core import datasets
from kcnet_core.datasets import descriptor_cache, starter
from kcnet_core.errors import DataError


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A starter file of 24 alkanols and esters."""
    path = tmp_path / "odorants.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "smiles", "formula", "characters"])
        for n in range(2, 14):
            writer.writerow([f"alcohol {n}", "C" * n + "O", f"C{n}", "green; Fatty"])
            writer.writerow([f"acetate {n}", "C" * n + "OC(C)=O", f"C{n + 2}", "fruity"])
        writer.writerow(["nothing", "CCCCCCCCCCCCCCCCCC", "C18H38", ""])
    monkeypatch.setattr(starter, "PATH", path)
    return path


def test_characters_become_a_multilabel_matrix(small):
    data = datasets.load("starter", min_positives=3)
    assert data.target_names == ("Fatty", "Fruity", "Green")
    assert data.y.shape == (25, 3)
    assert data.y[0].tolist() == [1, 0, 1]
    assert data.y[-1].tolist() == [0, 0, 0]
    assert data.row_names[1] == "acetate 2"
    assert data.smiles[0] == "CCO"
    assert data.X.dtype == np.float32


def test_one_character_is_a_two_class_problem(small):
    data = datasets.load("starter", target="fruity")
    assert data.target_names == ("not Fruity", "Fruity")
    assert data.y.sum() == 12


def test_the_second_load_computes_nothing(small, monkeypatch):
    first = datasets.load("starter", min_positives=3)
    monkeypatch.setattr(descriptor_cache, "_compute", None)
    np.testing.assert_array_equal(datasets.load("starter", min_positives=3).X, first.X)


def test_a_row_that_is_no_molecule_is_dropped_by_name(small):
    with small.open("a", encoding="utf-8") as file:
        file.write("broken,C1CC,C3H6,green\n")
    data = datasets.load("starter", min_positives=3)
    assert len(data.X) == 25
    assert any(sentence.startswith("Dropped: broken.") for sentence in data.report)


@pytest.mark.parametrize(
    "content", ["", "name,smiles\na,CCO\n", "name,smiles,formula,characters\na\n"]
)
def test_a_damaged_file_is_named(small, content):
    small.write_text(content)
    with pytest.raises(DataError, match=r"assets/odorants\.csv must have the columns"):
        datasets.load("starter")


def test_a_missing_file_is_named(small):
    small.unlink()
    with pytest.raises(DataError, match="missing from this installation"):
        datasets.load("starter")


def test_the_real_set_is_listed_with_its_own_size_and_loads_whole():
    info = {info.name: info for info in datasets.available()}["starter"]
    assert info.status == "bundled"
    assert info.n_rows >= 400
    data = datasets.load("starter")
    assert len(data.X) == info.n_rows, "no molecule of our own is dropped"
    assert len(data.target_names) == info.n_classes, "every character has enough positives"
    assert {"Sweet", "Musky"} <= set(data.target_names)
    assert data.y.sum(axis=0).min() >= 20


def test_the_catalogue_and_the_files_name_the_same_licence():
    project = starter.PATH.parents[1]
    for about in (project / "README.md", project / "assets" / "ODORANTS.md"):
        assert "CC0" in about.read_text(encoding="utf-8")
    assert "CC0" in datasets.CATALOGUE["starter"].licence
