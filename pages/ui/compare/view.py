"""Which of Compare's two views is open, and what the live one shows: session, widgets and link."""

from __future__ import annotations

from dataclasses import asdict, replace

import streamlit as st

from kcnet_core.experiments.beside.plan import Look
from kcnet_core.experiments.comparison.plan import Comparison
from pages.ui.shell import measured, session_keys

BESIDE, MEASURED = "beside", "measured"
TITLES = {BESIDE: "KCNet | ELM, live", MEASURED: "All models, measured"}
MEASUREMENTS = ("compare", "noise", "search")
PARAMETER = "look"  # of a link; without it, a link is that of a measured comparison
KEYS = {
    "widest": session_keys.BESIDE_WIDEST,
    "seeds": session_keys.BESIDE_SEEDS,
    "width": session_keys.BESIDE_WIDTH,
    "noise": session_keys.BESIDE_NOISE,
    "sample": session_keys.BESIDE_SAMPLE,
}
NOT_SHARED = ("models", "hidden", "n_repeats", "n_folds", "fshn_size")  # of a measured comparison


def opened() -> str:
    """The view that is open: at first the live one, unless a measurement of ours is under way."""
    if session_keys.COMPARE_VIEW not in st.session_state:
        own = [measured.job(kind) for kind in MEASUREMENTS]
        under_way = any(job is not None and not job.view.finished for job in own)
        st.session_state[session_keys.COMPARE_VIEW] = MEASURED if under_way else BESIDE
    return st.session_state[session_keys.COMPARE_VIEW]


def picker() -> None:
    opened()
    st.segmented_control(
        "View",
        list(TITLES),
        required=True,
        format_func=TITLES.__getitem__,
        key=session_keys.COMPARE_VIEW,
        persist_state="session",
        label_visibility="collapsed",
        help="Two networks that grow before your eyes; or any models with repeats, tests and "
        "costs.",
    )


def look() -> Look:
    """What the live view's controls say."""
    return Look(**{name: _kept(key, getattr(Look(), name)) for name, key in KEYS.items()})


def _kept(key: str, default: float) -> float:
    return st.session_state.setdefault(key, default)


def adopt(query: dict[str, str]) -> list[str]:
    """Open the view that a link is of; sentences for what was unusable."""
    live = query.get(PARAMETER) == BESIDE
    st.session_state[session_keys.COMPARE_VIEW] = BESIDE if live else MEASURED
    if not live:
        return []
    new, ignored = Look.from_query(query)
    for name, value in asdict(new).items():
        _set(KEYS[name], value)
    return ignored


def _set(key: str, value: float) -> None:
    st.session_state[key] = value


def query_of(comparison: Comparison) -> dict[str, str]:
    """The live view as URL parameters; the dataset is always named, since each visitor has one."""
    plain = {name: getattr(Comparison(), name) for name in NOT_SHARED}
    shared = replace(comparison, **plain).to_query()
    return {PARAMETER: BESIDE, "dataset": comparison.dataset} | shared | look().to_query()
