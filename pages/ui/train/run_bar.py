"""Start, pause, step, finish, slow motion, stop, reset: the row of buttons above the live view."""

from __future__ import annotations

import gc
from importlib import import_module
from pathlib import Path
from threading import Event, Thread

import streamlit as st

from kcnet_core import limits
from kcnet_core.cluster.jobs import training
from kcnet_core.errors import KCNetError
from kcnet_core.experiments.cost import estimate, flops_per_second, in_words, shorter
from kcnet_core.experiments.run import DOA_MODELS, EPOCH_MODELS, KCNET_MODELS, Run
from kcnet_core.jobs import Estimate
from kcnet_core.jobs.process import of_server
from pages.ui.shell import current_run, session_keys, visitor, visitor_data, visitor_jobs
from pages.ui.shell.circuit import living_circuit
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.safety_net import fragment
from pages.ui.shell.streamlit_workarounds import clicked, defer_click, retry_if_interrupted
from pages.ui.shell.watch import UNDER_WAY
from pages.ui.train import link

STYLE = Path(__file__).with_name("live_view.css")
# What Start needs and the first page does not: it is loaded once that page is on its way.
NEEDED_TO_START = ("kcnet_core.experiments.training", "kcnet_core.model_file", "sklearn.metrics")
LOADED = Event()
FIRST_WIDTH = 110  # pixels, of Start, Pause and Resume alike: the buttons beside it stay in place
FULL_SPEED, TO_WATCH, SLOW = link.PACES
SECONDS_TO_WATCH = 10.0  # which the epochs of a run then take at least
SECONDS_WHEN_SLOW = 1.0  # of rest after every epoch


def bar(run: Run, job) -> None:
    state = "idle" if job is None else job.view.state
    mine = job is None or job.owned_by(visitor.owner())
    busy = state in UNDER_WAY
    with st.container(horizontal=True, vertical_alignment="center", key="run_bar"):
        with st.container(key="run_first", width=FIRST_WIDTH):
            if busy and state == "paused":
                button("Resume", "resume", job, mine, icon="play_arrow", shortcut="P", primary=True)
            elif busy:
                button("Pause", "pause", job, mine, icon="pause", shortcut="P", primary=True)
            else:
                st.button(
                    "Start",
                    key="start",
                    type="primary",
                    icon=":material/play_arrow:",
                    shortcut="S",
                    width="stretch",
                    on_click=defer_click,
                    args=("start",),
                )
        if run.model in EPOCH_MODELS or busy:
            st.button(
                "Step",
                key="step",
                icon=":material/skip_next:",
                shortcut="N",
                disabled=not mine,
                on_click=defer_click,
                args=("step",),
                help="One epoch, then pause.",
            )
        if run.model in DOA_MODELS or can_finish(job):
            button(
                "Finish",
                "finish",
                job,
                mine and can_finish(job),
                icon="flag",
                shortcut="F",
                help="End the search here: the best wiring so far gets its output weights and its "
                "test score, as if these had been all epochs.",
            )
        button(
            "Stop",
            "stop",
            job,
            mine and busy,
            icon="stop",
            shortcut="X",
            help="End at once, without a result.",
        )
        st.button(
            "Reset",
            key="reset",
            icon=":material/restart_alt:",
            shortcut="Shift+X",
            disabled=job is None,
            on_click=reset,
            args=(job if mine else None,),
            help="Forget this run and start afresh with the settings on the left.",
        )
        if session_keys.PACE not in st.session_state:  # after a reload the job knows it
            st.session_state[session_keys.PACE] = TO_WATCH if job is None else pace_of(job)
        st.segmented_control(
            "Pace",
            link.PACES,
            required=True,
            key=session_keys.PACE,
            format_func=lambda pace: f"{pace} :gray[V]" if pace == FULL_SPEED else pace,
            label_visibility="collapsed",
            on_change=set_pace,
            args=(job,),
            disabled=not mine,
        )
        st.button(
            "Full speed", key="full_speed", shortcut="V", on_click=full_speed, args=(job,),
            disabled=not mine,
        )  # fmt: skip
        share = st.popover("Share", icon=":material/link:", key="share", on_change="rerun")
        if share.open:
            with share:
                link.links(run, job)
    st.html(STYLE)


