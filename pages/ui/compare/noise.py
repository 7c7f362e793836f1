"""How models bear inputs that get worse: noise, blur, or inputs that fall silent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import streamlit as st

from kcnet_core import figures
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments.comparison.noise import (
    DAMAGES,
    NoisePlan,
    noise_job,
    noise_summary,
    spoil,
)
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.comparison.rows import PlannedRows
from kcnet_core.experiments.cost import in_words
from kcnet_core.experiments.measured_job import MeasuredJob
from kcnet_core.experiments.protocols import PROTOCOLS, default_protocol
from pages.ui.compare.bar import start_or_cancel
from pages.ui.compare.scores import empty, metric_of
from pages.ui.shell import measured, session_keys, visitor, visitor_data
from pages.ui.shell.chart import chart
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.job_progress import measured_progress
from pages.ui.shell.memo import memo
from pages.ui.shell.streamlit_workarounds import clicked
from pages.ui.shell.watch import ACTIVE, state_of, watch

IMAGES_SHOWN = 3


def noise(planned: PlannedRows) -> None:
    comparison, dataset, job = planned.comparison, planned.dataset, measured.job("noise")
    drawn = state_of(job)
    busy = drawn in ACTIVE
    kinds = tuple(name for name, damage in DAMAGES.items() if damage.applies(dataset))
    plan = NoisePlan(at_one_size(comparison), kinds)
    rows = known_rows(plan)
    stopped = bool(rows) and drawn != "done"
    work = noise_job(plan, dataset, rows if stopped else ())
    if clicked("noise") and not busy:
        public = visitor_data.public_title(dataset)
        measured.start(work, f"robustness of {len(comparison.models)} models on {public}", dataset)
        st.rerun()
    st.markdown(
        "Every model learns from clean rows and is then tested on ever worse ones: the same "
        "spoiled rows for all."
    )
    with st.container(horizontal=True, vertical_alignment="bottom", key="noise_bar"):
        label = "Resume the test" if stopped else "Test again" if rows else "Test robustness"
        start_or_cancel("noise", busy, job, label, "play_arrow", "Cancel the test")
        if len(comparison.hidden) > 1:
            st.segmented_control(
                "Hidden size", list(comparison.hidden), default=plan.comparison.hidden[0],
                required=True, format_func=lambda size: f"{size:,}", disabled=busy,
                key=session_keys.noise_size(comparison.hidden),
            )  # fmt: skip
    measured.problem("noise")
    watch(job, drawn, lambda: curves(plan, dataset, work), "noise_curves_of_job")


def at_one_size(comparison: Comparison) -> Comparison:
    size = st.session_state.get(session_keys.noise_size(comparison.hidden))
    middle = comparison.hidden[len(comparison.hidden) // 2]
    return replace(comparison, hidden=(size if size in comparison.hidden else middle,), n_folds=0)


def known_rows(plan: NoisePlan) -> list[Mapping]:
    """Rows of the latest test, if it was this very one."""
    job = measured.job("noise")
    if job is None or job.config != plan or job.view.snapshot is None:
        return []
    return job.view.snapshot.items


def curves(plan: NoisePlan, dataset: Dataset, work: MeasuredJob) -> None:
    job = measured.job("noise")
    if job is not None and (job.config == plan or not job.view.finished):
        measured_progress(job, "measurements")
    rows = known_rows(plan)
    if not rows:
        if job is None or job.view.finished:
            empty(
                f"**Nothing has been spoiled yet.** Press **Test robustness** to train "
                f"{', '.join(plan.comparison.models)} at {plan.comparison.hidden[0]:,} hidden "
                f"cells, {plan.comparison.n_repeats} times each, and to spoil the test rows step "
                f"by step. Estimated {in_words(work.cost.seconds)}."
            )
        return
    failed = [row for row in rows if row["error"]]
    for row in failed[:3]:
        st.warning(f"{row['variant']}: {escape_markdown(row['error'])}", icon=":material/warning:")
    kind = st.segmented_control(
        "Damage", list(plan.kinds), default=plan.kinds[0], required=True,
        format_func=lambda name: DAMAGES[name].title, key="noise_kind",
        persist_state="session", label_visibility="collapsed",
    )  # fmt: skip
    damage = DAMAGES[kind]
    metric = metric_of(dataset)
    news = (plan, len(rows), metric)
    lines = memo("noise_lines", news, lambda: noise_summary(rows, metric))
    lines = lines[lines["kind"] == kind]
    if lines.empty:
        st.caption("The first model is still learning.")
        return
    dark, axis = visitor.dark(), f"{damage.title} ({damage.unit})"
    figure = memo(
        "noise_curves", (*news, kind, dark),
        lambda: figures.noise_curves(lines, metric, axis, dark=dark),
    )  # fmt: skip
    chart(figure, "noise_curves")
    protocol = PROTOCOLS[plan.comparison.protocol or default_protocol(dataset)]
    n = lines.groupby("model")["n"].min()
    repeats = " to ".join(dict.fromkeys([str(n.min()), str(n.max())]))
    repeats += " repeats" if n.max() > 1 else " repeat"
    st.caption(
        f"{damage.title}: {damage.explanation}. {escape_markdown(dataset.title)} · "
        f"{protocol.title.lower()} · {plan.comparison.hidden[0]:,} hidden cells · {repeats}, "
        "mean and 95% interval · trained on clean rows."
    )
    if dataset.kind == "image":
        key = (dataset.name, id(dataset), kind, dark)
        chart(memo("noise_images", key, lambda: spoiled_images(dataset, kind, dark)),
              "noise_images")  # fmt: skip


def spoiled_images(dataset: Dataset, kind: str, dark: bool):
    """What the models get to see at each level."""
    levels = DAMAGES[kind].levels
    # One image of each of the first classes, the same at every level.
    test = np.arange(dataset.n_train or 0, len(dataset.X))
    rows = [test[np.flatnonzero(dataset.y[test] == k)[0]] for k in np.unique(dataset.y[test])]
    rows = np.array(rows[:IMAGES_SHOWN])
    X = np.stack([spoil(dataset.X[rows], kind, level, dataset=dataset, seed=0) for level in levels])
    pixels = np.clip(dataset.raw_pixels(X), 0, 1)  # (levels, images, d)
    names = [f"{level:g}" for _ in rows for level in levels]
    return figures.image_grid(
        pixels.swapaxes(0, 1).reshape(-1, dataset.X.shape[1]), dataset.image_shape, names,
        columns=len(levels), dark=dark,
        title=f"The same test images at each level ({DAMAGES[kind].unit})",
    )  # fmt: skip
