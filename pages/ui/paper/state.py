"""What the Paper page remembers: the chosen result, measured files, and measurements under way."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import streamlit as st

from kcnet_core.errors import KCNetError
from kcnet_core.paper.cost import recipe_cost
from kcnet_core.paper.engine import default_journal, saved_steps
from kcnet_core.paper.outcomes import Result
from kcnet_core.paper.recipes import RECIPES, Recipe, quickened
from kcnet_core.paper.result_file import find_results, own_results, read_result
from pages.ui.shell import visitor, visitor_jobs

OVERVIEW = ""
ACTIVE = ("queued", "running", "paused")


def chosen() -> str:
    """Name of the recipe that the page shows; the link says it, and a page switch keeps it."""
    name = st.query_params.get("result", st.session_state.get("paper_result", OVERVIEW))
    return name if name in RECIPES else OVERVIEW


def choose(name: str) -> None:
    st.session_state["paper_result"] = name
    if name:
        st.query_params["result"] = name
    else:
        st.query_params.pop("result", None)


# -- results ------------------------------------------------------------------------------------


@st.cache_resource(show_spinner=False, max_entries=100)
def _read(path: str, stamp: float) -> Result:
    return read_result(path)


def results(name: str) -> list[Result]:
    """Measured results of a recipe, most telling first; a file is parsed once."""
    found = find_results(name, read=lambda path: _read(str(path), Path(path).stat().st_mtime))
    return [_of_this_version(RECIPES[name], result) for result in found]


def _of_this_version(recipe: Recipe, result: Result) -> Result:
    """Without lines that the recipe had in an earlier version."""
    known = tuple(outcome for outcome in result.outcomes if recipe.line(outcome.key))
    return result if len(known) == len(result.outcomes) else replace(result, outcomes=known)


def interrupted(name: str) -> dict[bool, Result]:
    """What is left, by whether it is the quick version, of measurements that were cut off."""
    return {
        result.quick: result
        for result in results(name)
        if result.about.get("under_way") and not active(name, result.quick)
    }


def expected_seconds(recipe: Recipe) -> float:
    """From what its rows took before, where that is known, and from their size.

    Of a line's repeats the shortest counts: the others had more beside them.
    """
    measured: dict[str, float] = {}
    for result in results(recipe.name):
        for row in result.rows if result.quick == recipe.is_quick else ():
            measured[row["line"]] = min(row["seconds"], measured.get(row["line"], row["seconds"]))
    return recipe_cost(recipe, measured).seconds


# -- measurements under way ---------------------------------------------------------------------


@st.cache_resource(show_spinner=False)
def _under_way() -> tuple[dict, threading.Lock]:
    """Which job measures which recipe: visitors share one measurement instead of repeating it."""
    return {}, threading.Lock()


def job(name: str):
    """The measurement of this recipe that anyone has started, or None."""
    for quick in (False, True):
        if found := active(name, quick):
            return found
    for quick in (False, True):
        found = visitor_jobs.jobs().get(_under_way()[0].get((name, quick), ""))
        if found is not None and found.owned_by(visitor.owner()):
            return found
    return None


def active(name: str, quick: bool):
    found = visitor_jobs.jobs().get(_under_way()[0].get((name, quick), ""))
    return found if found is not None and found.view.state in ACTIVE else None


def start(recipe: Recipe, quick: bool) -> None:
    """Queue a measurement unless it is under way already; a refusal is kept for `problem`."""
    version = quickened(recipe) if quick else recipe
    jobs, lock = _under_way()
    with lock:
        if active(recipe.name, quick):
            return
        try:
            cost = recipe_cost(version)
            new = visitor_jobs.jobs().submit(
                visitor.owner(),
                "reproduce",
                {"recipe": recipe.name, "quick": quick},
                lambda: saved_steps(version, default_journal(), own_results()),
                estimate=cost,
                title=f"{recipe.where}: {recipe.title}",
            )
        except KCNetError as refused:
            st.session_state["paper_problem"] = str(refused)
            return
        jobs[recipe.name, quick] = new.id


def stop(measurement) -> None:
    measurement.control(visitor.owner(), "stop")


def problem() -> str | None:
    return st.session_state.pop("paper_problem", None)


def missing_data(recipe: Recipe) -> list[str]:
    """Titles of datasets that are not on this machine."""
    from kcnet_core import datasets

    return [
        info.title
        for info in datasets.available()
        if info.name in recipe.datasets and info.status == "download"
    ]
