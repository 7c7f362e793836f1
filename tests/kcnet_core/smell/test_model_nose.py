"""Models from the Train page and from files smell too, with their own quality."""

from __future__ import annotations

import io

import numpy as np
import pytest

from kcnet_core.errors import KCNetError
from kcnet_core.experiments import report
from kcnet_core.experiments.run import Run
from kcnet_core.experiments.training import train_steps
from kcnet_core.model_file import load_model, save_model
from kcnet_core.molecules.text import split_lines
from kcnet_core.smell.answers import smell
from kcnet_core.smell.explanation import atom_worths, descriptor_shares
from kcnet_core.smell.model_nose import nose_of_file, nose_of_run


def trained(**settings):
    run = Run(**({"dataset": "starter", "model": "KCNet", "n_hidden": 200, "seed": 1} | settings))
    steps = train_steps(run, run.load())
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


@pytest.fixture(scope="module")
def run():
    return trained()


def test_a_trained_run_answers_and_its_quality_is_that_of_its_test_rows(run):
    nose, quality = nose_of_run(run)
    (answer,) = smell(nose, split_lines("CCCC(=O)OCC")).given
    np.testing.assert_allclose(
        answer.probabilities, run.model.predict_proba(nose.inputs(answer.features[None]))[0]
    )
    assert answer.each.shape == (1, len(nose.characters))
    measured = [q.auroc.mean for q in quality.characters]
    assert quality.auroc.mean == pytest.approx(np.nanmean(measured))
    assert quality.auroc.mean == pytest.approx(run.scores["AUROC"], abs=1e-6)
    assert "bootstrap" in quality.how and str(len(run.test_rows)) in quality.how


def test_held_back_molecules_are_known_but_not_taught(run):
    nose, _ = nose_of_run(run)
    held_back, taught = run.test_rows[0], run.train_rows[0]
    assert not nose.known.taught[held_back] and nose.known.taught[taught]


def test_a_model_file_answers_like_the_model_it_was_made_from(run):
    nose, quality = nose_of_run(run)
    again, quality_again = nose_of_file(load_model(report.model_file(run)), "mine.kcnet")
    vanillin = "COc1cc(C=O)ccc1O"
    one, two = (smell(n, split_lines(vanillin)).given[0] for n in (nose, again))
    np.testing.assert_allclose(one.probabilities, two.probabilities)
    assert "mine.kcnet" in again.title and again.known is not None
    assert quality_again.auroc == quality.auroc


def test_a_file_without_its_data_answers_but_promises_nothing(run):
    out = io.BytesIO()
    save_model(
        out, run.model, scaler=run.scaler, feature_names=run.dataset.feature_names,
        target_names=run.dataset.target_names,
    )  # fmt: skip
    nose, quality = nose_of_file(load_model(out.getvalue()))
    (answer,) = smell(nose, split_lines("CCO")).given
    assert quality is None and nose.known is None and answer.verdict is None


@pytest.mark.parametrize("model", ["ELM", "FSHN"])
def test_other_networks_smell_as_well(model):
    nose, quality = nose_of_run(trained(model=model, n_hidden=60, n_epochs=3))
    (answer,) = smell(nose, split_lines("CCCC(=O)OCC")).given
    assert np.isfinite(answer.probabilities).all() and np.isfinite(quality.auroc.mean)
    assert np.isfinite(atom_worths(nose, answer)).all()
    if model == "ELM":
        with pytest.raises(KCNetError, match="sigmoid"):
            descriptor_shares(nose, answer, 0)
    else:
        assert len(descriptor_shares(nose, answer, 0).values) == len(nose.input_names)


def test_a_run_on_one_character_answers_for_that_one():
    nose, quality = nose_of_run(trained(target="Musky"))
    assert nose.characters == ("Musky",)
    (answer,) = smell(nose, split_lines("CC1CCCCCCCCCCCCC(=O)C1")).given
    assert answer.probabilities[0] > 0.5
    assert quality.characters[0].auroc.mean > 0.7


def test_a_run_on_images_cannot_smell():
    with pytest.raises(KCNetError, match="images"):
        nose_of_run(trained(dataset="digits", n_hidden=20))
