"""Keller 2016 from the real files: every quirk is mended or named, and nothing leaks."""

from __future__ import annotations

import gzip
import shutil

import numpy as np
import pytest

from kcnet_core import datasets
from kcnet_core.errors import DataError


@pytest.fixture(scope="module")
def module_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def loaded():
    return {}


@pytest.fixture
def keller(real_data, module_cache, loaded, monkeypatch):
    """Load the real set; the same options are loaded once for this module."""
    monkeypatch.setenv("KCNET_CACHE", str(module_cache))

    def load(**options):
        key = tuple(options.items())
        if key not in loaded:
            loaded[key] = datasets.load("keller_2016", **options)
        return loaded[key]

    return load


def said(data, *words):
    return any(all(word in sentence for word in words) for sentence in data.report)


def test_one_row_per_rated_stimulus_with_raw_descriptors_and_one_hot_dilution(keller):
    data = keller()
    assert data.X.dtype == np.float32
    assert len(data.X) == 880  # 883 rated, less iodine (twice) and water
    assert data.multilabel
    assert data.y.shape == (880, len(data.target_names))
    dilution = [k for k, name in enumerate(data.feature_names) if name.startswith("dilution ")]
    assert [data.feature_names[k] for k in dilution] == [
        "dilution 1/10",
        "dilution 1/1000",
        "dilution 1/100000",
        "dilution 1/10000000",
    ]
    assert (data.X[:, dilution].sum(axis=1) == 1).all()
    weight = data.X[:, data.feature_names.index("MolWt")]
    assert weight.max() > 200, "raw, not scaled"
    assert np.isfinite(data.X).all()
    assert (data.X.max(axis=0) > data.X.min(axis=0)).all()


def test_rows_of_one_molecule_share_a_group_even_across_stereoisomers(keller):
    data = keller()
    names = [name.rsplit(" (", 1)[0] for name in data.row_names]
    group = dict(zip(names, data.groups, strict=True))
    assert group["geraniol"] == group["Nerol"], "their SMILES, hence descriptors, are the same"
    assert len(set(data.groups)) == len(set(data.smiles)) == 471
    for name, smiles, member in zip(names, data.smiles, data.groups, strict=True):
        assert group[name] == member, smiles


def test_the_quirks_of_the_published_tables_are_mended_and_named(keller):
    data = keller()
    assert said(data, "883 stimuli", "49 people", "1,960 times", "twice")
    assert said(data, "no ratings of Edible")
    assert said(data, "Cinnamyl alcohol is listed twice")
    assert said(data, "4 stimuli name a CAS number (109-19-0, 3796-70-1)")
    assert said(data, "isobutyl acetate", "no SMILES", "were added")
    assert said(data, "77 of 960 stimuli have no ratings", "Acetanisole (1/1000)")
    assert said(data, "Dropped: Iodine (1/10), Iodine (1/1000).", "No carbon")
    assert said(data, "descriptors are the same for every molecule", "fr_azide")
    assert "isobutyl acetate (1/1000)" in data.row_names
    row = data.row_names.index("isobutyl acetate (1/1000)")
    assert data.smiles[row] == "CC(=O)OCC(C)C"


def test_positives_are_reported_and_rare_characters_left_out_by_name(keller):
    data = keller()
    assert said(data, "Positives among 880 rows", "Sweet 497", "Fish 3")
    assert said(data, "left out", "Fish (3)", "Wood (16)")
    assert "Fish" not in data.target_names
    assert data.y.sum(axis=0).min() >= 20
    assert (data.y.sum(axis=1) <= 3).all()
    assert "Fish" in keller(min_positives=1).target_names


def test_every_share_is_one_of_the_rows_that_are_loaded(keller):
    report = "\n".join(keller().report)
    assert "Musky 349 (39.7%)" in report
    assert "Musky is a character of 39.7% of the rows" in report
    assert "of 880 rows tied at the last place" in report
    assert "of 883 rows" not in report


