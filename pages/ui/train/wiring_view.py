"""A window on every entry of S or W, and W as pictures where the inputs are pixels."""

from __future__ import annotations

import numpy as np
import streamlit as st

from kcnet_core import figures
from kcnet_core.experiments.training import TrainedRun
from kcnet_core.network.retina import PatchRetina
from pages.ui.shell import visitor
from pages.ui.shell.chart import chart
from pages.ui.shell.safety_net import fragment

CELLS_SHOWN = 48
PATCHES_SHOWN = 100


def wiring(trained: TrainedRun) -> None:
    """What the film above does not show of the wiring."""
    window(trained)
    used(trained)


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


def patches(trained: TrainedRun) -> None:
    """What the retina before the network has learned to see, those heard by most cells first."""
    if not isinstance(trained.scaler, PatchRetina):
        return
    usage = trained.frames[-1].usage.reshape(-1, trained.scaler.n_patches).sum(axis=0)
    first = np.argsort(-usage, kind="stable")[:PATCHES_SHOWN]
    pictures, shape = trained.scaler.pictures(first)
    chart(
        figures.image_grid(
            pictures, shape, [str(k) for k in first], columns=20, dark=visitor.dark(),
            title="Patches of the retina, those that most cells listen to first",
        ),
        "patches",
    )  # fmt: skip


def used(trained: TrainedRun) -> None:
    """Which inputs the cells chose: the paper's "meaningful pixels", or the busiest descriptors."""
    dark, frame = visitor.dark(), trained.frames[-1]
    shape = trained.image_shape
    if shape is None:
        patches(trained)
        chart(figures.usage_bars(frame.usage, trained.feature_names, dark=dark), "usage")
        return
    left, right = st.columns([1, 2])
    with left:
        chart(figures.pixel_map(frame.usage, shape, "Input usage: the meaningful pixels",
                                unit="cells", dark=dark), "usage")  # fmt: skip
    with right:
        cells = np.linspace(0, frame.shape[0] - 1, min(CELLS_SHOWN, frame.shape[0])).astype(int)
        boxes = getattr(trained.model, "fields_", None)
        chart(figures.cell_pictures(frame.W, shape, cells, boxes=boxes, dark=dark), "cell_pictures")
