"""KCNet Lab: the server, and the frame of every page; nothing else.

`streamlit run app.py` imports this module once, which makes the server with its API, and then runs
it as a script whenever a visitor's page is drawn.
"""

import streamlit as st

if __name__ == "__main__":
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
else:
    from pages.ui.api import server

    app = st.App(
        __file__,
        routes=server.routes(),
        middleware=server.middleware(),
        lifespan=server.lifespan,
    )
