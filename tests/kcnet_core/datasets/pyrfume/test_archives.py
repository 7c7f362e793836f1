"""Archives in the layout of pyrfume-data: downloaded, read with their quirks, and refused."""

from __future__ import annotations

import json

import pytest

from kcnet_core import datasets
from kcnet_core.datasets import sources
from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.datasets.pyrfume import archives
from kcnet_core.datasets.pyrfume.loader import spelled
from kcnet_core.datasets.vocabulary import translated, words_of
from kcnet_core.errors import DataError
from tests.kcnet_core.datasets.file_server import FileServer

MOLECULES = """CID,MolecularWeight,IsomericSMILES,IUPACName,name
8857,88.1,CCOC(C)=O,ethyl acetate,ethyl acetate
6344,62.1,CCS,ethanethiol,ethyl mercaptan
31272,116.2,CCCCOC(C)=O,butyl ethanoate,
-55,74.1,CCCCO,made from its SMILES,butyl alcohol
999,18,,,nothing
"""
# Of every archive: its words, as its files write them, and its stimuli.
WRITTEN = {
    "leffingwell": (
        "Stimulus,alliaceous,fruity\n8857,0,1\n6344,1,0\n31272,0,1\n-55,0,0\n999,1,1\n",
        "Stimulus,name,CID,cas\n8857,a,8857,1\n6344,b,6344,\n31272,c,31272,\n-55,d,-55,\n999,,999,\n",
    ),
    "goodscents": (
        "Stimulus,Descriptors\n141-78-6,fruity\n75-08-1,alliaceous;cat-like\n123-86-4,fruity\n"
        "123-86-4b,sweet\n71-36-3,\n1-1-1,oil\n",
        "Stimulus,TGSC ID,CID,Concentration %,Solvent\n141-78-6,1,8857,1.0,dipropylene glycol\n"
        "75-08-1,2,6344,,\n123-86-4,3,31272,,\n123-86-4b,4,31272,,\n71-36-3,5,-55,,\n1-1-1,6,0,,\n",
    ),
    "arctander_1960": (
        "Stimulus,Labels\n1,['fruity']\n2,\"['alliaceous', 'sharp']\"\n3,['fruity']\n4,[]\n",
        "Stimulus,ChemicalName,CAS,new_CID\n1,a,,8857.0\n2,b,,6344.0\n3,c,,31272.0\n4,d,,0.0\n",
    ),
    "dravnieks_1985": (
        'Stimulus,"FRUITY,OTHER THAN CITRUS","GARLIC, ONION"\nEA_high,80.1,0\nEA_low,3,70\n'
        "ES_high,0,61.5\nBA_high,20,19.9\n",
        "Stimulus,CAS,CID,Conc,Name\nEA_high,,8857,high,EA\nEA_low,,8857,low,EA\n"
        "ES_high,,6344,high,ES\nBA_high,,31272.0,high,BA\n",
    ),
    "flavornet": (
        "Stimulus,Descriptors\n8857,fruity\n6344,sulfur;garlic\n31272,fruity\n",
        "Stimulus,CID\n8857,8857\n6344,6344\n31272,31272\n",
    ),
    "sigma_2014": (
        "Stimulus,descriptors\n-3,['orange']\n8857,['fruity']\n"
        "6344,\"['alliaceous', 'sulfurous']\"\n31272,['fruity']\n",
        None,
    ),
    "aromadb": (
        "Stimulus,Raw Descriptors,Filtered Descriptors,Modifiers\n8857,Fruity,fruity,\n"
        "6344,Garlic; weak,garlic,weak\n31272,x,fruity,\n",
        "Stimulus,CID\n8857,8857\n6344,6344\n31272,31272\n",
    ),
}
FRUITY_AND_SULFUROUS = [[1, 0], [0, 1], [1, 0]]


def contents(name):
    behavior, stimuli = WRITTEN[name]
    found = {"molecules.csv": MOLECULES, archives.ARCHIVES[name].behavior: behavior}
    return found | ({"stimuli.csv": stimuli} if stimuli else {})


@pytest.fixture
def given(tmp_path, monkeypatch):
    """Writes an archive into a data folder; single files may be replaced."""
    monkeypatch.setenv("KCNET_DATA", str(tmp_path))

    def write(name, **other):
        (tmp_path / name).mkdir(exist_ok=True)
        for file, text in (contents(name) | other).items():
            (tmp_path / name / file).write_text(text, encoding="utf-8")

    return write


def test_every_archive_is_in_the_catalogue_and_in_the_tests():
    assert set(archives.ARCHIVES) == set(WRITTEN) <= set(CATALOGUE)
    for name in archives.ARCHIVES:
        info = CATALOGUE[name]
        assert info.size_bytes and info.licence and "first" in info.checked and info.rounded
        assert [file.path for file in sources.remote_files(name)] == list(archives.files(name))
        assert all(archives.COMMIT in file.urls[0] for file in sources.remote_files(name))


@pytest.mark.parametrize("name", WRITTEN)
def test_every_archive_gives_the_same_molecules_in_our_characters(given, name):
    given(name)
    data = datasets.load(name, min_positives=1)
    assert data.smiles == ("CCOC(C)=O", "CCS", "CCCCOC(C)=O") and data.multilabel
    assert data.row_names == ("ethyl acetate", "ethyl mercaptan", "CCCCOC(C)=O")
    assert translated(data, ("Fruity", "Sulfurous")).tolist() == FRUITY_AND_SULFUROUS
    assert data.licence == CATALOGUE[name].licence
    assert archives.ARCHIVES[name].quirk in " ".join(data.report)


