"""Charts show what they are given, stay still while they update, and read as text."""

from __future__ import annotations

import base64
import io
import subprocess
import sys

import numpy as np
import plotly.graph_objects as go
import pytest
from PIL import Image

from kcnet_core import figures, palette
from kcnet_core.records import EpochRecord

THEMES = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])


def picture(uri: str) -> Image.Image:
    head, data = uri.split(",", 1)
    assert head == "data:image/png;base64"
    return Image.open(io.BytesIO(base64.b64decode(data)))


def records(n_epochs=5, n_submodels=1):
    return [
        EpochRecord(
            epoch=epoch,
            submodel=k,
            train_metric=0.6 + 0.05 * epoch,
            validation_metric=0.5 + 0.05 * epoch + 0.01 * k,
            flips_on=10 * epoch + k,
            flips_off=3 * epoch,
            density=0.01 * epoch,
            seconds=0.1,
        )
        for epoch in range(1, n_epochs + 1)
        for k in range(n_submodels)
    ]


def named(figure, name):
    return next(trace for trace in figure.data if trace.name == name)


# -- reduction -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(6500, 784), (1201, 401), (400, 400), (7, 3), (1, 900)])
def test_reduction_gives_the_mean_of_every_block_also_at_ragged_edges(shape):
    M = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    small = figures.reduce_matrix(M)
    assert max(small.shape) <= 400
    rows, columns = (figures.block_size(side) for side in shape)
    for i, j in [(0, 0), (-1, -1), (0, -1), (len(small) // 2, small.shape[1] // 2)]:
        i, j = i % small.shape[0], j % small.shape[1]
        block = M[i * rows : (i + 1) * rows, j * columns : (j + 1) * columns]
        assert small[i, j] == pytest.approx(block.mean(), abs=1e-5)


def test_density_reduction_keeps_ones_that_subsampling_would_lose():
    W = np.zeros((6500, 784), np.uint8)
    W[4321, 123] = 1
    small = figures.reduce_matrix(W, how="density")
    rows, columns = figures.block_size(6500), figures.block_size(784)
    assert small[4321 // rows, 123 // columns] == pytest.approx(1 / (rows * columns))
    assert np.count_nonzero(small) == 1


def test_density_counts_entries_that_are_not_zero():
    M = np.array([[2.0, 0.0], [-3.0, 0.0]], np.float32)
    assert figures.reduce_matrix(M, max_side=1, how="density")[0, 0] == pytest.approx(0.5)


def test_an_unknown_reduction_is_refused():
    with pytest.raises(ValueError, match="mean"):
        figures.reduce_matrix(np.zeros((2, 2)), how="median")


def test_reducing_a_matrix_does_not_load_plotly():
    code = (
        "import sys; from kcnet_core.figures import reduce_matrix; print('plotly' in sys.modules)"
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
    assert (width, height) == (392, 383)
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
    small = figures.reduce_matrix(W, how="density")
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
    heat = figures.matrix_window(np.eye(3), (0, 3), (0, 3), ["a", "a", "b"], "W").data[0]
    assert len(set(heat.x)) == 3


# -- curves ----------------------------------------------------------------------------------------


def test_the_validation_curve_of_one_network():
    figure = figures.validation_curve(records(5), "accuracy", n_epochs=60, stop_metric=0.9)
    line = named(figure, "validation")
    assert list(line.x) == [1, 2, 3, 4, 5]
    assert line.y[-1] == pytest.approx(0.75)
    assert named(figure, "training").line.dash == "dot"
    assert figure.layout.xaxis.range[1] == pytest.approx(60.5)
    assert figure.layout.yaxis.title.text == "Accuracy"
    assert figure.layout.shapes[0].y0 == 0.9
    assert "0.7500 in epoch 5" in figures.alt(figure)


def test_an_ensemble_has_a_line_per_submodel_and_their_mean():
    figure = figures.validation_curve(records(4, n_submodels=3))
    bundle = named(figure, "submodels")
    assert sum(x is None for x in bundle.x) == 3
    mean = named(figure, "validation, mean")
    assert mean.y[0] == pytest.approx(np.mean([0.55, 0.56, 0.57]))


def test_the_mean_waits_for_the_slowest_submodel():
    behind = [r for r in records(4, 2) if not (r.submodel == 1 and r.epoch > 2)]
    figure = figures.validation_curve(behind)
    assert list(named(figure, "validation, mean").x) == [1, 2]


def test_axes_stand_still_while_a_curve_grows():
    def ranges(n):
        figure = figures.validation_curve(records(n), n_epochs=60)
        return figure.layout.xaxis.range, figure.layout.margin, figure.layout.height

    assert ranges(1) == ranges(2) == ranges(5)


def test_a_thousand_epochs_of_fifty_submodels_stay_small_to_send():
    many = records(1000, 50)
    assert len(figures.validation_curve(many).to_json()) < 150_000


@pytest.mark.parametrize(
    "draw", [figures.validation_curve, figures.density_curve, figures.flips_bars]
)
def test_curves_without_any_epoch_are_empty_and_not_an_error(draw):
    figure = draw([], n_epochs=10)
    assert isinstance(figure, go.Figure)
    assert figures.alt(figure)


def test_flips_go_up_for_on_and_down_for_off_over_all_submodels():
    figure = figures.flips_bars(records(2, n_submodels=2))
    assert list(named(figure, "switched on").y) == [21, 41]
    assert list(named(figure, "switched off").y) == [-6, -12]
    assert not any("-" in text for text in figure.layout.yaxis.ticktext)


def test_density_is_shown_in_per_cent():
    figure = figures.density_curve(records(3))
    assert list(figure.data[0].y) == pytest.approx([1, 2, 3])


def test_the_score_histogram_is_the_same_from_scores_and_from_counts():
    S = np.random.default_rng(0).uniform(-1, 1, (50, 40))
    edges = np.linspace(-1, 1, 61)
    counts = np.histogram(S, edges)[0]
    one, other = figures.score_histogram(S), figures.score_histogram(counts, edges)
    assert one.to_json() == other.to_json()
    assert sum(one.data[0].y) == pytest.approx(100)


def test_the_lambda_path_marks_the_slider_and_what_leave_one_out_chooses():
    alphas = np.logspace(-2, 2, 9)
    error = (np.log10(alphas) - 1) ** 2 + 0.1
    figure = figures.lambda_path(
        alphas, error, 1 - error / 10, chosen=0.1, best=10.0, metric="accuracy"
    )
    assert sorted(shape.x0 for shape in figure.layout.shapes) == [0.1, 10.0]
    assert figure.layout.xaxis.type == "log"
    assert named(figure, "leave-one-out error (right)").yaxis == "y2"
    assert "smallest at λ = 10" in figures.alt(figure)
