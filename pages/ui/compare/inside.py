"""KCNet and ELM opened up: their weights, and which cells answer one and the same sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from kcnet_core import figures
from kcnet_core.experiments.comparison.inside import SideBySide, side_by_side
from kcnet_core.experiments.comparison.rows import PlannedRows
from kcnet_core.experiments.protocols import PROTOCOLS
from kcnet_core.figures.matrices import MAX_WINDOW
from kcnet_core.palette import model_colour
from pages.ui.shell import row_picture, visitor
from pages.ui.shell.chart import chart
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.memo import memo
from pages.ui.shell.row_picture import label
from pages.ui.shell.safety_net import fragment
from pages.ui.shell.words import setting_value

LARGEST = 2_000  # more cells than this cannot be told apart in a picture


def inside(planned: PlannedRows) -> None:
    comparison = planned.comparison
    sizes = [size for size in comparison.hidden if size <= LARGEST] or [LARGEST]
    st.markdown(
        "Both networks solve only for their output weights. What differs is the wiring: a few ones "
        "per Kenyon cell, or a dense matrix of random numbers."
    )
    size, plan = sizes[0], comparison.wirings[0]
    if len(sizes) > 1:
        size = st.segmented_control(
            "Hidden size", sizes, default=sizes[len(sizes) // 2], required=True,
            format_func=lambda value: f"{value:,}", key=f"inside_size_{'_'.join(map(str, sizes))}",
        )  # fmt: skip
    if len(comparison.wirings) > 1:
        plan = st.segmented_control(
            "Wiring of KCNet", comparison.wirings, default=plan, required=True,
            format_func=lambda name: setting_value("wiring", name),
            key=f"inside_wiring_{'_'.join(comparison.wirings)}",
        )  # fmt: skip
    with st.spinner("Teaching both networks …"):
        one = {"models": ("KCNet",), "hidden": (size,), "wirings": (plan,)}
        shown = replace(comparison, **one, n_repeats=1, n_folds=0)
        key = (shown, id(planned.dataset))
        pair = memo("inside", key, lambda: side_by_side(shown, planned.dataset, size))
    one_sample(pair)
    weights(pair)


@fragment
def one_sample(pair: SideBySide) -> None:
    dataset, dark = pair.dataset, visitor.dark()
    left, *columns = st.columns([2, 3, 3])
    with left:
        position = sample_picker(pair)
        row = int(pair.split.test[position])
        if dataset.image_shape is None:
            row_picture.molecule(dataset, row, dark)
        else:
            pixels = dataset.raw_pixels(dataset.X[row : row + 1])
            chart(figures.image_grid(pixels, dataset.image_shape, dark=dark), "inside_sample")
        st.caption(f"Truth: {escape_markdown(label(dataset, dataset.y[row]))}.")
    for column, network in zip(columns, pair.networks, strict=True):
        with column:
            activity = network.hidden[position]
            name = f"{network.name}: {len(activity):,} hidden cells"
            chart(
                figures.cell_field(activity, name=name, limit=float(activity.max()), dark=dark),
                f"inside_{network.name}",
            )
            answer = escape_markdown(label(dataset, pair.answer(network, position)))
            st.caption(
                f"{network.active_share(position):.0%} of the cells are active for this sample, "
                f"{network.active_share():.0%} on average. Answer: {answer}."
            )
    chart(
        figures.activity_ranks(
            {network.name: network.hidden[position] for network in pair.networks},
            {network.name: model_colour(network.name, dark) for network in pair.networks},
            dark=dark,
        ),
        "inside_ranks",
    )
    protocol = PROTOCOLS[pair.split.protocol]
    silent = 1 - pair.networks[0].active_share()
    st.caption(
        f"Test rows of {escape_markdown(dataset.title)} ({protocol.title.lower()}), seed "
        f"{pair.split.seed}; taught with {len(pair.split.train):,} rows. Inhibition and ReLU "
        f"silence {silent:.0%} of KCNet's cells, so a sample is a sparse code; ELM's "
        "sigmoid never falls quite silent, and most of its units sit near 0 or 1. Active: above 1% "
        "of the strongest."
    )


def sample_picker(pair: SideBySide) -> int:
    """The position of a test row; molecules by name, images by number."""
    dataset, test = pair.dataset, pair.split.test
    positions = range(len(test))
    where = f"{dataset.name}_{pair.split.protocol}_{pair.split.seed}"
    if dataset.row_names is not None:
        return st.selectbox(
            "Test sample", positions, format_func=lambda i: dataset.row_names[test[i]],
            key=f"inside_sample_{where}",
        )  # fmt: skip
    return st.number_input(
        "Test sample", 0, len(test) - 1, 0, key=f"inside_sample_{where}",
        help=f"Any of the first {len(test):,} test rows.",
    )  # fmt: skip


def weights(pair: SideBySide) -> None:
    dark = visitor.dark()
    st.header("Input weights", anchor=False)
    if pair.fold.glomeruli:
        st.caption("Point at an entry to read its glomerulus and its cell.")
    for column, network in zip(st.columns(2), pair.networks, strict=True):
        W = network.weights
        binary = W.dtype == np.uint8
        with column:
            kind = "W" if binary else "A"
            if pair.fold.glomeruli:
                figure = figures.matrix_window(
                    W, slice(0, len(W)), slice(0, W.shape[1]), pair.fold.glomeruli, kind, dark=dark
                )
                listed = "" if len(W) <= MAX_WINDOW else f", first {MAX_WINDOW} cells"
                st.markdown(f"**{network.name}**{listed}")
            else:
                figure = figures.matrix_picture(
                    W, kind, limit=None if binary else 1.0, dark=dark,
                    title=f"{network.name}: {'W, 0 or 1' if binary else 'a, between −1 and 1'}",
                )  # fmt: skip
            chart(figure, f"inside_weights_{network.name}")
            if binary:
                st.caption(
                    f"{int(W.sum()):,} ones among {W.size:,} entries ({W.mean():.2%}): "
                    f"{W.sum(axis=1).mean():.1f} inputs per cell, one bit each."
                )
            else:
                st.caption(f"{W.size:,} numbers, none zero: every input reaches every cell.")
