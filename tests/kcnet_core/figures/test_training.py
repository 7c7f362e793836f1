"""What a run shows: curves that stand still while they grow, and matrices small enough to send."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace

import numpy as np
import pytest

from kcnet_core import figures
from kcnet_core.experiments.frames import SCORE_BINS, frame_of, score_counts
from kcnet_core.experiments.run import Run
from kcnet_core.experiments.training import TrainView
from kcnet_core.figures.live import MOST_BYTES, MOST_FRAMES
from kcnet_core.network.history import EpochRecord

MOST_SENT = 300_000  # bytes of one look: a class of thirty that watches on one wireless network


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


def scores(shape=(60, 49), seed=0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.clip(rng.normal(-0.4, 0.4, shape), -1, 1).astype(np.float32)


def frame(S: np.ndarray, epoch: int = 1, tuned: bool = True):
    return frame_of(epoch, S if tuned else None, (S > 0).astype(np.uint8))


def named(curve, name) -> dict:
    return next(one for one in curve.option["series"] if one["name"] == name)


def xs(series) -> list:
    return [x for x, _ in series["data"]]


def ys(series) -> list:
    return [y for _, y in series["data"]]


# -- curves ----------------------------------------------------------------------------------------


def test_a_tuned_wiring_shows_what_happened_and_a_network_without_wiring_its_curve_alone():
    made = records(3)
    for model, expected in (("DOA", {"curve", "flips", "density", "scores"}), ("FSHN", {"curve"})):
        run = Run(model=model, n_epochs=9)
        view = TrainView(run, "Training", 0.5, made, len(made), (), (frame(scores()),))
        curves = figures.training_curves(run, view)
        assert set(curves) == expected
        for curve in curves.values():
            assert curve.alt.endswith(".") and len(curve.alt) > 20
            json.dumps(curve.option, allow_nan=False)


@pytest.mark.parametrize("model", ["DOA", "Ensemble DOA", "FSHN"])
def test_places_and_axes_are_the_same_before_and_after_the_first_epoch(model):
    run = Run(model=model, n_epochs=9)
    view = TrainView(run, "Training", 0.5, records(3), 3, (), (frame(scores()),))
    before, after = figures.training_curves(run, None), figures.training_curves(run, view)
    assert before.keys() == after.keys()
    for name, curve in before.items():
        assert curve.option["grid"] == after[name].option["grid"]
        assert curve.option["title"]["text"] == "Waiting for the first numbers"
        assert curve.alt


def test_the_validation_curve_of_one_network():
    curve = figures.validation_curve(records(5), "accuracy", n_epochs=60, stop_metric=0.9)
    line = named(curve, "validation")
    assert xs(line) == [1, 2, 3, 4, 5]
    assert ys(line)[-1] == pytest.approx(0.75)
    assert named(curve, "training")["lineStyle"]["type"] == "dotted"
    assert curve.option["xAxis"]["max"] == 60
    assert curve.option["yAxis"]["name"] == "Accuracy"
    assert curve.option["series"][-1]["markLine"]["data"] == [{"yAxis": 0.9}]
    assert "0.7500 in epoch 5" in curve.alt


def test_the_newest_number_stands_at_the_end_of_its_line_and_a_ring_around_the_best():
    made = [*records(3), replace(records(4)[-1], validation_metric=0.6)]
    curve = figures.validation_curve(made, mark_best=True)
    assert named(curve, "")["label"]["formatter"] == "0.600"
    assert named(curve, "best, kept")["data"] == [[3, 0.65]]


def test_the_words_at_the_stop_line_keep_away_from_the_curves():
    def place(train):
        made = [replace(one, train_metric=train, validation_metric=0.65) for one in records(100)]
        curve = figures.validation_curve(made, stop_metric=0.87)
        return curve.option["series"][-1]["markLine"]["label"]["position"]

    assert place(0.91).endswith("Bottom"), "the training curve runs just above the line"
    assert place(0.99) == "insideStartTop"


def test_an_ensemble_has_a_line_per_submodel_and_their_mean():
    curve = figures.validation_curve(records(4, n_submodels=3))
    assert [named(curve, f"submodel {k}")["data"][0][1] for k in (1, 2, 3)] == [0.55, 0.56, 0.57]
    assert ys(named(curve, "validation, mean"))[0] == pytest.approx(np.mean([0.55, 0.56, 0.57]))
    assert curve.option["legend"]["data"] == ["training, mean", "validation, mean"]


def test_the_mean_waits_for_the_slowest_submodel():
    behind = [r for r in records(4, 2) if not (r.submodel == 1 and r.epoch > 2)]
    assert xs(named(figures.validation_curve(behind), "validation, mean")) == [1, 2]


def test_axes_stand_still_while_a_curve_grows():
    def axes(n):
        option = figures.validation_curve(records(n), n_epochs=60).option
        return option["xAxis"], option["grid"]

    assert axes(1) == axes(2) == axes(5)


def test_a_thousand_epochs_of_fifty_submodels_stay_small_to_send():
    assert len(json.dumps(figures.validation_curve(records(1000, 50)).option)) < 150_000


@pytest.mark.parametrize(
    "draw", [figures.validation_curve, figures.density_curve, figures.flips_bars]
)
def test_curves_without_any_epoch_are_empty_and_not_an_error(draw):
    curve = draw([], n_epochs=10)
    assert curve.option["xAxis"]
    assert curve.alt


def test_flips_go_up_for_on_and_down_for_off_over_all_submodels():
    curve = figures.flips_bars(records(2, n_submodels=2))
    on, off = named(curve, "switched on"), named(curve, "switched off")
    assert (ys(on), ys(off)) == ([21, 41], [6, 12])
    up, down = curve.option["yAxis"]
    assert down["inverse"] and not up.get("inverse") and off["yAxisIndex"] == 1
    assert up["max"] == down["max"], "one scale for both"


def test_of_very_many_epochs_a_bar_is_the_mean_of_a_few():
    many = [EpochRecord(e, 0, None, None, e, 2, 0.1, 0.1) for e in range(1001)]
    on = named(figures.flips_bars(many, n_epochs=1000), "switched on")
    assert len(xs(on)) <= 251
    assert on["data"][:2] == [[0, 1.5], [4, 5.5]]
    assert ys(on)[-1] == 1000


def test_density_is_shown_in_per_cent():
    assert ys(figures.density_curve(records(3)).option["series"][0]) == pytest.approx([1, 2, 3])


def test_the_score_histogram_parts_on_from_off_and_counts_every_score():
    S = scores()
    counts = score_counts(S)
    assert (counts == np.histogram(S, np.linspace(-1, 1, SCORE_BINS + 1))[0]).all()
    off, on = figures.score_histogram(counts).option["series"]
    assert max(xs(off)) < 0 < min(xs(on))
    assert sum(ys(off)) + sum(ys(on)) == pytest.approx(100, abs=0.01)
    assert sum(ys(on)) == pytest.approx(100 * (S > 0).mean(), abs=0.01)


# -- matrices for the canvas -----------------------------------------------------------------------


def unpacked(data: bytes) -> tuple[dict, np.ndarray]:
    """What the browser makes of it: the words, and the shades of every frame."""
    line, shades = zlib.decompress(data).split(b"\n", 1)
    about = json.loads(line)
    if not about["moments"]:
        return about, np.array([])
    changes = np.frombuffer(shades, np.uint8).reshape(len(about["moments"]), *about["size"])
    return about, np.cumsum(changes, axis=0, dtype=np.uint8)


def values(about: dict, levels: np.ndarray) -> np.ndarray:
    n_shades = len(about["shades"]) // 6
    return about["low"] + levels / (n_shades - 1) * (about["high"] - about["low"])


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("kind", ["S", "W"])
def test_every_shade_of_every_frame_can_be_read_as_its_value(kind, dark):
    made = [frame(scores(seed=k), epoch=k) for k in range(5)]
    about, shown = unpacked(figures.canvas_data(kind, made, dark=dark))
    assert about["moments"] == [f"epoch {k}" for k in range(5)]
    assert about["shape"] == about["size"] == [60, 49] and about["blocks"] == [1, 1]
    truth = np.stack([one.S_small if kind == "S" else one.W_small for one in made])
    assert values(about, shown) == pytest.approx(truth, abs=0.02)
    assert about["alt"].startswith({"S": "Preference scores S", "W": "Weights W"}[kind])
    assert "epoch 4: 60 Kenyon cells in rows, 49 inputs in columns" in about["alt"]


def test_before_the_first_frame_the_canvas_waits():
    about, _ = unpacked(figures.canvas_data("S", []))
    assert about["title"] == "Preference scores S" and about["moments"] == []
    assert about["alt"] == "Preference scores S: waiting for the first numbers."


def test_a_random_wiring_shows_which_pixels_it_uses():
    one = frame(scores(), tuned=False)
    about, shown = unpacked(figures.canvas_data("usage", [one], image_shape=(7, 7)))
    assert values(about, shown[0]).round() == pytest.approx(one.usage.reshape(7, 7))
    assert about["moments"] == [""], "it has no epochs"


def test_submodels_are_parted_and_inputs_named():
    names = [f"pixel {k}" for k in range(49)]
    about, _ = unpacked(figures.canvas_data("S", [frame(scores())], n_submodels=3, names=names))
    assert about["borders"] == [20, 40]
    assert about["names"] == names


@pytest.mark.parametrize("n", [1, 11, 12, 13, 40])
def test_of_many_frames_some_are_sent_always_with_the_last(n):
    made = [frame(scores((6, 5), k), epoch=k) for k in range(n)]
    moments = unpacked(figures.canvas_data("W", made))[0]["moments"]
    assert min(n, 7) <= len(moments) <= MOST_FRAMES
    assert moments[-1] == f"epoch {n - 1}"


def test_what_one_look_sends_is_bounded_also_when_everything_changes():
    made = [frame(scores((400, 400), k), epoch=k) for k in range(10)]
    about, _ = unpacked(data := figures.canvas_data("S", made))
    assert len(data) <= MOST_BYTES or len(about["moments"]) == 1
    assert about["moments"][-1] == "epoch 9"


def test_the_largest_live_view_stays_small():
    S = scores((6500, 784))
    names = [f"pixel [{k // 28}, {k % 28}]" for k in range(784)]
    run = Run(model="Ensemble DOA", n_hidden=6500, n_epochs=300, n_submodels=10)
    log = records(300, 10)
    view = TrainView(run, "Training", 0.5, log, len(log), (), (frame(S),))
    sent = sum(len(figures.canvas_data(kind, view.recent, names=names)) for kind in ("S", "W"))
    sent += sum(len(json.dumps(one.option)) for one in figures.training_curves(run, view).values())
    assert sent < MOST_SENT


def test_an_unchanged_run_gives_the_same_bytes_so_that_nothing_is_sent_again():
    made = [frame(scores())]
    assert figures.canvas_data("S", made) == figures.canvas_data("S", made)
