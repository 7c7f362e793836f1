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
from kcnet_core.figures.live import MOST_BYTES, MOST_BYTES_AT_ONCE, MOST_FRAMES
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


def unpacked(data: bytes) -> tuple[dict, list[tuple[dict, np.ndarray]]]:
    """What the browser makes of it: the words, and of every board its words and shades."""
    line, shades = zlib.decompress(data).split(b"\n", 1)
    about = json.loads(line)
    boards, start = [], 0
    for board in about["boards"]:
        many = len(about["moments"])
        n = many * int(np.prod(board.get("size", [0, 0])))
        changes = np.frombuffer(shades[start : start + n], np.uint8)
        start += n
        if many:
            changes = changes.reshape(many, *board["size"])
        boards.append((board, np.cumsum(changes, axis=0, dtype=np.uint8)))
    assert start == len(shades), "nothing is left over"
    return about, boards


def values(board: dict, levels: np.ndarray) -> np.ndarray:
    n_shades = len(board["shades"]) // 6
    return board["low"] + levels / (n_shades - 1) * (board["high"] - board["low"])


def moments(data: bytes) -> list[str]:
    return [moment["text"] for moment in unpacked(data)[0]["moments"]]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("whole", [False, True], ids=["passing", "to stay"])
def test_every_shade_of_every_frame_can_be_read_as_its_value(whole, dark):
    made = [frame(scores(seed=k), epoch=k) for k in range(5)]
    about, boards = unpacked(figures.film_data(("S", "W"), made, whole=whole, dark=dark))
    assert [moment["text"] for moment in about["moments"]] == [f"epoch {k}" for k in range(5)]
    for (board, shown), kind in zip(boards, "SW", strict=True):
        assert board["shape"] == board["size"] == [60, 49] and board["blocks"] == [1, 1]
        truth = np.stack([one.S_small if kind == "S" else one.W_small for one in made])
        near = 0.02 if whole or kind == "W" else 0.05
        assert values(board, shown) == pytest.approx(truth, abs=near)
        assert board["alt"].startswith({"S": "Preference scores S", "W": "Weights W"}[kind])
        assert "epoch 4: 60 Kenyon cells in rows, 49 inputs in columns" in board["alt"]


def test_before_the_first_frame_the_canvas_waits():
    about, [(board, _)] = unpacked(figures.film_data(["S"], []))
    assert board["title"] == "Preference scores S" and about["moments"] == []
    assert board["alt"] == "Preference scores S: waiting for the first numbers."


def test_a_random_wiring_shows_which_pixels_it_uses():
    one = frame(scores(), tuned=False)
    about, [(board, shown)] = unpacked(figures.film_data(["usage"], [one], image_shape=(7, 7)))
    assert values(board, shown[0]).round() == pytest.approx(one.usage.reshape(7, 7))
    assert [moment["text"] for moment in about["moments"]] == [""], "it has no epochs"


def test_submodels_are_parted_and_inputs_named():
    names = [f"pixel {k}" for k in range(49)]
    _, [(board, _)] = unpacked(
        figures.film_data(["S"], [frame(scores())], n_submodels=3, names=names)
    )
    assert board["borders"] == [20, 40]
    assert board["names"] == names


def test_an_epoch_says_its_metric_where_it_is_known():
    made = [frame(scores((6, 5), k), epoch=k) for k in range(3)]
    said = moments(figures.film_data(["W"], made, says={0: "0.8100", 2: "0.9300"}))
    assert said == ["epoch 0 · 0.8100", "epoch 1", "epoch 2 · 0.9300"]


@pytest.mark.parametrize("n", [1, 11, 12, 13, 40])
def test_of_many_frames_some_are_sent_always_with_the_last(n):
    made = [frame(scores((6, 5), k), epoch=k) for k in range(n)]
    said = moments(figures.film_data(["W"], made))
    assert min(n, 7) <= len(said) <= MOST_FRAMES
    assert said[-1] == f"epoch {n - 1}"
    assert len(moments(figures.film_data(["W"], made, whole=True))) == n


def test_what_one_look_sends_is_bounded_also_when_everything_changes():
    made = [frame(scores((400, 400), k), epoch=k) for k in range(10)]
    data = figures.film_data(["S"], made)
    assert len(data) <= MOST_BYTES or len(moments(data)) == 1
    assert moments(data)[-1] == "epoch 9"


def test_a_film_that_is_sent_at_once_is_bounded_and_keeps_both_ends():
    made = [frame(scores((400, 400), k), epoch=k) for k in range(20)]
    data = figures.film_data(["S"], made, whole=True)
    assert len(data) <= MOST_BYTES_AT_ONCE
    said = moments(data)
    assert said[0] == "epoch 0" and said[-1] == "epoch 19" and len(said) > 2


def test_ten_frames_of_a_tuned_wiring_fit_into_one_look():
    """Of the default run, with a density and steps as DOA has there."""
    rng = np.random.default_rng(0)
    S, made = rng.uniform(-1, 0.05, (200, 784)).astype(np.float32), []
    for k in range(10):
        made.append(frame(S, epoch=k))
        S = np.clip(S + rng.normal(0, 0.02, S.shape).astype(np.float32), -1, 1)
    data = figures.film_data(("S", "W"), made)
    assert len(data) <= MOST_BYTES and len(moments(data)) == 10


def test_the_largest_live_view_stays_small():
    S = scores((6500, 784))
    names = [f"pixel [{k // 28}, {k % 28}]" for k in range(784)]
    run = Run(model="Ensemble DOA", n_hidden=6500, n_epochs=300, n_submodels=10)
    log = records(300, 10)
    view = TrainView(run, "Training", 0.5, log, len(log), (), (frame(S),))
    sent = len(figures.film_data(("S", "W"), view.recent, names=names))
    sent += sum(len(json.dumps(one.option)) for one in figures.training_curves(run, view).values())
    assert sent < MOST_SENT


def test_an_unchanged_run_gives_the_same_bytes_so_that_nothing_is_sent_again():
    made = [frame(scores())]
    assert figures.film_data(["S"], made) == figures.film_data(["S"], made)
