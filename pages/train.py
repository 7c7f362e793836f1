"""Train: tune a network, start it, and watch scores, wiring and the validation curve live."""

from __future__ import annotations

import streamlit as st

from kcnet_core.jobs import GONE
from pages.ui import live_view, result_view, run_bar, run_controls, session, share
from pages.ui.frame import heading


def main() -> None:
    ignored = share.adopt_link()
    run = run_controls.sidebar()
    job = session.job()

    heading(
        "Train a fly's nose",
        "Random wiring, a little inhibition and one ridge solve. Tune it on the left, "
        "press Start, and watch the wiring change.",
    )
    for sentence in ignored:
        st.warning(sentence, icon=":material/link_off:")
    if session.job_is_gone():
        st.warning(GONE, icon=":material/history:")

    run_bar.bar(run, job)
    if job is None:
        live_view.before_start(run)
    else:
        trained = job.result if job.view.state == "done" else None
        if trained is not None:
            result_view.headline(trained)
        live_view.watch(job)
        if trained is not None:
            result_view.show(trained)
    share.write_link(run, job)


main()
