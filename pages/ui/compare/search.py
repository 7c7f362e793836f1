"""Hyperparameter search with Optuna over the paper's spaces, trial by trial."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from kcnet_core import figures
from kcnet_core.cluster.jobs import measured_elsewhere
from kcnet_core.datasets.dataset import Dataset
from kcnet_core.experiments.comparison.plan import Comparison
from kcnet_core.experiments.comparison.rows import PlannedRows
from kcnet_core.experiments.comparison.search import (
    MANY_ROWS,
    N_FOLDS,
    SearchPlan,
    Trial,
    best_trial,
    search_job,
)
from kcnet_core.experiments.metrics import METRICS, headline_metric
from kcnet_core.experiments.models import MODELS
from kcnet_core.experiments.protocols import default_protocol
from kcnet_core.limits import MAX_TRIALS
from kcnet_core.storage.safe_csv import csv_text
from pages.ui.compare import state
from pages.ui.compare.bar import start_or_cancel
from pages.ui.compare.scores import empty
from pages.ui.shell import measured, visitor, visitor_data
from pages.ui.shell.chart import chart
from pages.ui.shell.escaping import data_table, escape_markdown
from pages.ui.shell.job_progress import measured_progress
from pages.ui.shell.streamlit_workarounds import clicked
from pages.ui.shell.watch import ACTIVE, state_of, watch
from pages.ui.shell.words import capital, seconds_format, setting_name, setting_value

DEFAULT_TRIALS = 20


def search(planned: PlannedRows) -> None:
    dataset, job = planned.dataset, measured.job("search")
    drawn = state_of(job)
    busy = drawn in ACTIVE
    st.markdown(
        "Optuna tries settings from the model's search space. It sees only the training rows of "
        "the first split, cut again into learning and validation rows; the test rows stay unseen."
    )
    plan = controls(planned.comparison, dataset, busy)
    done = known(plan)
    if clicked("search") and not busy:
        public = visitor_data.public_title(dataset)
        title = f"{plan.n_trials} trials of {plan.model} on {public}"
        work = measured_elsewhere(search_job(plan, dataset, done), "search", dataset, (plan, done))
        measured.start(work, title, dataset)
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center", key="search_bar"):
        goes_on = 0 < len(done) < plan.n_trials
        start_or_cancel(
            "search", busy, job, "Go on" if goes_on else "Search", "search", "Cancel the search",
            help=f"{len(done)} trials are here already." * goes_on,
        )  # fmt: skip
    measured.problem("search")
    watch(job, drawn, lambda: trials(plan, dataset), "search_trials_of_job")


def controls(comparison: Comparison, dataset: Dataset, busy: bool) -> SearchPlan:
    names = state.comparable_models(dataset)
    model = st.pills(
        "Model to tune", names, default=names[0], required=True, disabled=busy,
        key=f"search_model_{dataset.kind}", persist_state="session",
    )  # fmt: skip
    space = MODELS[model].space
    searched = [dimension.name for dimension in space]
    left, middle, right = st.columns(3)
    with left:
        n_trials = st.number_input(
            "Trials", 1, MAX_TRIALS, DEFAULT_TRIALS, disabled=busy, key="search_trials",
            persist_state="session", help="The first is the untuned setting.",
        )  # fmt: skip
    with middle:
        n_hidden = 0
        if MODELS[model].network and "n_hidden" not in searched:
            n_hidden = st.selectbox(
                "Hidden size 𝓑", list(comparison.hidden), index=len(comparison.hidden) // 2,
                format_func=lambda size: f"{size:,}", disabled=busy,
                key=f"search_hidden_{'_'.join(map(str, comparison.hidden))}",
            )  # fmt: skip
        else:
            st.caption("The hidden size is searched too." if MODELS[model].network else
                       "This model has no hidden size.")  # fmt: skip
    with right:
        folds = st.number_input(
            "Validation folds", 2, N_FOLDS, N_FOLDS, disabled=busy, key="search_folds",
            persist_state="session",
            help=f"Inside the training rows; from {MANY_ROWS:,} rows on one validation part is "
            "used instead.",
        )  # fmt: skip
    listed = "; ".join(
        f"{setting_name(dimension.name, model)} ∈ {dimension.describe()}" for dimension in space
    )
    st.caption(f"Search space: {listed}. {MODELS[model].note}")
    alone = replace(comparison, n_repeats=1, n_folds=0)
    return SearchPlan(alone, model, n_hidden, n_trials, headline_metric(dataset), folds)


def known(plan: SearchPlan) -> tuple[Trial, ...]:
    """Trials of the same search that are here already, from one that was cancelled or shorter."""
    job = measured.job("search")
    if job is None or job.view.snapshot is None:
        return ()
    same = replace(job.config, n_trials=plan.n_trials) == plan
    return tuple(job.view.snapshot.items[: plan.n_trials]) if same else ()


def trials(plan: SearchPlan, dataset: Dataset) -> None:
    job = measured.job("search")
    if job is None or job.config.comparison.dataset != plan.comparison.dataset:
        empty(
            "**Nothing has been searched yet.** Choose a model and press **Search**: each trial "
            "appears as a dot, and the best setting can be taken over into the comparison."
        )
        return
    measured_progress(job, "trials")
    found = job.view.snapshot.items if job.view.snapshot is not None else []
    if not found:
        return
    of = job.config
    higher = METRICS[of.metric].higher_is_better
    size = f" with {of.n_hidden:,} cells" if of.n_hidden else ""
    st.caption(
        f"{of.model}{size} on {escape_markdown(dataset.title)}: mean validation {of.metric} inside "
        "the training rows of the first split. It is for choosing, not a test score."
    )
    chart(
        figures.trials_scatter(
            [replace(trial, params=named(trial.params, of.model)) for trial in found],
            of.metric,
            higher_is_better=higher,
            model=of.model,
            dark=visitor.dark(),
        ),
        "search_trials_chart",
    )
    best = best_trial(found)
    if best is not None:
        verdict(best, found[0], of)
    failed = [trial for trial in found if trial.error]
    if failed:
        first = escape_markdown(failed[0].error)
        st.warning(f"{len(failed)} trials failed; the first said: {first}",
                   icon=":material/warning:")  # fmt: skip
    if best is not None and job.view.finished:
        take_over(best, of)
    shown = trials_table(found, capital, partial(named, model=of.model))
    data_table(
        shown, key="search_table", hide_index=True, width="stretch",
        alt="Every trial with its settings and validation value", placeholder="—",
        column_config={
            capital(of.metric): st.column_config.NumberColumn(format="%.4f"),
            "Seconds": st.column_config.NumberColumn(format=seconds_format(shown["Seconds"])),
        },
    )  # fmt: skip
    if job.view.finished:
        st.download_button(
            "Trials", csv_text(trials_table(found)), f"kcnet-search-{of.model}.csv", "text/csv",
            key="search_csv", icon=":material/table:", on_click="ignore",
            help="One line per trial, as CSV.",
        )  # fmt: skip


def verdict(best: Trial, first: Trial, plan: SearchPlan) -> None:
    chosen = ", ".join(
        f"{name} = {value}" for name, value in named(best.params, plan.model).items()
    )
    if best.number == 0:
        st.markdown(f"So far nothing beats the untuned setting: {best.value:.4f}.")
        return
    gain = "" if first.value is None else f" against {first.value:.4f} untuned"
    st.markdown(f"Best so far, trial {best.number}: **{best.value:.4f}**{gain}, with {chosen}.")


def named(params: Mapping, model: str) -> dict[str, str]:
    """A trial's settings as a visitor knows them."""
    return {setting_name(k, model): setting_value(k, value) for k, value in params.items()}