@pytest.mark.parametrize(
    "target, rate, paper", [("Sweet", 0.565, "58.13"), ("Musky", 0.397, "41.9")]
)
def test_presets_are_two_class_and_their_rate_stands_beside_the_papers(keller, target, rate, paper):
    data = keller(target=target)
    assert data.target_names == (f"not {target}", target)
    assert data.y.mean() == pytest.approx(rate, abs=0.001)
    assert said(data, f"{target} is a character of", f"the paper has {paper}")
    np.testing.assert_array_equal(data.y, keller(target=target.upper()).y)


def test_all_targets_at_once_agree_with_each_alone(keller):
    together = keller()
    alone = keller(target="Flower")
    np.testing.assert_array_equal(together.y[:, together.target_names.index("Flower")], alone.y)


def test_per_compound_gives_both_dilutions_the_same_characters(keller):
    data = keller(per="compound", min_positives=1)
    names = np.array([name.rsplit(" (", 1)[0] for name in data.row_names])
    for name in np.unique(names):
        assert (data.y[names == name] == data.y[names == name][0]).all(), name
    assert len(data.X) == 880
    assert data.y[:, data.target_names.index("Sweet")].mean() == pytest.approx(0.622, abs=0.001)


def test_top_k_sets_how_many_characters_a_row_has(keller):
    one, five = keller(top_k=1, min_positives=1), keller(top_k=5, min_positives=1)
    assert (one.y.sum(axis=1) == 1).all()
    assert five.y.sum(axis=1).max() == 5


@pytest.mark.parametrize(
    "options, words",
    [
        ({"target": "Banana"}, "no odor character 'Banana'; choose one of .*Sweet"),
        ({"per": "person"}, "stimulus or compound"),
        ({"top_k": 0}, "choose 1 to 20"),
        ({"min_positives": 500}, "lower min_positives"),
    ],
)
def test_impossible_options_are_refused_with_the_choices(keller, options, words):
    with pytest.raises(DataError, match=words):
        keller(**options)


def test_without_the_files_the_sentence_says_how_to_get_them():
    with pytest.raises(DataError, match=r"not on this machine yet.*68 MB.*fetch"):
        datasets.load("keller_2016")


@pytest.fixture
def copied(shared_data, tmp_path, monkeypatch):
    """A copy of the real files that may be changed."""
    folder = tmp_path / "keller_2016"
    folder.mkdir()
    for path in (shared_data / "keller_2016").iterdir():
        shutil.copyfile(path, folder / path.name)
    monkeypatch.setenv("KCNET_DATA", str(tmp_path))
    return folder


def cut(path, n_lines):
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:n_lines]))


def test_stimuli_whose_molecule_is_not_listed_are_counted(copied):
    cut(copied / "molecules.csv", 150)
    data = datasets.load("keller_2016")
    (sentence,) = (line for line in data.report if "does not list" in line)
    assert sentence.startswith("662 of 960 stimuli name a molecule")


@pytest.mark.parametrize("file", ["molecules.csv", "stimuli.csv"])
def test_a_table_of_titles_alone_is_refused(copied, file):
    cut(copied / file, 1)
    with pytest.raises(DataError, match="do not belong together, or parts are missing"):
        datasets.load("keller_2016")


@pytest.mark.parametrize(
    "file, spoil",
    [
        ("behavior.csv.gz", lambda content: content[: len(content) // 2]),
        ("behavior.csv.gz", lambda content: gzip.compress(b"<html>404</html>")),
        ("stimuli.csv", lambda content: content.replace(b'"1",1,', b'"1",one,')),
        ("molecules.csv", lambda content: b""),
        ("molecules.csv", lambda content: b"\x00\xff\xfe" * 100),
    ],
)
def test_damaged_files_are_named(copied, file, spoil):
    path = copied / file
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(DataError, match=f"{file} of Keller 2016 is damaged or has another layout"):
        datasets.load("keller_2016")


def test_a_file_that_may_not_be_read_is_not_called_damaged(real_data, monkeypatch):
    def refuse(path, **_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pandas.read_csv", refuse)
    with pytest.raises(DataError, match="may not be read by this program; give it") as caught:
        datasets.load("keller_2016")
    assert str(real_data) not in str(caught.value)
