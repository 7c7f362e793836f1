"""What a browser is sent of a run: the frames, curves and numbers since it was sent some before."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from kcnet_core import figures
from kcnet_core.experiments.run import DOA_MODELS, EPOCH_MODELS, KCNET_MODELS, Run
from kcnet_core.figures import Now
from pages.ui.shell import session_keys, visitor, visitor_jobs
from pages.ui.shell.watch import SECONDS_AT_FIRST, SECONDS_BETWEEN_DRAWINGS
from pages.ui.train import scores_row

if TYPE_CHECKING:
    from kcnet_core.experiments.frames import Frame
    from kcnet_core.experiments.training import TrainedRun, TrainView
    from kcnet_core.jobs import JobView
    from kcnet_core.network.history import EpochRecord

SHARE_OF_DRAWINGS = 0.8  # for which a drawing is fresh: the next poll, if a little early, is not
SECONDS_OF_FIRST_FRAMES = 1.2  # for which they are looked for more often: it moves sooner
# A run that has just begun is drawn when there is something to see and to move; so much later at
# most, and the first frames are then played in so little time.
PATIENCE_SECONDS, SECONDS_OF_BEGINNING = 0.6, 0.12
FRAMES_TO_BEGIN_WITH = 2


class Drawn(NamedTuple):
    """What this visitor's browser was sent last."""

    of: tuple  # job, theme
    shows: tuple  # state, whether with the result, epochs, newest frame
    due: float  # when it is too old, while the run goes on
    film: bytes


def latest(job, view: JobView, trained: TrainedRun | None = None) -> bytes:
    """What the live view shows now.

    What has not changed is not made again, nor what has just been drawn when somebody moves a
    slider meanwhile; Streamlit then sends only a reference to it.
    """
    of = (job.id, visitor.dark())
    before = st.session_state.get(session_keys.LIVE_DRAWN)
    before = before if before is not None and before.of == of else None
    pictures = instants(job, view.snapshot, trained)
    newest = made(pictures.recent[-1]) if pictures.recent else 0.0
    n_records = view.snapshot.n_records if view.snapshot else 0
    shows = (view.state, trained is not None, n_records, newest)
    if before is not None and before.shows[:2] == shows[:2]:
        fresh = view.state == "running" and time.monotonic() < before.due
        if fresh or before.shows == shows:
            return before.film
    due = time.monotonic() + SHARE_OF_DRAWINGS * seconds_between(pictures)
    data = draw(job, view, trained, pictures, before.shows[-1] if before else None)
    st.session_state[session_keys.LIVE_DRAWN] = Drawn(of, shows, due, data)
    return data


def wait_for_first(job) -> None:
    """Let the page that was drawn for Start come with the first frames, not with empty canvases:
    the next look at the run would only be after a third of a second, and a journey there and back.
    """
    drawn = st.session_state.get(session_keys.LIVE_DRAWN)
    if layout(job) == "numbers" or (drawn is not None and drawn.of[0] == job.id):
        return

    def there(view: JobView) -> bool:
        n = len(instants(job, view.snapshot, None).stored)
        return n >= FRAMES_TO_BEGIN_WITH or view.finished or view.state == "paused"

    job.wait_for(there, PATIENCE_SECONDS)


class Instants(NamedTuple):
    """What can be shown of a run: its last second or so, and what is kept of all of it."""

    recent: Sequence[Frame | EpochRecord] = ()
    stored: Sequence[Frame | EpochRecord] = ()


def settled(job) -> bool:
    """Whether its first frames have been there for a while, or it has none to wait for."""
    first = instants(job, job.view.snapshot, None).stored[:1]
    return not matrices(job.config, None) or (bool(first) and old(first[0]))


def seconds_between(pictures: Instants) -> float:
    """Until a run is looked at again: its first frames come soon after each other."""
    first = pictures.stored[:1]
    return SECONDS_BETWEEN_DRAWINGS if first and old(first[0]) else SECONDS_AT_FIRST


def old(first: Frame | EpochRecord) -> bool:
    """A network without wiring has no frames that could be young."""
    return time.monotonic() - getattr(first, "made", 0.0) > SECONDS_OF_FIRST_FRAMES


