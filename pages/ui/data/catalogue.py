"""The datasets that come with the app or can be downloaded, as cards."""

from __future__ import annotations

import os
from pathlib import PurePosixPath

import streamlit as st

from kcnet_core import datasets
from kcnet_core.datasets import sources
from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.errors import KCNetError
from kcnet_core.storage.folders import download_folder
from pages.ui.shell import current_run, session_keys, visitor, visitor_jobs
from pages.ui.shell.data_controls import use
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.job_progress import job_progress

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
        st.caption(f"Checked on arrival: {info.checked}.", help=checksums(info.name))
    job = visitor_jobs.jobs().get(downloads.get(info.name, ""))
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


def size(info) -> str:
    """How many rows will be loaded; a data folder may hold a part of a published set."""
    if info.rounded:
        return f"about {info.n_rows:,} rows"
    published = CATALOGUE[info.name].n_rows
    if info.n_rows < published:
        return f"{info.n_rows:,} of {published:,} rows, a part of the set"
    return f"{info.n_rows:,} {COUNTED[info.kind][0]}"


def checksums(name: str) -> str | None:
    """The digest that every file of a download must have, as far as its source publishes one."""
    files = ((PurePosixPath(one.path).name, one) for one in sources.remote_files(name))
    listed = [
        f"{file}: {algorithm} {digest}"
        for file, one in files
        for algorithm, digest in (("SHA-256", one.sha256), ("MD5", one.md5))
        if digest
    ]
    return "  \n".join(map(escape_markdown, listed)) or None


def wiring_counts() -> None:
    """What the connectome on this machine says of its cells, glomeruli and types."""
    from kcnet_core.datasets.fly.connectome import MIN_SYNAPSES, connectome

    with st.popover("Cells, glomeruli and types", icon=":material/hub:"):
        try:
            for sentence in connectome().describe(MIN_SYNAPSES):
                st.text(sentence)
        except KCNetError as error:
            st.error(escape_markdown(error))


def arrived(info) -> int:
    """Bytes that a download left which was stopped, or which a dying server took along."""
    inside = PurePosixPath(sources.files(info.name)[0]).parent
    try:
        with os.scandir(download_folder() / inside) as files:
            return min(sum(file.stat().st_size for file in files), info.size_bytes)
    except OSError:  # nothing has arrived, or we may not look
        return 0


def start_download(info, downloads: dict) -> None:
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
        return
    downloads[info.name] = job.id
