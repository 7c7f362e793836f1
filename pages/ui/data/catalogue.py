"""The datasets that come with the app or can be downloaded, as cards."""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import streamlit as st

from kcnet_core import datasets
from kcnet_core.datasets import sources
from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.run import settings
from kcnet_core.storage.folders import download_folder
from pages.ui.shell import current_run, session_keys, visitor, visitor_jobs
from pages.ui.shell.data_controls import use
from pages.ui.shell.escaping import data_table, escape_markdown
from pages.ui.shell.job_progress import job_progress

if TYPE_CHECKING:
    from kcnet_core.jobs import Job

KINDS = {
    "odor": "Odors",
    "ratings": "Ratings",
    "connectome": "A real fly's wiring",
    "image": "Images",
}
COUNTED = {  # of a dataset, or of all of its kind
    "door": ("rows", "classes"),
    "odor": ("rows", "characters"),
    "ratings": ("molecules", "attributes"),
    "connectome": ("Kenyon cells", "lobes"),
    "image": ("rows", "classes"),
}
WORTH_NAMING = 500_000  # bytes; fewer would be shown as 0 MB


def choose() -> None:
    downloads = st.session_state.setdefault(session_keys.DOWNLOADS, {})
    everything = datasets.available()
    for kind, title in KINDS.items():
        st.header(title, anchor=False)
        with st.grid(min_column_width=250, border=True) as grid:
            for info in everything:
                if info.kind == kind:
                    with grid.cell():
                        card(info, downloads)


def card(info, downloads: dict) -> None:
    chosen = current_run.run().dataset == info.name
    st.markdown(f"**{info.title}**")
    st.caption(info.description)
    _, what = COUNTED.get(info.name, COUNTED[info.kind])
    st.caption(f"{size(info)} · {info.n_classes} {what} · {info.licence}")
    if info.checked and info.status == "download":
        digests = "  \n".join(map(escape_markdown, sources.checksums(info.name)))
        st.caption(f"Checked on arrival: {info.checked}.", help=digests or None)
    job = _download(info.name, downloads)
    if chosen:
        st.badge("in use", icon=":material/check:", color="green")
    elif info.status == "download":
        if job is not None and job.view.state != "done":
            job_progress(job, info.name, "MB", 1e6, again=lambda: start_download(info, downloads))
        else:
            if (here := arrived(info)) >= WORTH_NAMING:
                st.caption(
                    f"{here / 1e6:,.0f} of {info.size_bytes / 1e6:,.0f} MB have arrived; "
                    "Download goes on from there."
                )
            st.button(
                f"Download {info.megabytes} MB",
                icon=":material/download:",
                key=f"download_{info.name}",
                on_click=start_download,
                args=(info, downloads),
            )
    elif info.kind == "connectome":
        wiring_counts()
    elif info.kind == "ratings":
        st.caption("Here. Load it in Python: Train and Compare teach classes and labels.")
    else:
        st.button("Use", key=f"use_{info.name}", icon=":material/check_circle:",
                  on_click=use, args=(info.name,))  # fmt: skip


def _download(name: str, downloads: dict) -> Job | None:
    """The download that this session began; after a reload, one that is still under way."""
    if name not in downloads:
        for job in visitor_jobs.jobs().owned_by(visitor.owner()):
            same = job.kind == "download" and job.config == {"dataset": name}
            if same and not job.view.finished:
                downloads[name] = job.id
    return visitor_jobs.jobs().get(downloads.get(name, ""))


def size(info) -> str:
    """How many rows will be loaded; a data folder may hold a part of a published set."""
    if info.rounded:
        return f"about {info.n_rows:,} rows"
    published = CATALOGUE[info.name].n_rows
    if info.n_rows < published:
        return f"{info.n_rows:,} of {published:,} rows, a part of the set"
    return f"{info.n_rows:,} {COUNTED[info.kind][0]}"


def wiring_counts() -> None:
    """What the connectome on this machine says of its cells, glomeruli and types, when asked."""
    if st.button("Cells, glomeruli and types", icon=":material/hub:", key="wiring_counts"):
        _counts()


@st.dialog("Who hears whom in a real fly", width="large")
def _counts() -> None:
    from kcnet_core.datasets.fly.connectome import MIN_SYNAPSES, connectome

    about = settings()["min_synapses"]
    least = st.slider(
        about.label, int(about.low), int(about.high), value=MIN_SYNAPSES, key="counted_synapses",
        help=f"{about.help}. Networks have {MIN_SYNAPSES} unless told otherwise.",
    )  # fmt: skip
    try:
        with st.spinner("Reading the connectome …"):
            fly = connectome()
    except KCNetError as error:
        st.error(escape_markdown(error), icon=":material/error:")
        return
    for sentence in fly.describe(least):
        st.markdown(escape_markdown(sentence))
    titles = {"cells": "Per cell", "glomeruli": "Per glomerulus", "types": "Per type"}
    tables = fly.tables(least)
    for place, (name, title) in zip(st.columns([3, 3, 5]), titles.items(), strict=True):
        with place:
            st.caption(title)
            data_table(tables[name], hide_index=True, height=250)


def arrived(info) -> int:
    """Bytes that a download left which was stopped, or which a dying server took along."""
    inside = PurePosixPath(sources.files(info.name)[0]).parent
    try:
        with os.scandir(download_folder() / inside) as files:
            return min(sum(file.stat().st_size for file in files), info.size_bytes)
    except OSError:  # nothing has arrived, or we may not look
        return 0


def start_download(info, downloads: dict) -> Job | None:
    try:
        job = visitor_jobs.jobs().submit(
            visitor.owner(),
            "download",
            {"dataset": info.name},
            lambda: datasets.fetch_steps(info.name),
            title=f"Download {info.title}",
        )
    except KCNetError as refused:
        st.toast(escape_markdown(refused), icon=":material/error:")
        return None
    downloads[info.name] = job.id
    return job
