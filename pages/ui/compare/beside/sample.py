"""One sample in both networks: their wiring, the cells that answer, the outputs and the answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments.beside.curves import nearest
from kcnet_core.experiments.beside.plan import LEVELS, Beside
from kcnet_core.experiments.beside.steps import Layer, Point, Scene
from kcnet_core.experiments.comparison.inside import ACTIVE
from kcnet_core.experiments.metrics import headline_metric
from kcnet_core.figures.beside.growing import MOST_BARS, as_rows, output_bars
from kcnet_core.figures.beside.inside import cells_picture, weights_picture
from kcnet_core.figures.sheets import image_png
from pages.ui.compare import view
from pages.ui.compare.beside import widths
from pages.ui.shell import session_keys, visitor
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.memo import memo
from pages.ui.shell.row_picture import label

PORTRAIT = 84  # pixels of the sample's picture
STRONGEST = 3  # labels that stand for an answer where several may be true
HEIGHT = 112  # of the outputs
ROW_HEIGHT = 19
LONG_NAME = 4  # letters; ten names that are longer do not fit below ten bars


def controls(plan: Beside, dataset: Dataset, scene: Scene) -> None:
    """Sample, width and noise: each answers at once, for everything is there already."""
    look = view.look()
    # Only what differs is set: setting takes the control back from whoever moves it meanwhile.
    looked_at = widths.width_looked_at(plan, look.width)
    if st.session_state.get(session_keys.BESIDE_WIDTH) != looked_at:
        st.session_state[session_keys.BESIDE_WIDTH] = looked_at
    shown = min(look.sample, len(scene.rows) - 1)
    if st.session_state.get(session_keys.BESIDE_SAMPLE) != shown:
        st.session_state[session_keys.BESIDE_SAMPLE] = shown
    picture, sample, width, noise = st.columns([1, 2, 4, 3], vertical_alignment="center")
    with sample:
        sample_picker(dataset, scene)
    with width:
        st.select_slider(
            "Width", plan.widths, format_func=lambda size: f"{size:,} cells",
            key=session_keys.BESIDE_WIDTH, persist_state="session",
        )  # fmt: skip
    with noise:
        st.select_slider(
            "Noise on the input", LEVELS, format_func=lambda level: f"{level:g}",
            key=session_keys.BESIDE_NOISE, persist_state="session",
            help="In standard deviations of an input. Both networks learned from clean rows.",
        )  # fmt: skip
    with picture:
        portrait(dataset, scene)


def sample_picker(dataset: Dataset, scene: Scene) -> None:
    key, names = session_keys.BESIDE_SAMPLE, dataset.row_names
    if names is None:
        st.number_input(
            "Test sample", 0, len(scene.rows) - 1, key=key, persist_state="session",
            help=f"Any of the first {len(scene.rows)} test rows.",
        )  # fmt: skip
        return
    st.selectbox(
        "Test sample", range(len(scene.rows)), format_func=lambda i: names[scene.rows[i]],
        key=key, persist_state="session",
    )  # fmt: skip


def portrait(dataset: Dataset, scene: Scene) -> None:
    """What the networks get to see; noise on a molecule's descriptors has no picture."""
    look, dark = view.look(), visitor.dark()
    row = int(scene.rows[look.sample])
    said = f"Test row {row}: {label(dataset, dataset.y[row])}"
    if dataset.image_shape is None:
        if dataset.smiles is not None:
            from kcnet_core.molecules.pictures import molecule_svg

            st.image(molecule_svg(dataset.smiles[row], 150, 100, dark=dark), alt=said)
        return
    X = scene.seen[LEVELS.index(look.noise), look.sample]
    pixels = np.clip(dataset.raw_pixels(X), 0, 1).reshape(dataset.image_shape)
    large = pixels.repeat(6, axis=0).repeat(6, axis=1)
    st.image(image_png(large, dark), width=PORTRAIT, alt=said)


def networks(plan: Beside, dataset: Dataset, scene: Scene, points: Sequence[Point]) -> None:
    """The two columns; while the first seed still grows, at the widest width so far."""
    look = view.look()
    point = nearest(points, widths.width_looked_at(plan, look.width))
    if point is None:
        return
    with st.container(key="beside_pair"):
        for k, column in enumerate(st.columns(2, gap="small")):
            with column, st.container(gap="xsmall"):
                network(k, plan, dataset, scene, points, point)


