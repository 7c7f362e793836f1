"""One Kenyon cell: what it listens to, how active it is, and what it says to each output."""

from __future__ import annotations

import numpy as np
import streamlit as st

from kcnet_core import figures
from kcnet_core.experiments.training import TrainedRun
from kcnet_core.network.retina import PatchRetina
from pages.ui.shell import session_keys, visitor
from pages.ui.shell.chart import chart
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.safety_net import fragment

ROWS_FOR_ACTIVITY = 500
MOST_EXCITING = 3


@fragment
def cells(trained: TrainedRun) -> None:
    dark = visitor.dark()
    if "hidden" not in trained.memo:
        rows = trained.test_rows[:ROWS_FOR_ACTIVITY]
        trained.memo["hidden"] = trained.model.hidden(trained.inputs(rows))
    H = trained.memo["hidden"]  # (rows, B)
    B = H.shape[1]
    strength = np.abs(trained.model.coef_).sum(axis=1)
    active = (H > 0).mean(axis=0)
    st.session_state.setdefault(session_keys.CELL, int(np.argmax(strength * active)))
    st.session_state[session_keys.CELL] = min(st.session_state[session_keys.CELL], B - 1)
    left, right = st.columns([1, 1])
    with left:
        event = chart(
            figures.cell_scatter(
                active, strength, chosen=st.session_state[session_keys.CELL],
                model=trained.run.model, dark=dark,
            ),
            "cell_scatter",
            on_select="rerun",
            selection_mode="points",
        )  # fmt: skip
        points = event.selection.points if event else []
        clicked = int(points[0]["customdata"]) if points else None
        if clicked is not None and clicked != st.session_state.get(session_keys.CLICKED_CELL):
            st.session_state[session_keys.CLICKED_CELL] = clicked
            st.session_state[session_keys.CELL] = clicked
            st.rerun(scope="fragment")
        cell = st.number_input("Kenyon cell", 0, B - 1, key=session_keys.CELL,
                               help="Click a point above, or type a number.")  # fmt: skip
    wires, names = trained.model.weights_[cell], trained.feature_names
    inputs = np.flatnonzero(wires)
    with right:
        st.markdown(
            f"**Cell {cell}** listens to **{len(inputs)}** of {len(names)} inputs and is "
            f"active for **{(H[:, cell] > 0).mean():.0%}** of {len(H)} test rows "
            f"(mean activity {H[:, cell].mean():.2f})."
        )
        if trained.dataset.image_shape is not None:
            on_the_image(trained, cell, wires, H[:, cell])
        else:
            listed = ", ".join(escape_markdown(names[i]) for i in inputs[:40])
            st.markdown(f"Its inputs: {listed}{' …' if len(inputs) > 40 else ''}")
        chart(
            figures.output_weights(
                trained.model.coef_[cell], trained.dataset.target_names, dark=dark
            ),
            "cell_outputs",
        )


def on_the_image(trained: TrainedRun, cell: int, wires: np.ndarray, activity: np.ndarray) -> None:
    """The cell's inputs, and the test images that excite it most; its field on all of them."""
    dark, dataset = visitor.dark(), trained.dataset
    boxes = fields_of(trained)
    field = None if boxes is None else boxes[[cell]]
    rows = trained.test_rows[np.argsort(-activity, kind="stable")[:MOST_EXCITING]]
    names = () if dataset.multilabel else [dataset.target_names[k] for k in dataset.y[rows]]
    left, right = st.columns([2, 5])
    with left:
        title = f"Inputs of cell {cell}"
        if isinstance(trained.scaler, PatchRetina):
            heard = np.flatnonzero(wires)
            pictures, side = trained.scaler.pictures(heard % trained.scaler.n_patches)
            names_of = [trained.feature_names[i].split()[1] for i in heard]
            shown = figures.image_grid(pictures, side, names_of, columns=4, title=title, dark=dark)
        else:
            shown = figures.cell_pictures(wires[None], dataset.image_shape, [0], boxes=field,
                                          dark=dark, title=title)  # fmt: skip
        chart(shown, "cell_inputs")
    with right:
        images = np.clip(dataset.raw_pixels(dataset.X[rows]), 0, 1)
        chart(
            figures.image_grid(
                images, dataset.image_shape, names,
                boxes=None if field is None else np.repeat(field, len(rows), axis=0),
                title="What excites it most", dark=dark,
            ),
            "cell_images",
        )  # fmt: skip
    if field is not None:
        top, left_edge, bottom, right_edge = (int(side) for side in field[0])
        st.caption(
            f"Its field (outlined): {bottom - top} × {right_edge - left_edge} pixels from row "
            f"{top}, column {left_edge}."
        )


def fields_of(trained: TrainedRun) -> np.ndarray | None:
    """The rectangle of every cell (B, 4), where the wiring is local."""
    return getattr(trained.model, "fields_", None)
