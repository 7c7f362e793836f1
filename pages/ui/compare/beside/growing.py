"""KCNet | ELM, live: the same sample and the same training rows in two networks that grow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from kcnet_core.cluster.jobs import measured_elsewhere
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments.beside.curves import scene_of
from kcnet_core.experiments.beside.plan import MOST_SEEDS, Beside
from kcnet_core.experiments.beside.steps import Point, beside_job
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.jobs import Job
from pages.ui.compare import view
from pages.ui.compare.beside import sample, widths
from pages.ui.shell import (
    address,
    measured,
    session_keys,
    visitor,
    visitor_data,
    visitor_jobs,
)
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.job_progress import measured_progress
from pages.ui.shell.streamlit_workarounds import clicked, defer_click
from pages.ui.shell.watch import ACTIVE, state_of, watch

SECONDS_BETWEEN_DRAWINGS = 0.5
REMEMBERED = 64  # plans whose job other visitors are shown, too
ENDED_EARLY = ("cancelled", "failed")
MORE = 6  # seeds that one press adds
SOON = (
    "**Two networks are being wired**, one sparse with zeros and ones as a fly's, one dense with "
    "real numbers. One test sample, the cells that answer to it and what both networks say of it "
    "come here with the first ten cells, in a moment."
)


def growing(comparison: Comparison, dataset: Dataset, wrong: str | None) -> None:
    look = view.look()
    plan = Beside(comparison, look.widest, look.seeds)
    job = follow(plan, dataset) if wrong is None else None
    drawn = state_of(job)
    with st.container(horizontal=True, vertical_alignment="center", key="beside_bar"):
        view.picker()
        buttons(job, drawn, plan)
    with st.container():
        measured.problem("beside")
        if wrong:
            st.error(escape_markdown(wrong), icon=":material/error:")
    watch(
        job, drawn, partial(draw, plan, comparison, dataset, job), "beside",
        SECONDS_BETWEEN_DRAWINGS,
    )  # fmt: skip


def draw(plan: Beside, comparison: Comparison, dataset: Dataset, job: Job | None) -> None:
    """Everything that moves: while points arrive, and with width, noise and sample."""
    if job is not None:
        points = points_of(job)
        scene = scene_of(points)
        if scene is not None:
            sample.controls(plan, dataset, scene)
        networks, right = st.columns([3, 2], gap="medium")
        with networks:
            if scene is not None:
                sample.networks(plan, dataset, scene, points)
            elif not job.view.finished:
                st.container(border=True).markdown(SOON)
        with right, st.container(gap="xsmall"):
            widths.charts(plan, dataset, points)
            with st.container(horizontal=True, vertical_alignment="center", key="beside_progress"):
                with st.container():
                    measured_progress(job, "points", cancelled="stopped")
                with st.popover("Share", icon=":material/link:"):
                    st.markdown("**The same view**: these networks at this width and noise.")
                    st.code(address.link(view.query_of(comparison)), language=None, wrap_lines=True)
        if scene is not None:
            widths.about(dataset, scene, points)
    address.write("compare", view.query_of(comparison))


def points_of(job: Job) -> list[Point]:
    return job.view.snapshot.items if job.view.snapshot is not None else []


# -- the job -------------------------------------------------------------------------------------


@st.cache_resource(show_spinner=False)
def shared() -> dict[Beside, str]:
    """The latest job of a plan on public data: a class that opens the page together needs one."""
    return {}


def follow(plan: Beside, dataset: Dataset) -> Job | None:
    """The job that shows this plan, be it another visitor's; started if there is none."""
    job = measured.job("beside")
    if clicked("beside"):
        return start(plan, dataset, job)
    if serves(job, plan, dataset):
        return job
    public = dataset.name != visitor_data.UPLOADED
    other = visitor_jobs.jobs().get(shared().get(plan, "")) if public else None
    if serves(other, plan, dataset) and state_of(other) not in ENDED_EARLY:
        leave(job)
        measured.look_at("beside", other.id)
        return other
    return start(plan, dataset, job)


def serves(job: Job | None, plan: Beside, dataset: Dataset) -> bool:
    return job is not None and job.config == plan and visitor_jobs.data_of(job) is dataset


def leave(job: Job | None) -> None:
    """Nobody looks at it any more who could ask for it."""
    if job is not None and not job.view.finished and job.owned_by(visitor.owner()):
        measured.stop(job)


def start(plan: Beside, dataset: Dataset, before: Job | None) -> Job | None:
    """Grow the networks; seeds that the job before has finished are not grown again."""
    leave(before)
    points = known(plan, dataset, before)
    work = measured_elsewhere(beside_job(plan, dataset, points), "beside", dataset, (plan, points))
    title = f"KCNet beside ELM on {visitor_data.public_title(dataset)}"
    job = measured.start(work, title, dataset)
    if job is None:
        measured.look_at("beside", None)
    elif dataset.name != visitor_data.UPLOADED:
        plans = shared()
        plans.pop(plan, None)
        plans[plan] = job.id
        while len(plans) > REMEMBERED:
            del plans[next(iter(plans))]
    return job


def known(plan: Beside, dataset: Dataset, job: Job | None) -> Sequence[Point]:
    if job is None or not serves(job, replace(plan, seeds=job.config.seeds), dataset):
        return ()
    return points_of(job)


# -- the buttons ---------------------------------------------------------------------------------


def buttons(job: Job | None, drawn: str | None, plan: Beside) -> None:
    if drawn in ACTIVE and job is not None and job.owned_by(visitor.owner()):
        st.button(
            "Stop", key="stop_beside", icon=":material/stop:", shortcut="X",
            on_click=measured.stop, args=(job,), help="What has grown stays.",
        )  # fmt: skip
    elif drawn in (None, "paused", *ENDED_EARLY):
        st.button(
            "Start" if drawn is None else "Go on", key="start_beside", type="primary",
            icon=":material/play_arrow:", shortcut="S", on_click=defer_click, args=("beside",),
        )  # fmt: skip
    elif drawn == "done" and plan.seeds < MOST_SEEDS:
        st.button(
            "More seeds", key="more_beside", icon=":material/add:", on_click=more_seeds,
            args=(plan.seeds,), help="Closes the interval of the difference; what is there stays.",
        )  # fmt: skip


def more_seeds(now: int) -> None:
    st.session_state[session_keys.BESIDE_SEEDS] = min(now + MORE, MOST_SEEDS)
