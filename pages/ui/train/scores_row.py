"""The row of figures above the charts: there from the start, so that nothing moves at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from kcnet_core.errors import KCNetError
from kcnet_core.experiments.protocols import PROTOCOLS
from kcnet_core.experiments.run import EPOCH_MODELS, KCNET_MODELS, Run
from pages.ui.shell import visitor_data, visitor_jobs
from pages.ui.shell.escaping import escape_markdown

if TYPE_CHECKING:
    from kcnet_core.experiments.training import TrainedRun

UNKNOWN = "…"
WIDTH = 150  # pixels, of one number: those beside it stay where they are when it grows
PARAMETERS = ("weights_", "biases_", "coef_", "intercept_")


def known(trained: TrainedRun, reopened: bool = False) -> None:
    """The test score of a finished run; `protocol` says of which rows."""
    name, value = trained.headline
    run, model = trained.run, trained.model
    figures = {
        f"Test {name}": f"{value:.4f}",
        "Evaluation" if reopened else "Training and evaluation": (
            f"{sum(trained.timings.values()):.1f} s"
        ),
        "Parameters trained": f"{model.n_trained_parameters_:,}",
    }
    if run.model in KCNET_MODELS:
        figures |= {"λ": f"{model.alpha_:.3g}", "Density of W": f"{trained.frames[-1].density:.2%}"}
    row(figures, f"Of {n_parameters(model):,} in all. " + PARAMETERS_HELP)


def so_far(job) -> None:
    """The same row while a run is under way: what is known now, counting up."""
    run, view = job.config, job.view
    if not isinstance(run, Run):
        return
    snapshot = view.snapshot
    last = snapshot.log[snapshot.n_records - 1] if snapshot and snapshot.n_records else None
    metric = snapshot.metric_name if snapshot else "accuracy"
    epochs = run.model in EPOCH_MODELS

    def shown(value: float | None, form: str) -> str:
        return UNKNOWN if value is None else format(value, form)

    figures = {
        f"{'Validation' if epochs else 'Leave-one-out'} {metric}": shown(
            last and last.validation_metric, ".4f"
        ),
        "Time": f"{view.seconds():.1f} s",
    }
    if epochs:
        figures[f"Training {metric}"] = shown(last and last.train_metric, ".4f")
        figures["Epoch"] = f"{last.epoch if last else 0} of {run.n_epochs}"
    if run.model in KCNET_MODELS:
        figures["Density of W"] = shown(last and last.density, ".2%")
    row(figures, "")


def protocol(trained: TrainedRun) -> None:
    rows = len(trained.train_rows), len(trained.test_rows)
    caption(trained.run, trained.dataset.title, trained.protocol, *rows)


def protocol_of(job) -> None:
    """Which rows a run under way will be tested on."""
    run, data = job.config, visitor_jobs.data_of(job)
    if data is None or not isinstance(run, Run):
        return
    try:
        rows = visitor_data.split_sizes(run, data)
    except KCNetError:  # the run itself will say so
        return
    title = visitor_data.public_title(data) if visitor_jobs.is_private(job) else data.title
    caption(run, title, *rows)


PARAMETERS_HELP = "Output weights; with DOA also the 0/1 input weights, with FSHN every weight."


def row(figures: dict[str, str], about_parameters: str) -> None:
    with st.container(horizontal=True, gap="medium", key="headline"):
        for name, value in figures.items():
            about = about_parameters if name == "Parameters trained" else None
            st.metric(name, value, width=WIDTH, help=about)


def caption(run: Run, title: str, protocol: str, n_train: int, n_test: int) -> None:
    about = PROTOCOLS[protocol]
    st.caption(
        f"{escape_markdown(title)}, {about.title.lower()}: {n_train:,} training and {n_test:,} "
        f"test rows, one split, seed {run.seed}. {about.explanation} One split says little about "
        "the next; the Compare page repeats splits and gives intervals."
    )


def n_parameters(model) -> int:
    """Numbers that the network is made of, trained or drawn."""
    return sum(getattr(model, name).size for name in PARAMETERS if hasattr(model, name))
