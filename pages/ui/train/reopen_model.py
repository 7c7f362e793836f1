"""Load a saved model file again and look at it like a run that has just ended."""

from __future__ import annotations

from collections.abc import Generator

import streamlit as st

from kcnet_core.datasets.dataset import Dataset
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.run import Run
from kcnet_core.jobs import Estimate
from pages.ui.shell import current_run, visitor, visitor_data, visitor_jobs
from pages.ui.shell.escaping import escape_markdown


def opener() -> None:
    """The upload field; a file that opens becomes the run on this page."""
    with st.expander("Open a saved model", icon=":material/folder_open:"):
        file = st.file_uploader("Model file", type=["kcnet"], key="model_file")
        if file is None or not st.button("Open", key="open_model", icon=":material/hub:"):
            return
        from kcnet_core.experiments.reopen import run_of
        from kcnet_core.model_file import load_model

        try:
            saved = load_model(file.getvalue())
            run = run_of(saved)
            dataset = visitor_data.dataset(run)
            job = visitor_jobs.jobs().submit(
                visitor.owner(),
                "reopen",
                run,
                lambda: steps(saved, run, dataset),
                estimate=cost(run, dataset),
                title=f"{run.describe()}, from a file",
            )
        except KCNetError as error:
            st.error(escape_markdown(error), icon=":material/error:")
            return
        current_run.adopt(run)
        visitor_jobs.carry(job, dataset)
        visitor_jobs.attach(job.id)
        st.rerun()


def cost(run: Run, dataset: Dataset) -> Estimate:
    """Memory for the test rows on their way through scaler and model, and for S and W."""
    from kcnet_core.experiments.cost import reopen_cost
    from kcnet_core.experiments.protocols import split_of

    _, split = split_of(run, dataset)
    return reopen_cost(run, len(split.test), dataset.X.shape[1])


def steps(saved, run, dataset) -> Generator:
    from kcnet_core.experiments.reopen import reopen
    from kcnet_core.experiments.training import TrainView

    yield TrainView(run, "Evaluating the loaded model on the test rows", 0.1, [], 0)
    return reopen(saved, run, dataset)