def test_words_of_several_products_that_are_one_molecule_are_put_together(given):
    given("goodscents")
    data = datasets.load("goodscents", min_positives=1)
    assert dict(zip(data.target_names, data.y[2], strict=True))["Sweet"] == 1
    report = " ".join(data.report)
    assert "1 stimuli are no molecule" in report and "does not list them: Cat like." in report


def test_arctander_is_read_under_the_names_that_its_own_script_writes(given):
    given("arctander_1960")
    usual = datasets.load("arctander_1960", min_positives=1)
    words = WRITTEN["arctander_1960"][0].replace(
        "Stimulus,Labels", "Arctander ID,ChastretteDetails"
    )
    given("arctander_1960", **{"behavior_1_sparse.csv": words})
    assert datasets.load("arctander_1960", min_positives=1).y.tolist() == usual.y.tolist()
    both = WRITTEN["arctander_1960"][0].replace("Stimulus,Labels", "Stimulus,Labels,Arctander ID")
    given("arctander_1960", **{"behavior_1_sparse.csv": both.replace("\n", ",9\n", 1)})
    assert datasets.load("arctander_1960", min_positives=1).smiles == usual.smiles


def test_of_dravnieks_the_stronger_dilution_and_a_fifth_of_the_panel_count(given):
    given("dravnieks_1985")
    data = datasets.load("dravnieks_1985", min_positives=1)
    assert data.target_names == ("Fruity other than citrus", "Garlic onion")
    assert data.y.tolist() == FRUITY_AND_SULFUROUS


def test_words_are_spelled_alike_wherever_they_come_from():
    assert spelled([" HERBAL, GREEN,CUTGRASS ", "cat-like", "", "--"]) == [
        "Herbal green cutgrass",
        "Cat like",
    ]
    for name in archives.ARCHIVES:
        assert all(spelled([word]) == [word] for word in words_of(name)), name
        assert words_of(name)["Cedar"] == ("Woody",)


@pytest.mark.parametrize(
    "name, other, sentence",
    [
        ("flavornet", {"behavior.csv": "Stimulus,Words\n1,a\n"}, "behavior.csv of Flavornet is da"),
        ("flavornet", {"behavior.csv": ""}, "behavior.csv of Flavornet is damaged"),
        ("flavornet", {"molecules.csv": "version https://git-lfs\n"}, "molecules.csv of Flavorn"),
        ("flavornet", {"stimuli.csv": "Stimulus\n1\n"}, "stimuli.csv of Flavornet is damaged"),
        ("flavornet", {"behavior.csv": "Stimulus,Descriptors\n7,x\n"}, "do not belong together"),
        ("sigma_2014", {"behavior_sparse.csv": "Stimulus,descriptors\n1,['a\n"}, "a list of words"),
        ("sigma_2014", {"behavior_sparse.csv": "Stimulus,descriptors\n1,[exit()]\n"}, "a list of"),
        ("sigma_2014", {"behavior_sparse.csv": "Stimulus,descriptors\n1,{[1]}\n"}, "a list of"),
        (
            "sigma_2014",
            {"behavior_sparse.csv": f"Stimulus,descriptors\n8857,[0x{'f' * 5000}]\n"},
            "do not belong together",
        ),
        ("leffingwell", {"behavior.csv": "Stimulus,fruity\n8857,very\n"}, "one column for every"),
    ],
)
def test_another_layout_is_refused_with_a_sentence(given, name, other, sentence):
    given(name, **other)
    with pytest.raises(DataError, match=sentence):
        datasets.load(name, min_positives=1)


def test_without_its_files_an_archive_says_how_to_get_them():
    with pytest.raises(DataError, match=r"Leffingwell is not on this machine yet.*2 MB"):
        datasets.load("leffingwell")


@pytest.fixture
def served(monkeypatch):
    """The archives on a server of this machine."""
    server = FileServer()
    with server.running():
        monkeypatch.setattr(archives, "URL", f"{server.url}/")
        for name in WRITTEN:
            server.files |= {f"/{name}/{k}": text.encode() for k, text in contents(name).items()}
        yield server


@pytest.mark.parametrize("name", WRITTEN)
def test_an_archive_is_downloaded_once_and_then_loaded(served, name):
    datasets.fetch(name)
    datasets.fetch(name)
    assert len(served.requests) == len(archives.files(name))
    assert len(datasets.load(name, min_positives=1).y) == 3


def test_a_broken_download_of_an_archive_goes_on(served):
    served.cut_after = [40]
    datasets.fetch("leffingwell")
    assert ("/leffingwell/molecules.csv", "bytes=40-") in served.requests
    assert len(datasets.load("leffingwell", min_positives=1).y) == 3


def test_what_differs_from_the_first_download_is_refused(served, cache):
    datasets.fetch("flavornet")
    datasets.load("flavornet", min_positives=1)
    path = cache / "data" / "flavornet" / "behavior.csv"
    path.write_text(path.read_text().replace("fruity", "woody"))
    with pytest.raises(
        DataError, match=r"behavior.csv of flavornet is not what .*first_seen/flavo"
    ):
        datasets.load("flavornet")
    path.unlink()
    datasets.fetch("flavornet")
    assert len(datasets.load("flavornet", min_positives=1).y) == 3
    record = cache / "first_seen" / "flavornet.json"
    assert set(json.loads(record.read_text())) == set(archives.files("flavornet"))
    path.write_text(path.read_text().replace("fruity", "woody"))
    record.unlink()
    assert datasets.load("flavornet", min_positives=1).target_names[-1] == "Woody"


def test_a_given_folder_is_its_owners_business(given, cache):
    given("flavornet")
    datasets.load("flavornet", min_positives=1)
    assert not (cache / "first_seen").exists()
