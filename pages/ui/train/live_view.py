"""A run as it happens: its numbers, S and W as a film, curves, and all of it as a line of text."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import streamlit as st

from kcnet_core import figures
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.run import DOA_MODELS, EPOCH_MODELS, KCNET_MODELS, Run
from pages.ui.shell import session_keys, visitor, visitor_data, visitor_jobs
from pages.ui.shell.announce.announce import announce
from pages.ui.shell.circuit import living_circuit
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.job_progress import failure, progress_text
from pages.ui.shell.memo import memo
from pages.ui.shell.row_picture import cards
from pages.ui.shell.watch import SECONDS_BETWEEN_DRAWINGS, UNDER_WAY, watch
from pages.ui.shell.words import capital
from pages.ui.train import scores_row
from pages.ui.train.film import film
from pages.ui.train.reopen_model import opener
from pages.ui.train.run_bar import LOADED

if TYPE_CHECKING:
    from kcnet_core.datasets.dataset import Dataset
    from kcnet_core.experiments.training import TrainedRun, TrainView
    from kcnet_core.figures.training import Curve

HEIGHT = 330  # of a curve beside the film, as high as that (film.css)
LOWER = ("flips", "density", "scores")  # curves of DOA, below the film
LOWER_HEIGHT = 300
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
    film: bytes | None
    curves: dict[str, Curve]


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
    """Draw the job now and, while it is under way, once a second; its first frame comes sooner.

    `state` is the one that the rest of the page shows; the page is drawn again when it changes.
    Below a run under way is as much room as its results will take: the page does not grow.
    """
    watch(job, state, lambda: show(job, trained), "live", begun=lambda: begun(job))
    if state in UNDER_WAY:
        with st.container(key="results"):
            st.caption("Scores, wiring, cells and test samples come here when the run has ended.")


def begun(job) -> bool:
    """Whether there is something to see of it, if it has anything to see."""
    snapshot = job.view.snapshot
    return bool(snapshot and snapshot.recent) or not matrices(job.config, None)


def show(job, trained: TrainedRun | None) -> None:
    view = job.view
    if trained is None:
        scores_row.so_far(job)
    else:
        scores_row.known(trained, reopened=job.kind == "reopen")
    status(job)
    if job.kind == "train":
        pictures(job, view)
    elif trained is not None:
        wiring_of_file(job.id, trained)
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


def pictures(job, view) -> None:
    """S, W and the curves: the same places from before the first epoch to after the last."""
    drawn = latest(job, view)
    run = job.config
    with st.container(key="live"):
        filmed = len(matrices(run, image_shape(job, view.snapshot)))
        widths = ([filmed] if filmed else []) + ([1] if "curve" in drawn.curves else [])
        columns = st.columns(widths, gap="small") if widths else []
        if drawn.film is not None:
            with columns[0]:
                film(drawn.film, "live_film")
        if "curve" in drawn.curves:
            with columns[-1]:
                chart_of(drawn, "curve", HEIGHT)
        if LOWER[0] in drawn.curves:
            for column, name in zip(st.columns(len(LOWER), gap="small"), LOWER, strict=True):
                with column:
                    chart_of(drawn, name, LOWER_HEIGHT)


def chart_of(drawn: Drawn, name: str, height: int) -> None:
    curve = drawn.curves[name]
    st.echarts_chart(curve.option, key=f"live_{name}", height=height, alt=curve.alt)


def wiring_of_file(job_id: str, trained: TrainedRun) -> None:
    """The wiring of a model from a file, which has no epochs to watch."""
    shape, dark = trained.image_shape, visitor.dark()
    kinds = matrices(trained.run, shape)
    if kinds:
        data = memo(
            "film_of_file", (job_id, dark),
            lambda: figures.film_data(
                kinds, trained.frames, film=job_id, names=trained.feature_names, image_shape=shape,
                dark=dark,
            ),
        )  # fmt: skip
        with st.container(key="live"):
            film(data, "live_film")


def matrices(run: Run, shape: tuple[int, ...] | None) -> tuple[str, ...]:
    """What the film shows: this depends on the run's kind, never on how far it has come."""
    if run.model in DOA_MODELS:
        return "S", "W"
    if run.model in KCNET_MODELS:
        return ("W",) if shape is None else ("W", "usage")
    return ()


def image_shape(job, snapshot: TrainView | None) -> tuple[int, ...] | None:
    """Of the inputs, where they are pixels."""
    about = snapshot or (None if job.config.retina else visitor_jobs.data_of(job))
    return about.image_shape if about is not None else None


def latest(job, view) -> Drawn:
    """What the live view draws now.

    What has not changed is not made again, nor what has just been drawn when somebody moves a
    slider meanwhile; Streamlit then sends only a reference to it.
    """
    of = (job.id, visitor.dark())
    before = st.session_state.get(session_keys.LIVE_DRAWN)
    before = before if before is not None and before.of == of else None
    if before is not None and before.state == view.state:
        fresh = view.state == "running" and time.monotonic() < before.due
        if fresh or before.n_snapshots == view.n_snapshots:
            return before
    due = time.monotonic() + SHARE_OF_DRAWINGS * SECONDS_BETWEEN_DRAWINGS
    shape = image_shape(job, view.snapshot)
    made = draw(job, view.snapshot, shape, before, view.finished)
    drawn = Drawn(of, view.state, view.n_snapshots, due, *made)
    st.session_state[session_keys.LIVE_DRAWN] = drawn
    return drawn


def draw(job, snapshot: TrainView | None, shape, before: Drawn | None, ended: bool) -> tuple:
    """The last three fields of `Drawn`.

    Who begins to watch, and everybody at the end, gets the stored epochs as well: they can be
    played again.
    """
    run, dark = job.config, visitor.dark()
    recent, stored = (snapshot.recent, snapshot.frames) if snapshot else ((), ())
    seen = before.newest if before else 0.0
    whole = bool(recent) and (before is None or ended)
    if whole:
        new = [*stored, *(frame for frame in recent[-1:] if frame.made > stored[-1].made)]
    else:
        new = [frame for frame in recent if frame.made > seen] or list(recent[-1:])
        if not seen and new and new[0].made > stored[0].made:
            new.insert(0, stored[0])  # to which all others are compared
    kinds = matrices(run, shape)
    data = figures.film_data(
        kinds,
        new,
        film=job.id,
        whole=whole,
        says=validation_by_epoch(snapshot),
        n_submodels=run.n_submodels if run.model == "Ensemble DOA" else 1,
        names=snapshot.feature_names if snapshot else (),
        image_shape=shape,
        seconds=SECONDS_BETWEEN_DRAWINGS,
        dark=dark,
    )
    curves = figures.training_curves(run, snapshot, dark=dark) if run.model in EPOCH_MODELS else {}
    return (recent[-1].made if recent else seen), data if kinds else None, curves


def validation_by_epoch(snapshot: TrainView | None) -> dict[int, str]:
    """The validation metric of every epoch, of a single network."""
    if snapshot is None or snapshot.run.model != "DOA":
        return {}
    known = ((record.epoch, record.validation_metric) for record in snapshot.records)
    return {epoch: f"{value:.4f}" for epoch, value in known if value is not None}
