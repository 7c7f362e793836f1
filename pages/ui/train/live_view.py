"""A run as it happens: numbers, S, W and curves as one film, and all of it as a line of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from kcnet_core import figures
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.run import DOA_MODELS, EPOCH_MODELS, Run
from pages.ui.shell import visitor, visitor_data
from pages.ui.shell.announce.announce import announce
from pages.ui.shell.circuit import living_circuit
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.job_progress import failure, progress_text
from pages.ui.shell.memo import memo
from pages.ui.shell.row_picture import cards
from pages.ui.shell.watch import UNDER_WAY, watch
from pages.ui.shell.words import capital
from pages.ui.train import live_film, scores_row
from pages.ui.train.film import film
from pages.ui.train.reopen_model import opener
from pages.ui.train.run_bar import LOADED

if TYPE_CHECKING:
    from kcnet_core.datasets.dataset import Dataset
    from kcnet_core.experiments.training import TrainedRun, TrainView

STOPPED = (
    "A stopped run has no test score. Start trains the same settings and seed again from the "
    "beginning. Pause keeps a run where it is; Finish ends DOA early and tests the best wiring."
)


def before_start(run: Run) -> None:
    """The first screen: a circuit that lives, what to do next, and what it will learn from."""
    try:
        dataset = visitor_data.dataset(run)
    except KCNetError:  # the line above says it
        opener()
        return
    living_circuit.show(dataset.kind, LOADED.is_set())
    with st.container(border=True):
        st.markdown(
            "**Nothing has been trained yet.** Press **Start** (or the key **S**): the "
            "network learns from rows like these, and its wiring appears here as it changes. "
            "Press **Step** (**N**) to go one epoch at a time."
        )
        if dataset.kind == "image":
            # Not a chart: those need a library of megabytes, which the first page does without.
            key = (id(dataset), visitor.dark())
            st.html(memo("first_images", key, lambda: (_first_images(dataset), dataset))[0])
        else:
            # A fixed but mixed handful: neighbours in a file are often of one family.
            rows = np.random.default_rng(1).permutation(len(dataset.X))[:4]
            cards(dataset, rows)
        st.page_link("pages/data.py", label="Look at all of the data, or choose another",
                     icon=":material/dataset:")  # fmt: skip
    opener()


def _first_images(dataset: Dataset) -> str:
    shown = slice(0, 12)
    names = [dataset.target_names[k] for k in dataset.y[shown]]
    images = dataset.raw_pixels(dataset.X[shown])
    return figures.image_tiles(images, dataset.image_shape, names, dark=visitor.dark())


def follow(job, state: str, trained: TrainedRun | None = None) -> None:
    """Draw the job now and, while it is under way, once a second; its first frames come sooner.

    `state` is the one that the rest of the page shows; the page is drawn again when it changes.
    Below a run under way is as much room as its results will take: the page does not grow.
    """
    watch(job, state, lambda: show(job, trained), "live", settled=lambda: live_film.settled(job))
    if state in UNDER_WAY:
        with st.container(key="results"):
            st.caption("Scores, wiring, cells and test samples come here when the run has ended.")


def show(job, trained: TrainedRun | None) -> None:
    live_film.wait_for_first(job)
    view = job.view
    status(job)
    with st.container(key="live"), st.container(key=f"live_{live_film.layout(job)}"):
        film(live_film.latest(job, view, trained), "live_film")
    failure(job)
    if view.state == "cancelled" and job.kind == "train":
        st.info(view.error or STOPPED, icon=":material/info:")
    if trained is None:
        scores_row.protocol_of(job)
    else:
        scores_row.protocol(trained)


def status(job) -> None:
    view, snapshot = job.view, job.view.snapshot
    said = numbers(snapshot, view.finished) if snapshot else ""
    doing = capital(progress_text(job, cancelled="stopped"))
    with st.container(key="run_status"):
        text = " · ".join(filter(None, (doing, said)))
        st.progress(view.fraction or 0.0, text=escape_markdown(text))
        announce(job)


def numbers(view: TrainView, ended: bool = False) -> str:
    """The latest figures in words."""
    if not view.n_records:
        return ""
    last = view.log[view.n_records - 1]
    epoch = f"{'last ' if ended else ''}epoch {last.epoch} of {view.run.n_epochs}"
    parts = [epoch if view.run.model in EPOCH_MODELS else "one solve"]
    held_out = "validation" if view.run.model in EPOCH_MODELS else "leave-one-out"
    for name, value in (("training", last.train_metric), (held_out, last.validation_metric)):
        if value is not None:
            parts.append(f"{name} {view.metric_name} {value:.4f}")
    if view.run.model in DOA_MODELS:
        parts.append(f"density of W {last.density:.2%}")
        parts.append(f"flips +{last.flips_on:,} −{last.flips_off:,}")
    return " · ".join(parts)
