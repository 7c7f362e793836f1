"""The Train page's link: the settings of a run, and the run itself."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from kcnet_core.run import Run
from pages.ui import link, run_controls, session
from pages.ui.copy_link import copy_link

KINDS = ("train", "reopen")  # jobs that the Train page can show


def adopt_link() -> list[str]:
    """Take over what the URL says, if somebody opened a link; sentences for what was unusable."""
    query = link.opened("train")
    if not query:
        return []
    run, ignored = Run.from_query(query)
    run_controls.adopt(run)
    named = session.jobs().get(query.get("job", ""))
    if named is not None and named.kind not in KINDS:
        ignored.append("The link's job was not used: it belongs to another page.")
    elif "job" in query:
        session.attach(query["job"])
    return ignored


def write_link(run: Run, job) -> None:
    link.write("train", run.to_query() | ({"job": job.id} if job is not None else {}))


def links(run: Run, job) -> None:
    """What the Share button opens."""
    base = (st.context.url or "").split("?")[0]
    st.markdown("**The same experiment**: opens with these settings and this seed.")
    copy_link(f"{base}?{urlencode(run.to_link())}", "copy_experiment")
    if job is not None:
        st.markdown("**This very run**: others watch it live, only you can steer it.")
        copy_link(f"{base}?{urlencode(run.to_query() | {'job': job.id})}", "copy_run")
