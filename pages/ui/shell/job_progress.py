"""A small progress bar with a cancel button, for jobs that only count (downloads, uploads)."""

from __future__ import annotations

import streamlit as st

from pages.ui.shell import visitor
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.watch import watch

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
