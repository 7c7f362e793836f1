"""KCNet Lab: page configuration and navigation, nothing else."""

import streamlit as st

from pages.ui import frame

st.set_page_config(
    page_title="KCNet Lab",
    page_icon=":material/hub:",
    layout="wide",
    initial_sidebar_state="auto",
)

page = st.navigation(frame.PAGES, position="top")
frame.around(page)
