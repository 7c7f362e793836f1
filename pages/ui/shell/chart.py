"""Puts one plotly figure on a page, with a key, an alternative text and a download button."""

from __future__ import annotations

import streamlit as st

from kcnet_core import figures
from pages.ui.shell import session_keys

FORMATS = ("png", "svg")


def chart(figure, key: str, **options):
    """Draw `figure`; `options` go to `st.plotly_chart` (on_select, selection_mode, ...)."""
    return st.plotly_chart(
        figure,
        key=key,
        theme=None,
        alt=figures.alt(figure),
        config={
            "displaylogo": False,
            "responsive": True,
            "modeBarButtons": [["toImage"]],
            "toImageButtonOptions": {
                "format": st.session_state.get(session_keys.FIGURE_FORMAT, "png"),
                "filename": f"kcnet-{key}",
                "scale": 2,
            },
        },
        **options,
    )
