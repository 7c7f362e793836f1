"""What the Paper page remembers: the chosen result, measured files, and measurements under way."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import streamlit as st

from kcnet_core.cluster.jobs import recipe_elsewhere
from kcnet_core.experiments.measured_job import MeasuredJob
from kcnet_core.paper.engine import reproduction_job
from kcnet_core.paper.outcomes import Result
from kcnet_core.paper.recipe import Recipe
from kcnet_core.paper.recipes import RECIPES
from kcnet_core.paper.result_file import find_results, read_result
from kcnet_core.smell.recipes import NOSE_RECIPES
from pages.ui.shell import address, measured, visitor, visitor_jobs

OVERVIEW = ""
LINK = "result"  # the parameter that names a recipe
ACTIVE = ("queued", "running", "paused")


def chosen() -> str:
    """Name of the recipe that the page shows; the link says it, and a page switch keeps it."""
    name = address.remembered(LINK)
    return name if name in RECIPES or name in NOSE_RECIPES else OVERVIEW


def choose(name: str) -> None:
    address.remember(LINK, name)


# -- results ------------------------------------------------------------------------------------


@st.cache_resource(show_spinner=False, max_entries=100)
def _read(path: str, stamp: float) -> Result:
    return read_result(path)


def results(name: str) -> list[Result]:
    """Measured results of a recipe, most telling first; a file is parsed once."""
    found = find_results(name, read=lambda path: _read(str(path), Path(path).stat().st_mtime))
    # Without lines that the recipe had in an earlier version
    return [
        replace(one, outcomes=tuple(o for o in one.outcomes if RECIPES[name].line(o.key)))
        for one in found
    ]


def interrupted(name: str) -> dict[bool, Result]:
    """What is left, by whether it is the quick version, of measurements that were cut off."""
    return {
        result.quick: result
        for result in results(name)
        if result.about.get("under_way") and not active(name, result.quick)
    }


def measurement(recipe: Recipe) -> MeasuredJob:
    """A recipe as a job, whose cost is told from what its rows took before, where that is known.

    Of a line's repeats the shortest counts: the others had more beside them.
    """
    took: dict[str, float] = {}
    for result in results(recipe.name):
        for row in result.rows if result.quick == recipe.is_quick else ():
            took[row["line"]] = min(row["seconds"], took.get(row["line"], row["seconds"]))
    return recipe_elsewhere(reproduction_job(recipe, took), recipe)


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


def start(recipe: Recipe) -> None:
    """Queue a measurement unless it is under way already; a refusal is kept for `problem`."""
    jobs, lock = _under_way()
    with lock:
        if not active(recipe.name, recipe.is_quick):
            new = measured.start(measurement(recipe), f"{recipe.where}: {recipe.title}")
            if new is not None:
                jobs[recipe.name, recipe.is_quick] = new.id


def missing_data(recipe: Recipe) -> list[str]:
    """Titles of datasets that are not on this machine."""
    from kcnet_core import datasets

    return [
        info.title
        for info in datasets.available()
        if info.name in recipe.datasets and info.status == "download"
    ]
