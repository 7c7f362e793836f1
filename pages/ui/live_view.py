"""A run as it happens: scores, weights, curves, and the same numbers as one line of text."""

from __future__ import annotations

import numpy as np
import streamlit as st

from kcnet_core import figures
from kcnet_core.experiments.estimate import in_words
from kcnet_core.experiments.replay import HISTOGRAM_EDGES
from kcnet_core.experiments.training import TrainView
from kcnet_core.run import DOA_MODELS, EPOCH_MODELS, Run
from pages.ui import session
from pages.ui.chart import chart
from pages.ui.molecule_cards import cards
from pages.ui.reopen_model import opener

SECONDS_BETWEEN_DRAWINGS = 1.0
STATE_WORDS = {
    "queued": "waiting",
    "running": "training",
    "paused": "paused",
    "done": "done",
    "failed": "failed",
    "cancelled": "stopped",
}


def before_start(run: Run) -> None:
    """An empty page that says what to do next and shows what the network will learn from."""
    dataset = session.dataset(run)
    with st.container(border=True):
        st.markdown(
            "**Nothing has been trained yet.** Press **Start** (or the key **S**): the "
            "network learns from the rows below, and its wiring appears here as it changes. "
            "Press **Step** (**N**) to go one epoch at a time."
        )
        if dataset.kind == "image":
            shown = slice(0, 60)
            chart(
                figures.image_grid(
                    dataset.X[shown] * dataset.pixel_std + dataset.pixel_mean,
                    dataset.image_shape,
                    [dataset.target_names[k] for k in dataset.y[shown]],
                    dark=session.dark(),
                ),
                "preview",
            )
        else:
            # A fixed but mixed handful: neighbours in a file are often of one family.
            rows = np.random.default_rng(1).permutation(len(dataset.X))[:8]
            cards(dataset, rows)
        st.page_link("pages/data.py", label="Look at all of the data, or choose another",
                     icon=":material/dataset:")  # fmt: skip
    opener()


def watch(job) -> None:
    """Draw the job now and, while it is under way, once a second."""
    state = job.view.state
    active = state in ("queued", "running")
    draw = st.fragment(
        poll, run_every=SECONDS_BETWEEN_DRAWINGS if active else None, key=f"live_{active}"
    )
    draw(job, state)


def poll(job, drawn_state: str) -> None:
    view = job.view
    if view.state != drawn_state:
        st.rerun()  # buttons and results change with the state; this also ends the polling
    status(job)
    if view.state == "failed":
        st.error(view.error, icon=":material/error:")
    if view.snapshot is not None:
        pictures(view.snapshot)


def status(job) -> None:
    view, snapshot = job.view, job.view.snapshot
    words = STATE_WORDS[view.state]
    if view.state == "queued":
        text = f"Waiting: number {view.position} in the queue"
    else:
        text = f"{snapshot.stage if snapshot else 'Starting'} · {in_time(view.seconds())}"
        left = job.seconds_left()
        if view.state == "running" and left:
            text += f" · about {in_words(left)} left"
        if view.state in ("done", "cancelled", "failed", "paused"):
            text = f"{words.capitalize()} after {in_time(view.seconds())}"
    st.progress(view.fraction or 0.0, text=text)
    st.caption(numbers(snapshot) if snapshot else job.title)


def numbers(view: TrainView) -> str:
    """The latest figures in words: what a screen reader says instead of the charts."""
    if not view.n_records:
        return view.run.describe()
    last = view.log[view.n_records - 1]
    parts = [view.run.describe(), f"epoch {last.epoch} of {view.run.n_epochs}"
             if view.run.model in EPOCH_MODELS else "one solve"]  # fmt: skip
    held_out = "validation" if view.run.model in EPOCH_MODELS else "leave-one-out"
    for name, value in (("training", last.train_metric), (held_out, last.validation_metric)):
        if value is not None:
            parts.append(f"{name} {view.metric_name} {value:.4f}")
    if view.run.model in DOA_MODELS:
        parts.append(f"density of W {last.density:.2%}")
        parts.append(f"flips +{last.flips_on:,} −{last.flips_off:,}")
    return " · ".join(parts)


def in_time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def pictures(view: TrainView) -> None:
    """S, W and the curves, in a layout that does not move while they are redrawn."""
    dark = session.dark()
    frame = view.latest
    if frame is not None:
        left, right = st.columns(2)
        parts = {"shape": frame.shape, "dark": dark, "n_submodels": submodels(view.run)}
        weights = figures.matrix_picture(frame.W_small, "W", title="Weights W", **parts)
        if frame.S_small is not None:
            with left:
                scores = figures.matrix_picture(
                    frame.S_small, "S", title="Preference scores S", **parts
                )
                chart(scores, "live_S")
            with right:
                chart(weights, "live_W")
        else:
            with left:
                chart(weights, "live_W")
            with right:
                pixels_used(view.run, frame)
    if view.run.model not in EPOCH_MODELS or not view.n_records:
        return
    records = view.records
    stop = view.run.stop_metric or None
    curve = figures.validation_curve(
        records, view.metric_name, n_epochs=view.run.n_epochs, stop_metric=stop, dark=dark
    )
    if view.run.model == "FSHN":
        chart(curve, "live_curve")
        return
    n_epochs = view.run.n_epochs
    small = [
        ("live_flips", figures.flips_bars(records, n_epochs=n_epochs, dark=dark)),
        ("live_density", figures.density_curve(records, n_epochs=n_epochs, dark=dark)),
    ]
    if frame is not None and frame.S_counts is not None:
        histogram = figures.score_histogram(frame.S_counts, HISTOGRAM_EDGES, dark=dark, height=300)
        small.append(("live_scores", histogram))
    columns = st.columns([1.7] + [1.0] * len(small), gap="small")
    with columns[0]:
        chart(curve, "live_curve")
    for column, (key, figure) in zip(columns[1:], small, strict=True):
        with column:
            chart(figure, key)


def submodels(run: Run) -> int:
    return run.n_submodels if run.model == "Ensemble DOA" else 1


def pixels_used(run: Run, frame) -> None:
    """Beside a random wiring: how often each pixel is used."""
    shape = session.dataset(run).image_shape
    if shape is not None:
        title = "How many cells use each pixel"
        chart(
            figures.input_usage_map(frame.usage, shape, title=title, dark=session.dark()),
            "live_usage",
        )
