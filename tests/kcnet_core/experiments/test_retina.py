"""A retina as a setting: in runs, comparisons, links, scripts and model files."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from dataclasses import replace

import numpy as np
import pytest

from kcnet_core.datasets import load
from kcnet_core.errors import DataError, KCNetError, ModelFileError
from kcnet_core.experiments.comparison.noise import noise_steps
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.comparison.rows import PlannedRows
from kcnet_core.experiments.fitting import retina_for
from kcnet_core.experiments.reopen import reopen, run_of
from kcnet_core.experiments.report import repeat_script, save
from kcnet_core.experiments.run import Run
from kcnet_core.experiments.training import train_steps
from kcnet_core.model_file import load_model, save_model

RUN = Run("digits", model="KCNet", n_hidden=100, retina="patches", n_patches=20, rows=300)


@pytest.fixture(scope="module")
def digits():
    return load("digits")


@pytest.fixture(scope="module")
def trained(digits):
    steps, views = train_steps(RUN, digits), []
    while True:
        try:
            views.append(next(steps))
        except StopIteration as ended:
            return ended.value, views


def test_a_network_is_trained_on_what_its_retina_sees(trained, digits):
    result, views = trained
    assert result.model.n_features_in_ == 2 * 4 * 20
    assert result.feature_names[0] == "patch 0+ [0, 0]"
    assert result.image_shape is None
    assert result.headline[1] > 0.9
    assert any("300 of 300 images" in view.stage for view in views)
    seen = result.inputs(result.train_rows)
    np.testing.assert_allclose(seen.mean(0), 0, atol=1e-2)


def test_a_model_file_holds_the_retina_and_opens_again(trained, digits, tmp_path):
    result, _ = trained
    save(result, tmp_path / "model.kcnet")
    saved = load_model(tmp_path / "model.kcnet")
    np.testing.assert_array_equal(saved.scaler.patches_, result.scaler.patches_)
    X = digits.X[result.test_rows]
    np.testing.assert_array_equal(saved.inputs(X), result.scaler.transform(X))
    assert run_of(saved) == RUN
    again = reopen(saved, RUN, digits)
    assert again.scores == result.scores
    assert again.image_shape is None


def test_a_retina_that_does_not_fit_its_network_is_refused(trained):
    result, _ = trained
    other = retina_for("patches", 10, 0, result.dataset).fit(result.dataset.X[:200])
    with pytest.raises(ModelFileError, match="does not give the 160 inputs"):
        save_model(
            io.BytesIO(), result.model, scaler=other, target_names=result.dataset.target_names,
            feature_names=result.dataset.feature_names,
        )  # fmt: skip
    with pytest.raises(ModelFileError, match="Only a fitted"):
        save_model(
            io.BytesIO(), result.model, scaler=retina_for("patches", 20, 0, result.dataset),
            target_names=result.dataset.target_names, feature_names=result.dataset.feature_names,
        )  # fmt: skip


def test_a_script_repeats_the_run(trained):
    result, _ = trained
    script = repeat_script(result)
    assert "PatchRetina(" in script
    said = io.StringIO()
    with redirect_stdout(said):
        exec(script, {})
    assert f"test accuracy: {result.scores['accuracy']:.4f}" in said.getvalue()


def test_links_carry_the_retina_and_old_ones_have_none():
    assert Run.from_query(RUN.to_query()) == (RUN, [])
    assert RUN.to_link()["retina"] == "patches" and RUN.to_link()["n_patches"] == "20"
    assert not {"retina", "n_patches"} & set(Run("digits").to_link())
    comparison = Comparison("digits", retina="patches", n_patches=30)
    assert Comparison.from_query(comparison.to_query()) == (comparison, [])


@pytest.mark.parametrize("dataset", ["starter", "keller_2016"])
def test_data_without_pixels_are_refused_with_a_sentence(dataset):
    with pytest.raises(KCNetError, match="has no pixels, and a retina looks at images"):
        Run(dataset, retina="patches")
    _, ignored = Run.from_query({"dataset": dataset, "retina": "patches"})
    assert "The link's retina was not used" in ignored[0]
    with pytest.raises(KCNetError, match="no pixels"):
        Comparison(dataset, retina="patches")


def test_a_table_of_ones_own_is_refused_and_fields_do_not_go_behind_a_retina(digits):
    table = replace(digits, name="uploaded", title="My table", image_shape=None)
    with pytest.raises(DataError, match="My table has no pixels"):
        next(s for s in train_steps(replace(RUN, dataset="uploaded"), table) if s is None)
    with pytest.raises(KCNetError, match="Behind a retina a network gets no pixels"):
        Run("digits", retina="patches", wiring="local")
    with pytest.raises(KCNetError, match="Behind a retina"):
        Comparison("digits", retina="patches", wirings=("random", "local"))


def test_all_models_of_a_comparison_see_through_the_same_retina(digits):
    chosen = Comparison(
        "digits", models=("KCNet", "FSHN"), hidden=(50,), n_repeats=1, rows=200,
        retina="patches", n_patches=10,
    )  # fmt: skip
    planned = PlannedRows(chosen, digits)
    rows = list(planned.steps())
    assert [row["error"] for row in rows] == [None, None]
    assert {row["parameters"] for row in rows} == {500, 50 * 81 + 10 * 51}
    without = PlannedRows(replace(chosen, retina=""), digits)
    assert not {fit.id for fit in planned.fits} & {fit.id for fit in without.fits}


def test_noise_is_on_the_image_not_behind_the_retina(digits):
    chosen = Comparison("digits", models=("KCNet",), hidden=(50,), n_repeats=1, rows=200)
    planned = PlannedRows(chosen, digits)
    retina = retina_for("patches", 10, 0, digits)
    make = {v.label: v.make for v in planned.variants}
    rows = list(noise_steps(make, digits, planned.splits(), kinds=("blur",), retina=retina))
    assert not any(row["error"] for row in rows)
    assert rows[-1]["accuracy"] < rows[0]["accuracy"]
