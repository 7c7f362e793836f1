"""What a visitor carries from page to page: who they are, their data, their run, the jobs."""

from __future__ import annotations

import re
import secrets
import sys
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import streamlit as st

from kcnet_core.datasets.catalogue import is_image_set
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments.run import Run

if TYPE_CHECKING:
    from kcnet_core.experiments.comparison.plan import Comparison

UPLOADED = "uploaded"
TURN_SECONDS = 0.001  # after which a training thread lets a page work; Python's own is 5 ms
LOOK_SECONDS = 3.0  # for which one look at the data folders is enough
OWNER_COOKIE = "kcnet_owner"
SPLITS_REMEMBERED = 4  # the run of the controls and the one on the page, and what was before
TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


@st.cache_resource(show_spinner=False)
def jobs():
    from kcnet_core.jobs import JobJournal, JobManager, show_log
    from kcnet_core.storage.folders import cache_folder

    show_log()
    sys.setswitchinterval(TURN_SECONDS)
    return JobManager(journal=JobJournal(cache_folder() / "jobs"))


def owner() -> str:
    """An unguessable token of this browser; whoever holds it may control its jobs.

    It is kept in a cookie, so that a visitor who reloads can still stop what they started.
    """
    if "owner" not in st.session_state:
        token = str(st.context.cookies.get(OWNER_COOKIE, ""))
        known = TOKEN.fullmatch(token) is not None
        st.session_state["owner"] = token if known else secrets.token_urlsafe(32)
    return st.session_state["owner"]


def remember_owner() -> None:
    """Put the owner's token into the browser's cookie (once per page load)."""
    token = owner()
    if st.context.cookies.get(OWNER_COOKIE) != token:
        st.html(
            f"<script>document.cookie = '{OWNER_COOKIE}={token}; path=/; SameSite=Strict; "
            "max-age=604800';</script>",
            unsafe_allow_javascript=True,
        )


def attach(job_id: str | None) -> None:
    """Make `job_id` the run that this session looks at."""
    st.session_state["job_id"] = job_id
    take_back(job())


def job():
    """The run that this session looks at, or None."""
    job_id = st.session_state.get("job_id")
    return jobs().get(job_id) if job_id else None


def job_is_gone() -> bool:
    return bool(st.session_state.get("job_id")) and job() is None


def interruption():
    """What is known of the run that this session looks at, if a stop of the server ended it."""
    if not job_is_gone():
        return None
    job_id = st.session_state["job_id"]
    asked, known = st.session_state.get("interruption", (None, None))
    if asked != job_id:  # the past does not change: the journal is read once per run
        known = jobs().interrupted(job_id)
        st.session_state["interruption"] = job_id, known
    return known


@st.cache_resource(show_spinner=False)
def _carried() -> WeakValueDictionary[str, Dataset]:
    """The data of each job, for as long as the job or a session holds them."""
    return WeakValueDictionary()


def carry(job, data: Dataset) -> None:
    """Remember what `job` works on, so that its owner finds an upload again after a reload."""
    _carried()[job.id] = data


def data_of(job) -> Dataset | None:
    return _carried().get(job.id)


def take_back(job) -> None:
    """Give a visitor the uploaded data of their own job, if a reload has lost them."""
    if job is None or UPLOADED in st.session_state or not job.owned_by(owner()):
        return
    data = data_of(job)
    if data is not None and data.name == UPLOADED:
        st.session_state[UPLOADED] = data


def is_private(job) -> bool:
    """Whether `job` works on what somebody else uploaded: its rows and file name are theirs."""
    named = getattr(job.config, "dataset", None)
    return named == UPLOADED and not job.owned_by(owner())


def public_title(data: Dataset) -> str:
    """The title for watchers, log and journal: what a visitor's file is called is not for them."""
    return "an uploaded dataset" if data.name == UPLOADED else data.title


@st.cache_resource(show_spinner=False)
def uploads():
    """What all sessions together have uploaded and still hold."""
    from kcnet_core.datasets.uploads.quota import HeldUploads

    return HeldUploads()


def dark() -> bool:
    return st.context.theme.type == "dark"


def run() -> Run:
    """The configuration that the controls show, on whichever page."""
    return st.session_state.setdefault("run", Run())


def set_run(new: Run) -> None:
    st.session_state["run"] = new


@st.cache_resource(show_spinner=False, max_entries=6)
def loaded(name: str, options: tuple[tuple[str, object], ...]) -> Dataset:
    from kcnet_core import datasets

    return datasets.load(name, **dict(options))


def dataset(of: Run | Comparison | None = None) -> Dataset:
    """What a run or a comparison works on; an upload lives in the visitor's own session only."""
    of = of or run()
    if of.dataset == UPLOADED:
        if UPLOADED not in st.session_state:
            from kcnet_core.errors import DataError

            raise DataError(
                "This run uses a dataset that was uploaded in another session. "
                "Upload it again on the Data page, or choose another dataset."
            )
        return st.session_state[UPLOADED]
    return loaded(of.dataset, tuple(sorted(of.data_options().items())))


def split_sizes(of: Run, data: Dataset) -> tuple[str, int, int]:
    """Protocol, training rows and test rows of a run; remembered, because every redrawing asks."""
    known = st.session_state.setdefault("split_sizes", {})
    key = (of.dataset, of.target, of.protocol, of.rows, of.seed, id(data))
    if key not in known:
        from kcnet_core.experiments.training import split_of

        protocol, split = split_of(of, data)
        if len(known) >= SPLITS_REMEMBERED:
            known.clear()
        known[key] = protocol, len(split.train), len(split.test)
    return known[key]


def dataset_titles() -> dict[str, str]:
    """Names and titles of what can be trained on right now, without a download."""
    from kcnet_core.storage.folders import data_folders

    titles = dict(titles_in(tuple(map(str, data_folders()))))
    if UPLOADED in st.session_state:
        titles[UPLOADED] = st.session_state[UPLOADED].title
    return titles


@st.cache_resource(show_spinner=False, ttl=LOOK_SECONDS)
def titles_in(folders: tuple[str, ...]) -> dict[str, str]:
    """Of the catalogue's datasets; every redrawing asks, and each file looked for takes a turn."""
    from kcnet_core import datasets

    return {info.name: info.title for info in datasets.available() if info.status != "download"}


def odor_targets(name: str) -> tuple[str, ...]:
    """The odor characters among which one may be chosen; empty for images."""
    if name == UPLOADED or is_image_set(name):
        return ()
    everything = dataset(Run(dataset=name))
    return everything.target_names if everything.multilabel else ()
