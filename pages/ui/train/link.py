"""The Train page's link: the settings of a run, and the run itself."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

import streamlit as st

from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.experiments.run import Run
from pages.ui.shell import address, current_run, visitor_data, visitor_jobs
from pages.ui.shell.copy_link import copy_link

KINDS = ("train", "reopen")  # jobs that the Train page can show


def adopt_link() -> list[str]:
    """Take over what the URL says, if somebody opened a link; sentences for what was unusable."""
    query = address.opened("train")
    if not query:
        return []
    run, ignored = Run.from_query(query)
    missing = not_here(run.dataset)
    if missing:
        ignored.append(missing)
        run = replace(run, dataset=Run().dataset, target="", pixels="", protocol="")
    current_run.adopt(run)
    named = visitor_jobs.jobs().get(query.get("job", ""))
    if named is not None and named.kind not in KINDS:
        ignored.append("The link's job was not used: it belongs to another page.")
    elif "job" in query:
        visitor_jobs.attach(query["job"])
    return ignored


def not_here(name: str) -> str:
    """Why the dataset that a link names cannot be used now; empty when it can."""
    if name in visitor_data.dataset_titles() or name == visitor_data.UPLOADED:
        return ""
    if name in CATALOGUE:
        return (
            f"The link's dataset, {CATALOGUE[name].title}, is not on this machine yet: download it "
            "on the Data page and open the link again. Until then you see another one."
        )
    return f"The link's dataset was not used: there is none called {name!r}."


def write_link(run: Run, job) -> None:
    address.write("train", run.to_query() | ({"job": job.id} if job is not None else {}))


def links(run: Run, job) -> None:
    """What the Share button opens."""
    base = (st.context.url or "").split("?")[0]
    st.markdown("**The same experiment**: opens with these settings and this seed.")
    copy_link(f"{base}?{urlencode(run.to_link())}", "copy_experiment")
    if job is not None:
        st.markdown("**This very run**: others watch it live, only you can steer it.")
        copy_link(f"{base}?{urlencode(run.to_query() | {'job': job.id})}", "copy_run")
