"""Load a saved model file again and look at it like a run that has just ended."""

from __future__ import annotations

from collections.abc import Generator

import streamlit as st

from kcnet_core.errors import KCNetError
from pages.ui import run_controls, session
from pages.ui.plain import plain


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
            dataset = session.dataset(run)
            job = session.jobs().submit(
                session.owner(),
                "reopen",
                run,
                lambda: steps(saved, run, dataset),
                title=f"{run.describe()}, from a file",
            )
        except KCNetError as error:
            st.error(plain(error), icon=":material/error:")
            return
        run_controls.adopt(run)
        session.carry(job, dataset)
        session.attach(job.id)
        st.rerun()


def steps(saved, run, dataset) -> Generator:
    from kcnet_core.experiments.reopen import reopen
    from kcnet_core.experiments.training import TrainView

    yield TrainView(run, "Evaluating the loaded model on the test rows", 0.1, [], 0)
    return reopen(saved, run, dataset)