def instants(job, snapshot: TrainView | None, trained: TrainedRun | None) -> Instants:
    """Frames or, of a network without wiring, its epochs."""
    if job.kind != "train":  # a model from a file, which has no epochs to watch
        return Instants(trained.frames, trained.frames) if trained else Instants()
    if snapshot is None:
        return Instants()
    if job.config.model in KCNET_MODELS:
        return Instants(snapshot.recent, snapshot.frames)
    records = snapshot.records if job.config.model in EPOCH_MODELS else ()
    return Instants(records, records)


def made(instant: Frame | EpochRecord) -> float:
    """A number that grows from one to the next."""
    return getattr(instant, "made", instant.epoch + 1.0)


def draw(
    job,
    view: JobView,
    trained: TrainedRun | None,
    pictures: Instants,
    seen: float | None,
) -> bytes:
    """The film from the newest instant that was `seen`; None: nothing was sent yet.

    Who begins to watch, and everybody at the end, gets the stored epochs as well: they can be
    played again.
    """
    snapshot, dark = view.snapshot, visitor.dark()
    recent, stored = pictures
    run: Run = job.config
    whole = bool(recent) and (seen is None or view.finished)
    if whole:
        new = [*stored, *(one for one in recent[-1:] if made(one) > made(stored[-1]))]
    else:
        new = [one for one in recent if made(one) > (seen or 0.0)] or list(recent[-1:])
        if not seen and new and made(new[0]) > made(stored[0]):
            new.insert(0, stored[0])  # to which all others are compared
    charts = ()
    if job.kind == "train" and run.model in EPOCH_MODELS:
        charts = figures.training_charts(run, snapshot, dark=dark)
    about = trained or snapshot
    shape = trained.image_shape if trained is not None else image_shape(job, snapshot)
    seconds = seconds_between(pictures)
    begins = not seen and seconds < SECONDS_BETWEEN_DRAWINGS and not view.finished
    # At first in twice the time until more come: so the film gets gently to its second behind.
    play = SECONDS_OF_BEGINNING if begins else min(2 * seconds, SECONDS_BETWEEN_DRAWINGS)
    return figures.film_data(
        matrices(run, shape),
        new,
        film=job.id,
        order=time.monotonic(),
        whole=whole,
        now=now(job, view, trained),
        numbers=partial(scores_row.of_epoch, run, snapshot) if charts else no_numbers,
        charts=charts,
        n_submodels=run.n_networks,
        names=about.feature_names if about else (),
        image_shape=shape,
        seconds=seconds,
        play=play,
        begins=begins,
        dark=dark,
    )


def no_numbers(epoch: int) -> dict[str, str]:
    return {}


def now(job, view: JobView, trained: TrainedRun | None) -> Now:
    """How the run stands, in the row of numbers."""
    if trained is not None:
        return Now(scores_row.known(trained, reopened=job.kind == "reopen"), ended=True)
    so_far = scores_row.so_far(job.config, view.snapshot) if job.kind == "train" else ()
    return Now(so_far, view.seconds(), view.state == "running")


def matrices(run: Run, shape: tuple[int, ...] | None) -> tuple[str, ...]:
    """What the film shows: this depends on the run's kind, never on how far it has come."""
    if run.model in DOA_MODELS:
        return "S", "W"
    if run.model in KCNET_MODELS:
        return ("W",) if shape is None else ("W", "usage")
    return ()


def layout(job) -> str:
    """Which places the film has, and so how much room it takes (live_view.css)."""
    model, trains = job.config.model, job.kind == "train"
    if model in KCNET_MODELS:
        return "doa" if trains and model in DOA_MODELS else "wiring"
    return "epochs" if trains and model in EPOCH_MODELS else "numbers"


def image_shape(job, snapshot: TrainView | None) -> tuple[int, ...] | None:
    """Of the inputs, where they are pixels."""
    about = snapshot or (None if job.config.retina else visitor_jobs.data_of(job))
    return about.image_shape if about is not None else None
