"""Train: tune a network, start it, and watch scores, wiring and the validation curve live."""

from __future__ import annotations

import streamlit as st

from kcnet_core.experiments.run import Run
from kcnet_core.jobs import GONE
from pages.ui.shell import address, current_run, session_keys, visitor_jobs
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.frame import heading
from pages.ui.shell.watch import state_of
from pages.ui.train import link, live_view, run_bar, run_controls

ABOUT = (
    "KCNet is a neural network modelled on the fly's sense of smell. Press Start, and watch its "
    "wiring change as it learns."
)


def main() -> None:
    ignored = address.adopt("train", link.adopt)
    interrupted = adopt_interrupted()
    # In the order of the screen; what is in them follows the controls.
    above, told = st.container(), st.container(key="run_news")
    line = told.empty()

    def moved(new: Run, alone: bool) -> None:
        """What a control changes besides the controls is, as a rule, one line and the address."""
        if not alone:
            line.empty()  # so that it may be written to when they are drawn alone
            return
        job = visitor_jobs.job()
        if state_of(job) != state or what_the_page_shows(new) != what_the_page_shows(run):
            st.rerun()
        with line:
            run_bar.news(new, job)
        address.write("train", link.query_of(new, job))

    run = run_controls.sidebar(moved)
    run_bar.obey(run)
    job = visitor_jobs.job()

    state = state_of(job)
    with above:
        # With a run to watch, its numbers and pictures have the screen.
        heading("Train a fly's nose", ABOUT if job is None else "")
        with st.container(key="warnings"):  # below them everything keeps its number, and its parts
            address.warn(ignored)
            if visitor_jobs.job_is_gone():
                why = interrupted.sentence if interrupted else GONE
                st.warning(escape_markdown(why), icon=":material/history:")
        run_bar.bar(run, job)
    with line:
        run_bar.news(run, job)
    with told:
        run_bar.until_loaded()
    if job is None:
        live_view.before_start(run)
    else:
        trained = job.result if state == "done" else None
        if trained is None:
            live_view.follow(job, state)
        else:
            # scikit-learn, which the first page need not wait for
            from pages.ui.train import result_view

            private = visitor_jobs.is_private(job)
            trained = result_view.without_rows(trained) if private else trained
            live_view.follow(job, state, trained)
            with st.container(key="results"):
                result_view.show(trained, with_rows=not private)
    address.write("train", link.query_of(run, job))


def what_the_page_shows(run: Run) -> tuple:
    """Of the settings, beside the controls: which buttons there are, and what is learned from."""
    return run.model, run.dataset, run.data_options()


def adopt_interrupted():
    """What is known of a run that ended with its server; the controls show its settings, once."""
    interrupted = visitor_jobs.interruption()
    new = interrupted is not st.session_state.get(session_keys.INTERRUPTED_SHOWN)
    st.session_state[session_keys.INTERRUPTED_SHOWN] = interrupted
    if new and interrupted is not None and interrupted.kind == "train":
        current_run.adopt(Run.from_query(interrupted.query)[0])
    return interrupted


main()
