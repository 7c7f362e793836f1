"""Answers say what a molecule smells of, whether that can be trusted, and why."""

from __future__ import annotations

import numpy as np
import pytest

from kcnet_core.molecules.text import split_lines
from kcnet_core.smell import explanation
from kcnet_core.smell.answers import smell
from kcnet_core.smell.applicability import odourless_warning
from kcnet_core.smell.export import named_characters
from kcnet_core.smell.neighbours import structure_neighbours, tag_neighbours


def test_vanillin_smells_of_vanilla_and_is_known(nose, smelled):
    answer = smelled("vanillin")
    assert named_characters(nose, answer)[0] == "Vanilla"
    assert nose.known.names[answer.known] == "vanillin"
    assert answer.verdict.level == "inside" and answer.warning is None


def test_a_molecule_nobody_taught_is_answered_from_its_structure(nose, smelled):
    answer = smelled("CC1CCCCCCCCCCCCCC(=O)C1")  # a ring one carbon larger than muscone's
    assert answer.known is None
    assert named_characters(nose, answer)[0] == "Musky"


def test_a_stereoisomer_of_a_known_molecule_is_recognised(nose, smelled):
    answer = smelled("CC(C)C1CCC(C)CC1O")  # menthol without its stereo marks
    assert answer.known is None
    assert "menthol" in nose.known.names[answer.stereoisomer]


def test_every_row_comes_back_in_order_with_an_answer_or_an_error(nose):
    text = "CCO\n<script>\nC1CC\nvanillin\nCCO.CCC\n" + "C" * 400
    answers = smell(nose, split_lines(text))
    assert [answer is not None for answer in answers.answers] == [
        True, False, False, True, False, False,
    ]  # fmt: skip
    assert all(row.error for row in answers.errors)


@pytest.mark.parametrize(
    "smiles",
    ["C", "[He]", "[CH3]", "[2H]C([2H])([2H])O", "[CH3:1][OH:2]", "C[C@H](N)C(=O)O", "[Na+]", "O"],
)
def test_odd_molecules_are_answered_or_refused_but_never_break(nose, smiles):
    answers = smell(nose, split_lines(smiles))
    for row, answer in zip(answers.rows, answers.answers, strict=True):
        assert (answer is None) == bool(row.error)
        if answer is not None:
            assert np.isfinite(answer.probabilities).all()


# -- trust -------------------------------------------------------------------------------------


def test_an_element_that_nobody_taught_is_outside(smelled):
    verdict = smelled("C[Si](C)(C)C").verdict
    assert verdict.level == "outside" and "Si" in verdict.sentence


def test_what_is_far_from_every_training_molecule_is_not_inside(smelled):
    far = smelled("NC(=N)NC(=N)NC(=N)NC(=N)NC(=N)N")
    assert far.verdict.level != "inside"
    assert smelled("CCCCCC(=O)OCCC").verdict.level == "inside"


def test_most_training_molecules_would_be_inside_had_they_not_been_taught(nose, starter):
    from kcnet_core.smell.applicability import domain_of

    own = domain_of(nose)._own_distances
    assert np.searchsorted(own, np.quantile(own, 0.9)) / len(own) == pytest.approx(0.9, abs=0.01)


def test_the_odourless_rule_spares_every_odorant_and_catches_half_of_the_odourless(starter):
    names = list(starter.feature_names)
    odourless = starter.y[:, list(starter.target_names).index("Odorless")] == 1
    needed = [names.index(name) for name in ("HeavyAtomCount", "NumHDonors")]
    warned = np.array([bool(odourless_warning(*v)) for v in starter.X[:, needed].astype(int)])
    assert not warned[~odourless].any()
    assert warned[odourless].mean() >= 0.5


def test_sugar_and_ions_get_a_warning_that_names_the_reason(smelled):
    assert "hydrogen-bond donors" in smelled("OCC(O)C(O)C(O)C(O)C=O").warning
    assert "ion" in smelled("CC(=O)[O-]").warning
    assert "heavy atoms" in smelled("CCCCCCCCCCCCCCCCCCCCCCCC").warning


# -- why ---------------------------------------------------------------------------------------


