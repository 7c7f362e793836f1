"""The Learn page's experiments: drawing, inhibition, tags as a hash, many flies."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import streamlit as st

from kcnet_core.errors import KCNetError
from kcnet_core.figures import flies as fly_figures
from kcnet_core.lessons import digit_drawing
from kcnet_core.lessons.circuit import BOUNDS, CircuitSettings, forward_pass, tag_size
from kcnet_core.lessons.experiments import (
    FlyAnswers,
    InhibitionSweep,
    TagPairs,
    compare_flies,
    fly_answers,
    inhibition_sweep,
    input_similarity,
    nearest_and_farthest,
    opinions,
    swarm_fly,
    tag_pairs,
)
from pages.ui.learn.answer_view import answer_view
from pages.ui.learn.bench import DATA_OF, DRAWN, ODOR, SAMPLE_OF, Bench, Sample, fly, glomeruli
from pages.ui.learn.digit_canvas import canvas
from pages.ui.learn.present import chart
from pages.ui.learn.sample_choice import choose_sample, keep_drawing, raw_drawing, sample_of_row
from pages.ui.learn.walk import circuit
from pages.ui.learn.walk_steps import input_contributions, percent
from pages.ui.shell import visitor
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.safety_net import fragment

SOON = 0.4  # seconds after which waiting needs a word
STRENGTHS = np.linspace(*BOUNDS["inhibition"], 41)


@fragment
def draw(settings: CircuitSettings) -> None:
    """A digit is classified while it is drawn."""
    left, right = st.columns([4, 9], gap="large")
    with left:
        st.header("Draw", anchor=False)
        pixels = canvas("canvas", start=_start())
        keep_drawing(pixels)
    centred = digit_drawing.centre_like_mnist(pixels)
    bench = Bench(DATA_OF[DRAWN], settings, Sample("your drawing", centred.ravel(), ()), DRAWN)
    forward = forward_pass(bench.fly, bench.sample.rates)
    blank = digit_drawing.is_blank(pixels)
    if blank:  # bars and map wait in their places, so that nothing jumps when the ink comes
        forward = replace(forward, probabilities=np.zeros_like(forward.probabilities))
    best = int(np.argmax(forward.probabilities))
    with right:
        st.header(
            "No ink yet"
            if blank
            else f"A {bench.answer_names[best]}, {percent(forward.probabilities[best])} sure",
            anchor=False,
        )
        answer_view(
            bench.answer_names,
            forward.probabilities,
            input_contributions(bench, forward),
            (digit_drawing.SIDE, digit_drawing.SIDE),
            dark=visitor.dark(),
            key="draw_answer",
        )
        st.caption(
            "The map takes the answer apart: orange pixels spoke for it, purple ones against it. "
            "The shares are exact and add up to the score."
        )
    circuit(bench, forward, "answer", 0, "draw_circuit")
    st.caption(
        f"{forward.n_active:,} of {len(forward.sums):,} Kenyon cells are active. The fly was "
        f"taught with {len(bench.glomeruli.train):,} handwritten digits; your drawing is fitted "
        "and centred as they were."
    )


def _start() -> np.ndarray | None:
    """The drawing that a link brought, if it brought a sound one."""
    try:
        pixels = raw_drawing()
    except KCNetError as error:
        st.warning(escape_markdown(error))
        return None
    return None if digit_drawing.is_blank(pixels) else pixels


@st.cache_resource(show_spinner=False, max_entries=30)
def _sweep(data: str, settings: CircuitSettings, first: bytes, second: bytes) -> InhibitionSweep:
    """Only the wiring matters here, so moving C costs nothing."""
    a, b = (np.frombuffer(rates, dtype=np.float32) for rates in (first, second))
    return inhibition_sweep(fly(data, settings), glomeruli(data), a, b, STRENGTHS)


def inhibition(bench: Bench) -> None:
    """What happens to two samples' codes as C moves."""
    with st.container(width=360):
        label = f"Compare {escape_markdown(bench.sample.title)} with"
        other = choose_sample(SAMPLE_OF[bench.data], "2", label, 2)
    sweep = _sweep(
        bench.data,
        replace(bench.settings, inhibition=1.0),
        bench.sample.rates.tobytes(),
        other.rates.tobytes(),
    )
    now = bench.settings.inhibition
    at = int(np.argmin(np.abs(STRENGTHS - now)))
    left, right = st.columns(2, gap="large")
    with left:
        st.header("Fewer cells fire", anchor=False)
        names = (bench.sample.title, other.title)
        if names[0] == names[1]:
            names = (f"{names[0]}, first", f"{names[1]}, second")
        chart(fly_figures.active_share_figure(sweep, now, names, visitor.dark()), key="share")
        st.caption(
            f"With C = {now:.2f}, {sweep.share_a[at]:.0%} of the cells fire for the first, "
            f"{sweep.share_b[at]:.0%} for the second, {sweep.share_mean[at]:.0%} on average."
        )
    with right:
        st.header("And the codes move apart", anchor=False)
        chart(fly_figures.tag_distance_figure(sweep, now, visitor.dark()), key="distance")
        st.caption(
            f"With C = {now:.2f}, the distance between the two is {sweep.distance[at]:.2f} "
            "(0: the same cells fire, 1: not one in common)."
        )
    st.markdown(
        ":material/visibility: **Look.** Without inhibition (C = 0) almost every cell that hears "
        "anything fires, and two codes overlap whatever they stand for. Inhibition keeps, for each "
        "sample, the cells that it drives harder than the average cell.  \n"
        ":material/science: **Try.** Move C. Where are pairs of different kinds farthest from "
        "pairs of one kind? And what would the next layer have to work with at C = 2?"
    )


