"""Start, cancel, resume and extend a comparison; every measured row, and how far it is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import streamlit as st

from kcnet_core.cluster.jobs import comparison_elsewhere
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.comparison.rows import PlannedRows
from kcnet_core.experiments.cost import in_words
from kcnet_core.experiments.measured_job import MeasuredJob
from kcnet_core.experiments.metrics import headline_metric
from kcnet_core.jobs import Job
from pages.ui.compare import state
from pages.ui.shell import measured, session_keys, visitor, visitor_data, visitor_jobs
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.job_progress import measured_progress
from pages.ui.shell.streamlit_workarounds import clicked, defer_click
from pages.ui.shell.watch import ACTIVE, state_of, watch


def bar(planned: PlannedRows, wrong: str | None) -> tuple[Job | None, str | None, list[Mapping]]:
    """Draw the buttons; the job, the state of it that they show, and the rows known before it."""
    comparison, seen = planned.comparison, rows(planned.dataset)
    work = comparison_elsewhere(planned.job(seen), planned)
    if clicked("comparison") and wrong is None:
        public = visitor_data.public_title(planned.dataset)
        measured.start(work, title(comparison, public), planned.dataset)
    job = measured.job("compare")
    drawn = state_of(job)
    busy = drawn in ACTIVE
    mine = job is None or job.owned_by(visitor.owner())
    with st.container(horizontal=True, vertical_alignment="center", key="compare_bar"):
        if busy and mine:
            st.button(
                "Cancel", key="cancel_comparison", type="primary", icon=":material/close:",
                shortcut="X", on_click=measured.stop, args=(job,),
                help="Rows that are finished stay; the comparison can be resumed.",
            )  # fmt: skip
        else:
            label, icon = start_label(job, comparison, len(work.known))
            st.button(
                label, key="start_comparison", type="primary", icon=f":material/{icon}:",
                shortcut="S", disabled=not work.pending or wrong is not None,
                on_click=defer_click, args=("comparison",),
            )  # fmt: skip
        st.button(
            "Clear", key="clear_comparison", icon=":material/restart_alt:",
            disabled=busy or not work.known, on_click=forget,
            help="Forget every measured row of this session.",
        )  # fmt: skip
        with st.popover("Share", icon=":material/link:"):
            state.links(comparison)
    with st.container():
        measured.problem("compare")
        if wrong:
            st.error(escape_markdown(wrong), icon=":material/error:")
        if busy:
            notes(job, comparison)
        else:
            st.caption(plan(work, title(comparison, planned.dataset.title)))
    watch(job, drawn, partial(progress, job, planned.dataset), "compare_progress")
    return job, drawn, seen


def rows(data: Dataset) -> list[Mapping]:
    """Every row that this session has seen, also of other comparisons: none is measured twice."""
    seen = st.session_state.setdefault(session_keys.COMPARISON_ROWS, {})
    latest, before = measured.job("compare"), st.session_state.get(session_keys.COMPARISON_UPLOAD)
    if data.name == visitor_data.UPLOADED and before is not data:  # another table, the same name
        st.session_state[session_keys.COMPARISON_UPLOAD] = data
        for row_id in [i for i, row in seen.items() if row["dataset"] == data.name]:
            del seen[row_id]
        if (
            latest is not None
            and latest.config.dataset == data.name
            and visitor_jobs.data_of(latest) is not data
        ):
            measured.look_at("compare", None)
            latest = None
    if latest is not None and latest.view.snapshot is not None:
        seen.update({row["id"]: row for row in latest.view.snapshot.items if not row["error"]})
    return list(seen.values())


def forget() -> None:
    st.session_state[session_keys.COMPARISON_ROWS] = {}
    measured.look_at("compare", None)


def start_or_cancel(
    kind: str, busy: bool, job: Job | None, label: str, icon: str, cancel: str, help: str = ""
) -> None:
    """The one button of what a tab measures: it starts that or, while it is under way, ends it."""
    if busy:
        st.button(
            cancel, key=f"cancel_{kind}", type="primary", icon=":material/close:",
            on_click=measured.stop, args=(job,),
        )  # fmt: skip
    else:
        st.button(
            label, key=f"start_{kind}", type="primary", icon=f":material/{icon}:",
            on_click=defer_click, args=(kind,), help=help or None,
        )  # fmt: skip


def notes(job, comparison: Comparison) -> None:
    """Who else is at work, and on what."""
    if not job.owned_by(visitor.owner()):
        st.info(
            "You are watching a comparison that somebody else started. Its rows are yours too: "
            "a comparison of your own does not measure them again.",
            icon=":material/visibility:",
        )
    if job.config != comparison:
        st.info(
            f"A comparison with other settings is running ({escape_markdown(job.title)}). "
            "Its rows are kept.",
            icon=":material/hourglass_top:",
        )


def start_label(job, comparison: Comparison, n_rows: int) -> tuple[str, str]:
    if job is not None and not job.view.finished:  # somebody else's
        return "Start my own", "play_arrow"
    if not n_rows:
        return "Start", "play_arrow"
    stopped = job is not None and job.config == comparison and job.view.state != "done"
    return ("Resume", "play_arrow") if stopped else ("Extend", "add")


def plan(work: MeasuredJob, about: str) -> str:
    """What a press on the button would do, and what it would cost."""
    n = len(work.known) + len(work.pending)
    if not work.pending:
        return (
            f"All {n} fits are here. Choose more models, sizes or repeats on the left to extend "
            "the comparison; what is measured is not measured again."
        )
    try:
        cost = work.cost
    except KCNetError as error:
        return f":orange[{escape_markdown(error)}]"
    known = f"{len(work.known)} of them are here already. " if work.known else ""
    return (
        f"{escape_markdown(about)}: {n} fits on the same splits and seeds. {known}"
        f"Estimated {in_words(cost.seconds)} and {cost.bytes / 2**20:,.0f} MB."
    )


def title(comparison: Comparison, data_title: str) -> str:
    n = len(comparison.models)
    n_sizes, n_repeats = len(comparison.hidden), comparison.n_repeats
    return (
        f"{n} model{'s' * (n > 1)} at {n_sizes} size{'s' * (n_sizes > 1)}, "
        f"{n_repeats} repeat{'s' * (n_repeats > 1)} on {data_title}"
    )


def progress(job: Job | None, dataset: Dataset) -> None:
    """How far the comparison is, and its newest row in words: what a screen reader says instead of
    the charts."""
    if job is None:
        return
    measured_progress(job, "fits")
    if job.view.snapshot is None:
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
        st.warning(f"{row['variant']}, repeat {row['repeat'] + 1}: {escape_markdown(row['error'])}",
                   icon=":material/warning:")  # fmt: skip
    if len(failed) > 3:
        st.warning(f"{len(failed) - 3} more fits failed; the CSV names each.")