def test_shares_of_the_descriptors_add_up_to_the_log_odds_shown(nose, smelled):
    answer = smelled("cinnamaldehyde")
    for character in (0, int(answer.probabilities.argmax())):
        shares = explanation.descriptor_shares(nose, answer, character)
        p = answer.as_taught[0][character]
        assert shares.unit == "log-odds"
        assert shares.total == pytest.approx(np.log(p / (1 - p)), abs=1e-3)
        assert len(shares.values) == len(shares.names)


def test_an_atoms_worth_is_what_the_score_loses_without_it(nose, smelled):
    vanillin, without = smelled("vanillin"), smelled("Oc1cc(C=O)ccc1O")
    worths = explanation.atom_worths(nose, vanillin)
    assert worths.shape == (11, len(nose.characters))
    methyl = 0  # the canonical SMILES begins with the methoxy carbon
    log_odds = [nose.log_odds(nose.inputs(a.features[None]))[0] for a in (vanillin, without)]
    np.testing.assert_allclose(worths[methyl], log_odds[0] - log_odds[1], atol=1e-4)  # float32


def test_a_single_atom_has_no_worth(nose, smelled):
    assert np.isnan(explanation.atom_worths(nose, smelled("C"))).all()


def test_neighbours_are_near_and_never_the_molecule_itself(nose, smelled):
    answer = smelled("vanillin")
    inputs = nose.inputs(answer.features[None])[0]
    for found in (
        tag_neighbours(nose, inputs, answer.smiles),
        structure_neighbours(nose, answer.smiles),
    ):
        names = [nose.known.names[n.row] for n in found]
        values = [n.similarity for n in found]
        assert "vanillin" not in names and len(set(names)) == len(names) == 4
        assert values == sorted(values, reverse=True) and 0 < values[-1] <= values[0] <= 1
        assert any("vanil" in name for name in names)


def test_a_known_molecule_is_answered_as_if_it_had_never_been_taught(nose, smelled):
    answer = smelled("vanillin")
    vanilla = nose.characters.index("Vanilla")
    assert answer.probabilities.tolist() == nose.answer_unseen(answer.known)[0].tolist()
    assert answer.as_taught[0][vanilla] > answer.probabilities[vanilla]
    other = smelled("COc1cc(C=O)ccc1OCCC")
    assert other.known is None and other.as_taught[0] is other.probabilities


def test_a_stereoisomer_of_a_known_molecule_is_answered_as_if_neither_had_been_taught(
    nose, smelled
):
    answer, known = smelled("CC1=CCC(CC1=O)C(C)=C"), smelled("(R)-carvone")
    assert answer.known is None and answer.stereoisomer is not None and answer.left_out
    unseen = nose.answer_unseen(answer.stereoisomer)[0]
    assert answer.probabilities.tolist() == unseen.tolist() != answer.as_taught[0].tolist()
    np.testing.assert_allclose(answer.probabilities, known.probabilities, atol=0.1)


def test_what_is_probably_odorless_is_never_inside(smelled):
    for text in ("OCC(O)C(O)C(O)C(O)CCO", "CCCCCCCCCCCCCCCCCCCCCCCCCC(=O)OC"):
        answer = smelled(text)
        assert answer.warning and answer.verdict.level == "outside"
        assert "does not evaporate" in answer.verdict.sentence


def test_what_people_have_smelled_is_not_called_odorless_by_a_rule(nose, starter, monkeypatch):
    from kcnet_core.smell import answers

    monkeypatch.setattr(answers, "odourless_warning", lambda *_: "Probably odorless.")
    given = answers.smell(nose, split_lines("vanillin\nsucrose\nCCCCCCCCOC")).given
    assert [answer.warning is None for answer in given] == [True, False, False]
    assert [answer.verdict.level == "outside" for answer in given] == [False, False, True]


def test_both_of_a_pair_of_mirror_images_are_known(nose, smelled):
    carvone = smelled("CC1=CCC(CC1=O)C(C)=C")
    twins = nose.known.stereoisomers(carvone.molecule.skeleton)
    assert sorted(nose.known.names[row] for row in twins) == ["(R)-carvone", "(S)-carvone"]
