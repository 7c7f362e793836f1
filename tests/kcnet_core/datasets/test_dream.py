"""DREAM: numbers per molecule and the challenge's own split, from real and from small files."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd
import pytest

from kcnet_core import datasets
from kcnet_core.datasets import dream, sources
from kcnet_core.errors import DataError, KCNetError
from kcnet_core.experiments.run import Run

STRONG, PLEASANT = dream.QUESTIONS
MOLECULES = {"1": "CCO", "2": "CCCCO", "3": "CC(=O)OCC", "4": "O"}


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Four molecules at two dilutions each, rated by two people; 2 and 3 are the challenge's."""
    monkeypatch.setenv("KCNET_DATA", str(tmp_path))
    folder = tmp_path / "keller_2016"
    folder.mkdir()
    molecules = ["CID,OdorName,CAS,CanonicalSMILES"]
    molecules += [f"{cid},molecule {cid},{cid}-0,{smiles}" for cid, smiles in MOLECULES.items()]
    ratios = {"1": ("1/1000", "1/100000"), "2": ("1/10", "1/1000"), "3": ("1/1000", "1/10"),
              "4": ("1/10", "1/1000")}  # fmt: skip
    stimuli, ratings = ["Stimulus,CIDs,Ratio"], ["Stimulus,Subject,MeasurementValue,Value"]
    for k, (cid, ratio) in enumerate((c, r) for c in ratios for r in ratios[c]):
        stimuli.append(f"{k},{cid},{ratio}")
        for subject, more in ((1, 0), (2, 10)):
            ratings.append(f"{k},{subject},{STRONG},{k + more}")
            pleasant = "" if (k, subject) == (2, 2) else 20 + k + more  # smelled nothing
            ratings.append(f"{k},{subject},{PLEASANT},{pleasant}")
            ratings.append(f"{k},{subject},SWEET,{30 + k}")
    for name, lines in (("molecules", molecules), ("stimuli", stimuli), ("behavior", ratings)):
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "dream").mkdir()
    for part, cids in (("leaderboard", " 3\n"), ("test", "  2\n 4\n")):
        (tmp_path / dream.LISTS[part]).write_text(cids, encoding="ascii")
    return tmp_path


def test_intensity_is_of_a_thousandth_and_all_else_of_the_stronger_dilution(small):
    data = datasets.load("dream")
    assert data.row_names == ("molecule 1, CID 1", "molecule 3, CID 3", "molecule 2, CID 2")
    assert (data.n_train, data.smiles[2]) == (2, "CCCCO")
    intensity, pleasantness, sweet = (
        data.y[:, dream.ATTRIBUTES.index(name)].tolist()
        for name in ("Intensity", "Pleasantness", "Sweet")
    )
    assert intensity == [5, 9, 8]  # of stimuli 0, 4 and 3
    assert pleasantness == [25, 30, 22]  # of stimuli 0, 5 and 2, where one smelled nothing
    assert sweet == [30, 35, 32]
    assert np.isnan(data.y[:, dream.ATTRIBUTES.index("Fish")]).all()
    assert "molecule 4, CID 4. No carbon atom" in " ".join(data.report)


@pytest.mark.parametrize("content", ["", "CID\n2\n", "2,3"])
def test_a_damaged_list_is_named(small, content):
    (small / dream.LISTS["test"]).write_text(content, encoding="ascii")
    with pytest.raises(DataError, match=r"CID_testset.txt of DREAM is damaged"):
        datasets.load("dream")


@pytest.mark.parametrize(
    ("now", "sentence"),
    [
        ("0,1,thin", "has the dilution 'thin', which should be like 1/1000"),
        ("99999999999999999999,1,1/1000", "stimuli.csv of Keller 2016 is damaged"),
    ],
)
def test_a_damaged_stimulus_is_named(small, now, sentence):
    path = small / "keller_2016" / "stimuli.csv"
    path.write_text(path.read_text().replace("0,1,1/1000", now))
    with pytest.raises(DataError, match=sentence):
        datasets.load("dream")


def test_a_stimulus_that_is_listed_twice_counts_once(small):
    before = datasets.load("dream")
    with (small / "keller_2016" / "stimuli.csv").open("a") as file:
        file.write("0,2,1/10\n")
    after = datasets.load("dream")
    np.testing.assert_array_equal(after.y, before.y)
    assert "1 lines of stimuli.csv name a stimulus that came before" in " ".join(after.report)


def test_without_the_lists_a_sentence_says_how_to_get_them(small):
    (small / dream.LISTS["test"]).unlink()
    with pytest.raises(DataError, match=r"not on this machine yet \(CID_testset.txt\). Download"):
        datasets.load("dream")


def test_train_and_compare_refuse_numbers_with_a_sentence():
    with pytest.raises(KCNetError, match="DREAM olfaction prediction holds numbers, and Train"):
        Run(dataset="dream")


def test_the_real_split_is_the_challenges_but_for_what_has_no_carbon(real_data):
    data = datasets.load("dream")
    n_test = len(data.X) - data.n_train
    assert (data.n_train, n_test, data.y.shape[1]) == (337 + 69, 68, 21)  # without iodine, water
    assert np.isfinite(data.y[:, 1:]).all()
    ratings = pd.read_csv(real_data / "keller_2016" / "behavior.csv.gz")
    stimuli = pd.read_csv(real_data / "keller_2016" / "stimuli.csv", dtype={"CIDs": str})
    row = data.row_names.index("ethyl formate, CID 8025".replace("ethyl", "Ethyl"))
    strong = stimuli[(stimuli["CIDs"] == "8025") & (stimuli["Ratio"] == "1/10")]["Stimulus"].item()
    own = ratings[ratings["Stimulus"] == strong]
    for name in ("SWEET", "CHEMICAL"):
        mean = own[own["MeasurementValue"] == name]["Value"].mean()
        assert data.y[row, dream.ATTRIBUTES.index(name.capitalize())] == pytest.approx(mean)
    assert np.isnan(data.y[row, 0])  # the shared file has no intensity at 1/1,000 of this one


def test_the_real_lists_have_the_published_checksums(shared_data):
    for file in sources.remote_files("dream")[:2]:
        content = (shared_data / file.path).read_bytes()
        assert (hashlib.sha256(content).hexdigest(), len(content)) == (file.sha256, file.size)
