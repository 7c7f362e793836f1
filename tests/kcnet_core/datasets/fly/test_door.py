"""DoOR: responses of glomeruli, with nothing silently zero."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from kcnet_core import datasets
from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.datasets.fly import connectome, door
from kcnet_core.datasets.fly.characters import is_here
from kcnet_core.errors import DataError


def test_the_real_set_has_one_row_per_odorant_and_one_input_per_glomerulus(real_data):
    data = datasets.load("door")
    assert data.X.shape == (137, 48) and len(data.target_names) == 7
    assert data.X.min() >= 0 and data.X.max() <= 1
    assert set(data.feature_names) <= set(connectome.connectome().glomeruli)
    assert len(set(data.row_names)) == len(data.smiles) == 137
    ester = data.row_names.index("ethyl acetate")
    assert data.target_names[data.y[ester]] == "ester"


def test_what_nobody_measured_is_at_the_spontaneous_rate_and_said(real_data):
    data, there = datasets.load("door"), door.read_responses()
    known = door.measured(data)
    rates = dict(zip(there.glomeruli, there.spontaneous, strict=True))
    rest = np.float32([rates[name] for name in data.feature_names])
    assert (data.X[~known] == np.broadcast_to(rest, data.X.shape)[~known]).all()
    assert (data.X[known] != np.broadcast_to(rest, data.X.shape)[known]).mean() > 0.9
    assert known.sum(axis=1).min() >= door.MIN_MEASURED
    assert f"{(~known).sum():,} of {known.size:,} responses" in " ".join(data.report)


def test_odorants_without_any_response_are_left_out_by_name(real_data):
    data, there = datasets.load("door"), door.read_responses()
    silent = np.array(there.names)[np.isnan(there.values).all(axis=1)]
    (told,) = (sentence for sentence in data.report if "have no response" in sentence)
    assert told.startswith(f"{len(silent)} odorants") and len(silent) == 58
    assert told.split(": ", 1)[1] == "; ".join(silent) + "."
    assert not set(silent) & set(data.row_names)


def test_an_odorant_that_is_left_out_has_a_reason(real_data):
    assert door.left_out("Spermine")[1].startswith("DoOR has spermine, but no response of any")
    smiles, why = door.left_out(rarely_measured())
    assert "glomeruli were measured with it, and 10 are needed" in why and smiles
    assert "chemical class is not named" in door.left_out(of_rare_class())[1]
    assert door.left_out("unobtainium") is None


def rarely_measured():
    there = door.read_responses()
    return there.names[int((np.isfinite(there.values).sum(axis=1) == 3).argmax())]


def of_rare_class():
    there, taught = door.read_responses(), set(datasets.load("door").row_names)
    often = np.isfinite(there.values).sum(axis=1) >= door.MIN_MEASURED
    return next(name for name, many in zip(there.names, often, strict=True)
                if many and name not in taught)  # fmt: skip


def test_complete_cases_have_no_gap(real_data):
    data = datasets.load("door_characters", missing="complete")
    assert data.multilabel and data.X.shape == (107, 20)
    assert door.measured(data).all()
    assert "never measured and are set" not in " ".join(data.report)


def test_the_block_without_gaps_is_the_largest_of_its_kind():
    known = np.ones((6, 4), bool)
    known[4:, 1] = known[0, 3] = known[5, 3] = False
    rows, columns = door.complete_block(known)
    assert known[np.ix_(rows, columns)].all() and len(rows) * len(columns) == 12


def test_one_class_or_character_can_be_asked_for(real_data):
    assert datasets.load("door", target="ester").target_names == ("not ester", "ester")
    sweet = datasets.load("door_characters", target="Sweet")
    assert sweet.target_names[1] == "Sweet" and 80 < sweet.y.sum() < 100
    with pytest.raises(DataError, match="no odor character 'Purple'"):
        datasets.load("door_characters", target="Purple")
    with pytest.raises(DataError, match="missing is 'zero'; it must be one of spontaneous"):
        datasets.load("door", missing="zero")
    with pytest.raises(DataError, match="lower min_measured"):
        datasets.load("door", min_measured=100)


@pytest.mark.parametrize(
    "name, change",
    [
        ("door_response_matrix.csv", lambda text: text[:300]),
        ("door_response_matrix.csv", lambda text: text.replace(";0.", ";9.")),
        ("door_response_matrix.csv", lambda text: text.replace('"SFR"', '"rest"')),
        ("door_mappings.csv", lambda text: text.replace('"code"', '"place"')),
        ("odor.csv", lambda text: text.replace(";", ",")),
        ("odor.csv", lambda text: ""),
    ],
)
def test_a_damaged_table_is_told(shared_data, tmp_path, monkeypatch, name, change):
    shutil.copytree(shared_data / "door", tmp_path / "door")
    path = tmp_path / "door" / name
    text = path.read_text()
    path.chmod(0o644)
    path.write_text(change(text))
    monkeypatch.setenv("KCNET_DATA", str(tmp_path))
    with pytest.raises(DataError, match=f"{name} of DoOR is damaged"):
        datasets.load("door")


@pytest.mark.parametrize(
    "name, lacks",
    [
        ("door_response_matrix.csv", "lacks 391 odorants"),
        ("odor.csv", "lacks 391 odorants"),
        ("door_mappings.csv", r"lacks \d+ receptors"),
    ],
)
def test_a_table_cut_short_between_two_lines_is_told(
    shared_data, tmp_path, monkeypatch, name, lacks
):
    """It reads well: what is missing would be missing silently."""
    shutil.copytree(shared_data / "door", tmp_path / "door")
    path = tmp_path / "door" / name
    lines = path.read_text().splitlines(keepends=True)
    path.chmod(0o644)
    path.write_text("".join(lines[: 301 if len(lines) > 301 else 40]))
    monkeypatch.setenv("KCNET_DATA", str(tmp_path))
    with pytest.raises(DataError, match=f"{name} of DoOR {lacks}.*cut short.*Delete all three"):
        datasets.load("door")


@pytest.mark.parametrize(
    "source, n_known, title",
    [("keller_2016", 116, "Keller & Vosshall 2016"), ("gs_lf", 161, "GS-LF")],
)
def test_other_odor_sets_can_say_what_odorants_smell_of(described_data, source, n_known, title):
    data = datasets.load("door_characters", characters=source)
    assert len(data.y) == n_known and "Sweet" in data.target_names
    assert f"{n_known} of 183 odorants are in {title}" in " ".join(data.report)
    assert CATALOGUE[source].citation in data.citation and "DoOR 2.0" in data.citation
    assert CATALOGUE[source].licence in data.licence


def test_all_sets_that_are_here_are_put_together(described_data):
    starter, everyone = (
        datasets.load("door_characters", min_positives=1, characters=source)
        for source in ("starter", "all")
    )
    said = {name: words(everyone, name) for name in everyone.row_names}
    assert all(words(starter, name) <= said[name] for name in starter.row_names)
    assert len(said) == 162 and said["1-hexanol"] > words(starter, "1-hexanol")
    assert "Not on this machine, and so not asked: Leffingwell" in " ".join(everyone.report)


def words(data, name):
    given = data.y[data.row_names.index(name)]
    return {word for word, has in zip(data.target_names, given, strict=True) if has}


def test_a_source_that_is_not_here_or_unknown_is_told(shared_data, tmp_path, monkeypatch):
    (tmp_path / "door").symlink_to(shared_data / "door")
    monkeypatch.setenv("KCNET_DATA", str(tmp_path))
    with pytest.raises(DataError, match="GS-LF is not on this machine yet"):
        datasets.load("door_characters", characters="gs_lf")
    with pytest.raises(DataError, match=r"characters is 'noses'; it must be one of starter, kell"):
        datasets.load("door_characters", characters="noses")
    with pytest.raises(DataError, match="has no option characters"):
        datasets.load("door", characters="gs_lf")
    assert is_here("starter") and is_here("all") and not is_here("gs_lf")
