"""The Train page's link: the settings of a run, and the run itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from kcnet_core.datasets.catalogue import CATALOGUE
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.obstacles import obstacle, plans_for, retina_obstacle
from kcnet_core.experiments.run import Run
from pages.ui.shell import address, current_run, session_keys, visitor_data, visitor_jobs
from pages.ui.shell.copy_link import copy_link

if TYPE_CHECKING:
    from kcnet_core.jobs import Job

KINDS = ("train", "reopen")  # jobs that the Train page can show
PACES = ("full speed", "to watch", "slow")


def adopt(query: dict[str, str]) -> list[str]:
    """Take over what a link says; sentences for what was unusable."""
    run, ignored = Run.from_query(query)
    missing = not_here(run.dataset)
    if missing:
        ignored.append(missing)
        usable = plans_for(Run().dataset, pixels=True)
        run = replace(run, dataset=Run().dataset, target="", pixels="", missing="", characters="",
                      protocol="",
                      wiring=run.wiring if run.wiring in usable else "random")  # fmt: skip
    for name, why in unfit(run).items():
        ignored.append(f"The link's {name} was not used: {why}")
        run = replace(run, **{name: getattr(Run(), name)})
    current_run.adopt(run)
    if query.get("pace", PACES[0]) not in PACES:
        ignored.append(f"The link's pace was not used: it is one of {', '.join(PACES)}.")
    elif "pace" in query:
        st.session_state[session_keys.PACE] = query["pace"]
        st.session_state[session_keys.PACE_CHOSEN] = True
    named = visitor_jobs.jobs().get(query.get("job", ""))
    if named is not None and named.kind not in KINDS:
        ignored.append("The link's job was not used: it belongs to another page.")
    elif "job" in query:
        visitor_jobs.attach(query["job"])
    return ignored


def unfit(run: Run) -> dict[str, str]:
    """Settings that a visitor's own data cannot have, and why; those of the catalogue a `Run`
    refuses itself."""
    if run.dataset != visitor_data.UPLOADED:
        return {}
    try:
        data = visitor_data.dataset(run)
    except KCNetError:  # the page says so
        return {}
    pixels = data.image_shape is not None
    found = {
        "wiring": obstacle(run.wiring, data.title, pixels, False),
        "retina": retina_obstacle(run.retina, data.title, pixels),
    }
    return {name: why for name, why in found.items() if why}


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


def query_of(run: Run, job: Job | None) -> dict[str, str]:
    """The settings, a chosen pace and, if there is one, the run itself, for the address."""
    query = run.to_query()
    if session_keys.PACE_CHOSEN in st.session_state:
        query["pace"] = st.session_state[session_keys.PACE]
    return query | ({"job": job.id} if job is not None else {})


def links(run: Run, job: Job | None) -> None:
    """What the Share button opens."""
    st.markdown("**The same experiment**: opens with these settings and this seed.")
    copy_link(address.link(run.to_link()), "copy_experiment")
    if job is not None:
        st.markdown("**This very run**: others watch it live, only you can steer it.")
        copy_link(address.link(query_of(run, job)), "copy_run")
