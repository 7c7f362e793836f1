"""Substructures are inputs with cells of their own, and every share in a score stays exact."""

from __future__ import annotations

import numpy as np
import pytest

from kcnet_core.datasets.substructures import with_substructures
from kcnet_core.experiments.comparison.search import training_part
from kcnet_core.molecules.fingerprint_table import KINDS, NAMES, PLACES, kind_of, meaning
from kcnet_core.molecules.fingerprints import substructure_counts
from kcnet_core.molecules.text import split_lines
from kcnet_core.network.scores import auroc_by_label
from kcnet_core.smell import explanation
from kcnet_core.smell.answers import smell
from kcnet_core.smell.flies import FlySettings
from kcnet_core.smell.glomeruli import GlomeruliScaler, GroupedFly, groups_of
from kcnet_core.smell.neighbours import tag_neighbours
from kcnet_core.smell.nose import train_nose

SMALL = FlySettings(n_flies=2, n_hidden=300, n_group_cells=150)


@pytest.fixture(scope="module")
def described(starter):
    return with_substructures(starter)


@pytest.fixture(scope="module")
def taught(described):
    return train_nose(described, SMALL)


def test_the_same_substructure_is_counted_as_often_as_it_is_there():
    one, two, none = substructure_counts(["CCOC(C)=O", "CC(=O)OCCCCOC(C)=O", "not a molecule"])
    both = (one > 0) & (two > 0)
    assert both.sum() > 10 and (two[both] >= one[both]).mean() > 0.9 and (two == 2).sum() > 3
    assert not none.any()


def test_every_place_has_a_kind_and_a_meaning():
    assert len(set(NAMES)) == len(NAMES) == 5 * 2048 + 167
    assert {kind_of(name) for name in NAMES} == set(KINDS)
    assert kind_of("MolLogP") is None and kind_of("dilution 1/10") is None
    assert "Morgan" in meaning("environment 7") and PLACES["pair 0"] == 2048


def test_substructures_that_a_few_molecules_hold_become_inputs(starter, described):
    n = starter.X.shape[1]
    np.testing.assert_array_equal(described.X[:, :n], starter.X)
    added = described.X[:, n:]
    assert added.shape[1] > 500 and ((added > 0).sum(axis=0) >= 3).all()
    assert [len(at) > 0 for at in groups_of(described.feature_names)] == [True] * 7


def test_scaling_knows_the_training_rows_alone(described):
    rows = np.arange(200)
    part = described.X[rows]
    scaler = GlomeruliScaler(described.feature_names).fit(part)
    inputs = scaler.transform(described.X)
    assert inputs.shape[1] == scaler.kept_.sum() and np.isfinite(inputs).all()
    held = (part > 0).sum(axis=0)
    lost = scaler.substructures & ((held < 2) | (held == len(rows)))
    assert lost.any() and not scaler.kept_[lost].any()


def test_flies_with_substructures_know_unseen_molecules_better(starter, described, taught):
    alone = train_nose(starter, SMALL)
    assert isinstance(taught.flies[0], GroupedFly) and not isinstance(alone.flies[0], GroupedFly)
    scores = [
        np.nanmean(auroc_by_label(described.y, nose.left_out.mean(axis=0)))
        for nose in (alone, taught)
    ]
    assert scores[1] > scores[0]


def test_left_out_answers_are_those_of_flies_that_never_met_the_molecule(described, taught):
    row = list(described.row_names).index("vanillin")
    others = np.flatnonzero(described.groups != described.groups[row])
    without = train_nose(training_part(described, others), SMALL)
    retrained, _ = without.answer(without.inputs(described.X[[row]]))
    np.testing.assert_allclose(taught.answer_unseen(row)[0], retrained[0], atol=0.12)


def test_shares_of_descriptors_and_substructures_add_up_to_the_log_odds(taught):
    answer = smell(taught, split_lines("COc1cc(C=O)ccc1OC")).given[0]
    for character in (0, int(answer.probabilities.argmax())):
        shares = explanation.descriptor_shares(taught, answer, character)
        p = answer.as_taught[0][character]
        assert shares.total == pytest.approx(np.log(p / (1 - p)), abs=1e-3)
        kinds = {kind_of(name) for name, value in zip(shares.names, shares.values, strict=True)
                 if value}  # fmt: skip
        assert kinds >= {None, "environment", "torsion"}


def test_atoms_and_tags_work_with_substructures_too(taught):
    answer = smell(taught, split_lines("CCOC(=O)CCC")).given[0]
    worths = explanation.atom_worths(taught, answer)
    assert worths.shape == (8, len(taught.characters)) and np.isfinite(worths).any()
    near = tag_neighbours(taught, taught.inputs(answer.features[None])[0], answer.smiles, 3)
    assert all("Fruity" in taught.known.characters[one.row] for one in near)
