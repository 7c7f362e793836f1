"""The jobs of all visitors, and the run that this one looks at."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import streamlit as st

from kcnet_core import limits
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import LimitError
from kcnet_core.experiments.cost import in_words
from pages.ui.shell import session_keys, visitor, visitor_data
from pages.ui.shell.memo import memo

if TYPE_CHECKING:
    from kcnet_core.jobs import Estimate, Interruption, Job, JobManager

TURN_SECONDS = 0.001  # after which a training thread lets a page work; Python's own is 5 ms


@st.cache_resource(show_spinner=False)
def jobs() -> JobManager:
    from kcnet_core.cluster.jobs import elsewhere
    from kcnet_core.jobs import JobJournal, JobManager, show_log
    from kcnet_core.storage.folders import cache_folder

    show_log()
    sys.setswitchinterval(TURN_SECONDS)
    journal = JobJournal(cache_folder() / "jobs")
    others = elsewhere(visitor_data.dataset)
    return JobManager(alone=False, journal=journal, elsewhere=others)


class TooLong(LimitError):
    """A plan that takes very long, asked about once."""


def ask_first(plan: object, cost: Estimate, shorter: str) -> None:
    """Refuse a plan that takes very long, once: whoever asks again has read how long."""
    asked = st.session_state.pop(session_keys.LONG_RUN, None)
    if cost.seconds > limits.LONG_RUN_SECONDS and asked != plan:
        st.session_state[session_keys.LONG_RUN] = plan
        raise TooLong(
            f"This takes about {in_words(cost.seconds)}, and others wait meanwhile. {shorter} "
            "make it shorter. To start it all the same, press the same button once more."
        )


def attend() -> None:
    """This visitor is here: their runs, and those that they look at, are not left alone."""
    looked_at = {st.session_state.get(session_keys.JOB_ID)}
    looked_at |= set(st.session_state.get(session_keys.MEASURED_JOBS, {}).values())
    jobs().attend(visitor.owner(), {job_id for job_id in looked_at if job_id})


def long_run() -> Job | None:
    """This visitor's run that would be paused if they left now; None if all end before."""
    for one in jobs().owned_by(visitor.owner()):
        left = 0.0 if one.view.finished else one.seconds_left() or 0.0
        if left > limits.UNWATCHED_PAUSE_SECONDS:
            return one
    return None


def keep_running(job: Job) -> None:
    job.control(visitor.owner(), "keep", limits.KEPT_RUNNING_SECONDS)


def attach(job_id: str | None) -> None:
    """Make `job_id` the run that this session looks at."""
    st.session_state[session_keys.JOB_ID] = job_id
    take_back(job())


def job() -> Job | None:
    """The run that this session looks at, or None."""
    job_id = st.session_state.get(session_keys.JOB_ID)
    return jobs().get(job_id) if job_id else None


def job_is_gone() -> bool:
    return bool(st.session_state.get(session_keys.JOB_ID)) and job() is None


def interruption() -> Interruption | None:
    """What is known of the run that this session looks at, if a stop of the server ended it."""
    if not job_is_gone():
        return None
    job_id = st.session_state[session_keys.JOB_ID]
    # The past does not change: the journal is read once per run.
    return memo("interruption", job_id, lambda: jobs().interrupted(job_id))


@st.cache_resource(show_spinner=False)
def _carried() -> WeakValueDictionary[str, Dataset]:
    """The data of each job, for as long as the job or a session holds them."""
    return WeakValueDictionary()


def carry(job: Job, data: Dataset) -> None:
    """Remember what `job` works on, so that its owner finds an upload again after a reload."""
    _carried()[job.id] = data


def data_of(job: Job) -> Dataset | None:
    return _carried().get(job.id)


def take_back(job: Job | None) -> None:
    """Give a visitor the uploaded data of their own job, if a reload has lost them."""
    if job is None or visitor_data.uploaded() is not None or not job.owned_by(visitor.owner()):
        return
    data = data_of(job)
    if data is not None and data.name == visitor_data.UPLOADED:
        visitor_data.keep_uploaded(data)


def is_private(job: Job) -> bool:
    """Whether `job` works on what somebody else uploaded: its rows and file name are theirs."""
    named = getattr(job.config, "dataset", None)
    return named == visitor_data.UPLOADED and not job.owned_by(visitor.owner())