@st.cache_resource(show_spinner=False, max_entries=30)
def _pairs(data: str, settings: CircuitSettings) -> TagPairs:
    return tag_pairs(fly(data, settings), glomeruli(data))


def tags(bench: Bench) -> None:
    """The tag as a hash: like inputs share more of it."""
    near, far = nearest_and_farthest(bench.glomeruli, bench.sample.rates)
    trio = [bench.sample, *(sample_of_row(bench.data, row) for row in (near, far))]
    rates = np.stack([sample.rates for sample in trio])
    marks = np.asarray(bench.fly.tags(rates))
    size = tag_size(bench.settings.cells)
    shared = [int(np.count_nonzero(marks[0] & mark)) for mark in marks]
    similarity = input_similarity(rates)[0]

    st.header("Alike inputs get alike tags", anchor=False)
    names = [trio[0].title, f"nearest: {trio[1].title}", f"farthest: {trio[2].title}"]
    chart(fly_figures.tag_strips_figure(marks, names, visitor.dark()), key="strips")
    st.caption(
        f"A tag is the {size} loudest of {bench.settings.cells:,} cells. "
        f"The nearest sample shares {shared[1]} of {size} with the first, "
        f"the farthest {shared[2]} of {size}."
    )
    left, right = st.columns([11, 9], gap="large")
    with left:
        pairs = _pairs(bench.data, bench.settings)
        kinds = (
            ("same digit", "different digits")
            if bench.image_shape is not None
            else ("smell alike", "smell different")
            if bench.kind == ODOR
            else ("same chemical class", "different classes")
        )
        marked = [
            (similarity[i], shared[i] / size, name) for i, name in ((1, "nearest"), (2, "farthest"))
        ]
        chart(fly_figures.tag_scatter_figure(pairs, marked, kinds, visitor.dark()), key="scatter")
        st.caption(
            f"{len(pairs.similarity):,} pairs of samples that the fly was not taught with. Pairs "
            f"of one kind share {pairs.overlap[pairs.same].mean():.0%} of their tags on average, "
            f"others {pairs.overlap[~pairs.same].mean():.0%}; chance is {pairs.chance:.0%}."
        )
    with right:
        st.header("A hash that remembers distance", anchor=False)
        st.markdown(
            "An ordinary hash scatters its inputs: change one letter, and everything changes. The "
            "fly's tag does the opposite. The more alike two inputs are, the more cells their tags "
            "share, so looking up similar things only takes comparing short lists of cells. "
            "Dasgupta, Stevens and Navlakha (2017) use it as a search engine."
        )
        st.latex(
            r"\text{shared} = \frac{|T_a \cap T_b|}{|T|},\quad |T| = 5\%\ \text{of}\ \mathcal{B}"
        )
        st.markdown(
            ":material/visibility: **Look.** The cloud rises from left to right.  \n"
            ":material/science: **Try.** "
            + (
                "Switch between real, shuffled and random wiring: does the cloud keep its shape?"
                if bench.lobes
                else "Lower the number of cells: with short tags the cloud gets coarse. Raise the "
                "inputs per cell: what happens to the slope?"
            )
        )


