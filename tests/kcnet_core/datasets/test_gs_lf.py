"""GS-LF: the experts' words as odor characters, from the real table and from small ones."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from kcnet_core import datasets
from kcnet_core.datasets import gs_lf, sources
from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.errors import DataError

HEAD = "nonStereoSMILES,descriptors,fruity,sulfurous"
ROWS = ("CCOC(C)=O,fruity,1,0", "CCS,sulfurous,0,1", "CCCOC(C)=O,fruity,1,0", "[Na+].[Cl-],x,0,0",
        "CC(=O)[O-].[K+],fruity,1,0", "CSSC,sulfurous,0,1")  # fmt: skip


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A table in the published layout; called with other lines, those instead."""
    monkeypatch.setenv("KCNET_DATA", str(tmp_path))
    path = tmp_path / gs_lf.FILE
    path.parent.mkdir()

    def write(*lines):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    write(HEAD, *ROWS)
    return write


def test_every_word_is_a_character_and_every_molecule_a_row(small):
    data = datasets.load("gs_lf", min_positives=1)
    assert data.target_names == ("Fruity", "Sulfurous")
    assert data.smiles[:2] == ("CCOC(C)=O", "CCS")
    assert data.y.tolist() == [[1, 0], [0, 1], [1, 0], [1, 0], [0, 1]]
    assert data.multilabel and data.kind == "odor" and data.licence == CATALOGUE["gs_lf"].licence


def test_rows_without_a_molecule_are_counted_in_one_sentence(small):
    report = " ".join(datasets.load("gs_lf", min_positives=1).report)
    assert "1 rows hold no organic molecule" in report and "[Na+].[Cl-]" in report
    assert "1 salts and mixtures are described by their largest organic part" in report


def test_one_word_alone_gives_two_classes(small):
    data = datasets.load("gs_lf", target="sulfurous")
    assert data.target_names == ("not Sulfurous", "Sulfurous")
    assert data.y.tolist() == [0, 1, 0, 0, 1]


@pytest.mark.parametrize(
    "lines",
    [
        (HEAD,),
        ("smiles,fruity", "CCO,1"),
        (HEAD, "CCO,fruity,many,0"),
        ("nonStereoSMILES,descriptors", "CCO,x"),
    ],
)
def test_another_layout_is_refused_by_name(small, lines):
    small(*lines)
    with pytest.raises(DataError, match=r"curated_GS_LF_merged_4983.csv of GS-LF is damaged"):
        datasets.load("gs_lf")


def test_without_the_file_the_sentence_says_how_to_get_it():
    with pytest.raises(DataError, match=r"GS-LF is not on this machine yet.*2 MB"):
        datasets.load("gs_lf")


@pytest.fixture(scope="module")
def real_file(shared_data):
    path = shared_data / gs_lf.FILE
    if not path.is_file():
        pytest.skip("the real GS-LF table is not in the folder of test data")
    return path


def test_the_checksum_and_size_are_those_of_the_published_file(real_file):
    (remote,) = sources.remote_files("gs_lf")
    content = real_file.read_bytes()
    assert len(content) == remote.size == CATALOGUE["gs_lf"].size_bytes
    assert hashlib.sha256(content).hexdigest() == remote.sha256


def test_the_published_table_has_138_words_and_no_gaps(real_file):
    table = gs_lf._read(real_file.parent)
    words = table.drop(columns=["nonStereoSMILES", "descriptors"])
    assert words.shape == (4983, 138)
    assert words.to_numpy().sum(axis=1).min() >= 1
    for text, row in list(zip(table["descriptors"], words.to_numpy(), strict=True))[:200]:
        assert set(text.split(";")) == set(np.array(words.columns)[row == 1])
