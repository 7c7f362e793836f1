"""Searching from a smell to molecules: ranked, honest about who says so, and never empty-handed."""

from __future__ import annotations

import json

import numpy as np
import pytest

from kcnet_core.__main__ import main
from kcnet_core.commands import search as command
from kcnet_core.errors import DataError
from kcnet_core.molecules.text import split_lines
from kcnet_core.smell.answers import smell
from kcnet_core.smell.applicability import MOST_HEAVY_ATOMS
from kcnet_core.smell.search import Wish, asked_candidates, known_candidates, search


def test_hits_have_what_is_wanted_and_not_what_is_unwanted(nose):
    found = search(nose, Wish(("Musky",), ("Fruity",)), top=10)
    assert found.n_met >= 10 and found.n_searched == len(known_candidates(nose))
    for hit in found.hits:
        said = {name: truth for name, _, truth in hit.characters}
        assert said["Musky"] is True and said["Fruity"] is False
        assert "Musky" in hit.smells_of and "Fruity" not in hit.smells_of
    fits = [hit.fit for hit in found.hits]
    assert fits == sorted(fits, reverse=True)
    assert f"of {found.n_searched:,} molecules meet the wish; the best 10" in found.sentence


def test_mass_elements_and_volatility_are_kept(nose):
    wish = Wish(("Sulfurous",), (), 60, 120, holding=frozenset("S"), without=frozenset("O"))
    for hit in search(nose, wish).hits:
        assert 60 <= hit.molecule.weight <= 120
        assert "S" in hit.molecule.elements and "O" not in hit.molecule.elements
    heavy = search(nose, Wish(("Odorless",)), top=999).hits
    light = search(nose, Wish(("Odorless",), volatile=True), top=999).hits
    assert max(hit.molecule.heavy_atoms for hit in light) <= MOST_HEAVY_ATOMS
    assert len(light) < len(heavy)


def test_only_what_boils_in_the_range_is_found(nose):
    light = search(nose, Wish(("Fruity",), coolest=80, hottest=160), top=20)
    assert light.hits and all(80 <= hit.boiling <= 160 for hit in light.hits)
    names = {hit.name for hit in search(nose, Wish(("Fruity",), hottest=150), top=200).hits}
    assert "ethyl butyrate" in names and "gamma-undecalactone" not in names
    nothing = search(nose, Wish(("Fruity",), coolest=5000))
    assert not nothing.hits and "has this boiling point: ask for less" in nothing.sentence


def test_ions_do_not_boil(nose):
    answers = smell(nose, split_lines("CCCC(=O)[O-] ion\nbutyric acid"))
    wish, mine = Wish(("Cheesy",), coolest=0), asked_candidates(nose, answers)
    assert [hit.name for hit in search(nose, wish, mine).hits] == ["butyric acid"]


def test_a_list_without_molecules_is_told_so(nose):
    with pytest.raises(DataError, match="nothing to search among"):
        asked_candidates(nose, smell(nose, split_lines("nonsense\nmore nonsense")))


def test_like_this_but_less_gives_others_that_have_less(nose):
    (vanillin,) = smell(nose, split_lines("vanillin")).given
    found = search(nose, Wish((), ("Vanilla",)), like=vanillin, top=8)
    assert found.hits and all(hit.molecule.smiles != vanillin.smiles for hit in found.hits)
    assert all(0 < hit.likeness <= 1 for hit in found.hits)
    assert found.given.startswith("vanillin itself: Vanilla ") and "(known)" in found.given
    own = vanillin.probabilities[nose.characters.index("Vanilla")]
    assert all(p < own or not said for hit in found.hits for _, p, said in hit.characters)


def test_among_somebodys_own_molecules_known_and_predicted_are_told_apart(nose):
    answers = smell(nose, split_lines("vanillin\nCCCCCCCOC(=O)CCCC mine\nnonsense"))
    found = search(nose, Wish(("Fruity",)), asked_candidates(nose, answers))
    assert found.n_searched == 2
    known = {hit.name: hit.known for hit in found.hits}
    assert known["mine"] is False and "predicted" in found.hits[0].reason


def test_what_nothing_meets_gives_the_nearest_and_a_sentence(nose):
    found = search(nose, Wish(("Musky", "Fishy"), ()), top=3)
    assert found.n_met == 0 and len(found.hits) == 3 and "come nearest" in found.sentence
    nothing = search(nose, Wish(("Musky",), (), 5000, 6000))
    assert not nothing.hits and "has this mass" in nothing.sentence


@pytest.mark.parametrize(
    ("wish", "sentence"),
    [
        (Wish(), "Nothing is wished for"),
        (Wish(("Musky",), ("Musky",)), "both wanted and unwanted"),
        (Wish(("Purple",)), "'Purple' is not a character"),
    ],
)
def test_a_wish_that_makes_no_sense_gets_a_sentence(nose, wish, sentence):
    with pytest.raises(DataError, match=sentence):
        search(nose, wish)


def test_what_is_known_is_answered_as_if_never_taught(nose):
    candidates = known_candidates(nose)
    row = candidates.names.index("vanillin")
    (answer,) = smell(nose, split_lines("vanillin")).given
    np.testing.assert_allclose(candidates.P[row], answer.probabilities, atol=1e-6)


def test_the_command_prints_hits_with_their_reasons(nose, capsys, monkeypatch):
    monkeypatch.setattr(command, "nose_of", lambda args: nose)
    assert main(["search", "--want", "musky", "--top", "2", "--format", "json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert first["known"] and "Musky" in first["reason"] and first["fit"] >= second["fit"]
    assert main(["search", "--want", "fruity", "--boils", "80", "130", "--format", "json"]) == 0
    assert all(80 <= hit["boils"] <= 130 for hit in json.loads(capsys.readouterr().out))
    assert main(["search", "--want", "musky", "fishy"]) == 1
    assert "come nearest" in capsys.readouterr().out
    assert main(["search", "--like", "no such molecule"]) == 2
