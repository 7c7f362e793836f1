"""Moved to `streamlit_workarounds`."""

from pages.ui.shell.streamlit_workarounds import retry_if_interrupted as whole

__all__ = ["whole"]
