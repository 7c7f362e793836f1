"""A real fly's wiring through runs, links, scripts and comparisons."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kcnet_core.contracts import drain
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.comparison.rows import compare_steps
from kcnet_core.experiments.obstacles import plans_for
from kcnet_core.experiments.presets import SPARSE_TRAINED
from kcnet_core.experiments.report import model_file, repeat_script, run_report
from kcnet_core.experiments.run import Run
from kcnet_core.experiments.training import train_steps
from kcnet_core.model_file import load_model

PLANS = ("hemibrain", "hemibrain-shuffled", "hemibrain-random")
RUN = Run("door", model="KCNet", n_hidden=200, wiring="hemibrain-shuffled", min_synapses=4)


@pytest.fixture
def real_data(shared_data, monkeypatch, tmp_path):
    monkeypatch.setenv("KCNET_DATA", str(shared_data))
    monkeypatch.setenv("KCNET_CACHE", str(tmp_path))


def test_a_link_carries_plan_threshold_and_what_is_done_about_gaps():
    run = replace(RUN, missing="complete", synapse_counts=True)
    assert Run.from_query(run.to_link()) == (run, [])
    assert "fan_in" not in run.to_link() and "min_field" not in run.to_link()
    assert "min_synapses" not in Run("door").to_link()
    assert run.data_options() == {"missing": "complete"}
    compared = Comparison("door", options={"missing": "complete"}, wirings=PLANS)
    assert Comparison.from_query(compared.to_query()) == (compared, [])
    assert compared.missing == "complete"
    assert Comparison("door", options={"missing": "spontaneous"}).options == ()


def test_a_link_carries_whose_odor_characters_are_learned():
    run = Run("door_characters", characters="gs_lf")
    assert Run.from_query(run.to_link()) == (run, []) and "characters" not in RUN.to_link()
    assert run.data_options() == {"characters": "gs_lf"}
    compared = Comparison("door_characters", options={"characters": "all"})
    assert Comparison.from_query(compared.to_query()) == (compared, [])
    assert Comparison("door_characters", options={"characters": "starter"}).options == ()
    with pytest.raises(KCNetError, match="a setting of door_characters only"):
        Run("door", characters="gs_lf")


def test_only_glomeruli_can_be_wired_as_in_a_fly():
    assert plans_for("door", pixels=False) == ("random", *PLANS)
    assert plans_for("mnist", pixels=True) == ("random", "local")
    assert plans_for("starter", pixels=False) == ("random",)
    with pytest.raises(KCNetError, match=r"MNIST has no glomeruli.*choose DoOR"):
        Run("mnist", wiring="hemibrain")
    with pytest.raises(KCNetError, match="DoOR, chemical classes has no pixels"):
        Run("door", wiring="local")
    with pytest.raises(KCNetError, match="Missing responses are a setting of DoOR"):
        Run("starter", missing="complete")
    with pytest.raises(KCNetError, match="has no glomeruli"):
        Comparison("starter", wirings=("random", "hemibrain"))


def test_script_report_and_model_file_carry_the_plan(real_data, capsys):
    trained = drain(train_steps(RUN, RUN.load()))
    exec(repeat_script(trained), {})
    assert f"test weighted F1: {trained.scores['weighted F1']:.4f}" in capsys.readouterr().out
    wiring = run_report(trained)["wiring"]
    assert "Scheffer" in wiring["citation"] and "CC BY-NC" in wiring["licence"]
    saved = load_model(model_file(trained))
    assert saved.model.wiring == RUN.wiring and "DM2" in saved.feature_names
    assert json.loads(json.dumps(saved.info))["wiring"]["title"] == "Hemibrain v1.2"


def test_connections_are_counted_once_however_many_synapses_they_have(real_data):
    trained = drain(train_steps(replace(RUN, synapse_counts=True), RUN.load()))
    W, frame = trained.model.weights_, trained.frames[-1]
    assert W.max() > 3 and frame.density == pytest.approx((W > 0).mean())
    assert frame.density == pytest.approx(trained.records[-1].density)
    assert frame.usage.tolist() == (W > 0).sum(axis=0).tolist()
    assert frame.W_small.max() <= 1, "and shown once, too"


def test_three_wirings_are_compared_on_the_same_splits(real_data):
    plan = Comparison("door", models=("KCNet",), hidden=(100,), n_repeats=2, wirings=PLANS)
    rows = [row for row in compare_steps(plan) if isinstance(row, dict)]
    assert not any(row.get("error") for row in rows)
    assert {row["variant"] for row in rows} == {f"KCNet, {name} 100" for name in PLANS}
    assert len(rows) == 6 and len({row["accuracy"] for row in rows}) > 1


def test_a_sparse_trained_network_is_one_line_beside_the_wirings(real_data):
    plan = Comparison(
        "door", models=("KCNet", "DOA"), hidden=(100,), n_repeats=1, wirings=PLANS,
        settings={"DOA": {**SPARSE_TRAINED, "n_epochs": 4, "learning_rate": 0.1}},
    )  # fmt: skip
    assert Comparison.from_query(plan.to_query()) == (plan, [])
    rows = [row for row in compare_steps(plan) if isinstance(row, dict)]
    assert not any(row.get("error") for row in rows)
    names = [*(f"KCNet, {name}" for name in PLANS), "DOA, sparse, hemibrain-random"]
    assert [row["model"] for row in rows] == names
    assert rows[-1]["AUROC"] != rows[-2]["AUROC"]
