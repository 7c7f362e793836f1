"""A run as it happens: scores, weights, curves, and the same numbers as one line of text."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import streamlit as st

from kcnet_core import figures
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.run import DOA_MODELS, EPOCH_MODELS, KCNET_MODELS, Run
from pages.ui.shell import session_keys, visitor, visitor_data, visitor_jobs
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.job_progress import failure, progress_text
from pages.ui.shell.row_picture import cards
from pages.ui.shell.watch import SECONDS_BETWEEN_DRAWINGS, watch
from pages.ui.shell.words import capital
from pages.ui.train.matrix_canvas import matrix_canvas
from pages.ui.train.reopen_model import opener

if TYPE_CHECKING:
    from kcnet_core.experiments.training import TrainView
    from kcnet_core.figures.training import Curve

HEIGHT = 300  # as in matrix_canvas.css
CANVASES = ("S", "W", "usage")
SHARE_OF_DRAWINGS = 0.8  # for which a drawing is fresh: the next poll, if a little early, is not
STOPPED = (
    "A stopped run has no test score. Start trains the same settings and seed again from the "
    "beginning. Pause keeps a run where it is; Finish ends DOA early and tests the best wiring."
)


class Drawn(NamedTuple):
    """What this visitor's browser was sent last."""

    of: tuple  # job, theme
    state: str
    n_snapshots: int
    due: float  # when it is too old, while the run goes on
    newest: float  # when the last frame that was sent had been made
    canvases: dict[str, bytes]
    curves: dict[str, Curve]


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
            images = dataset.raw_pixels(dataset.X[shown])
            st.html(figures.image_tiles(images, dataset.image_shape, names, dark=visitor.dark()))
        else:
            # A fixed but mixed handful: neighbours in a file are often of one family.
            rows = np.random.default_rng(1).permutation(len(dataset.X))[:8]
            cards(dataset, rows)
        st.page_link("pages/data.py", label="Look at all of the data, or choose another",
                     icon=":material/dataset:")  # fmt: skip
    opener()


def follow(job, state: str) -> None:
    """Draw the job now and, while it is under way, once a second.

    `state` is the one that the rest of the page shows; the page is drawn again when it changes.
    Below a run under way is as much room as its results will take: the page does not grow.
    """
    watch(job, state, lambda: show(job), "live")
    if state in ("queued", "running", "paused"):
        with st.container(key="results"):
            st.caption("Scores, wiring, cells and test samples come here when the run has ended.")


def show(job) -> None:
    view = job.view
    status(job)
    if job.kind == "train":  # a model from a file has no epochs to watch
        pictures(job, view)
    failure(job)
    if view.state == "cancelled" and job.kind == "train":
        st.info(STOPPED, icon=":material/info:")


def status(job) -> None:
    view, snapshot = job.view, job.view.snapshot
    with st.container(key="run_status"):
        st.progress(view.fraction or 0.0, text=capital(progress_text(job, cancelled="stopped")))
        st.caption(escape_markdown(numbers(snapshot, view.finished) if snapshot else job.title))


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
    """S, W and the curves: the same places from before the first epoch to after the last."""
    drawn = latest(job, view)
    with st.container(key="live"):
        for row in places(job.config, image_shape(job, view.snapshot)):
            for column, name in zip(st.columns(len(row), gap="small"), row, strict=True):
                with column:
                    if name in drawn.canvases:
                        matrix_canvas(drawn.canvases[name], f"live_{name}")
                    else:
                        curve = drawn.curves[name]
                        st.echarts_chart(
                            curve.option, key=f"live_{name}", height=HEIGHT, alt=curve.alt
                        )


def places(run: Run, shape: tuple[int, int] | None) -> tuple[tuple[str, ...], ...]:
    """What a run shows, row by row: this depends on its kind, never on how far it has come."""
    if run.model in DOA_MODELS:
        return ("S", "W", "curve"), ("flips", "density", "scores")
    if run.model in EPOCH_MODELS:
        return (("curve",),)
    if run.model in KCNET_MODELS:
        return (("W",) if shape is None else ("W", "usage"),)
    return ()


def image_shape(job, snapshot: TrainView | None) -> tuple[int, int] | None:
    """Of the inputs, where they are pixels."""
    about = snapshot or visitor_jobs.data_of(job)
    return about.image_shape if about is not None else None


def latest(job, view) -> Drawn:
    """What the live view draws now.

    What has not changed is not made again, nor what has just been drawn when somebody moves a
    slider meanwhile; Streamlit then sends only a reference to it. Frames are sent once; who comes
    later sees the newest.
    """
    of = (job.id, visitor.dark())
    before = st.session_state.get(session_keys.LIVE_DRAWN)
    before = before if before is not None and before.of == of else None
    if before is not None and before.state == view.state:
        fresh = view.state == "running" and time.monotonic() < before.due
        if fresh or before.n_snapshots == view.n_snapshots:
            return before
    due = time.monotonic() + SHARE_OF_DRAWINGS * SECONDS_BETWEEN_DRAWINGS
    made = draw(job.config, view.snapshot, image_shape(job, view.snapshot), before)
    drawn = Drawn(of, view.state, view.n_snapshots, due, *made)
    st.session_state[session_keys.LIVE_DRAWN] = drawn
    return drawn


def draw(run: Run, snapshot: TrainView | None, shape, before: Drawn | None) -> tuple:
    """The last three fields of `Drawn`."""
    dark, recent = visitor.dark(), snapshot.recent if snapshot else ()
    seen = before.newest if before else 0.0
    new = [frame for frame in recent if before and frame.made > seen] or recent[-1:]
    canvases = {
        kind: figures.canvas_data(
            kind,
            new,
            n_submodels=run.n_submodels if run.model == "Ensemble DOA" else 1,
            names=snapshot.feature_names if snapshot else (),
            image_shape=shape,
            seconds=SECONDS_BETWEEN_DRAWINGS,
            dark=dark,
        )
        for row in places(run, shape)
        for kind in row
        if kind in CANVASES
    }
    curves = figures.training_curves(run, snapshot, dark=dark) if run.model in EPOCH_MODELS else {}
    return (recent[-1].made if recent else seen), canvases, curves