def until_loaded() -> None:
    """Beside the news: what stands below keeps its number when this goes."""
    if not LOADED.is_set():
        with st.container(key="spoken_loading"):
            complete_when_loaded()


def obey(run: Run) -> None:
    """Carry out a click on Start or Step, with the settings that the controls show now."""
    job = visitor_jobs.job()
    busy = job is not None and not job.view.finished
    if clicked("start") and not busy:
        start(run)
    elif clicked("step") and (not busy or job.owned_by(visitor.owner())):
        step(run, job if busy else None)


def news(run: Run, job) -> None:
    """The one line between buttons and charts; it always has one, so that nothing moves."""
    busy = job is not None and not job.view.finished
    mine = job is None or job.owned_by(visitor.owner())
    problem = st.session_state.pop(session_keys.START_PROBLEM, None)
    instead = st.session_state.pop(session_keys.SHORTER_RUNS, {})
    if problem and instead:
        with st.container(gap="small"):
            st.error(escape_markdown(problem), icon=":material/error:")
            with st.container(horizontal=True):
                for name, (new, seconds) in instead.items():
                    of_what = "epochs" if name == "n_epochs" else units(new.model)
                    st.button(
                        f"{getattr(new, name):,} {of_what}: about {in_words(seconds)}",
                        key=f"take_{name}", on_click=current_run.adopt, args=(new,),
                    )  # fmt: skip
    elif problem:
        st.error(escape_markdown(problem), icon=":material/error:")
    elif not mine:
        st.caption(
            ":material/visibility: You are watching a run that somebody else started; only they "
            "can steer it. Reset to start one of your own."
        )
    elif busy:
        st.caption(f"This run: {escape_markdown(job.title)}.{expected(job.estimate, job.config)}")
    else:
        cost(run, "" if job is None else "Next run: ")


def can_finish(job) -> bool:
    """Whether a run under way can be brought to an early result."""
    if job is None or job.view.finished or job.view.asked == "finish" or job.kind != "train":
        return False
    return job.config.model in DOA_MODELS


def button(label, action, job, enabled, *, icon, shortcut, primary=False, help=None):
    st.button(
        label,
        key=action,
        type="primary" if primary else "secondary",
        icon=f":material/{icon}:",
        shortcut=shortcut,
        disabled=not enabled,
        width="stretch" if primary else "content",
        help=help,
        on_click=steer,
        args=(job, action),
    )


def cost(run: Run, prefix: str) -> None:
    try:
        dataset = visitor_data.dataset(run)
        _, n_train, n_test = visitor_data.split_sizes(run, dataset)
    except KCNetError as error:  # the bar and what is under way stay usable
        st.error(escape_markdown(error), icon=":material/error:")
        return
    plan = planned(run, dataset, n_train) if LOADED.is_set() else Estimate()
    st.caption(
        f"{prefix}{run.model} with {run.n_hidden:,} {units(run.model)} on "
        f"{escape_markdown(dataset.title)}: {n_train:,} training rows, {n_test:,} test rows, "
        f"{dataset.X.shape[1]:,} inputs.{expected(plan, run)}"
    )


def units(model: str) -> str:
    return "cells" if model in KCNET_MODELS else "hidden units"


def expected(plan, run: Run) -> str:
    if not plan.seconds:
        return ""
    pace = st.session_state.get(session_keys.PACE, TO_WATCH)
    waits = n_rests(run) * rest(pace, run, plan.seconds)
    alone = f" ({in_words(plan.seconds)} at full speed)" if waits else ""
    total = in_words(plan.seconds + waits)
    return f" Estimated {total}{alone} and {plan.bytes / 2**20:,.0f} MB."


def planned(run: Run, dataset, n_train: int):
    return estimate(run, n_train, dataset.X.shape[1], len(dataset.target_names))


