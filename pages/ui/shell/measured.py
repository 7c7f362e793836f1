"""Starts and stops what is measured in the background, on whichever page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from kcnet_core.errors import KCNetError
from pages.ui.shell import session_keys, visitor, visitor_jobs
from pages.ui.shell.escaping import escape_markdown

if TYPE_CHECKING:
    from kcnet_core.datasets.dataset import Dataset
    from kcnet_core.experiments.measured_job import MeasuredJob
    from kcnet_core.jobs import Job


def start(measured: MeasuredJob, title: str, data: Dataset | None = None) -> Job | None:
    """Queue it; a refusal is kept for `problem`. `data` is what its owner may find again."""
    try:
        job = visitor_jobs.jobs().submit(
            visitor.owner(), measured.kind, measured.plan, measured.steps,
            estimate=measured.cost, title=title,
        )  # fmt: skip
    except KCNetError as refused:
        st.session_state[session_keys.refused(measured.kind)] = str(refused)
        return None
    if data is not None:
        visitor_jobs.carry(job, data)
    return job


def stop(job: Job | None) -> None:
    if job is not None:
        job.control(visitor.owner(), "stop")


def problem(kind: str) -> None:
    """Why the last one was refused, said once."""
    sentence = st.session_state.pop(session_keys.refused(kind), None)
    if sentence:
        st.error(escape_markdown(sentence), icon=":material/error:")
