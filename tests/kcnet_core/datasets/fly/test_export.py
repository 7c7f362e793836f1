"""The connectome's export becomes a table; whatever is wrong with it becomes a sentence."""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import tarfile
import tracemalloc

import numpy as np
import pytest

from kcnet_core import datasets
from kcnet_core.datasets.fly import connectome, export
from kcnet_core.datasets.fly.export import lobe_of, read_export
from kcnet_core.errors import DataError

NEURONS = """bodyId,type,instance
1,DA1_lPN,DA1_lPN_R
2,DA1_lPN,DA1_lPN_R
3,VM5d_adPN,VM5d_adPN_R
4,VP1m+VP2_lvPN1,x
5,M_adPNm4,x
6,MZ_lvPN,x
10,KCg-m,x
11,KCa'b'-ap1,x
12,KCab-c,x
13,,KC part due to gap
"""
CONNECTIONS = """bodyId_pre,bodyId_post,roi,weight
1,10,CA(R),2
2,10,CA(R),1
3,10,CA(R),7
1,10,SLP(R),50
3,11,CA(R),2
4,11,CA(R),50
5,12,CA(R),50
1,13,CA(R),50
10,11,CA(R),50
3,12,CA(R),3
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / export.NEURONS).write_text(NEURONS)
    (tmp_path / export.CONNECTIONS).write_text(CONNECTIONS)
    return tmp_path


def archive(path, tables, order=(export.CONNECTIONS, export.NEURONS), version="v1.2"):
    """In the layout of the official one: a folder of its version, and the tables in it."""
    with tarfile.open(path, "w:gz") as pack:
        for name in order:
            if name in tables:
                entry = tarfile.TarInfo(f"exported-traced-adjacencies-{version}/{name}")
                entry.size = len(tables[name])
                pack.addfile(entry, io.BytesIO(tables[name]))
    return path


TABLES = {export.NEURONS: NEURONS.encode(), export.CONNECTIONS: CONNECTIONS.encode()}


def test_synapses_of_a_glomerulus_add_up_over_its_neurons_in_the_calyx_alone(folder):
    fly = read_export(folder)
    assert fly.glomeruli == ("DA1", "VM5d")
    assert fly.cells.tolist() == [10, 11, 12]
    assert fly.types == ("KCg-m", "KCa'b'-ap1", "KCab-c")
    assert fly.synapses.tolist() == [[3, 7], [0, 2], [0, 3]]
    assert (fly.n_untyped, fly.n_pieces) == (1, 1)
    assert fly.heard(3).tolist() == [[True, True], [False, False], [False, True]]


@pytest.mark.parametrize("order", [tuple(TABLES), tuple(reversed(TABLES))])
def test_the_archive_reads_like_its_tables_in_any_order(folder, tmp_path, order):
    fly = read_export(archive(tmp_path / "a.tar.gz", TABLES, order))
    assert fly.synapses.tolist() == read_export(folder).synapses.tolist()


def test_the_archive_is_read_in_bounded_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(export, "ROWS_AT_ONCE", 2_000)
    peaks = []
    for n_rows in (10_000, 80_000):
        noise = "".join(f"{k},{k + 1},SLP(R),{k % 9}\n" for k in range(100, 100 + n_rows))
        tables = {**TABLES, export.CONNECTIONS: (CONNECTIONS + noise).encode()}
        path = archive(tmp_path / f"{n_rows}.tar.gz", tables)
        del noise, tables
        tracemalloc.start()
        assert read_export(path).synapses.sum() == 15
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]


def damaged(path, change):
    path.write_bytes(change(path.read_bytes()))
    return path


@pytest.mark.parametrize(
    "change",
    [
        lambda b: b[: len(b) // 2],
        lambda b: b[:-6],
        lambda b: b"",
        lambda b: b"PK" + b,
        lambda b: b[:-8] + bytes(8),
    ],
)
def test_an_archive_that_is_cut_short_or_changed_is_told(tmp_path, change):
    path = damaged(archive(tmp_path / "a.tar.gz", TABLES), change)
    with pytest.raises(DataError, match=r"cut short or damaged .*download it again"):
        read_export(path)


@pytest.mark.parametrize(
    "name, content, words",
    [
        (export.NEURONS, NEURONS.replace("type", "kind"), "lacks the column type"),
        (export.CONNECTIONS, CONNECTIONS.replace("roi", "region"), "lacks the column roi"),
        (export.NEURONS, NEURONS.replace("KC", "Kenyon"), "names no Kenyon cells.*another version"),
        (export.NEURONS, NEURONS.replace("_", "-"), "names no projection neurons"),
        (export.CONNECTIONS, CONNECTIONS.replace("CA(R)", "MB"), "no synapses .*calyx"),
        (export.CONNECTIONS, CONNECTIONS.replace(",7", ",seven"), "cut short or damaged"),
        (export.CONNECTIONS, "", "cut short or damaged"),
    ],
)
def test_a_table_of_another_layout_is_told(folder, name, content, words):
    (folder / name).write_text(content)
    with pytest.raises(DataError, match=words):
        read_export(folder)


def test_an_archive_of_something_else_is_told(tmp_path):
    path = archive(tmp_path / "a.tar.gz", {export.NEURONS: NEURONS.encode()})
    with pytest.raises(DataError, match="does not hold traced-roi-connections"):
        read_export(path)


def test_another_version_is_told(tmp_path):
    path = archive(tmp_path / "a.tar.gz", TABLES, version="v1.1")
    with pytest.raises(DataError, match=r"a.tar.gz holds v1.1 .*v1.2 is needed"):
        read_export(path)


def test_the_real_fly_has_as_many_cells_glomeruli_and_inputs_as_published(real_data):
    fly = connectome.connectome()
    heard = fly.heard(3)
    hears = heard[heard.any(axis=1)]
    assert hears.shape == (1750, 55)
    assert hears.sum(axis=1).mean() == pytest.approx(5.3966, abs=1e-4)
    assert {lobe: fly.lobes.count(lobe) for lobe in set(fly.lobes)} == {
        "γ": 626, "α′β′": 336, "αβ": 808,
    }  # fmt: skip
    told = fly.describe(3)
    assert told[0].startswith("1,750 of 1,770 Kenyon cells hear 55 glomeruli through at least 3 ")
    assert "5.40 glomeruli a cell on average, 12 at most" in told[0] and "claws" in told[0]
    assert "γ 612 cells with 7.1, α′β′ 335 cells with 4.2, αβ 803 cells with 4.6" in told[1]
    assert told[2].startswith("Left out: 81 traced neurons without a type (81 are named")


def test_counts_per_cell_per_glomerulus_and_per_type_follow_the_threshold(real_data):
    fly = connectome.connectome()
    tables = fly.tables(3)
    assert sum(tables["cells"]["Cells"]) == sum(tables["types"]["Cells"]) == 1750
    connections = sum(tables["glomeruli"]["Cells"])
    assert connections == np.dot(*tables["cells"].values()) == 9444
    assert tables["glomeruli"]["Glomerulus"][:3] == ["DP1m", "DM1", "DC1"]
    assert tables["glomeruli"]["Cells"][:3] == [475, 374, 340]
    first = [column[0] for column in tables["types"].values()]
    assert first == ["KCg-m", "γ", 590, 7.27] and len(tables["types"]["Type"]) == 13
    assert sum(fly.tables(10)["glomeruli"]["Cells"]) < connections
    assert fly.describe(500) == ["No cell has 500 synapses from one glomerulus."]
    assert not any(column for table in fly.tables(500).values() for column in table.values())


def test_types_belong_to_lobes():
    assert [lobe_of(name) for name in ("KCg-m", "KCa'b'-m", "KCab-p", "KCx")] == [
        "γ", "α′β′", "αβ", "other",
    ]  # fmt: skip


def publish(path, monkeypatch):
    """As if the file that is there now were the official one."""
    content = path.read_bytes()
    made = len(content), hashlib.md5(content).hexdigest()
    monkeypatch.setattr(connectome, "published", lambda: made)


def test_an_archive_that_was_changed_and_packed_anew_is_told(tmp_path, cache, monkeypatch):
    """Nothing is kept of it either: gzip finds no fault with it, its checksum does."""
    place = tmp_path / "data" / connectome.ARCHIVE
    place.parent.mkdir(parents=True)
    publish(archive(place, TABLES), monkeypatch)
    _, md5 = connectome.published()
    archive(place, {**TABLES, export.CONNECTIONS: CONNECTIONS.replace(",7", ",8").encode()})
    monkeypatch.setattr(connectome, "published", lambda: (place.stat().st_size, md5))
    monkeypatch.setenv("KCNET_DATA", str(tmp_path / "data"))
    assert read_export(place).synapses[0, 1] == 8
    with pytest.raises(
        DataError, match=r"MD5 checksum is not the published one.*download it again"
    ):
        connectome.connectome()
    assert not list(cache.glob("hemibrain/*"))


def test_what_was_read_from_an_archive_is_kept(folder, tmp_path, cache, monkeypatch):
    place = tmp_path / "data" / connectome.ARCHIVE
    place.parent.mkdir(parents=True)
    archive(place, TABLES)
    monkeypatch.setenv("KCNET_DATA", str(tmp_path / "data"))
    told = f"not the archive that was published: it has {place.stat().st_size} bytes instead of 45,"
    with pytest.raises(DataError, match=told):
        connectome.connectome()
    publish(place, monkeypatch)
    assert {info.name: info.status for info in datasets.available()}["hemibrain"] == "present"
    first = connectome.connectome()
    connectome._kept.cache_clear()
    monkeypatch.setattr(connectome, "read_export", None)
    again = connectome.connectome()
    assert again.n_pieces == first.n_pieces == 1
    assert again.types == first.types and (again.synapses == first.synapses).all()
    assert connectome.synapses_for(["VM5d"]).tolist() == [[7], [2], [3]]
    with pytest.raises(DataError, match="hear glomeruli, and 'MolWt' is none"):
        connectome.synapses_for(["DA1", "MolWt"])
    connectome._kept.cache_clear()


def test_without_the_connectome_a_sentence_says_how_to_get_it():
    with pytest.raises(DataError, match=r"Hemibrain v1.2 is not on this machine yet.*46 MB"):
        connectome.connectome()


def test_who_loads_the_connectome_as_a_dataset_is_told_how_to_read_it():
    with pytest.raises(DataError, match=r"it is a wiring.*connectome\(\).*synapses_for"):
        datasets.load("hemibrain")


def test_gzipped_tables_read_like_plain_ones(folder):
    plain = read_export(folder)
    for name in TABLES:
        with gzip.open(folder / f"{name}.gz", "wb") as out:
            shutil.copyfileobj((folder / name).open("rb"), out)
        (folder / name).unlink()
    assert np.array_equal(read_export(folder).synapses, plain.synapses)
