"""What a finished run shows: scores, lambda, Kenyon cells, test samples, wiring, and downloads."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from kcnet_core import figures
from kcnet_core.experiments import metrics
from kcnet_core.experiments.run import KCNET_MODELS, RIDGE_MODELS
from kcnet_core.experiments.training import TrainedRun
from kcnet_core.network.scores import auroc_by_label, reliability
from pages.ui.shell import visitor, visitor_data
from pages.ui.shell.chart import chart
from pages.ui.shell.escaping import data_table, escape_markdown
from pages.ui.train.cell_view import cells
from pages.ui.train.downloads import take_home
from pages.ui.train.lambda_view import explore_lambda
from pages.ui.train.sample_view import samples
from pages.ui.train.wiring_view import wiring

ROWS = "Test samples"
VIEWS = {
    "Scores": (lambda trained: scores(trained), None),
    "Move λ": (lambda trained: explore_lambda(trained), RIDGE_MODELS),
    "Wiring": (lambda trained: wiring(trained), KCNET_MODELS),
    "Kenyon cells": (lambda trained: cells(trained), KCNET_MODELS),
    ROWS: (lambda trained: samples(trained), None),
    "Take home": (lambda trained: take_home(trained), None),
}


def without_rows(trained: TrainedRun) -> TrainedRun:
    """A run as watchers may have it: what it learned, but not the rows and name of the upload."""
    data = trained.dataset
    public = replace(
        data, title=visitor_data.public_title(data), report=(), row_names=None, smiles=None
    )
    return replace(trained, dataset=public)


def show(trained: TrainedRun, with_rows: bool = True) -> None:
    names = [name for name, (_, models) in VIEWS.items()
             if (models is None or trained.run.model in models)
             and (with_rows or name != ROWS)]  # fmt: skip
    for tab, name in zip(st.tabs(names, key="result_tab", on_change="rerun"), names, strict=True):
        with tab:
            if tab.open:
                VIEWS[name][0](trained)


def scores(trained: TrainedRun) -> None:
    dark, model = visitor.dark(), trained.run.model
    dataset = trained.dataset
    truth = dataset.y[trained.test_rows]
    left, right = st.columns(2)
    with left:
        if dataset.multilabel:
            per_label = auroc_by_label(truth, trained.probabilities)
            chart(
                figures.label_scores(
                    per_label, dataset.target_names, truth.sum(axis=0), model=model, dark=dark
                ),
                "label_scores",
            )
        else:
            matrix = metrics.confusion(truth, trained.predictions, len(dataset.target_names))
            chart(figures.confusion_matrix(matrix, dataset.target_names, dark=dark), "confusion")
    with right:
        curve = reliability(truth, trained.probabilities)
        chart(figures.reliability(curve, model=model, dark=dark), "reliability")
        chart(figures.timing_bar(trained.timings, model=model, dark=dark), "timing")
    data_table(
        {"Metric": list(trained.scores), "Test value": list(trained.scores.values())},
        hide_index=True,
        width="content",
        column_config={"Test value": st.column_config.NumberColumn(format="%.4f")},
    )
    for note in trained.notes:
        st.caption(f"{escape_markdown(note)}.")
