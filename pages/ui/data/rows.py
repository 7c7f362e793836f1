"""A look at a dataset: rows, balance, inputs, what was dropped, and where it is from."""

from __future__ import annotations

import numpy as np
import streamlit as st

from kcnet_core import figures
from kcnet_core.datasets.catalogue import is_glomerular
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments.run import Run
from kcnet_core.figures.sheets import image_tiles
from pages.ui.shell import visitor
from pages.ui.shell.chart import chart
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.row_picture import cards
from pages.ui.shell.safety_net import fragment

CARDS_PER_PAGE = 12
IMAGES_PER_PAGE = 80
INPUTS_SHOWN = 12
USUAL_INPUTS = ("MolWt", "MolLogP", "TPSA", "RingCount")  # what a chemist looks at first
INPUTS_CORRELATED = 60
METRIC_GAP = 28  # pixels, also between two lines of them on a narrow screen
LONG_SENTENCE = 160  # characters; beyond, what a sentence enumerates is folded away


def look(run: Run, dataset: Dataset) -> None:
    st.header(escape_markdown(dataset.title), anchor=False)
    n, d = dataset.X.shape
    with st.container(horizontal=True, gap=METRIC_GAP):
        st.metric("Rows", f"{n:,}", width="content")
        st.metric("Inputs", f"{d:,}", width="content")
        what = "Odor characters" if dataset.multilabel else "Classes"
        st.metric(what, len(dataset.target_names), width="content")
        if dataset.groups is not None:
            st.metric("Molecules", f"{len(np.unique(dataset.groups)):,}", width="content")
        if dataset.n_train is not None:
            st.metric("Training / test", f"{dataset.n_train:,} / {n - dataset.n_train:,}",
                      width="content")  # fmt: skip
    views = {"Rows": rows, "Balance": balance, "Inputs": inputs, "Decisions and source": source}
    for tab, name in zip(st.tabs(list(views), key="look_tab", on_change="rerun"), views,
                         strict=True):  # fmt: skip
        with tab:
            if tab.open:
                views[name](dataset)


def members(dataset: Dataset) -> np.ndarray:
    """Row numbers of the class or character that the visitor filters by."""
    names = list(dataset.target_names)
    choice = st.selectbox("Show", ["everything", *names], key=f"filter_{dataset.name}")
    if choice == "everything":
        return np.arange(len(dataset.X))
    k = names.index(choice)
    hit = dataset.y[:, k] == 1 if dataset.multilabel else dataset.y == k
    return np.flatnonzero(hit)


@fragment
def rows(dataset: Dataset) -> None:
    found = members(dataset)
    per_page = CARDS_PER_PAGE if dataset.kind == "odor" else IMAGES_PER_PAGE
    pages = max(1, -(-len(found) // per_page))
    page = st.pagination(pages, key=f"page_{dataset.name}_{pages}") if pages > 1 else 1
    shown = found[(page - 1) * per_page : page * per_page]
    st.caption(f"{len(found):,} row{'' if len(found) == 1 else 's'}; {len(shown)} shown.")
    if dataset.kind == "odor":
        cards(dataset, shown)
        return
    pixels = dataset.raw_pixels(dataset.X[shown])
    titles = [dataset.target_names[k] for k in dataset.y[shown]]
    st.html(image_tiles(pixels, dataset.image_shape, titles, dark=visitor.dark()))


def balance(dataset: Dataset) -> None:
    counts = (
        dataset.y.sum(axis=0)
        if dataset.multilabel
        else np.bincount(dataset.y, minlength=len(dataset.target_names))
    )
    chart(figures.label_balance(counts, dataset.target_names, len(dataset.y), dark=visitor.dark()),
          "balance")  # fmt: skip


@fragment
def inputs(dataset: Dataset) -> None:
    dark = visitor.dark()
    if dataset.image_shape is not None:
        raw = dataset.raw_pixels(dataset.X[:5000])
        n_colours = dataset.image_shape[2] if len(dataset.image_shape) == 3 else 1
        left, right = st.columns(2)
        with left:
            chart(figures.pixel_map(raw.mean(axis=0) / n_colours, dataset.image_shape, "Mean pixel",
                                    dark=dark), "pixel_mean")  # fmt: skip
        with right:
            chart(figures.pixel_map(raw.std(axis=0) / n_colours, dataset.image_shape,
                                    "Standard deviation of each pixel", dark=dark),
                  "pixel_std")  # fmt: skip
        return
    names = list(dataset.feature_names)
    usual = [name for name in USUAL_INPUTS if name in names] or names[:4]
    what = "Glomeruli" if is_glomerular(dataset.name) else "Descriptors"
    chosen = st.multiselect(what, names, usual, max_selections=INPUTS_SHOWN,
                            key=f"inputs_{dataset.name}")  # fmt: skip
    if chosen:
        columns = [names.index(name) for name in chosen]
        chart(figures.descriptor_histograms(dataset.X[:, columns], chosen, dark=dark), "histograms")
    st.caption(
        f"Correlation of the first {min(INPUTS_CORRELATED, len(names))} {what.lower()}"
        + (
            ", with what was never measured at the spontaneous rate."
            if what == "Glomeruli"
            else ": many say nearly the same, which is why a Kenyon cell can do with seven."
        )
    )
    chart(figures.correlation_matrix(dataset.X[:, :INPUTS_CORRELATED], names[:INPUTS_CORRELATED],
                                     dark=dark), "correlation")  # fmt: skip


def source(dataset: Dataset) -> None:
    if dataset.report:
        st.markdown("**What the loader decided**")
        folded = []
        for sentence in dataset.report:
            what, colon, which = sentence.partition(": ")
            if colon and len(sentence) > LONG_SENTENCE:
                folded.append((what, which))
            else:
                st.text(f"• {sentence}")
        for what, which in folded:
            with st.expander(escape_markdown(what)):
                st.text(which)
    st.markdown("**Citation**")
    st.text(dataset.citation or "none given")
    st.markdown("**Licence**")
    st.text(dataset.licence or "none given")
