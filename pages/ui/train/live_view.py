"""A run as it happens: scores, weights, curves, and the same numbers as one line of text."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import streamlit as st

from kcnet_core import figures
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.cost import in_words
from kcnet_core.experiments.run import DOA_MODELS, EPOCH_MODELS, Run
from pages.ui.shell import visitor, visitor_data, visitor_jobs
from pages.ui.shell.chart import chart
from pages.ui.shell.escaping import plain
from pages.ui.shell.job_progress import OWNER_SEES
from pages.ui.shell.molecule_cards import cards
from pages.ui.shell.safety_net import fragment
from pages.ui.shell.words import in_time
from pages.ui.train.live_charts import live_charts, picture_data
from pages.ui.train.reopen_model import opener

if TYPE_CHECKING:
    from kcnet_core.experiments.training import TrainView
    from kcnet_core.figures.training import Panel

SECONDS_BETWEEN_DRAWINGS = 1.0
SHARE_OF_DRAWINGS = 0.8  # for which a drawing is fresh: the next poll, if a little early, is not
STOPPED = (
    "A stopped run has no test score. Start trains the same settings and seed again from the "
    "beginning. Pause keeps a run where it is; Finish ends DOA early and tests the best wiring."
)
STATE_WORDS = {
    "queued": "waiting",
    "running": "training",
    "paused": "paused",
    "done": "done",
    "failed": "failed",
    "cancelled": "stopped",
}


class Drawn(NamedTuple):
    """The pictures that this visitor saw last."""

    of: tuple  # job, state, theme
    n_snapshots: int
    due: float  # when they are too old, while the run goes on
    pictures: dict


def before_start(run: Run) -> None:
    """An empty page that says what to do next and shows what the network will learn from."""
    try:
        dataset = visitor_data.dataset(run)
    except KCNetError:  # the line above says it
        opener()
        return
    with st.container(border=True):
        st.markdown(
            "**Nothing has been trained yet.** Press **Start** (or the key **S**): the "
            "network learns from the rows below, and its wiring appears here as it changes. "
            "Press **Step** (**N**) to go one epoch at a time."
        )
        if dataset.kind == "image":
            shown = slice(0, 60)
            names = [dataset.target_names[k] for k in dataset.y[shown]]
            # Not a chart: those need a library of megabytes, which the first page does without.
            sheet = figures.image_sheet(
                dataset.raw_pixels(dataset.X[shown]),
                dataset.image_shape,
                names,
                dark=visitor.dark(),
            )
            with st.container(key="first_images"):  # a phone shows half of them, twice as large
                st.image(sheet, width="stretch", alt=f"{len(names)} images: {', '.join(names)}")
        else:
            # A fixed but mixed handful: neighbours in a file are often of one family.
            rows = np.random.default_rng(1).permutation(len(dataset.X))[:8]
            cards(dataset, rows)
        st.page_link("pages/data.py", label="Look at all of the data, or choose another",
                     icon=":material/dataset:")  # fmt: skip
    opener()


def watch(job, state: str) -> None:
    """Draw the job now and, while it is under way, once a second.

    `state` is the one that the rest of the page shows; the page is drawn again when it changes.
    """
    active = state in ("queued", "running")
    draw = fragment(
        poll, run_every=SECONDS_BETWEEN_DRAWINGS if active else None, key=f"live_{active}"
    )
    draw(job, state)


def poll(job, drawn_state: str) -> None:
    view = job.view
    if view.state != drawn_state:
        st.rerun()  # buttons and results change with the state; this also ends the polling
    status(job)
    if view.state == "failed":
        why = OWNER_SEES if visitor_jobs.is_private(job) else view.error
        st.error(plain(why), icon=":material/error:")
    if job.kind == "train":  # a model from a file has no epochs to watch
        pictures(job, view)
        if view.state == "cancelled":
            st.info(STOPPED, icon=":material/info:")


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
    with st.container(key="run_status"):
        st.progress(view.fraction or 0.0, text=text)
        st.caption(plain(numbers(snapshot, view.finished) if snapshot else job.title))


def numbers(view: TrainView, ended: bool = False) -> str:
    """The latest figures in words: what a screen reader says instead of the charts."""
    if not view.n_records:
        return view.run.describe()
    last = view.log[view.n_records - 1]
    epoch = f"{'last ' if ended else ''}epoch {last.epoch} of {view.run.n_epochs}"
    parts = [view.run.describe(), epoch if view.run.model in EPOCH_MODELS else "one solve"]
    held_out = "validation" if view.run.model in EPOCH_MODELS else "leave-one-out"
    for name, value in (("training", last.train_metric), (held_out, last.validation_metric)):
        if value is not None:
            parts.append(f"{name} {view.metric_name} {value:.4f}")
    if view.run.model in DOA_MODELS:
        parts.append(f"density of W {last.density:.2%}")
        parts.append(f"flips +{last.flips_on:,} −{last.flips_off:,}")
    return " · ".join(parts)


def pictures(job, view) -> None:
    """S, W and the curves: drawn in place while they change, then by plotly, to zoom and save."""
    if view.finished:
        for row in panels(job, view.snapshot):
            if any(panel.figure is not None for panel in row):
                places = st.columns([panel.share for panel in row], gap="small")
                for place, panel in zip(places, row, strict=True):
                    if panel.figure is not None:
                        with place:
                            chart(panel.figure, panel.key)
        return
    live_charts(latest_pictures(job, view), "live_charts")


def latest_pictures(job, view) -> dict:
    """What `live_charts` draws of a run under way.

    What has not changed is not made again, nor what has just been drawn when somebody moves a
    slider meanwhile; Streamlit then sends only a reference to it.
    """
    of = (job.id, view.state, visitor.dark())
    before = st.session_state.get("live_drawn")
    if before is not None and before.of == of:
        fresh = view.state == "running" and time.monotonic() < before.due
        if fresh or before.n_snapshots == view.n_snapshots:
            return before.pictures
    due = time.monotonic() + SHARE_OF_DRAWINGS * SECONDS_BETWEEN_DRAWINGS
    with figures.unchecked():
        pictures = picture_data(panels(job, view.snapshot))
    st.session_state["live_drawn"] = Drawn(of, view.n_snapshots, due, pictures)
    return pictures


def panels(job, snapshot: TrainView | None) -> list[list[Panel]]:
    # Beside a random wiring stands how often each pixel is used.
    about = (snapshot or visitor_jobs.data_of(job)) if job.config.model == "KCNet" else None
    shape = about.image_shape if about is not None else None
    return figures.training_panels(job.config, snapshot, image_shape=shape, dark=visitor.dark())