def start(run: Run, paused: bool = False):
    """Submit `run`; a refusal is shown above the live view."""
    enough = Event()
    try:
        dataset = visitor_data.dataset(run)
        plan = planned(run, dataset, visitor_data.split_sizes(run, dataset)[1])
        visitor_jobs.ask_first(run, plan, "Fewer Kenyon cells, epochs or training rows")
        steps, plan = training(run, dataset, enough.is_set, plan)
        job = visitor_jobs.jobs().submit(
            visitor.owner(),
            "train",
            run,
            steps,
            estimate=plan,
            title=run.describe(),
            paused=paused,
            finish=enough.set if run.model in DOA_MODELS else None,
        )
    except visitor_jobs.TooLong as refused:
        st.session_state[session_keys.START_PROBLEM] = str(refused)
        n_train = visitor_data.split_sizes(run, dataset)[1]
        shape = n_train, dataset.X.shape[1], len(dataset.target_names)
        st.session_state[session_keys.SHORTER_RUNS] = shorter(run, *shape, limits.LONG_RUN_SECONDS)
        return None
    except KCNetError as refused:
        st.session_state[session_keys.START_PROBLEM] = str(refused)
        return None
    if visitor_jobs.job() is not None and session_keys.PACE_CHOSEN not in st.session_state:
        st.session_state[session_keys.PACE] = FULL_SPEED  # only the first is there to be watched
    visitor_jobs.carry(job, dataset)
    visitor_jobs.attach(job.id)
    slow_down(job)
    return job


def step(run: Run, job) -> None:
    job = job or start(run, paused=True)
    if job is not None:
        steer(job, "step")


@retry_if_interrupted
def steer(job, action: str) -> None:
    if job is not None:
        job.control(visitor.owner(), action)


def rest(pace: str, run: Run, seconds: float) -> float:
    """Seconds of rest after every epoch of a run that alone would take so many `seconds`."""
    if pace == TO_WATCH and n_rests(run):
        return max(0.0, SECONDS_TO_WATCH - seconds) / n_rests(run)
    return SECONDS_WHEN_SLOW if pace == SLOW else 0.0


def n_rests(run: Run) -> int:
    """Epochs after which a run may rest."""
    return run.n_epochs * run.n_networks if run.model in EPOCH_MODELS else 0


def pace_of(job) -> str:
    slow = job.view.slow
    if not slow:
        return FULL_SPEED
    return SLOW if slow >= SECONDS_WHEN_SLOW else TO_WATCH


@retry_if_interrupted
def full_speed(job) -> None:
    st.session_state[session_keys.PACE] = FULL_SPEED
    set_pace(job)


@retry_if_interrupted
def set_pace(job) -> None:
    st.session_state[session_keys.PACE_CHOSEN] = True
    if job is not None and job.owned_by(visitor.owner()):
        slow_down(job)


def slow_down(job) -> None:
    pace = st.session_state.get(session_keys.PACE, TO_WATCH)
    job.control(visitor.owner(), "slow", rest(pace, job.config, job.estimate.seconds))


@retry_if_interrupted
def reset(job) -> None:
    steer(job, "stop")
    visitor_jobs.attach(None)


@st.cache_resource(show_spinner=False)
def warm_up() -> None:
    """Load what Start needs while the first visitor still reads: torch alone takes seconds."""

    def load():
        try:
            for name in NEEDED_TO_START:
                import_module(name)
            living_circuit.reel("image", False)  # what the first page shows
            flops_per_second()
            gc.freeze()  # libraries stay for good: collections need not go through them each time
        finally:
            LOADED.set()  # what is missing then shows where it is used, with a sentence
            if (processes := of_server()) is not None:
                processes.warm()

    Thread(target=load, name="kcnet-warm-up", daemon=True).start()


@fragment(run_every=1.0)
def complete_when_loaded() -> None:
    """Add to the first page of a fresh server what it was drawn without."""
    if LOADED.is_set():
        st.rerun()
