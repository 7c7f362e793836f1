"""How far a job is: a bar with a cancel button for those that only count, a line for the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from kcnet_core.experiments.cost import in_words
from pages.ui.shell import visitor, visitor_jobs
from pages.ui.shell.announce.announce import announce
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.watch import watch
from pages.ui.shell.words import capital, in_time

if TYPE_CHECKING:
    from kcnet_core.jobs import Job

SECONDS_BETWEEN_DRAWINGS = 0.5
_UNDER_WAY = {"cancelled": "cancelling", "stopped": "stopping"}
OWNER_SEES = "This run has failed; whoever started it sees why."
STOPPED = "Stopped; nothing of it is kept."
STOPPED_DOWNLOAD = "Stopped; what has arrived is kept for the next time."


def job_progress(
    job: Job, key: str, unit: str = "rows", scale: float = 1.0, again: Callable | None = None
) -> None:
    """Draw a job that its page has not seen done, until it has ended.

    `again` is called by a button when it did not succeed, and returns None if it was refused.
    """
    drawn = job.view.state
    if drawn == "done":  # since the page looked: it has something to show now
        st.rerun()
    watch(
        job,
        drawn,
        lambda: _draw(job, key, unit, scale, again),
        f"progress_{key}",
        SECONDS_BETWEEN_DRAWINGS,
    )


def _draw(job: Job, key: str, unit: str, scale: float, again: Callable | None) -> None:
    view = job.view
    if view.state in ("failed", "cancelled"):
        stopped = STOPPED_DOWNLOAD if job.kind == "download" else STOPPED
        st.error(escape_markdown(view.error or stopped), icon=":material/error:")
        if again is None:
            return
        pressed = st.button("Try again", key=f"again_{key}", icon=":material/refresh:")
        if pressed and again() is not None:
            st.rerun()  # the whole page: this part of it knows only the job that ended
        return
    st.progress(view.fraction or 0.0, text=_count(job, unit, scale) or "Waiting …")
    announce(job)
    if job.owned_by(visitor.owner()):
        st.button(
            "Cancel",
            key=f"cancel_{key}",
            icon=":material/close:",
            on_click=_stop,
            args=(job,),
        )


def _stop(job: Job) -> None:
    job.control(visitor.owner(), "stop")


def measured_progress(job: Job, unit: str, lead: str = "", cancelled: str = "cancelled") -> None:
    """What a measurement is doing, for how long, and how much it has; then how it ended."""
    view = job.view
    text = progress_text(job, _count(job, unit), cancelled)
    text = f"{lead}: {text}" if lead else capital(text)
    if view.finished:
        st.caption(text)
    else:
        st.progress(view.fraction or 0.0, text=text)
    announce(job)
    failure(job)


def progress_text(job: Job, count: str = "", cancelled: str = "cancelled") -> str:
    """What a job is doing and for how long, or how it ended; `cancelled` is the page's word."""
    view = job.view
    if view.state == "queued":
        return f"waiting: number {view.position} in the queue"
    if view.finished or view.state == "paused":
        ending = cancelled if view.state == "cancelled" else view.state
        parts = [f"{ending} after {in_time(view.seconds())}", count]
    else:
        left = job.seconds_left()
        stage = view.snapshot.stage if view.snapshot is not None else "starting"
        parts = [
            count,
            _UNDER_WAY[cancelled] if view.asked == "stop" else stage,
            in_time(view.seconds()),
            f"about {in_words(left)} left" if left else "",
        ]
    return " · ".join(filter(None, parts))


def failure(job: Job) -> None:
    """Why a job failed, if it did; a private file's owner alone may read that."""
    if job.view.state == "failed":
        why = OWNER_SEES if visitor_jobs.is_private(job) else job.view.error
        st.error(escape_markdown(why), icon=":material/error:")


def _count(job: Job, unit: str, scale: float = 1.0) -> str:
    """How much of how much is done; empty before the first step."""
    counted = job.view.snapshot
    if counted is None:
        return ""
    of = f" of {counted.total / scale:,.0f}" if counted.total else ""
    return f"{counted.done / scale:,.0f}{of} {unit}"
