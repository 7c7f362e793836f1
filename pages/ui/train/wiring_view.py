"""Before and after, replay and difference of S and W; W as pictures where the inputs are pixels."""

from __future__ import annotations

import numpy as np
import streamlit as st

from kcnet_core import figures
from kcnet_core.experiments.run import DOA_MODELS
from kcnet_core.experiments.training import TrainedRun
from pages.ui.shell import visitor
from pages.ui.shell.chart import chart
from pages.ui.shell.safety_net import fragment

CELLS_SHOWN = 48


def wiring(trained: TrainedRun) -> None:
    dark, frames = visitor.dark(), trained.frames
    if len(frames) > 1:
        replay(trained)
    else:
        tuned = trained.run.model in DOA_MODELS  # a model from a file has no epochs to replay
        title = "Weights W, as tuned" if tuned else "Weights W, drawn at random"
        chart(figures.matrix_picture(frames[-1].W_small, "W", shape=frames[-1].shape, dark=dark,
                                     title=title), "only_W")  # fmt: skip
    window(trained)
    used(trained)


@fragment
def replay(trained: TrainedRun) -> None:
    """The slider through stored epochs, beside the wiring it started from."""
    dark, frames = visitor.dark(), trained.frames
    epochs = list(range(len(frames)))
    labels = {i: f"epoch {f.epoch}" for i, f in enumerate(frames)}
    labels[0], labels[len(frames) - 1] = "start", "end"
    i = st.select_slider("Replay", epochs, len(frames) - 1, format_func=labels.get, key="replay")
    matrix = st.segmented_control(
        "Matrix", ["weights W", "scores S"], default="weights W", required=True,
        key="replay_matrix", label_visibility="collapsed",
    )  # fmt: skip
    kind, field = ("W", "W_small") if matrix == "weights W" else ("S", "S_small")
    first, now = getattr(frames[0], field), getattr(frames[i], field)
    # One scale for both, or a denser matrix would look like a sparser one.
    limit = None if kind == "S" else max(figures.nice_limit(first), figures.nice_limit(now))
    shape = frames[i].shape
    shown = (
        ("before", first, kind, limit, f"{kind} at the start"),
        ("after", now, kind, limit, f"{kind} at {at(labels[i])}"),
        ("difference", now - first, "difference", None, "Now minus start"),
    )
    for column, (key, values, which, scale, title) in zip(st.columns(3), shown, strict=True):
        with column:
            picture = figures.matrix_picture(
                values, which, shape=shape, limit=scale, dark=dark, title=title
            )
            chart(picture, f"replay_{key}")


def at(label: str) -> str:
    return f"the {label}" if label in ("start", "end") else label


@fragment
def window(trained: TrainedRun) -> None:
    """A part of the full matrix with every input and cell named on hover."""
    frame = trained.frames[-1]
    B, d = frame.shape
    with st.expander("Look closely: a window on the full matrix", icon=":material/zoom_in:"):
        rows, columns = st.columns(2)
        first_cell = rows.number_input("First cell", 0, max(B - 1, 0), 0, 50, key="window_cell")
        first_input = columns.number_input("First input", 0, max(d - 1, 0), 0, 50,
                                           key="window_input")  # fmt: skip
        M, kind = (frame.S, "S") if frame.S is not None else (frame.W, "W")
        chart(
            figures.matrix_window(
                M, slice(first_cell, first_cell + 100), slice(first_input, first_input + 150),
                trained.feature_names, kind, dark=visitor.dark(),
            ),
            "window",
        )  # fmt: skip


def used(trained: TrainedRun) -> None:
    """Which inputs the cells chose: the paper's "meaningful pixels", or the busiest descriptors."""
    dark, frame = visitor.dark(), trained.frames[-1]
    shape = trained.dataset.image_shape
    if shape is None:
        chart(figures.usage_bars(frame.usage, trained.feature_names, dark=dark), "usage")
        return
    left, right = st.columns([1, 2])
    with left:
        chart(figures.pixel_map(frame.usage, shape, "Input usage: the meaningful pixels",
                                unit="cells", dark=dark), "usage")  # fmt: skip
    with right:
        cells = np.linspace(0, frame.shape[0] - 1, min(CELLS_SHOWN, frame.shape[0])).astype(int)
        chart(figures.cell_pictures(frame.W, shape, cells, dark=dark), "cell_pictures")