@st.cache_resource(show_spinner=False, max_entries=90)
def _answers(data: str, settings: CircuitSettings) -> FlyAnswers:
    return fly_answers(glomeruli(data), settings)


def _swarm(bench: Bench, n: int) -> list[FlyAnswers]:
    """The flies, with a bar while they are taught; those already taught are at hand."""
    place, began, swarm = st.empty(), time.monotonic(), []
    for number in range(n):
        swarm.append(_answers(bench.data, swarm_fly(bench.settings, number)))
        if time.monotonic() - began > SOON:
            place.progress(len(swarm) / n, text=f"Fly {len(swarm)} of {n} is wired and taught")
    place.empty()
    return swarm


def flies(bench: Bench) -> None:
    """Many flies: other wirings, the same answers."""
    with st.container(width=360):
        n = st.slider("Flies", 2, 30, 8, key="flies", bind="query-params")
    swarm = _swarm(bench, n)
    comparison = compare_flies(swarm)
    pairs = np.triu_indices(n, k=1)
    overlap, agreement = comparison.overlap[pairs], comparison.agreement[pairs]
    views = opinions(swarm, bench.sample.rates)

    left, right = st.columns(2, gap="large")
    with left:
        st.header("Wirings differ, answers agree", anchor=False)
        chart(fly_figures.fly_pairs_figure(comparison, visitor.dark()), key="fly_pairs")
        st.caption("Above the diagonal: shared wiring. Below it: equal answers. In percent.")
    with right:
        st.header(f"What they say of {escape_markdown(bench.sample.title)}", anchor=False)
        chart(
            fly_figures.opinions_figure(views, bench.answer_names, visitor.dark()), key="opinions"
        )
        st.caption(_opinion_sentence(bench, views))
    cells = comparison.n_pairs * bench.settings.cells
    n_test = len(bench.glomeruli.test)
    st.markdown(
        f"Two flies have on average **{overlap.mean() * comparison.n_connections:,.0f} of "
        f"{comparison.n_connections:,}** connections in the same place ({overlap.mean():.1%}; "
        f"chance gives {comparison.chance_overlap:.1%}), and over all {comparison.n_pairs} pairs "
        f"**{comparison.identical:,} of {cells:,}** cells have exactly the same inputs in both "
        f"flies. Yet two flies agree on **{agreement.mean():.1%}** of the answers to "
        f"{n_test:,} samples none of them was taught with (flies that guessed independently would "
        f"agree on {comparison.chance_agreement:.0%}). {_accuracy_sentence(bench, swarm)}  \n"
        + (
            "Whichever plan is chosen above, fly 1 is the real one, flies with even numbers are "
            "its shuffles, and the others draw as many glomeruli per cell from anywhere."
            if bench.lobes
            else ":material/science: **Try.** Fewer cells: do the flies still agree?"
        )
    )


def _accuracy_sentence(bench: Bench, swarm: list[FlyAnswers]) -> str:
    right = np.mean([each.accuracy for each in swarm])
    dataset = bench.glomeruli.dataset
    if not dataset.multilabel:
        return f"Each fly is right {right:.1%} of the time."
    absent = 1 - dataset.y[bench.glomeruli.test].mean()
    return (
        f"Of all answers, one per odor and character, {right:.1%} are right; always saying no "
        f"would be right in {absent:.1%}."
    )


def _opinion_sentence(bench: Bench, views: np.ndarray) -> str:
    if bench.glomeruli.dataset.multilabel:
        k = int(views.mean(axis=0).argmax())
        said = np.count_nonzero(views[:, k] > 0.5)
        return f"{said} of {len(views)} flies say {bench.answer_names[k]}."
    favourites, count = np.unique(views.argmax(axis=1), return_counts=True)
    best = int(favourites[count.argmax()])
    return f"{count.max()} of {len(views)} flies say {bench.answer_names[best]}."
