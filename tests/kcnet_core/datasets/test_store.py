"""The data folder that was given is only read; what we fetch goes to the cache folder."""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import replace

import pytest

from kcnet_core import datasets
from kcnet_core.datasets import keller, sources, store
from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.datasets.images import IDX_SETS
from kcnet_core.datasets.pyrfume.archives import ARCHIVES
from kcnet_core.datasets.sources import RemoteFile
from kcnet_core.errors import DataError
from kcnet_core.storage import folders
from tests.kcnet_core.datasets.file_server import FileServer


def tree(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def status(name):
    return {info.name: info.status for info in datasets.available()}[name]


@pytest.fixture
def server():
    with FileServer().running() as server:
        yield server


@pytest.fixture
def small_keller(server, monkeypatch):
    """Keller's three files, replaced by short ones on a server of our own."""
    files = {
        "molecules.csv": b"m" * 10,
        "stimuli.csv": b"s" * 20,
        "behavior.csv": b"b" * 5000,
    }
    server.files = {f"/{name}": content for name, content in files.items()}
    remote = tuple(
        RemoteFile(
            f"keller_2016/{name}",
            (f"{server.url}/{name}",),
            size=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
        )
        for name, content in files.items()
    )
    monkeypatch.setattr(sources, "remote_files", lambda name: remote)
    return remote


def test_the_cache_folder_follows_the_platform_and_its_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path))
    assert folders.cache_folder() == tmp_path
    monkeypatch.delenv("KCNET_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr(folders.sys, "platform", "linux")
    assert folders.cache_folder() == tmp_path / "xdg" / "kcnet"


def test_a_given_folder_comes_first_and_downloads_second(monkeypatch, tmp_path, cache):
    monkeypatch.setenv("KCNET_DATA", str(tmp_path))
    assert folders.data_folders() == (tmp_path, cache / "data")
    assert folders.data_folder() == tmp_path


def test_a_dataset_is_read_whole_from_one_folder(monkeypatch, tmp_path, cache):
    monkeypatch.setenv("KCNET_DATA", str(tmp_path))
    files = ("x/a", "x/b")
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "a.gz").touch()
    (cache / "data" / "x").mkdir(parents=True)
    (cache / "data" / "x" / "b").touch()
    assert store.find(files) is None
    (cache / "data" / "x" / "a").touch()
    assert store.find(files) == cache / "data"
    (tmp_path / "x" / "b").touch()
    assert store.find(files) == tmp_path


def test_fetch_stores_what_is_missing_and_reports_progress(small_keller, cache, monkeypatch):
    info = replace(CATALOGUE["keller_2016"], size_bytes=5030)
    monkeypatch.setitem(CATALOGUE, "keller_2016", info)
    seen = []
    assert status("keller_2016") == "download"
    datasets.fetch("keller_2016", progress=lambda *p: seen.append(p))
    assert tree(cache / "data") == [
        "keller_2016/behavior.csv",
        "keller_2016/molecules.csv",
        "keller_2016/stimuli.csv",
    ]
    assert seen[-1] == (5030, 5030)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert status("keller_2016") == "present"


def test_fetch_writes_nothing_into_a_given_folder(small_keller, cache, tmp_path, monkeypatch):
    monkeypatch.setenv("KCNET_DATA", str(tmp_path))
    (tmp_path / "keller_2016").mkdir()
    (tmp_path / "keller_2016" / "molecules.csv").write_bytes(b"mine")
    datasets.fetch("keller_2016")
    assert tree(tmp_path) == ["keller_2016/molecules.csv"]
    assert (tmp_path / "keller_2016" / "molecules.csv").read_bytes() == b"mine"
    assert len(tree(cache / "data")) == 3


def test_fetch_does_nothing_when_the_data_are_there(real_data, cache, server):
    for info in datasets.available():
        if info.status != "download":
            datasets.fetch(info.name)
    assert tree(cache) == []


def test_a_stopped_fetch_goes_on_later(small_keller, server, cache):
    steps = datasets.fetch_steps("keller_2016")
    assert any(len(server.requests) >= 3 for _ in steps)
    steps.close()
    assert "keller_2016/behavior.csv" not in tree(cache / "data")
    assert status("keller_2016") == "download"
    datasets.fetch("keller_2016")
    assert status("keller_2016") == "present"
    assert sum(path == "/molecules.csv" for path, _ in server.requests) == 1


def test_the_next_mirror_is_tried_when_one_fails(server, cache, monkeypatch):
    server.files["/good"] = b"hello"
    remote = RemoteFile("x/file", (f"{server.url}/missing", f"{server.url}/good"), size=5)
    monkeypatch.setattr(sources, "remote_files", lambda name: (remote,))
    datasets.fetch("keller_2016")
    assert (cache / "data" / "x" / "file").read_bytes() == b"hello"


