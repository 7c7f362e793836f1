"""One test sample: its picture, the answer, and the exact contribution of every input."""

from __future__ import annotations

import numpy as np
import streamlit as st

from kcnet_core import figures
from kcnet_core.experiments.training import TrainedRun
from kcnet_core.molecules.descriptor_table import DESCRIPTORS
from kcnet_core.network import explain
from pages.ui.shell import row_picture, visitor
from pages.ui.shell.chart import chart
from pages.ui.shell.escaping import data_table, escape_markdown
from pages.ui.shell.row_picture import label
from pages.ui.shell.safety_net import fragment

ROWS_LISTED = 200
MEANINGS = {descriptor.name: descriptor.meaning for descriptor in DESCRIPTORS}
EXPLAINABLE = ("KCNet", "DOA", "Ensemble DOA", "FSHN")


@fragment
def samples(trained: TrainedRun) -> None:
    dataset = trained.dataset
    images = dataset.kind == "image"
    left, right = st.columns([2, 3])
    with left:
        which = st.segmented_control(
            "Show", ["wrong", "unsure", "all"], default="wrong", required=True, key="sample_filter",
        )  # fmt: skip
        rows = listed(trained, which)
        if not len(rows):
            st.success("No test sample was wrong. Choose “all” to look at some.")
            return
        event = data_table(
            table(trained, rows),
            key=f"samples_{which}",
            hide_index=True,
            height=460,
            row_height=56 if images else 90,
            on_select="rerun",
            selection_mode="single-cell",
            selection_default={"selection": {"cells": [(0, "Sample")]}},
            column_config={
                "Sample": st.column_config.ImageColumn(width=60 if images else 110),
                "Name": st.column_config.TextColumn(width=50 if images else 110),
                "Truth": st.column_config.TextColumn(width=70 if images else 110),
                "Answer": st.column_config.TextColumn(width=70 if images else 110),
                sureness(dataset): st.column_config.NumberColumn(format="%.3f", width=80),
            },
            placeholder="—",
        )
        chosen = event.selection.cells
    position = rows[chosen[0][0]] if chosen else rows[0]
    with right:
        explain_one(trained, int(position))


def confidence(trained: TrainedRun) -> np.ndarray:
    P = trained.probabilities
    if trained.dataset.multilabel:
        return np.abs(P - 0.5).mean(axis=1)
    return P.max(axis=1)


def sureness(dataset) -> str:
    """What `confidence` is called: with many labels it is their mean distance from even odds."""
    return "Sureness" if dataset.multilabel else "Confidence"


def listed(trained: TrainedRun, which: str) -> np.ndarray:
    """Positions among the test rows, least sure first."""
    order = np.argsort(confidence(trained), kind="stable")
    if which == "wrong":
        truth = trained.dataset.y[trained.test_rows]
        wrong = trained.predictions != truth
        wrong = wrong.any(axis=1) if wrong.ndim == 2 else wrong
        order = order[wrong[order]]
    elif which == "all":
        order = np.arange(len(trained.test_rows))
    return order[:ROWS_LISTED]


def table(trained: TrainedRun, rows: np.ndarray) -> dict:
    dataset = trained.dataset
    index = trained.test_rows[rows]
    return {
        "Sample": [row_picture.thumbnail(dataset, i, visitor.dark()) for i in index],
        # The table has a CSV button of its own.
        "Name": [dataset.row_names[i] if dataset.row_names else str(i) for i in index],
        "Truth": [label(dataset, dataset.y[i]) for i in index],
        "Answer": [label(dataset, trained.predictions[k]) for k in rows],
        sureness(dataset): confidence(trained)[rows],
    }


def explain_one(trained: TrainedRun, position: int) -> None:
    dataset, dark = trained.dataset, visitor.dark()
    row = int(trained.test_rows[position])
    x = trained.inputs(np.array([row]))
    P = trained.probabilities[position]
    truth = dataset.y[row]
    names = list(dataset.target_names)
    truth_names = label(dataset, truth).split(", ")
    bars = figures.class_scores(P, names, truth_names, dark=dark)
    if dataset.kind == "odor":
        left, right = st.columns([1, 2])
        with left:
            row_picture.molecule(dataset, row, dark)
        with right:
            chart(bars, "sample_scores")
    else:
        chart(bars, "sample_scores")
    answer = label(dataset, trained.predictions[position])
    answer = "none is likely enough" if answer == "—" else answer
    st.caption(escape_markdown(f"Truth: {label(dataset, truth)}. Answer: {answer}."))
    if trained.run.model not in EXPLAINABLE:
        st.info("ELM's sigmoid is not piecewise linear, so its answer has no exact contributions.")
        return
    best = int(np.argmax(P))
    target = st.selectbox("Why this score?", range(len(names)), best, format_func=names.__getitem__,
                          key=f"why_{position}")  # fmt: skip
    values = explain.contributions(trained.model, x)[0, :, target]
    if trained.image_shape is not None:
        image = dataset.raw_pixels(dataset.X[row])  # each pixel scaled by itself is no picture
        chart(
            figures.contribution_map(values, image, trained.image_shape, dark=dark),
            "sample_contributions",
        )
    else:
        chart(
            figures.contribution_bars(values, trained.feature_names, MEANINGS, dark=dark),
            "sample_contributions",
        )
    st.caption(
        f"The contributions of all {len(values)} inputs add up to the score of "
        f"“{escape_markdown(names[target])}”: {values.sum():+.4f}. Nothing is sampled or "
        "approximated."
    )
