"""A run is one description: its URL form, its limits and the estimator it stands for."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcnet_core import datasets
from kcnet_core.datasets.pixels import NORMALISATIONS
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.presets import PAPER_BEST, our_presets, paper_presets
from kcnet_core.experiments.run import NETWORK_NAMES, Run, settings


@given(
    model=st.sampled_from(NETWORK_NAMES),
    n_hidden=st.integers(10, 20_000),
    alpha=st.floats(1e-3, 1e4),
    learning_rate=st.floats(5e-7, 0.5),
    alpha_loo=st.booleans(),
    seed=st.integers(0, 2**31 - 1),
    stop_metric=st.floats(0, 1),
)
def test_a_run_survives_the_way_through_a_url(**fields):
    run = Run(**fields)
    again, ignored = Run.from_query(run.to_query())
    assert again == run
    assert ignored == []


def test_default_settings_need_no_url_parameters():
    assert Run().to_query() == {}


@given(st.dictionaries(st.sampled_from([*settings(), "other"]), st.text(max_size=20)))
def test_any_text_in_a_link_gives_a_valid_run_and_sentences(query):
    run, ignored = Run.from_query(query)
    assert isinstance(run, Run)
    assert all(sentence.endswith(".") for sentence in ignored)


@pytest.mark.parametrize(
    "fields",
    [{"n_hidden": 5}, {"n_hidden": 10**6}, {"alpha": math.nan}, {"alpha": math.inf},
     {"model": "SVM"}, {"doa_rule": "adam"}, {"seed": -1}, {"target": "x" * 200}],
)  # fmt: skip
def test_values_outside_their_limits_are_refused_with_the_limit(fields):
    with pytest.raises(KCNetError):
        Run(**fields)


def test_plain_kcnet_has_no_epochs_and_only_an_ensemble_has_submodels():
    assert "n_epochs" not in Run(model="KCNet").estimator_parameters()
    assert "n_submodels" not in Run(model="DOA").estimator_parameters()
    assert Run(model="Ensemble DOA", n_submodels=4).estimator_parameters()["n_submodels"] == 4


@pytest.mark.parametrize("model", NETWORK_NAMES)
def test_every_model_gives_an_estimator_with_those_parameters(model):
    run = Run(model=model)
    parameters = run.estimator().get_params()
    for name, value in run.estimator_parameters().items():
        assert parameters[name] == value


def test_the_papers_settings_are_the_printed_ones():
    doa = {p.run.model: p.run for p in paper_presets("mnist")}
    assert (doa["KCNet"].n_hidden, doa["KCNet"].alpha) == (6500, 13)
    assert (doa["DOA"].n_epochs, doa["DOA"].learning_rate, doa["DOA"].stop_metric) == (
        5,
        1e-4,
        0.96,
    )
    assert doa["Ensemble DOA"].doa_rule == "paper"
    assert doa["FSHN"].n_hidden == 82


def test_every_preset_is_a_valid_run_of_its_dataset():
    for dataset, target in [*PAPER_BEST, ("starter", ""), ("mnist_sample", "")]:
        for preset in [*our_presets(dataset, target), *paper_presets(dataset, target)]:
            assert preset.run.dataset == dataset
            assert preset.run.target == target


@pytest.mark.parametrize("model", NETWORK_NAMES)
def test_a_link_names_everything_the_model_uses_and_gives_the_same_run_back(model):
    run = Run(model=model, dataset="digits", n_hidden=70, seed=3)
    link = run.to_link()
    assert {"dataset", "model", "n_hidden", "seed"} <= set(link)
    assert ("alpha" in link) == (model not in ("ELM", "FSHN"))
    assert ("n_submodels" in link) == (model == "Ensemble DOA")
    assert Run.from_query(link) == (run, [])


def test_a_run_is_named_by_titles_not_by_keys():
    assert Run(dataset="fashion_mnist").describe() == "DOA 200 on Fashion-MNIST, seed 0"
    musky = Run(dataset="keller_2016", target="Musky")
    assert "on Keller & Vosshall 2016 (Musky)" in musky.describe()
    assert "on your own data" in Run(dataset="uploaded").describe()


def test_a_run_can_have_every_scale_of_pixels_that_images_can_be_loaded_with():
    scales = settings()["pixels"].options
    assert {scale or "global" for scale in scales} == set(NORMALISATIONS)
    for pixels in scales:
        run = Run(dataset="digits", pixels=pixels)
        assert Run.from_query(run.to_link()) == (run, [])
        expected = datasets.load("digits", normalise=pixels or "global")
        np.testing.assert_array_equal(run.load().X, expected.X)


def test_a_run_says_how_pixels_are_scaled_unless_it_is_as_in_the_paper():
    assert "pixels" not in Run(dataset="digits").describe()
    scaled = Run(dataset="digits", pixels="none")
    assert scaled.describe() == "DOA 200 on Digits, 8 × 8, pixels from 0 to 1, seed 0"
    assert scaled.load().title == "Digits, 8 × 8, pixels from 0 to 1"


@pytest.mark.parametrize("dataset", ["starter", "keller_2016", "uploaded", "nowhere"])
def test_pixels_are_scaled_in_image_sets_of_the_catalogue_only(dataset):
    run, ignored = Run.from_query({"pixels": "none", "dataset": dataset, "seed": "3"})
    assert run == Run(dataset=dataset, seed=3)
    assert len(ignored) == 1 and "image sets only" in ignored[0]


def test_local_wiring_is_part_of_link_estimator_and_title():
    run = Run(wiring="local", min_field=4, max_field=9, leave_field=True)
    assert Run.from_query(run.to_link()) == (run, [])
    assert "local wiring" in run.describe()
    wished = run.estimator().get_params()
    assert [wished[name] for name in ("wiring", "min_field", "max_field")] == ["local", 4, 9]
    assert wished["gradient_mask"] == "none"
    kept = Run(wiring="local").estimator().get_params()
    assert kept["gradient_mask"] is None


def test_a_link_of_random_wiring_says_nothing_of_fields():
    assert not {"min_field", "max_field", "local_share", "leave_field"} & set(Run().to_link())
    assert "wiring" not in Run(model="ELM", wiring="local").estimator_parameters()


def test_odors_have_no_fields():
    run, ignored = Run.from_query({"dataset": "starter", "wiring": "local"})
    assert run.wiring == "random"
    assert len(ignored) == 1 and "has no pixels" in ignored[0]
