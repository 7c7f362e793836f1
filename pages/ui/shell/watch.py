"""A part of a page that follows a job: drawn now and, while that is under way, again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.shell.safety_net import fragment

if TYPE_CHECKING:
    from kcnet_core.jobs import Job

SECONDS_BETWEEN_DRAWINGS = 1.0
SECONDS_AT_FIRST = 0.3  # between looks for the first things to see, which one waits for
ACTIVE = ("queued", "running")  # nothing happens by itself in the other states
UNDER_WAY = (*ACTIVE, "paused")


def state_of(job: Job | None) -> str | None:
    """One look for the whole page: it draws its buttons by it and gives it to `watch`."""
    return None if job is None else job.view.state


def watch(
    job: Job | None,
    drawn: str | None,
    draw: Callable[[], None],
    key: str,
    every: float = SECONDS_BETWEEN_DRAWINGS,
    settled: Callable[[], bool] = lambda: True,
) -> None:
    """Call `draw` now and, while `job` is under way, every so many seconds; until `settled` sooner.

    `drawn` is the state that the rest of the page shows. Buttons and results change with it, so
    the whole page is drawn again when it is another one, be it that the job ended while the page
    was drawn; this also ends the polling.
    """

    active = drawn in ACTIVE
    quick = active and not settled()

    def poll() -> None:
        if state_of(job) != drawn or (quick and settled()):
            st.rerun()
        draw()

    pause = SECONDS_AT_FIRST if quick else every
    fragment(poll, run_every=pause if active else None, key=f"{key}_{active}_{quick}")()