def network(k: int, plan, dataset, scene: Scene, points, point: Point) -> None:
    look, dark, layer = view.look(), visitor.dark(), scene.layers[k]
    level = LEVELS.index(look.noise)
    outputs = point.outputs[k, level, look.sample]
    st.markdown(
        f"**{layer.name}**, {point.width:,} cells: "
        f"{answer(outputs, dataset, int(scene.rows[look.sample]))}"
    )
    st.caption(numbers(k, plan, dataset, layer, points, point.width, level))
    pictured = (plan, k, dark)
    st.image(
        memo(f"beside_wiring_{k}", pictured, lambda: weights_picture(layer.window, dark=dark)),
        width="stretch", alt=wiring_in_words(layer, scene.n_inputs),
    )  # fmt: skip
    activity = layer.hidden[level, look.sample, : point.width]
    awake = np.mean(activity > ACTIVE * layer.hidden[level].max())
    st.caption(wiring_in_words(layer, scene.n_inputs))
    st.image(
        memo(
            f"beside_cells_{k}", (*pictured, level, look.sample, point.width),
            lambda: cells_picture(activity, dark=dark),
        ),
        width="stretch",
        alt=f"{layer.name}: {len(activity)} hidden cells, {awake:.0%} of them active",
    )  # fmt: skip
    st.caption(f"All {point.width:,}: {awake:.0%} active for this sample")
    both = point.outputs[:, level, look.sample]
    shown = shown_outputs(both, dataset, scene, look.sample)
    names = [dataset.target_names[i] for i in shown]
    true = true_classes(dataset, int(scene.rows[look.sample]))
    truth = [place for place, i in enumerate(shown) if i in true]
    long = max(map(len, names)) > LONG_NAME
    ends = float(np.nanmin(both[:, shown])), float(np.nanmax(both[:, shown]))
    drawn = output_bars(outputs[shown], names, truth, layer.name, ends, dark=dark)
    if long:
        drawn = as_rows(drawn)
    height = 30 + ROW_HEIGHT * len(names) if long else HEIGHT
    st.echarts_chart(drawn.option, key=f"beside_outputs_{k}", height=height, alt=drawn.alt)


def answer(outputs: np.ndarray, dataset: Dataset, row: int) -> str:
    """What the network says, and whether that is so; several labels by their strongest three."""
    true = true_classes(dataset, row)
    if dataset.multilabel:
        order = np.argsort(-outputs)[:STRONGEST]
        said = ", ".join(escape_markdown(dataset.target_names[i]) for i in order)
        return f"**{said}** · {len(true & set(order.tolist()))} of {STRONGEST} true"
    given = int(np.nanargmax(outputs))
    said = f"**{escape_markdown(dataset.target_names[given])}**"
    if given in true:
        return f"{said} :material/check: right"
    return f"{said} :material/close: no, {escape_markdown(label(dataset, dataset.y[row]))}"


def true_classes(dataset: Dataset, row: int) -> set[int]:
    if dataset.multilabel:
        return set(np.flatnonzero(dataset.y[row]).tolist())
    return {int(dataset.y[row])}


def shown_outputs(outputs: np.ndarray, dataset: Dataset, scene: Scene, sample: int) -> list[int]:
    """All classes or, of many, the true ones and those that either network finds strongest."""
    n = outputs.shape[-1]
    if n <= MOST_BARS:
        return list(range(n))
    true = true_classes(dataset, int(scene.rows[sample]))
    strength = np.nan_to_num(outputs, nan=-np.inf).max(axis=0)
    strength[list(true)] += 1e3
    return np.argsort(-strength)[:MOST_BARS].tolist()


def wiring_in_words(layer: Layer, n_inputs: int) -> str:
    n = len(layer.window)
    if layer.window.dtype == np.uint8:
        ones = layer.window.sum(axis=1)
        if ones.min() < ones.max():
            return f"First {n} cells: {ones.mean():.1f} ones of {n_inputs:,} each, on average"
        return f"First {n} cells: {ones[0]} ones each, {n_inputs - int(ones[0]):,} zeros"
    return f"First {n} cells: {n_inputs:,} real weights each"


def numbers(k: int, plan, dataset, layer: Layer, points, width: int, level: int) -> str:
    """Score, bytes and seconds at this width, means over the seeds so far."""
    found = widths.found(plan, points, level)
    at = int(np.searchsorted(found.widths, width))
    return (
        f"Test {headline_metric(dataset)} **{found.mean[k, at]:.3f}** · "
        f"**{in_bytes(layer.bytes[width])}** · **{found.seconds[k, at]:.2f} s**"
    )


def in_bytes(n: int) -> str:
    return f"{n / 2**20:.1f} MB" if n >= 2**20 else f"{n / 2**10:.1f} KB"