def take_over(best: Trial, plan: SearchPlan) -> None:
    """Let the comparison use what the search found; a hidden size joins the others' sizes."""

    if st.button(
        f"Use this setting of {plan.model} in the comparison", key="use_tuned",
        icon=":material/balance:",
    ):  # fmt: skip
        current, params = state.comparison(), dict(best.params)
        size = params.pop("n_hidden", None)
        tuned = replace(
            current,
            models=(*current.models, plan.model),
            hidden=current.hidden if size is None else (*current.hidden, size),
        )
        state.adopt(tuned.with_settings(plan.model, params) if params else tuned)
        st.rerun()  # the whole page, not only the trials
    protocol = plan.comparison.protocol or default_protocol(visitor_data.dataset(plan.comparison))
    if protocol != "benchmark":
        st.caption(
            "Other repeats draw other test rows, and some of those were among the rows searched "
            "on, so a tuned model's mean over repeats is a little flattered; models tuned with "
            "the same number of trials are flattered alike."
        )


def trials_table(
    found: list[Trial], title: Callable = str, settings: Callable = dict
) -> pd.DataFrame:
    """The trials for a program, or with other names of columns and settings for a visitor."""
    return pd.DataFrame(
        [
            {
                title("trial"): trial.number,
                title(trial.metric): trial.value,
                **settings(trial.params),
                title("seconds"): trial.seconds,
                title("problem"): trial.error or "",
            }
            for trial in found
        ]
    )
