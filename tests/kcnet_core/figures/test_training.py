"""What a run shows: places that stay, and figures small enough to send once a second."""

from __future__ import annotations

import base64
import io
import json

import numpy as np
import plotly.graph_objects as go
import pytest
from PIL import Image

from kcnet_core import figures
from kcnet_core.experiments.frames import frame_of
from kcnet_core.experiments.run import MODELS, Run
from kcnet_core.experiments.training import TrainView
from kcnet_core.figures.layout import Sketch
from kcnet_core.network.history import EpochRecord
from pages.ui.train.live_charts import picture_data

MOST_BYTES = 300_000  # a class of thirty that watches on one wireless network


def view(run: Run, n_epochs: int, shape=(60, 49), tuned=True) -> TrainView:
    rng = np.random.default_rng(0)
    S = np.clip(rng.normal(-0.4, 0.4, shape), -1, 1).astype(np.float32)
    n_submodels = run.n_submodels if run.model == "Ensemble DOA" else 1
    log = [
        EpochRecord(epoch, k, 1 - 0.5 / (epoch + 1), 0.9 - 0.4 / (epoch + 1), 30, 20, 0.1, 0.1)
        for epoch in range(n_epochs)
        for k in range(n_submodels)
    ]
    frame = frame_of(n_epochs, S if tuned else None, (S > 0).astype(np.uint8))
    latest = None if run.model in ("ELM", "FSHN") else frame
    return TrainView(run, "Training", 0.5, log, len(log), (), latest)


def drawn(rows) -> dict:
    return {panel.key: panel.figure for row in rows for panel in row}


def live(run: Run, seen: TrainView) -> dict:
    with figures.unchecked():
        return picture_data(figures.training_panels(run, seen))


def places(rows) -> list:
    return [[(panel.key, panel.height, panel.share) for panel in row] for row in rows]


@pytest.mark.parametrize("model", MODELS)
def test_places_are_the_same_before_and_after_the_first_epoch(model):
    run = Run(model=model, n_epochs=9)
    before = figures.training_panels(run, None, image_shape=(7, 7))
    after = figures.training_panels(run, view(run, 3), image_shape=(7, 7))
    assert places(before) == places(after)
    assert not any(drawn(before).values())


def test_a_tuned_wiring_shows_scores_weights_and_what_happened():
    run = Run(model="DOA", n_epochs=9)
    shown = drawn(figures.training_panels(run, view(run, 3)))
    assert set(shown) == {"live_S", "live_W", "live_curve", "live_flips", "live_density",
                          "live_scores"}  # fmt: skip
    assert all(figures.alt(figure) for figure in shown.values())


def test_a_random_wiring_shows_which_pixels_it_uses():
    run = Run(model="KCNet")
    rows = figures.training_panels(run, view(run, 1, tuned=False), image_shape=(7, 7))
    usage = drawn(rows)["live_usage"]
    assert np.asarray(usage.data[0].z).shape == (7, 7)


def test_a_network_without_wiring_shows_its_curve_alone():
    run = Run(model="FSHN", n_epochs=9)
    assert list(drawn(figures.training_panels(run, view(run, 3)))) == ["live_curve"]


def test_submodels_are_parted_in_the_pictures():
    run = Run(model="Ensemble DOA", n_submodels=3, n_epochs=9)
    picture = drawn(figures.training_panels(run, view(run, 3)))["live_S"]
    assert [shape.y0 for shape in picture.layout.shapes] == [19.5, 39.5]


# -- for the browser -------------------------------------------------------------------------------


@pytest.mark.parametrize("model, n_epochs", [("DOA", 1000), ("Ensemble DOA", 300)])
def test_the_largest_live_view_stays_small(model, n_epochs):
    run = Run(model=model, n_hidden=6500, n_epochs=n_epochs, n_submodels=10)
    data = live(run, view(run, n_epochs, shape=(6500, 784)))
    assert len(json.dumps(data)) < MOST_BYTES


def test_an_unchanged_run_gives_the_same_bytes_so_that_nothing_is_sent_again():
    run = Run(model="DOA", n_epochs=9)
    first, second = (json.dumps(live(run, view(run, 3))) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("model", ["DOA", "Ensemble DOA", "FSHN", "KCNet"])
def test_the_live_view_and_plotly_draw_the_same_figures(model):
    run = Run(model=model, n_epochs=9, n_submodels=3, stop_metric=0.99)
    seen = view(run, 5, tuned=model != "KCNet")
    checked = drawn(figures.training_panels(run, seen, image_shape=(7, 7)))
    with figures.unchecked():
        sketches = drawn(figures.training_panels(run, seen, image_shape=(7, 7)))
    assert checked.keys() == sketches.keys()
    for key, figure in checked.items():
        assert go.Figure(sketches[key].data, sketches[key].layout) == figure


def test_the_compact_form_keeps_numbers_words_and_text():
    records = view(Run(model="DOA", n_epochs=9), 5).records
    with figures.unchecked():
        figure = figures.validation_curve(records, "F1 <weighted> & more", n_epochs=9)
    small = figures.compact(figure)
    line = next(trace for trace in small["traces"] if trace.get("name") == "validation")
    assert line["x"] == [0, 1, 2, 3, 4]
    assert line["y"] == pytest.approx([r.validation_metric for r in records], abs=1e-6)
    assert small["alt"] == figures.alt(figure)
    assert small["layout"]["yaxis"]["title"]["text"] == "F1 <weighted> & more"


def test_the_compact_form_refuses_what_the_page_cannot_draw():
    with pytest.raises(ValueError, match="cannot draw pie"):
        figures.compact(Sketch([{"type": "pie", "values": [1, 2]}], {"meta": {}}))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("kind", ["S", "W"])
def test_every_colour_of_a_picture_is_listed_so_that_its_value_can_be_read(kind, dark):
    M = np.linspace(-1 if kind == "S" else 0, 1, 64).reshape(8, 8)
    with figures.unchecked():
        image = figures.compact(figures.matrix_picture(M, kind, shape=(8, 8), dark=dark))["traces"][
            0
        ]
    data = base64.b64decode(image["source"].split(",", 1)[1])
    pixels = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).reshape(-1, 3)
    meta = image["meta"]
    shades = [meta["shades"].index(bytes(pixel).hex()) for pixel in pixels]
    values = meta["low"] + np.array(shades) / (len(meta["shades"]) - 1) * (
        meta["high"] - meta["low"]
    )
    assert values == pytest.approx(M.ravel(), abs=0.02)
