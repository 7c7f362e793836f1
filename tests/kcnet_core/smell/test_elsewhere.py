"""A nose is measured on molecules and labels of others, and says no more than holds there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kcnet_core.contracts import drain
from kcnet_core.datasets.substructures import with_substructures
from kcnet_core.errors import DataError
from kcnet_core.experiments.comparison.search import training_part
from kcnet_core.smell import elsewhere
from kcnet_core.smell.flies import FlySettings
from kcnet_core.smell.label_sets import COVERAGES
from kcnet_core.smell.nose import train_nose

TINY = FlySettings(n_flies=1, n_hidden=200)


@pytest.fixture(scope="module")
def halves(starter):
    """Odd rows of the starter set are taught; the even ones play other people's data, whose
    labels miss half of what ours say."""
    rows = np.arange(len(starter.y))
    ours, theirs = (training_part(starter, rows[rows % 2 == k]) for k in (1, 0))
    rng = np.random.default_rng(0)
    forgetful = theirs.y * (rng.random(theirs.y.shape) < 0.5)
    return ours, replace(theirs, y=forgetful, name="theirs", title="Theirs")


@pytest.fixture(scope="module")
def measured(halves, starter):
    same = {name: (name,) for name in starter.target_names}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elsewhere.vocabulary, "words_of", lambda source: same)
        patch.setattr(elsewhere, "N_BOOTSTRAP", 20)
        patch.setattr(elsewhere, "FEWEST", 1)
        return drain(elsewhere.measure_steps(*halves, TINY))


def test_known_molecules_and_those_listed_twice_are_not_measured(halves):
    ours, theirs = halves
    twice = replace(
        theirs,
        **{name: np.concatenate([getattr(theirs, name)] * 2) for name in ("X", "y", "groups")},
        smiles=(*theirs.smiles[:-1], ours.smiles[0]) * 2,
        row_names=theirs.row_names * 2,
    )
    assert len(elsewhere.unknown_rows(ours, twice)) == 0
    rows = elsewhere.unknown_rows(ours, theirs)
    assert 0 < len(rows) <= len(theirs.y)
    assert not {theirs.smiles[row] for row in rows} & set(ours.smiles)


def test_the_quoted_level_is_that_of_the_others_labels(measured):
    assert measured.outside.whose == "Theirs" and measured.outside.which == "unseen molecules"
    assert measured.outside.auroc.low <= measured.outside.auroc.mean <= measured.outside.auroc.high
    assert 0.7 < measured.outside.auroc.mean < measured.levels[0].auroc.mean + 0.05


def test_calibration_there_lowers_what_is_said_to_what_is_confirmed(measured):
    calibrated, own = measured.levels[2], measured.levels[4]
    assert own.stated.mean > own.confirmed.mean + 0.2  # half of the labels were forgotten
    assert abs(calibrated.stated.mean - calibrated.confirmed.mean) < 0.15
    assert calibrated.top_error.mean < own.top_error.mean
    for asked, found in zip(COVERAGES, calibrated.coverage, strict=True):
        assert found == pytest.approx(asked, abs=0.12)  # some 90 molecules


def test_ring_systems_are_kept_together(measured):
    own, rings = measured.levels[:2]
    assert own.which == "unseen molecules" and rings.which == "unseen ring systems"
    assert rings.auroc.mean < own.auroc.mean
    assert measured.levels[3].n_molecules < measured.outside.n_molecules


def test_the_nose_takes_over_calibration_and_lines(measured, halves):
    ours, _ = halves
    nose = train_nose(ours, TINY)
    settled = elsewhere.recalibrated(nose, measured)
    inputs = nose.inputs(ours.X[:30])
    assert settled.answer(inputs)[0].mean() < nose.answer(inputs)[0].mean()
    assert settled.line(0.7) == measured.lines[2]
    assert settled.line(0.7, far=True) == measured.far_lines[2]
    assert settled.are_far(["CCO", ours.smiles[-1], "C1CC2CCC1NN2"]).tolist() == [0, 0, 1]


def test_a_measurement_survives_writing_and_reading(measured):
    assert elsewhere.from_json(elsewhere.to_json(measured)) == measured


def test_the_shipped_measurement_holds_for_the_shipped_nose(starter):
    found = elsewhere.remembered_elsewhere(with_substructures(starter), FlySettings())
    assert found is not None, "assets/results/smell_elsewhere.json belongs to other data or code"
    assert len(found.slope) == len(starter.target_names)
    assert found.outside.top_error.mean < 0.05
    assert all(abs(a - b) < 0.02 for a, b in zip(found.outside.coverage, COVERAGES, strict=True))
    assert elsewhere.remembered_elsewhere(starter, TINY) is None


def test_data_whose_words_nobody_translated_are_refused_by_a_sentence():
    with pytest.raises(DataError, match=r"lists no words of digits.*gs_lf, leffingwell"):
        elsewhere.other_people("digits")