def emnist_zip(names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as pack:
        for name in names:
            pack.writestr(f"gzip/{name}.gz", f"content of {name}")
        pack.writestr("gzip/emnist-byclass-train-images-idx3-ubyte.gz", "large and not wanted")
    return buffer.getvalue()


def emnist_remote(server, content):
    server.files["/gzip.zip"] = content
    return RemoteFile(
        "images/EMNIST/raw/gzip.zip",
        (f"{server.url}/gzip.zip",),
        size=len(content),
        members=tuple(f"{name}.gz" for name in IDX_SETS["emnist_balanced"].names),
    )


def test_only_the_balanced_files_leave_the_emnist_archive(server, cache, monkeypatch):
    names = IDX_SETS["emnist_balanced"].names
    remote = emnist_remote(server, emnist_zip(names))
    monkeypatch.setattr(sources, "remote_files", lambda name: (remote,))
    datasets.fetch("emnist_balanced")
    assert tree(cache / "data") == sorted(f"images/EMNIST/raw/{name}.gz" for name in names)
    assert status("emnist_balanced") == "present"


def test_an_archive_without_the_files_is_thrown_away(server, cache, monkeypatch):
    remote = emnist_remote(server, emnist_zip([]))
    monkeypatch.setattr(sources, "remote_files", lambda name: (remote,))
    with pytest.raises(DataError, match="does not hold the files"):
        datasets.fetch("emnist_balanced")
    assert tree(cache / "data") == []


def test_every_download_has_a_checksum_and_an_https_or_known_mirror():
    for info in CATALOGUE.values():
        files = sources.remote_files(info.name)
        assert bool(files) == (info.status != "bundled")
        for file in files:
            assert file.sha256 or file.md5 or info.name in ARCHIVES  # these: `first_seen`
            assert all(url.startswith("http") for url in file.urls)


def test_what_is_downloaded_is_what_is_looked_for():
    files = [file.path for file in sources.remote_files("keller_2016")]
    assert files == list(keller.FILES)


def test_the_real_files_have_the_published_checksums(shared_data):
    for name in ("mnist", "fashion_mnist", "keller_2016", "door"):
        for file in sources.remote_files(name):
            path = shared_data / file.path
            if path.is_file():
                content = path.read_bytes()
                if file.sha256:
                    assert hashlib.sha256(content).hexdigest() == file.sha256
                    assert len(content) == file.size
                else:
                    assert hashlib.md5(content).hexdigest() == file.md5


@pytest.mark.parametrize(
    "name, option, values",
    [
        ("keller_2016", "top_k", (2.5, "3", True, None, [1], -1)),
        ("keller_2016", "min_positives", ("a", None, {"a": 1})),
        ("starter", "min_positives", ("a", 1.5)),
        ("digits", "seed", ("a", -1, None, 0.5)),
        ("mnist_sample", "n_train", ("100", 100.0, [100])),
        ("keller_2016", "target", (1, ["Sweet"])),
        ("keller_2016", "per", (1, ["stimulus"])),
        ("digits", "normalise", (None, ["global"])),
        ("starter", "progress", ("a", 1)),
        ("keller_2016", "progress", (True,)),
    ],
)
def test_options_of_another_type_are_refused_with_a_sentence(name, option, values):
    for value in values:
        with pytest.raises(DataError, match=rf"^{option} must be (a|text).*; it is ."):
            datasets.load(name, **{option: value})


def test_unknown_names_are_refused():
    with pytest.raises(DataError, match="no dataset 'imagenet'"):
        datasets.fetch("imagenet")


@pytest.mark.parametrize("variable", ["KCNET_DATA", "KCNET_CACHE"])
def test_a_folder_that_may_not_be_searched_is_told_without_its_path(
    variable, tmp_path, cache, closed, monkeypatch
):
    folder = tmp_path / "closed"
    folder.mkdir()
    monkeypatch.setenv(variable, str(folder))
    closed(folder)
    assert status("mnist") == status("keller_2016") == "download"
    for name in ("mnist", "keller_2016"):
        with pytest.raises(DataError, match=f"may not search .*{variable}.* right to") as caught:
            datasets.load(name)
        assert str(folder) not in str(caught.value)


def test_a_download_into_a_folder_that_may_not_be_searched_is_told(
    small_keller, tmp_path, closed, monkeypatch
):
    folder = tmp_path / "closed"
    folder.mkdir()
    monkeypatch.setenv("KCNET_CACHE", str(folder))
    closed(folder)
    with pytest.raises(DataError, match=r"cannot be written to.*Set KCNET_CACHE") as caught:
        datasets.fetch("keller_2016")
    assert str(folder) not in str(caught.value)


@pytest.mark.parametrize(
    "name", [n for n, i in CATALOGUE.items() if i.kind != "connectome" and not i.rounded]
)
def test_the_list_tells_as_many_rows_and_classes_as_are_loaded(described_data, name):
    info = {info.name: info for info in datasets.available()}[name]
    if info.status == "download":
        pytest.skip(f"{info.title} is not among the real datasets")
    data = datasets.load(name)
    assert (info.n_rows, info.n_classes) == (len(data.X), len(data.target_names))
