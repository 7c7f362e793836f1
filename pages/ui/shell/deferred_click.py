"""Moved to `streamlit_workarounds`."""

from pages.ui.shell.streamlit_workarounds import clicked as asked
from pages.ui.shell.streamlit_workarounds import defer_click as ask

__all__ = ["ask", "asked"]
