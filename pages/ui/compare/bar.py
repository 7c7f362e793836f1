"""Start, cancel, resume and extend a comparison, and how far it is."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.comparison import work as compare_jobs
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.comparison.rows import n_planned
from kcnet_core.experiments.cost import in_words
from kcnet_core.experiments.metrics import headline_metric
from pages.ui.compare import state
from pages.ui.shell import visitor, visitor_data, visitor_jobs
from pages.ui.shell.deferred_click import ask, asked
from pages.ui.shell.escaping import plain
from pages.ui.shell.job_progress import OWNER_SEES
from pages.ui.shell.words import in_time

ENDINGS = {"done": "Done", "failed": "Failed", "cancelled": "Cancelled"}


def bar(comparison: Comparison, dataset: Dataset, wrong: str | None) -> str | None:
    """Draw the buttons; the state of the job that they show."""
    if asked("comparison") and wrong is None:
        start(comparison, dataset)
    drawn, job = state.look("compare"), state.job("compare")
    busy = drawn in state.ACTIVE
    mine = job is None or job.owned_by(visitor.owner())
    rows = state.measured(comparison, dataset)
    n_missing = n_planned(comparison, dataset) - len(rows)
    with st.container(horizontal=True, vertical_alignment="center", key="compare_bar"):
        if busy and mine:
            st.button(
                "Cancel", key="cancel_comparison", type="primary", icon=":material/close:",
                shortcut="X", on_click=state.stop, args=("compare",),
                help="Rows that are finished stay; the comparison can be resumed.",
            )  # fmt: skip
        else:
            label, icon = start_label(job, comparison, len(rows))
            st.button(
                label, key="start_comparison", type="primary", icon=f":material/{icon}:",
                shortcut="S", disabled=not n_missing or wrong is not None,
                on_click=ask, args=("comparison",),
            )  # fmt: skip
        st.button(
            "Clear", key="clear_comparison", icon=":material/restart_alt:",
            disabled=busy or not rows, on_click=state.forget,
            help="Forget every measured row of this session.",
        )  # fmt: skip
        with st.popover("Share", icon=":material/link:"):
            state.links(comparison)
    with st.container():
        notes(comparison, dataset, wrong, busy)
    return drawn


def notes(comparison: Comparison, dataset: Dataset, wrong: str | None, busy: bool) -> None:
    """What stands in the way, who else is at work, and what the button would do."""
    job = state.job("compare")
    state.problem("compare")
    if wrong:
        st.error(plain(wrong), icon=":material/error:")
    if busy and not job.owned_by(visitor.owner()):
        st.info(
            "You are watching a comparison that somebody else started. Its rows are yours too: "
            "a comparison of your own does not measure them again.",
            icon=":material/visibility:",
        )
    if busy and job.config != comparison:
        st.info(
            f"A comparison with other settings is running ({plain(job.title)}). Its rows are kept.",
            icon=":material/hourglass_top:",
        )
    if not busy:
        st.caption(plan(comparison, dataset, state.measured(comparison, dataset)))


def start_label(job, comparison: Comparison, n_rows: int) -> tuple[str, str]:
    if job is not None and not job.view.finished:  # somebody else's
        return "Start my own", "play_arrow"
    if not n_rows:
        return "Start", "play_arrow"
    stopped = job is not None and job.config == comparison and job.view.state != "done"
    return ("Resume", "play_arrow") if stopped else ("Extend", "add")


def plan(comparison: Comparison, dataset: Dataset, rows: list[Mapping]) -> str:
    """What a press on the button would do, and what it would cost."""
    n = n_planned(comparison, dataset)
    if len(rows) == n:
        return (
            f"All {n} fits are here. Choose more models, sizes or repeats on the left to extend "
            "the comparison; what is measured is not measured again."
        )
    try:
        todo = compare_jobs.pending(comparison, dataset, rows)
        cost = compare_jobs.whole_cost(todo, comparison, dataset)
    except KCNetError as error:
        return f":orange[{plain(error)}]"
    known = f"{len(rows)} of them are here already. " if rows else ""
    return (
        f"{plain(title(comparison, dataset.title))}: {n} fits on the same splits and seeds. {known}"
        f"Estimated {in_words(cost.seconds)} and {cost.bytes / 2**20:,.0f} MB."
    )


def title(comparison: Comparison, data_title: str) -> str:
    n = len(comparison.models)
    n_sizes, n_repeats = len(comparison.hidden), comparison.n_repeats
    return (
        f"{n} model{'s' * (n > 1)} at {n_sizes} size{'s' * (n_sizes > 1)}, "
        f"{n_repeats} repeat{'s' * (n_repeats > 1)} on {data_title}"
    )


def start(comparison: Comparison, dataset: Dataset) -> None:
    rows = state.measured(comparison, dataset)
    try:
        todo = compare_jobs.pending(comparison, dataset, rows)
        cost = compare_jobs.whole_cost(todo, comparison, dataset)
    except KCNetError as error:
        st.session_state["compare_problem"] = str(error)
        return
    state.submit(
        "compare",
        comparison,
        dataset,
        lambda: compare_jobs.comparison_work(comparison, dataset, rows),
        cost,
        title(comparison, visitor_data.public_title(dataset)),
    )


# -- how far it is -------------------------------------------------------------------------------


def progress(kind: str, what: str) -> None:
    """The bar of a job: what it is doing, for how long, and how much is there."""
    job = state.job(kind)
    if job is None:
        return
    view, work = job.view, job.view.snapshot
    if view.state == "queued":
        text = f"Waiting: number {view.position} in the queue"
    elif view.finished:
        text = f"{ENDINGS[view.state]} after {in_time(view.seconds())}"
    else:
        stage = "Cancelling" if view.asked == "stop" else work.stage if work else "Starting"
        text = f"{stage} · {in_time(view.seconds())}"
        left = job.seconds_left()
        text += f" · about {in_words(left)} left" if left else ""
    if work is not None:
        text += f" · {what.format(work.n_items)}"
    if view.finished:
        st.caption(text)
    else:
        st.progress(view.fraction or 0.0, text=text)
    if view.state == "failed":
        why = OWNER_SEES if visitor_jobs.is_private(job) else view.error
        st.error(plain(why), icon=":material/error:")


def latest(comparison: Comparison, dataset: Dataset) -> None:
    """The newest row in words: what a screen reader says instead of the charts."""
    job = state.job("compare")
    if job is None or job.view.snapshot is None:
        return
    items = job.view.snapshot.items
    failed = [] if visitor_jobs.is_private(job) else [row for row in items if row["error"]]
    if items and not items[-1]["error"] and not job.view.finished:
        row, metric = items[-1], headline_metric(dataset)
        if row["dataset"] == dataset.name and row[metric] is not None:
            st.caption(
                f"Latest: {row['variant']}, repeat {row['repeat'] + 1} of "
                f"{job.config.n_repeats} · test {metric} {row[metric]:.4f} · "
                f"{row['seconds']:.2f} s"
            )
    for row in failed[:3]:
        st.warning(f"{row['variant']}, repeat {row['repeat'] + 1}: {plain(row['error'])}",
                   icon=":material/warning:")  # fmt: skip
    if len(failed) > 3:
        st.warning(f"{len(failed) - 3} more fits failed; the CSV names each.")
