"""What a browser is sent of a run: matrices, curves and numbers, in few bytes."""

from __future__ import annotations

import json
import zlib

import numpy as np
import pytest

from kcnet_core import figures
from kcnet_core.experiments.run import Run
from kcnet_core.experiments.training import TrainView
from kcnet_core.figures.live.film import MOST_BYTES, MOST_BYTES_AT_ONCE, MOST_MOMENTS
from tests.kcnet_core.figures.epochs import frame, records, scores


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


def test_every_moment_has_its_numbers_and_the_spread_of_its_scores():
    made = [frame(scores((6, 5), k), epoch=k) for k in range(3)]
    charts = figures.training_charts(Run(model="DOA"), None)
    sent = figures.film_data(["W"], made, numbers=lambda e: {"Epoch": f"{e} of 9"}, charts=charts)
    about, _ = unpacked(sent)
    assert [one["numbers"]["Epoch"] for one in about["moments"]] == ["0 of 9", "1 of 9", "2 of 9"]
    assert about["charts"] == charts
    for moment, one in zip(about["moments"], made, strict=True):
        assert moment["scores"] == pytest.approx(100 * one.S_counts / 30, abs=0.01)


def test_a_network_without_wiring_has_moments_too():
    about, boards = unpacked(figures.film_data([], records(3)))
    assert boards == [] and [one["epoch"] for one in about["moments"]] == [1, 2, 3]


@pytest.mark.parametrize("n", [1, 11, 12, 13, 40])
def test_of_many_frames_some_are_sent_always_with_the_last(n):
    made = [frame(scores((6, 5), k), epoch=k) for k in range(n)]
    said = moments(figures.film_data(["W"], made))
    assert min(n, 7) <= len(said) <= MOST_MOMENTS
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
    charts = figures.training_charts(run, view)
    data = figures.film_data(("S", "W"), view.recent, names=names, charts=charts)
    assert len(data) <= MOST_BYTES


def test_an_unchanged_run_gives_the_same_bytes_so_that_nothing_is_sent_again():
    made = [frame(scores())]
    assert figures.film_data(["S"], made) == figures.film_data(["S"], made)
