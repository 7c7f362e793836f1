"""KCNet Lab: page configuration, navigation, and what loads while one reads; nothing else."""

import streamlit as st

from pages.ui.shell import frame
from pages.ui.train import run_bar

page = st.navigation(frame.pages(), position="top")
st.set_page_config(
    page_title=f"{page.title} · KCNet Lab",
    page_icon="assets/pictures/icon.png",
    layout="wide",
    initial_sidebar_state="collapsed" if page.title in frame.WITHOUT_CONTROLS else "auto",
)
frame.around(page)
run_bar.warm_up()
