"""Downloads of a finished run, and loading a saved model again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from kcnet_core.experiments import report
from pages.ui.shell import session_keys, visitor_data
from pages.ui.shell.chart import FORMATS

if TYPE_CHECKING:
    from kcnet_core.experiments.training import TrainedRun


def take_home(trained: TrainedRun) -> None:
    name = f"kcnet-{trained.run.dataset}-{trained.run.model.lower().replace(' ', '-')}"
    offers = (
        ("Model", "hub", ".kcnet", lambda: report.model_file(trained), "application/octet-stream",
         "The trained network with its scaling and names: load it below, or in Python."),
        ("Report", "data_object", ".json", lambda: report.report_json(trained),
         "application/json", "Data, protocol, settings, scores, cost, versions and every epoch."),
        ("Epochs", "table", ".csv", lambda: report.report_csv(trained), "text/csv",
         "One line per epoch and submodel."),
    )  # fmt: skip
    if trained.dataset.name != visitor_data.UPLOADED:
        script = ("Script", "code", ".py", lambda: report.repeat_script(trained), "text/x-python",
                  "A short Python script that repeats this run with kcnet_core.")  # fmt: skip
        offers = (*offers, script)
    with st.container(horizontal=True):
        for label, icon, ending, make, mime, help_text in offers:
            st.download_button(
                label,
                make,
                file_name=name + ending,
                mime=mime,
                icon=f":material/{icon}:",
                key=f"take_{label}",
                help=help_text,
                on_click="ignore",
            )
    st.segmented_control(
        "Figures are saved as",
        FORMATS,
        default=FORMATS[0],
        required=True,
        key=session_keys.FIGURE_FORMAT,
        persist_state="session",  # other tabs and pages have figures too
        format_func=str.upper,
        help="Every figure has a camera button in its corner.",
    )
    if offers[-1][0] == "Script":
        st.code(report.repeat_script(trained), language="python")
    else:
        st.caption(
            "A script that repeats this run would need your file, which does not leave your "
            "session; the report names every setting."
        )
