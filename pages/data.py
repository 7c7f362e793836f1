"""Data: choose, download or upload a dataset, and look at what is in it."""

from __future__ import annotations

import streamlit as st

from pages.ui.data import catalogue as data_catalogue
from pages.ui.data import rows
from pages.ui.data import upload as data_upload
from pages.ui.shell import current_run, visitor_data
from pages.ui.shell.frame import heading


def main() -> None:
    heading(
        "Data",
        "Odors as molecular descriptors, or images. What you choose here is used on every page.",
    )
    catalogue, upload = st.tabs(
        ["Choose a dataset", "Upload your own"], key="data_tab", on_change="rerun"
    )
    with catalogue:
        if catalogue.open:
            data_catalogue.choose()
    with upload:
        if upload.open:
            data_upload.upload()
    st.divider()
    rows.look(current_run.run(), visitor_data.dataset())


main()
