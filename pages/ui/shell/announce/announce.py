"""Progress for those who listen: a region that a screen reader reads aloud when it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.shell.component import component

if TYPE_CHECKING:
    from kcnet_core.jobs import Job

TENTHS = 10  # a run is told of ten times, not every second
ENDINGS = {"done": "Done", "failed": "Failed", "cancelled": "Stopped", "paused": "Paused"}

_region = component(__file__, "kcnet_announce")


def announce(job: Job) -> None:
    """Tell how far a job is; nothing is seen of it."""
    with st.container(key=f"spoken_{job.id}"):
        # Streamlit refuses a component's key with two underscores in a row, and ids may have them.
        _region(key=f"announced-{job.id.replace('_', '-')}", data=spoken(job))


def spoken(job: Job) -> str:
    """How far a job is, in words that change only when there is news."""
    view = job.view
    if view.state == "queued":
        return f"{job.title}: waiting, number {view.position} in the queue."
    if view.state in ENDINGS:
        return f"{ENDINGS[view.state]}: {job.title}."
    stage = getattr(view.snapshot, "stage", job.title)  # a job that only counts has no stages
    part = int((view.fraction or 0.0) * TENTHS) * (100 // TENTHS)
    return f"{stage}, {part}%."
