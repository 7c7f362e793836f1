"""Data: choose, download or upload a dataset, and look at what is in it."""

from __future__ import annotations

import streamlit as st

from pages.ui.data import catalogue, rows, upload
from pages.ui.shell import current_run, visitor_data
from pages.ui.shell.frame import heading


def main() -> None:
    heading(
        "Data",
        "Odors, as molecular descriptors or as a fly's glomeruli answer to them, or images. What "
        "you choose here is used on every page.",
    )
    views = {"Choose a dataset": catalogue.choose, "Upload your own": upload.upload}
    for tab, view in zip(
        st.tabs(list(views), key="data_tab", on_change="rerun"), views.values(), strict=True
    ):
        with tab:
            if tab.open:
                view()
    st.divider()
    rows.look(current_run.run(), visitor_data.dataset())


main()
