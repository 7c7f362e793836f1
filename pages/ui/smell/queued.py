"""Questions that take seconds: they wait their turn as runs do, and the page says how far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from kcnet_core.cluster.jobs import placed
from kcnet_core.contracts import Counted, Steps
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.cost import answers_cost
from kcnet_core.smell.applicability import n_compared
from kcnet_core.smell.nose import Nose
from pages.ui.shell import session_keys, visitor, visitor_jobs
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.job_progress import job_progress

T = TypeVar("T")


def from_queue(
    place: str,
    question: Any,
    steps: Callable[[], Steps[Counted, T]],
    nose: Nose,
    n_molecules: int,
    title: str,
    on_cluster: tuple | None = None,
) -> T | None:
    """The answer to the question that is asked at this place; None while it is being worked on.

    Another question at the same place ends the work on the one before. With the arguments of the
    work of that name, a cluster does it where there is one.
    """
    asked = st.session_state.setdefault(session_keys.SMELL_JOB, {})

    def start():
        cost = answers_cost(
            n_molecules, n_known=n_compared(nose), n_flies=len(nose.flies),
            n_characters=len(nose.characters),
        )  # fmt: skip
        work: Callable[[], Steps] = steps
        if on_cluster is not None:
            work, cost = placed(place, nose, on_cluster, cost, steps)
        try:
            job = visitor_jobs.jobs().submit(
                visitor.owner(), place, {"molecules": n_molecules}, work, estimate=cost,
                title=title,
            )  # fmt: skip
        except KCNetError as refused:
            st.error(escape_markdown(refused), icon=":material/error:")
            return None
        asked[place] = (question, job.id)
        return job

    before, job_id = asked.get(place, (None, ""))
    job = visitor_jobs.jobs().get(job_id)
    if job is not None and before != question:
        if job.owned_by(visitor.owner()):
            job.control(visitor.owner(), "stop")  # nobody waits for the answer to another question
        job = None
    job = job or start()
    if job is None:
        return None
    if job.view.state == "done":
        return job.result
    job_progress(job, place.replace(" ", "_"), unit="molecules", again=start)
    return None
