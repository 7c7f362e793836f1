"""Where a result comes from: when, on which machine and from how much it was measured."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import streamlit as st

from kcnet_core.experiments.cost import in_words
from kcnet_core.paper.outcomes import Result
from pages.ui.paper.words import dataset_title, title
from pages.ui.shell.escaping import escape_markdown

BUSY = 2.0  # mean load for each core; a measurement's own threads make one


def show(result: Result, under_way: bool) -> None:
    """When, where and how much was measured; `under_way` if more is being measured now."""
    about, machine = result.about, result.about["machine"]
    if result.quick:
        st.warning(
            "This is the quick version: few repeats, and for images fewer rows and cells than the "
            "paper had. It shows that the experiment runs and which way it points, no more.",
            icon=":material/bolt:",
        )
    if not result.complete:
        more = "the others are on their way" if under_way else "run it below to go on"
        st.info(
            f"{result.finished} of {result.planned} measurements are done; {more}.",
            icon=":material/pending:",
        )
    for name, reason in result.skipped.items():
        st.caption(f"Without {dataset_title(name)}: {escape_markdown(reason)}")
    for name, reason in result.failed.items():
        st.warning(f"{title(name)}: {escape_markdown(reason)}", icon=":material/warning:")
    seeds = about["seeds"]
    span = f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"
    tuned = ""
    if any(outcome.tried > 1 for outcome in result.outcomes):
        tuned = f"{counted(about['settings_tried'], 'setting')} tried, "
    st.caption(
        f"Measured {days(about['since'], about['date'])}: "
        f"{counted(result.finished, 'measurement')}, {span}, {tuned}"
        f"{in_words(about['seconds'])} in all on {machine['cores']} cores "
        f"({machine['processor']}{threads(about['threads'])}, mean load "
        f"{about['mean_load']}{busy(about)}); Python {about['versions']['python']}, "
        f"torch {about['versions']['torch']}, scikit-learn {about['versions']['scikit-learn']}."
    )


def busy(about: Mapping) -> str:
    """What a reader must know of the seconds where much else ran beside the measurements."""
    load, cores = about["mean_load"], about["machine"]["cores"]
    much = load is not None and cores and load > BUSY * cores
    return ", so seconds are too long" if much else ""


def counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def days(first: str, last: str) -> str:
    dates = [f"{datetime.fromisoformat(date):%d %B %Y}" for date in (first, last)]
    return f"on {dates[0]}" if dates[0] == dates[1] else f"from {dates[0]} to {dates[1]}"


def threads(counts: list[int]) -> str:
    """How many each measurement had, where its rows tell."""
    if not counts:
        return ""
    return f", {' or '.join(map(str, counts))} thread{'s' * (counts[-1] > 1)} each"
