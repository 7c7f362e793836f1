"""The row of numbers above the charts, while a run counts them up and when it has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from kcnet_core.errors import KCNetError
from kcnet_core.experiments.protocols import PROTOCOLS
from kcnet_core.experiments.run import EPOCH_MODELS, KCNET_MODELS, Run
from pages.ui.shell import visitor_data, visitor_jobs
from pages.ui.shell.escaping import escape_markdown

if TYPE_CHECKING:
    from kcnet_core.experiments.training import TrainedRun, TrainView
    from kcnet_core.network.history import EpochRecord

UNKNOWN = "…"
TIME = "Time"  # of the run; the browser counts it
PARAMETERS = ("weights_", "biases_", "coef_", "intercept_")
PARAMETERS_HELP = "Output weights; with DOA also the 0/1 input weights, with FSHN every weight."
Number = tuple[str, str, str]  # its name, its value, and what more is to be said of it


def known(trained: TrainedRun, reopened: bool = False) -> list[Number]:
    """The test score of a finished run; `protocol` says of which rows."""
    name, value = trained.headline
    run, model = trained.run, trained.model
    worked = f"{sum(trained.timings.values()):.1f} s"
    more = f"Of {n_parameters(model):,} in all. {PARAMETERS_HELP}"
    numbers = [
        (f"Test {name}", f"{value:.4f}", ""),
        ("Evaluation" if reopened else "Training and evaluation", worked, ""),
        ("Parameters trained", f"{model.n_trained_parameters_:,}", more),
    ]
    if run.model in KCNET_MODELS:
        density = trained.frames[-1].density
        numbers += [("λ", f"{model.alpha_:.3g}", ""), ("Density of W", f"{density:.2%}", "")]
    return numbers


def so_far(run: Run, snapshot: TrainView | None) -> list[Number]:
    """The same row while a run is under way: what is known now, counting up."""
    last = snapshot.log[snapshot.n_records - 1] if snapshot and snapshot.n_records else None
    epoch = -1
    if last is not None:  # and all submodels have reached it
        epoch = last.epoch - (last.submodel < run.n_networks - 1)
    values = of_epoch(run, snapshot, epoch)
    return [(name, value, "") for name, value in values.items()]


def of_epoch(run: Run, snapshot: TrainView | None, epoch: int) -> dict[str, str]:
    """The row as it was after `epoch`; of an ensemble, means of its submodels."""
    records = [] if snapshot is None else records_of(snapshot, epoch)
    metric = snapshot.metric_name if snapshot else "accuracy"
    epochs = run.model in EPOCH_MODELS
    numbers = {
        f"{'Validation' if epochs else 'Leave-one-out'} {metric}": mean(
            [record.validation_metric for record in records], ".4f"
        ),
        TIME: "",
    }
    if epochs:
        numbers[f"Training {metric}"] = mean([record.train_metric for record in records], ".4f")
        numbers["Epoch"] = f"{max(0, epoch)} of {run.n_epochs}"
    if run.model in KCNET_MODELS:
        drawn = () if snapshot is None else snapshot.frames[:1]  # there before the only solve
        numbers["Density of W"] = mean([one.density for one in records or drawn], ".2%")
    return numbers


def records_of(snapshot: TrainView, epoch: int) -> list[EpochRecord]:
    """Those of one epoch, which is among the latest: nothing is searched from the beginning."""
    found = []
    for at in range(snapshot.n_records - 1, -1, -1):
        record = snapshot.log[at]
        if record.epoch == epoch:
            found.append(record)
        elif record.epoch < epoch - 1:
            break
    return found


def mean(values: list[float | None], form: str) -> str:
    seen = [value for value in values if value is not None]
    return format(sum(seen) / len(seen), form) if seen else UNKNOWN


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
