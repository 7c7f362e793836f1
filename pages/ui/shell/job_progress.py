"""How far a job is: a bar with a cancel button for those that only count, a line for the others."""

from __future__ import annotations

import streamlit as st

from kcnet_core.experiments.cost import in_words
from pages.ui.shell import visitor, visitor_jobs
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.watch import watch
from pages.ui.shell.words import capital, in_time

SECONDS_BETWEEN_DRAWINGS = 0.5
OWNER_SEES = "This run has failed; whoever started it sees why."
STOPPED = "Stopped; nothing of it is kept."
STOPPED_DOWNLOAD = "Stopped; what has arrived is kept for the next time."


def job_progress(job, key: str, unit: str = "rows", scale: float = 1.0, again=None) -> None:
    """Draw a job that its page has not seen done, until it has ended.

    `again` is called by a button when it did not succeed.
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


def _draw(job, key, unit, scale, again) -> None:
    view = job.view
    if view.state in ("failed", "cancelled"):
        stopped = STOPPED_DOWNLOAD if job.kind == "download" else STOPPED
        st.error(escape_markdown(view.error or stopped), icon=":material/error:")
        if again is not None:
            st.button("Try again", key=f"again_{key}", icon=":material/refresh:", on_click=again)
        return
    counted = view.snapshot
    text = "Waiting …" if counted is None else f"{counted.done / scale:,.0f}"
    if counted is not None:
        text += f" of {counted.total / scale:,.0f} {unit}" if counted.total else f" {unit}"
    st.progress(view.fraction or 0.0, text=text)
    if job.owned_by(visitor.owner()):
        st.button(
            "Cancel",
            key=f"cancel_{key}",
            icon=":material/close:",
            on_click=job.control,
            args=(visitor.owner(), "stop"),
        )


def measured_progress(job, what: str, lead: str = "", cancelled: str = "cancelled") -> None:
    """What a measurement is doing, for how long, and how many `what` it has; then how it ended."""
    view, seen = job.view, job.view.snapshot
    count = stage = ""
    if seen is not None:
        of = "" if seen.total is None else f" of {seen.total:,}"
        count, stage = f"{seen.done:,}{of} {what}", seen.stage
    if view.state == "queued":
        parts = [f"waiting: number {view.position} in the queue"]
    elif view.finished:
        ending = cancelled if view.state == "cancelled" else view.state
        parts = [f"{ending} after {in_time(view.seconds())}", count]
    else:
        left = job.seconds_left()
        parts = [
            count,
            "cancelling" if view.asked == "stop" else stage or "starting",
            in_time(view.seconds()),
            f"about {in_words(left)} left" if left else "",
        ]
    text = " · ".join(filter(None, parts))
    text = f"{lead}: {text}" if lead else capital(text)
    if view.finished:
        st.caption(text)
    else:
        st.progress(view.fraction or 0.0, text=text)
    if view.state == "failed":
        why = OWNER_SEES if visitor_jobs.is_private(job) else view.error
        st.error(escape_markdown(why), icon=":material/error:")
