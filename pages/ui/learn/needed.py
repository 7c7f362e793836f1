"""What must be downloaded before measured odors can run through a real fly's cells."""

from __future__ import annotations

import streamlit as st

from kcnet_core.datasets import sources, store
from kcnet_core.datasets.catalogue import CATALOGUE, is_glomerular
from kcnet_core.datasets.fly.connectome import NAME as CONNECTOME
from pages.ui.shell.escaping import escape_markdown


def needs_downloads(data: str) -> bool:
    """Whether files are missing; all of them are then named at once, with sizes and terms."""
    names = (data, CONNECTOME) if is_glomerular(data) else ()
    missing = [CATALOGUE[name] for name in names if store.find(sources.files(name)) is None]
    if not missing:
        return False
    listed = "\n".join(
        f"- **{escape_markdown(info.title)}**, {info.megabytes} MB; {escape_markdown(info.licence)}"
        for info in missing
    )
    st.info(
        "Real answers of glomeruli and a real fly's cells do not come with the app. They are "
        f"downloaded once, on the Data page:\n\n{listed}",
        icon=":material/download:",
    )
    st.page_link("pages/data.py", label="To the Data page", icon=":material/dataset:")
    return True
