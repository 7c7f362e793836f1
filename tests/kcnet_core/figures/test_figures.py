"""Charts show what they are given, stay still while they update, and read as text."""

from __future__ import annotations

import base64
import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from kcnet_core import figures, palette
from kcnet_core.experiments.block_means import MAX_SIDE, block_size, reduce_matrix

THEMES = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])


def picture(uri: str) -> Image.Image:
    head, data = uri.split(",", 1)
    assert head == "data:image/png;base64"
    return Image.open(io.BytesIO(base64.b64decode(data)))


def named(figure, name):
    return next(trace for trace in figure.data if trace.name == name)


# -- reduction -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(6500, 784), (1201, 401), (400, 400), (7, 3), (1, 900)])
def test_reduction_gives_the_mean_of_every_block_also_at_ragged_edges(shape):
    M = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    small = reduce_matrix(M)
    assert max(small.shape) <= MAX_SIDE
    rows, columns = (block_size(side) for side in shape)
    for i, j in [(0, 0), (-1, -1), (0, -1), (len(small) // 2, small.shape[1] // 2)]:
        i, j = i % small.shape[0], j % small.shape[1]
        block = M[i * rows : (i + 1) * rows, j * columns : (j + 1) * columns]
        assert small[i, j] == pytest.approx(block.mean(), abs=1e-5)


def test_density_reduction_keeps_ones_that_subsampling_would_lose():
    W = np.zeros((6500, 784), np.uint8)
    W[4321, 123] = 1
    small = reduce_matrix(W, how="density")
    rows, columns = block_size(6500), block_size(784)
    assert small[4321 // rows, 123 // columns] == pytest.approx(1 / (rows * columns))
    assert np.count_nonzero(small) == 1


def test_density_counts_entries_that_are_not_zero():
    M = np.array([[2.0, 0.0], [-3.0, 0.0]], np.float32)
    assert reduce_matrix(M, max_side=1, how="density")[0, 0] == pytest.approx(0.5)


def test_an_unknown_reduction_is_refused():
    with pytest.raises(ValueError, match="mean"):
        reduce_matrix(np.zeros((2, 2)), how="median")


def test_what_is_shown_before_and_while_a_network_trains_does_not_load_plotly():
    code = (
        "import sys; from kcnet_core.experiments.block_means import reduce_matrix; "
        "from kcnet_core import figures; figures.film_data, figures.training_charts; "
        "figures.image_tiles, figures.matrix_png; "
        "print('plotly' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# -- matrix pictures -------------------------------------------------------------------------------


@THEMES
def test_a_matrix_png_is_a_palette_image_with_the_page_colour_at_zero(dark):
    M = np.array([[-1.0, 0.0, 1.0, 5.0, np.nan]])
    image = picture(figures.matrix_png(M, "diverging", dark))
    assert image.mode == "P"
    colours = np.asarray(image.convert("RGB"))[0].astype(int)
    page = [int(palette.theme(dark).background[i : i + 2], 16) for i in (1, 3, 5)]
    assert np.abs(colours[1] - page).max() <= 6
    assert np.abs(colours[4] - page).max() <= 6  # a missing value shows as nothing
    assert (colours[3] == colours[2]).all()  # beyond the scale is its end
    assert np.abs(colours[0] - colours[2]).max() > 60


def test_a_matrix_picture_has_its_axes_in_cells_and_inputs():
    S = np.zeros((6500, 784), np.float32)
    figure = figures.matrix_picture(S, "S")
    image = figure.data[0]
    width, height = picture(image.source).size
    assert (width, height) == (196, 260)
    # The first pixel's centre and the last pixel's far edge, in inputs and cells
    assert image.x0 - image.dx / 2 == pytest.approx(-0.5)
    assert image.x0 + (width - 0.5) * image.dx >= 783.5
    assert image.y0 - image.dy / 2 == pytest.approx(-0.5)
    assert tuple(figure.layout.xaxis.range) == (-0.5, 783.5)
    assert tuple(figure.layout.yaxis.range) == (6499.5, -0.5)
    assert figure.layout.xaxis.title.text == "Input"
    assert figure.layout.yaxis.title.text == "Kenyon cell"


def test_a_reduced_matrix_gives_the_same_picture_as_the_full_one():
    W = (np.random.default_rng(0).random((2000, 500)) < 0.02).astype(np.uint8)
    small = reduce_matrix(W, how="density")
    whole = figures.matrix_picture(W, "W")
    assert figures.matrix_picture(small, "W", shape=W.shape).to_json() == whole.to_json()


def test_a_live_matrix_is_small_to_send():
    rng = np.random.default_rng(0)
    S = rng.uniform(-1, 1, (6500, 784)).astype(np.float32)
    assert len(figures.matrix_picture(S, "S").to_json()) < 150_000


def test_the_scale_of_s_never_moves_and_that_of_w_moves_in_large_steps():
    rng = np.random.default_rng(0)
    ends = []
    for scale in (0.1, 1.0):
        S = scale * rng.uniform(-1, 1, (50, 40)).astype(np.float32)
        ends.append(figures.matrix_picture(S, "S").data[1].marker.cmax)
    assert ends == [1.0, 1.0]
    limits = {figures.nice_limit(np.full(10, x)) for x in np.linspace(0.021, 0.05, 30)}
    assert limits == {0.05}


def test_submodels_are_parted_by_lines():
    figure = figures.matrix_picture(np.zeros((100, 20)), "W", n_submodels=4)
    assert [shape.y0 for shape in figure.layout.shapes] == [24.5, 49.5, 74.5]


def test_a_window_names_inputs_and_cells_and_is_never_larger_than_200():
    M = np.random.default_rng(0).uniform(-1, 1, (1000, 784)).astype(np.float32)
    names = [f"pixel {i}" for i in range(784)]
    heat = figures.matrix_window(M, slice(900, 2000), slice(100, 700), names, "S").data[0]
    assert heat.z.shape == (100, 200)
    assert (heat.x[0], heat.x[-1]) == ("pixel 100", "pixel 299")
    assert (heat.y[0], heat.y[-1]) == (900, 999)
    assert heat.z[3, 5] == M[903, 105]
    assert "%{x}" in heat.hovertemplate and "cell %{y}" in heat.hovertemplate


def test_inputs_of_the_same_name_stay_two_columns():
    heat = figures.matrix_window(np.eye(3), slice(0, 3), slice(0, 3), ["a", "a", "b"], "W").data[0]
    assert len(set(heat.x)) == 3


# -- lambda ----------------------------------------------------------------------------------------


def test_the_lambda_path_marks_the_slider_and_what_leave_one_out_chooses():
    alphas = np.logspace(-2, 2, 9)
    error = (np.log10(alphas) - 1) ** 2 + 0.1
    figure = figures.lambda_path(
        alphas, error, 1 - error / 10, chosen=0.1, best=10.0, metric="accuracy"
    )
    assert sorted(shape.x0 for shape in figure.layout.shapes) == [0.1, 10.0]
    assert figure.layout.xaxis.type == "log"
    assert named(figure, "leave-one-out error").yaxis == "y2"
    assert "smallest at λ = 10" in figures.alt(figure)


# -- pictures --------------------------------------------------------------------------------------


def test_many_images_are_one_picture():
    images = np.random.default_rng(0).random((23, 64))
    figure = figures.image_grid(images, (8, 8), [str(i % 3) for i in range(23)])
    assert sum(trace.type == "image" for trace in figure.data) == 1
    labels = next(trace for trace in figure.data if trace.type == "scatter")
    assert len(labels.text) == 23
    assert "23 images" in figures.alt(figure)


@THEMES
def test_an_image_is_drawn_at_its_place_ink_on_paper(dark):
    images = np.zeros((2, 4, 4))
    images[1, 2, 3] = 1
    source = figures.image_grid(images, (4, 4), [""] * len(images), dark=dark).data[0].source
    drawn = np.asarray(picture(source).convert("RGB")).astype(int)
    ink = [int(palette.theme(dark).text[i : i + 2], 16) for i in (1, 3, 5)]
    assert np.abs(drawn[2, 4 + 3 + 3] - ink).max() <= 2
    assert (np.abs(drawn - ink).max(axis=2) <= 2).sum() == 1


def test_receptive_fields_show_each_chosen_cell_with_its_number():
    W = np.zeros((50, 16), np.uint8)
    W[:, 3] = 1
    figure = figures.cell_pictures(W, (4, 4), [5, 20, 49])
    assert list(figure.data[1].text) == ["5", "20", "49"]
    assert "1 to 1 each" in figures.alt(figure)


def test_the_usage_of_a_pixel_is_drawn_at_its_place():
    W = (np.random.default_rng(0).random((30, 784)) < 0.1).astype(np.uint8)
    usage = figures.pixel_map(W.sum(axis=0), (28, 28), unit="cells")
    assert usage.data[0].z[1, 2] == W[:, 30].sum()


def test_contributions_stand_beside_the_image_on_a_scale_centred_on_zero():
    values = np.linspace(-1, 2, 16)
    figure = figures.contribution_map(values, np.arange(16.0), (4, 4))
    heat = figure.data[1]
    assert heat.zmin == -heat.zmax
    assert heat.z[0, 0] == -1
    assert f"{values.sum():+.3f}" in figures.alt(figure)


# -- results and data ------------------------------------------------------------------------------


def test_few_errors_among_many_right_answers_can_still_be_seen():
    cm = np.diag([1000, 1000, 1000])
    cm[0, 2] = 3
    figure = figures.confusion_matrix(cm, ["a", "b", "c"])
    heat = figure.data[0]
    assert heat.z[0, 0] < 0 < heat.z[0, 2]
    assert heat.z[0, 2] / heat.zmax > 0.2
    assert heat.z[1, 0] == 0
    assert "a taken for c, 3 rows" in figures.alt(figure)


def test_a_perfect_confusion_matrix_and_many_classes_are_drawn():
    assert "100.0% right" in figures.alt(figures.confusion_matrix(np.eye(2, dtype=int), ["a", "b"]))
    many = figures.confusion_matrix(np.ones((47, 47), int), [str(i) for i in range(47)])
    assert not any(trace.mode == "text" for trace in many.data if trace.type == "scatter")


class Points:
    confidence = np.array([0.3, 0.9])
    correct = np.array([0.5, 0.9])
    count = np.array([10, 30])


def test_reliability_states_the_calibration_error():
    figure = figures.reliability(Points)
    assert "0.050" in figures.alt(figure)
    assert figure.data[1].marker.size[0] < figure.data[1].marker.size[1]


def test_timings_are_shown_in_order_with_their_shares_and_without_empty_stages():
    figure = figures.timing_bar({"wiring": 1.0, "doa": 0.0, "gram": 3.0})
    assert list(figure.data[0].x) == [1.0, 3.0]
    assert figure.layout.yaxis.ticktext == ("wiring", "Gram matrix")
    assert "(75%)" in figure.data[0].text[1]


def test_class_scores_always_show_the_truth():
    probabilities = np.linspace(1, 0, 30) / 15.5
    names = [f"class {i}" for i in range(30)]
    figure = figures.class_scores(probabilities, names, ["class 29"])
    shown = figure.layout.yaxis.ticktext
    assert len(shown) == 11
    assert shown[-1].startswith("class 29")
    assert figure.data[0].marker.color[-1] == palette.LIGHT.good


def test_labels_that_cannot_be_measured_are_left_out():
    figure = figures.label_scores([0.7, np.nan, 0.4], ["a", "b", "c"], [5, 0, 9])
    assert [text.split()[0] for text in figure.layout.yaxis.ticktext] == ["a", "c"]


def test_a_clicked_point_knows_its_cell():
    figure = figures.cell_scatter(np.linspace(0, 1, 7000), np.ones(7000))
    points = figure.data[0].customdata
    assert len(points) <= 2000
    assert points[0] == 0 and points[-1] == 6999


def test_contribution_bars_and_the_rest_sum_to_the_score():
    values = np.random.default_rng(0).normal(size=100)
    names = [f"d{i}" for i in range(100)]
    figure = figures.contribution_bars(values, names, {"d0": "a meaning"}, top=10)
    assert len(figure.data[0].x) == 11
    assert sum(figure.data[0].x) == pytest.approx(values.sum())
    assert figure.layout.yaxis.ticktext[-1] == "the other 90 together"


def test_output_weights_of_two_classes_are_named_by_the_second():
    figure = figures.output_weights([0.5], ["not musky", "musky"])
    assert figure.layout.yaxis.ticktext == ("musky",)


def test_label_balance_and_usage_are_ranked():
    balance = figures.label_balance([3, 9, 5], ["a", "b", "c"], 20)
    assert list(balance.data[0].x) == [9, 5, 3]
    assert "(45%)" in balance.data[0].text[0]
    usage = figures.usage_bars(np.array([1, 7, 3, *[0] * 30]), ["x", "y", "z", *["w"] * 30])
    assert usage.layout.yaxis.ticktext[:4] == ("y", "z", "x", "w")
    assert len(usage.data[0].x) == 20


def test_descriptor_histograms_survive_constants_and_missing_values():
    X = np.column_stack([np.arange(100.0), np.full(100, 3.0), np.full(100, np.nan)])
    figure = figures.descriptor_histograms(X, ["a", "b", "c"])
    assert [sum(trace.y) for trace in figure.data] == [98, 100, 0]


def test_correlation_of_inputs():
    x = np.random.default_rng(0).normal(size=200)
    figure = figures.correlation_matrix(np.column_stack([x, -x, x * 0]), ["a", "b", "c"])
    z = figure.data[0].z
    assert z[0, 1] == pytest.approx(-1)
    assert np.isnan(z[0, 2])


# -- comparisons -----------------------------------------------------------------------------------


def summary_lines():
    lines = [
        {"variant": f"{model} {hidden}", "model": model, "hidden": hidden, "metric": metric,
         "mean": mean * factor, "low": 0.9 * mean * factor, "high": 1.1 * mean * factor, "n": 3}
        for model, mean in (("KCNet", 0.8), ("ELM", 0.7))
        for hidden, factor in ((100, 1.0), (1000, 1.2))
        for metric in ("accuracy", "configure_seconds", "fit_seconds", "evaluate_seconds")
    ]  # fmt: skip
    lines.append(
        {"variant": "SVM", "model": "SVM", "hidden": None, "metric": "accuracy", "mean": 0.75,
         "low": np.nan, "high": np.nan, "n": 1}
    )  # fmt: skip
    return pd.DataFrame(lines)


@THEMES
def test_metric_against_hidden_size_has_a_band_per_model_and_a_level_for_baselines(dark):
    figure = figures.metric_vs_hidden(summary_lines(), "accuracy", dark=dark)
    assert sum(trace.fill == "toself" for trace in figure.data) == 2
    kcnet = named(figure, "KCNet")
    assert list(kcnet.x) == [100, 1000]
    assert kcnet.line.color == palette.model_colour("KCNet", dark)
    assert list(named(figure, "SVM").x) == [100, 1000]


def test_metric_against_time_marks_the_front():
    points = pd.DataFrame(
        {"variant": ["KCNet 100", "ELM 100"], "model": ["KCNet", "ELM"], "hidden": [100, 100],
         "mean": [0.9, 0.8], "low": [0.88, 0.7], "high": [0.92, 0.9], "seconds": [1.0, 2.0],
         "best": [True, False]}
    )  # fmt: skip
    figure = figures.metric_vs_time(points, "accuracy")
    assert list(named(figure, "best trade-offs").x) == [1.0]
    assert "KCNet 100 (0.900 in 1 s)" in figures.alt(figure)
    other = figures.metric_vs_time(points.assign(best=True), "accuracy")
    assert list(named(other, "best trade-offs").x) == [1.0, 2.0]


def test_sizes_beside_points_meet_neither_points_nor_each_other():
    points = pd.DataFrame(
        {"variant": list("abcdef"), "model": ["KCNet", "ELM"] * 3,
         "hidden": [100, 100, 250, 250, 500, 500],
         "mean": [0.949, 0.946, 0.975, 0.964, 0.983, 0.981],
         "seconds": [0.081, 0.075, 0.12, 0.103, 0.15, 0.16], "best": [True] * 6}
    )  # fmt: skip
    figure = figures.metric_vs_time(points, "accuracy")
    (left, right), (low, high) = figure.layout.xaxis.range, figure.layout.yaxis.range
    dots, boxes = [], []  # middles and half sizes, in pixels
    for trace in (named(figure, "KCNet"), named(figure, "ELM")):
        across = 330 * (np.log10(np.array(trace.x)) - left) / (right - left)
        up = 310 * (np.array(trace.y) - low) / (high - low)
        for x, y, text, corner in zip(across, up, trace.text, trace.textposition, strict=True):
            dots.append((x, y, 4, 4))
            if text:
                aside, above = 1 if "right" in corner else -1, 1 if "top" in corner else -1
                half = 3 * len(text)
                boxes.append((x + aside * (5 + half), y + above * 10, half - 1, 5))
    assert len(boxes) >= 3
    for k, (x, y, a, b) in enumerate(boxes):
        others = dots + boxes[:k]
        assert all(abs(x - u) >= a + c or abs(y - v) >= b + d for u, v, c, d in others)


def test_time_is_split_into_three_panels():
    figure = figures.time_split(summary_lines())
    titles = [a.text for a in figure.layout.annotations]
    assert titles == ["Configuration", "Training", "Evaluation"]
    assert len(figure.data) == 6


def test_parameters_leave_out_models_that_have_none():
    table = pd.DataFrame(
        {"variant": ["KCNet 9", "KCNet 9", "SVM"], "model": ["KCNet", "KCNet", "SVM"],
         "parameters": [90, 90, None]}
    )  # fmt: skip
    assert figures.parameters_bar(table).layout.yaxis.ticktext == ("KCNet 9",)


def test_noise_curves_say_where_each_model_ends():
    lines = pd.DataFrame(
        {"model": ["KCNet"] * 3, "level": [0.2, 0.0, 0.4], "mean": [0.8, 0.9, 0.5]}
    )
    figure = figures.noise_curves(lines, "accuracy", "Noise (standard deviations)")
    assert list(named(figure, "KCNet").x) == [0.0, 0.2, 0.4]
    assert "KCNet 0.500" in figures.alt(figure)


def test_differences_that_may_be_chance_have_no_colour():
    pairs = pd.DataFrame(
        {"first": ["DOA", "DOA"], "second": ["ELM", "SVM"], "difference": [0.1, 0.02],
         "low": [0.05, -0.03], "high": [0.15, 0.07], "n": [5, 5], "p_holm": [0.01, 0.6],
         "better": ["DOA", ""]}
    )  # fmt: skip
    figure = figures.pairwise_matrix(pairs, "accuracy")
    z = figure.data[0].z
    assert z[0, 1] == pytest.approx(0.1) and z[1, 0] == pytest.approx(-0.1)
    assert z[0, 2] == z[2, 0] == 0
    assert "may be chance" in figure.data[0].text[0][2]
    assert "DOA over ELM" in figures.alt(figure)


class Trial:
    def __init__(self, number, value):
        self.number, self.value, self.params = number, value, {"alpha": 0.1}


def test_trials_show_the_best_so_far_and_skip_failed_ones():
    trials = [Trial(0, 0.5), Trial(1, 0.7), Trial(2, None), Trial(3, 0.6)]
    figure = figures.trials_scatter(trials, "accuracy", model="DOA")
    assert list(named(figure, "best so far").y) == [0.5, 0.7, 0.7]
    assert figure.layout.shapes[0].y0 == 0.5
    assert figures.trials_scatter([], "accuracy").layout.meta["alt"].endswith("no trial yet.")


# -- what holds for all ----------------------------------------------------------------------------


def every_figure(dark):
    rng = np.random.default_rng(0)
    W = (rng.random((30, 784)) < 0.1).astype(np.uint8)
    S = rng.uniform(-1, 1, (30, 784)).astype(np.float32)
    names = [f"pixel {i}" for i in range(784)]
    alphas = np.logspace(-1, 1, 5)
    lines = summary_lines()
    return [
        figures.matrix_picture(S, "S", dark=dark, title="Preference scores S"),
        figures.matrix_picture(S - 0.1, "difference", dark=dark),
        figures.matrix_window(W, slice(0, 9), slice(0, 9), names, "W", dark=dark),
        figures.lambda_path(
            alphas, alphas, alphas / 10, chosen=1.0, best=0.1, metric="accuracy", dark=dark
        ),
        figures.image_grid(rng.random((4, 784)), (28, 28), list("abcd"), dark=dark),
        figures.cell_pictures(W, (28, 28), [1, 2], dark=dark),
        figures.pixel_map(W.sum(axis=0), (28, 28), unit="cells", dark=dark),
        figures.contribution_map(S[0], S[1], (28, 28), dark=dark),
        figures.confusion_matrix(np.eye(3, dtype=int), list("abc"), dark=dark),
        figures.reliability(Points, dark=dark),
        figures.timing_bar({"gram": 1.0}, dark=dark),
        figures.class_scores([0.9, 0.1], ["a", "b"], ["a"], dark=dark),
        figures.label_scores([0.9, 0.6], ["a", "b"], [3, 4], dark=dark),
        figures.cell_scatter(rng.random(30), rng.random(30), dark=dark),
        figures.output_weights([0.1, -0.1], ["a", "b"], dark=dark),
        figures.contribution_bars(S[0], names, dark=dark),
        figures.label_balance([1, 2], ["a", "b"], 3, dark=dark),
        figures.usage_bars(W.sum(axis=0), names, dark=dark),
        figures.descriptor_histograms(S[:, :4], names[:4], dark=dark),
        figures.correlation_matrix(S[:, :9], names[:9], dark=dark),
        figures.metric_vs_hidden(lines, "accuracy", dark=dark),
        figures.time_split(lines, dark=dark),
        figures.trials_scatter([Trial(0, 0.5)], "accuracy", dark=dark),
    ]


@THEMES
def test_every_figure_has_a_sentence_a_height_and_a_transparent_background(dark):
    for figure in every_figure(dark):
        assert figures.alt(figure).endswith(".")
        assert len(figures.alt(figure)) > 20
        assert figure.layout.height
        own, common = figure.layout, figure.layout.template.layout
        assert common.paper_bgcolor == common.plot_bgcolor == "rgba(0,0,0,0)"
        assert common.font.color == palette.theme(dark).text
        assert not common.colorway
        assert not (own.paper_bgcolor or own.plot_bgcolor or own.font.color or own.colorway)


def test_names_that_visitors_upload_are_never_read_as_markup():
    evil = '<a href="javascript:alert(1)">x</a>'
    W = np.eye(2, dtype=np.uint8)
    for figure in (
        figures.matrix_window(W, slice(0, 2), slice(0, 2), [evil, "b"], "W"),
        figures.label_balance([1, 2], [evil, "b"], 3),
        figures.class_scores([0.9, 0.1], [evil, "b"], [evil]),
        figures.confusion_matrix(np.eye(2, dtype=int), [evil, "b"]),
        figures.contribution_bars([1.0, 2.0], [evil, "b"], {evil: evil}),
        figures.usage_bars(W.sum(axis=0), [evil, "b"]),
        figures.correlation_matrix(np.eye(2), [evil, "b"]),
        figures.descriptor_histograms(np.eye(2), [evil, "b"]),
        figures.image_grid(np.zeros((1, 4)), (2, 2), [evil]),
        figures.label_scores([0.5, 0.6], [evil, "b"], [3, 4]),
        figures.matrix_picture(W, "W", title=evil),
    ):
        shown = figure.to_plotly_json()
        shown["layout"].pop("meta")
        assert "<a " not in json.dumps(shown, default=str)


def test_a_profile_shows_the_line_from_which_on_characters_are_named():
    figure = figures.odor_profile(["a", "b", "c"], [0.6, 0.5, 0.2], [[0.6, 0.5, 0.2]], line=0.5)
    (line,) = figure.layout.shapes
    assert line.x0 == line.x1 == 50
    strong, named, pale = figure.data[0].marker.color
    assert strong == named != pale
