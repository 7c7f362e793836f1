"""A comparison is one description; it survives a link, an interruption and a change of mind."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcnet_core.errors import KCNetError, LimitError
from kcnet_core.experiments.comparison.rows import (
    Comparison,
    PlannedRows,
    compare_steps,
)
from kcnet_core.experiments.evaluate import best_trade_offs, results_table, trade_offs
from kcnet_core.experiments.models import MODELS
from kcnet_core.limits import MAX_BASELINE_ROWS
from kcnet_core.palette import MODEL_LOOKS
from tests.kcnet_core.experiments.made_data import blobs, labelled, made_dataset

SMALL = Comparison(
    dataset="made", models=("KCNet", "ELM", "KNN"), hidden=(20, 40), n_repeats=2, seed=1
)


def without_times(rows):
    return [{k: v for k, v in row.items() if "seconds" not in k} for row in rows]


def test_every_model_has_a_colour_of_its_own():
    assert set(MODELS) == set(MODEL_LOOKS)


def test_networks_have_one_line_per_hidden_size_and_baselines_one():
    rows = list(compare_steps(SMALL, blobs()))
    first = [row["variant"] for row in rows if row["repeat"] == 0]
    assert first == ["KCNet 20", "ELM 20", "KCNet 40", "ELM 40", "KNN"]
    assert len(rows) == len(PlannedRows(SMALL, blobs()).fits) == 10
    for row in rows:
        assert row["error"] is None and row["weighted F1"] > 0.6
        assert row["hidden"] == (None if row["model"] == "KNN" else int(row["variant"].split()[1]))
        assert json.loads(row["settings"])


def test_the_same_comparison_gives_the_same_rows():
    one, two = (without_times(compare_steps(SMALL, blobs())) for _ in range(2))
    assert one == two


def test_rows_of_other_data_with_the_same_name_shape_and_labels_are_not_taken():
    mine = blobs()
    theirs = replace(mine, X=mine.X.copy())
    assert PlannedRows(SMALL, theirs).known(list(compare_steps(SMALL, mine))), (
        "the same values will do"
    )
    theirs.X[-1, -1] += 1
    changed = replace(mine, X=theirs.X.copy())
    assert PlannedRows(SMALL, changed).known(list(compare_steps(SMALL, mine))) == []


def test_an_interrupted_comparison_goes_on_where_it_stopped():
    dataset = blobs()
    whole = without_times(compare_steps(SMALL, dataset))
    steps = compare_steps(SMALL, dataset)
    begun = [next(steps) for _ in range(4)]
    steps.close()
    rest = list(compare_steps(SMALL, dataset, done=begun))
    assert without_times(begun) + without_times(rest) == whole


def test_more_repeats_sizes_and_models_only_compute_what_is_new():
    dataset = blobs()
    known = list(compare_steps(SMALL, dataset))
    larger = replace(SMALL, n_repeats=3, hidden=(20, 30), models=("KCNet", "KNN"))
    new = list(compare_steps(larger, dataset, done=known))
    assert [(r["variant"], r["repeat"]) for r in new] == [
        *[("KCNet 30", k) for k in range(2)],
        *[(variant, 2) for variant in ("KCNet 20", "KCNet 30", "KNN")],
    ]
    assert len(PlannedRows(larger, dataset).known([*known, *new])) == len(
        PlannedRows(larger, dataset).fits
    )


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 2},
        {"protocol": "paper_split"},
        {"rows": 60},
        {"scaling": "rank"},
        {"oversampling": True},
        {"settings": '{"KCNet":{"alpha":3.0}}'},
    ],
)
def test_another_setting_is_other_work(change):
    dataset = blobs()
    narrow = replace(SMALL, models=("KCNet",), hidden=(20,), n_repeats=1)
    (row,) = compare_steps(narrow, dataset)
    assert PlannedRows(replace(narrow, **change), dataset).known([row]) == []
    assert PlannedRows(narrow, replace(dataset, y=1 - dataset.y)).known([row]) == []


def test_failed_rows_are_tried_again():
    dataset = blobs()
    narrow = replace(SMALL, models=("KNN",), n_repeats=1)
    (row,) = compare_steps(narrow, dataset)
    failed = {**row, "error": "It was cancelled."}
    assert len(list(compare_steps(narrow, dataset, done=[failed]))) == 1
    assert list(compare_steps(narrow, dataset, done=[row])) == []


def test_all_models_share_the_splits_and_rows_are_limited_alike():
    rows = list(compare_steps(replace(SMALL, rows=50), blobs()))
    assert {row["n_train"] for row in rows} == {50}


def test_every_network_runs_on_classes_and_labels():
    comparison = replace(
        SMALL,
        models=("KCNet", "DOA", "Ensemble DOA", "ELM", "FSHN"),
        hidden=(40,),
        n_repeats=1,
        settings='{"DOA":{"n_epochs":2},"Ensemble DOA":{"n_epochs":2}}',
    )
    for dataset in (blobs(n=300, c=3), labelled(n=400, d=8)):
        for row in compare_steps(comparison, dataset):
            assert row["error"] is None, row
            assert row["AUROC"] > 0.6 and row["parameters"] > 0
            assert row["calibration error"] is not None


def test_progress_comes_between_rows_when_asked():
    narrow = replace(SMALL, models=("KCNet",), hidden=(20,), n_repeats=1)
    records = list(compare_steps(narrow, blobs(), progress=True))
    assert len(records) > 1 and isinstance(records[-1], dict)
    assert all(not isinstance(record, dict) for record in records[:-1])


def test_fshn_may_be_matched_by_its_trained_parameters_as_in_the_paper():
    dataset = made_dataset(np.zeros((20, 784)), np.arange(20) % 10)
    comparison = Comparison(models=("FSHN",), hidden=(6500,), fshn_size="parameters")
    (variant,) = PlannedRows(comparison, dataset).variants
    assert variant.settings["n_hidden"] == 82
    (variant,) = PlannedRows(replace(comparison, fshn_size="hidden"), dataset).variants
    assert variant.settings["n_hidden"] == 6500


def test_two_lines_that_are_the_same_work_both_have_their_rows():
    comparison = Comparison(
        dataset="made", models=("FSHN",), hidden=(20, 40), fshn_size="parameters", n_repeats=1
    )
    dataset = blobs()
    one, two = PlannedRows(comparison, dataset).variants
    assert one.settings == two.settings
    first = next(compare_steps(comparison, dataset))
    found = PlannedRows(comparison, dataset).known([first])
    assert [(row["variant"], row["hidden"]) for row in found] == [("FSHN 20", 20), ("FSHN 40", 40)]


def test_submodels_keep_enough_cells_each():
    comparison = Comparison(models=("Ensemble DOA",), hidden=(60, 300, 1300))
    found = [v.settings["n_submodels"] for v in PlannedRows(comparison, blobs()).variants]
    assert found == [2, 6, 10]


def test_the_cost_grows_with_the_work_and_shrinks_with_what_is_done():
    dataset = blobs()

    def cost(comparison, rows=()):
        return PlannedRows(comparison, dataset).job(rows).cost

    small, large = (cost(replace(SMALL, n_repeats=repeats)) for repeats in (2, 20))
    assert large.seconds == pytest.approx(10 * small.seconds) and small.bytes > dataset.X.nbytes
    rows = list(compare_steps(SMALL, dataset))
    assert cost(SMALL, rows[:5]).seconds == pytest.approx(small.seconds / 2)
    assert cost(SMALL, rows).seconds == 0


names = st.lists(st.sampled_from(sorted(MODELS)), min_size=1, max_size=4)


@given(
    names,
    st.lists(st.integers(10, 5000), min_size=1, max_size=4),
    st.integers(1, 50),
    st.sampled_from(["", "paper_split", "benchmark"]),
    st.booleans(),
    st.text(max_size=20),
)
@settings(deadline=None, max_examples=60)
def test_a_link_gives_the_same_comparison_back(models, hidden, repeats, protocol, flag, target):
    comparison = Comparison(
        target=target,
        models=tuple(models),
        hidden=tuple(hidden),
        n_repeats=repeats,
        protocol=protocol,
        oversampling=flag,
    ).with_settings("KCNet", {"alpha": 2.5})
    query = comparison.to_query()
    assert all(isinstance(value, str) for value in query.values())
    assert Comparison.from_query(query) == (comparison, [])


def test_links_and_scripts_of_earlier_versions_give_the_same_comparison():
    link = {
        "options": '{"n_train":300,"normalise":"none"}',
        "settings": '{"DOA":{"learning_rate":0.5,"n_epochs":20},"KNN":{"p":1}}',
    }
    comparison, ignored = Comparison.from_query(link)
    assert not ignored and comparison.to_query() == link
    assert comparison == Comparison(**link) and hash(comparison) == hash(Comparison(**link))
    settings = {"KNN": {"p": 1}, "DOA": {"n_epochs": 20, "learning_rate": 0.5}}
    options = {"normalise": "none", "n_train": 300}
    assert comparison == Comparison(options=options, settings=settings)
    assert comparison == Comparison(options=comparison.options, settings=comparison.settings)


def test_the_default_comparison_has_an_empty_link():
    assert Comparison().to_query() == {}


@pytest.mark.parametrize(
    "query",
    [
        {"models": "Oracle"},
        {"models": ""},
        {"hidden": "lots"},
        {"hidden": "1"},
        {"hidden": ",".join(str(k) for k in range(10, 60))},
        {"hidden": "10000000"},
        {"n_repeats": "0"},
        {"n_repeats": "1e9"},
        {"n_folds": "-1"},
        {"protocol": "cheating"},
        {"scaling": "magic"},
        {"seed": "-1"},
        {"options": "[]"},
        {"options": '{"target":"Sweet"}'},
        {"options": '{"progress":"print"}'},
        {"options": '{"per":[1]}'},
        {"options": '{"normalise":"zca"}'},
        {"options": '{"normalise":3}'},
        {"settings": '{"KCNet":{"pixels":"none"}}'},
        {"target": "x" * 1000},
        {"settings": "{"},
        {"settings": "[" * 100_000},
        {"settings": "[1]"},
        {"settings": '{"Oracle":{}}'},
        {"settings": '{"KNN":{"n_neighbors":1000000000}}'},
        {"settings": '{"KNN":{"n_jobs":100}}'},
        {"settings": '{"KCNet":{"device":"cuda"}}'},
        {"settings": '{"KCNet":{"alpha":"big"}}'},
        {"settings": '{"KCNet":{"n_hidden":100000000}}'},
        {"settings": '{"DOA":{"n_epochs":true}}'},
        {"settings": '{"KCNet":{"alpha":NaN}}'},
    ],
)
def test_a_broken_link_is_named_and_the_rest_still_works(query):
    comparison, ignored = Comparison.from_query({**query, "dataset": "digits"})
    assert comparison == Comparison(dataset="digits")
    assert len(ignored) == 1 and next(iter(query)) in ignored[0]


def test_tuned_settings_reach_the_model():
    comparison = SMALL.with_settings("KNN", {"n_neighbors": 3, "weights": "distance", "p": 1})
    variant = PlannedRows(comparison, blobs()).variants[-1]
    assert variant.make(0).get_params()["n_neighbors"] == 3
    assert comparison.with_settings("KNN", {}) == SMALL


def test_baselines_are_refused_on_too_many_rows():
    n = MAX_BASELINE_ROWS + 500
    dataset = made_dataset(np.zeros((n, 1)), np.arange(n) % 2, n_train=n - 100)
    with pytest.raises(LimitError, match="KNN would take hours"):
        next(compare_steps(SMALL, dataset))


def test_options_of_the_dataset_reach_its_loader():
    comparison = Comparison(options='{"n_train": 50, "n_test": 20}')
    assert comparison.load().X.shape == (70, 784)
    assert Comparison.from_query(comparison.to_query()) == (comparison, [])
    with pytest.raises(KCNetError, match="no option"):
        Comparison(options='{"per": "compound"}').load()


def test_the_scale_of_the_pixels_is_one_of_the_options_of_the_dataset():
    comparison = Comparison(options='{"n_train": 50, "n_test": 20}').with_options("none", "")
    assert comparison.pixels == "none"
    assert dict(comparison.options) == {"n_train": 50, "n_test": 20, "normalise": "none"}
    assert comparison.load().X.min() == 0 and comparison.load().X.max() == 1
    assert Comparison(options='{"normalise":"global"}') == Comparison()
    assert comparison.with_options("", "").options == (("n_test", 20), ("n_train", 50))


def test_a_link_that_scales_the_pixels_of_odors_is_named_and_the_rest_still_works():
    query = {"dataset": "starter", "options": '{"normalise":"none"}', "n_repeats": "4"}
    comparison, ignored = Comparison.from_query(query)
    assert comparison == Comparison(dataset="starter", n_repeats=4)
    assert len(ignored) == 1 and "image sets only" in ignored[0]


def test_an_unknown_dataset_is_a_sentence():
    with pytest.raises(KCNetError, match="no dataset"):
        next(compare_steps(Comparison(dataset="nothing")))


def test_best_trade_offs_are_the_points_that_nothing_beats():
    cost, value = [1, 2, 3, 2, 1], [0.5, 0.9, 0.8, 0.7, 0.5]
    assert best_trade_offs(cost, value).tolist() == [True, True, False, False, True]
    assert best_trade_offs(cost, value, higher_is_better=False).tolist() == [
        True, False, False, False, True,
    ]  # fmt: skip
    assert best_trade_offs([1, np.nan], [0.5, 0.9]).tolist() == [True, False]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_every_point_is_beaten_or_matched_by_one_on_the_front(points):
    cost, value = np.array(points).T
    front = best_trade_offs(cost, value)
    for c, v in points:
        assert any(cost[k] <= c and value[k] >= v for k in np.flatnonzero(front))


def test_trade_offs_join_metric_and_cost_per_variant():
    rows = list(compare_steps(SMALL, blobs()))
    lines = trade_offs(results_table(rows), "accuracy")
    assert len(lines) == 5 and lines["best"].any()
    assert (lines["seconds"] > 0).all() and (lines["low"] <= lines["mean"]).all()


def test_wirings_stand_side_by_side_and_only_kcnets_have_them():
    both = Comparison(
        "digits", models=("KCNet", "ELM"), hidden=(30,), n_repeats=1, wirings=("random", "local")
    )
    rows = list(compare_steps(both))
    assert [row["variant"] for row in rows] == ["KCNet 30", "KCNet, local 30", "ELM 30"]
    assert [row["model"] for row in rows] == ["KCNet", "KCNet, local", "ELM"]
    assert not any(row["error"] for row in rows)
    assert rows[0]["accuracy"] != rows[1]["accuracy"]
    alone = list(compare_steps(replace(both, wirings=("local",)), done=rows))
    assert alone == []


def test_a_comparison_of_wirings_is_its_link():
    both = Comparison("digits", wirings=("random", "local"))
    assert Comparison.from_query(both.to_query()) == (both, [])


def test_odors_cannot_be_wired_by_fields():
    with pytest.raises(KCNetError, match="has no pixels"):
        Comparison("starter", wirings=("random", "local"))
    with pytest.raises(KCNetError, match="at least one wiring"):
        Comparison("digits", wirings=())
