"""What is measured in the background: the job that a session looks at, its start and its stop."""

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

USUALLY = "Fewer models, sizes, repeats or rows"
SHORTER = {"reproduce": "The quick version, or fewer minutes on the command line,"}


def job(kind: str) -> Job | None:
    """The measurement that this session looks at; after a reload, this browser's latest one."""
    known = st.session_state.setdefault(session_keys.MEASURED_JOBS, {})
    if kind not in known:
        own = [one for one in visitor_jobs.jobs().owned_by(visitor.owner()) if one.kind == kind]
        look_at(kind, own[-1].id if own else None)
    return visitor_jobs.jobs().get(known[kind]) if known[kind] else None


def look_at(kind: str, job_id: str | None) -> None:
    st.session_state.setdefault(session_keys.MEASURED_JOBS, {})[kind] = job_id
    visitor_jobs.take_back(visitor_jobs.jobs().get(job_id or ""))


def start(measured: MeasuredJob, title: str, data: Dataset | None = None) -> Job | None:
    """Queue it and look at it; a refusal is kept for `problem`.

    `data` is what its owner shall find again after a reload.
    """
    try:
        visitor_jobs.ask_first(measured.plan, measured.cost, SHORTER.get(measured.kind, USUALLY))
        new = visitor_jobs.jobs().submit(
            visitor.owner(), measured.kind, measured.plan, measured.steps,
            estimate=measured.cost, title=title,
        )  # fmt: skip
    except KCNetError as refused:
        st.session_state[session_keys.refused(measured.kind)] = str(refused)
        return None
    if data is not None:
        visitor_jobs.carry(new, data)
    look_at(measured.kind, new.id)
    return new


def stop(job: Job) -> None:
    """For `on_click`: the visitor's own job, as the button showed it."""
    job.control(visitor.owner(), "stop")


def problem(kind: str) -> None:
    """Why the last one was refused, said once."""
    sentence = st.session_state.pop(session_keys.refused(kind), None)
    if sentence:
        st.error(escape_markdown(sentence), icon=":material/error:")
