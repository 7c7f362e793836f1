"""The map of known molecules: like tags lie together, and whoever is asked has a place on it."""

from __future__ import annotations

import numpy as np
import pytest

from kcnet_core import figures
from kcnet_core.smell import tag_map as maps
from kcnet_core.smell.neighbours import known_tags, tag_neighbours
from kcnet_core.smell.tag_map import tag_map


def test_a_known_molecule_that_is_asked_lies_where_it_is_drawn(nose, smelled):
    found = tag_map(nose)
    for name in ("vanillin", "limonene", "muscone"):
        answer = smelled(name)
        row = int(np.flatnonzero(found.rows == answer.known)[0])
        np.testing.assert_allclose(found.place(answer), found.places[row], atol=1e-6)


def test_the_nearest_by_tag_lie_nearer_than_the_others(nose, smelled):
    found, answer = tag_map(nose), smelled("vanillin")
    away = np.linalg.norm(found.places - found.place(answer), axis=1)
    inputs = nose.inputs(answer.features[None])[0]
    near = [one.row for one in tag_neighbours(nose, inputs, answer.smiles, 20)]
    assert away[np.isin(found.rows, near)].mean() < 0.5 * away.mean()


def test_the_axes_are_the_two_first_principal_components_of_the_similarity(nose, monkeypatch):
    monkeypatch.setattr(maps, "MOST", len(nose.known.molecules))  # all of them carry the axes
    found = maps._made(nose, nose.known.molecules)
    assert found.share == pytest.approx(found.places.var(axis=0).sum() / _variance(nose), rel=1e-3)
    np.testing.assert_allclose(found.places.mean(axis=0), 0, atol=1e-6)
    assert abs(found.places[:, 0] @ found.places[:, 1]) < 1e-4
    assert found.places[:, 0].var() >= found.places[:, 1].var()


def _variance(nose) -> float:
    tags = [tags[nose.known.molecules] for tags in known_tags(nose)]
    S = maps._similarity(tags, tags)
    return float(np.diag(S).mean() - S.mean())


def test_fewer_molecules_may_carry_the_axes_and_all_are_placed(nose, monkeypatch):
    monkeypatch.setattr(maps, "MOST", 100)
    found = maps._made(nose, nose.known.molecules)
    assert found.places.shape == (len(nose.known.molecules), 2)
    assert np.isfinite(found.places).all() and 0 < found.share < 1


def test_the_figure_tells_those_who_have_a_character_and_names_the_nearest():
    places = [[0, 0], [1, 1], [2, 0]]
    figure = figures.smell_map(
        places, ["a", "b", "c"], [True, False, True], "Sweet", [0.9, 0.9], "asked"
    )
    without, with_it, asked = figure.data
    assert list(without.customdata) == [1] and list(with_it.customdata) == [0, 2]
    assert (asked.x[0], asked.y[0]) == (0.9, 0.9)
    assert "2 of them are Sweet" in figures.alt(figure)
    assert "asked lies nearest to b" in figures.alt(figure)
