"""Measure a result here, quick or in full, and open its settings on the Train page."""

from __future__ import annotations

from datetime import datetime

import pandas as pd
import streamlit as st

from kcnet_core.experiments.cost import in_words
from kcnet_core.experiments.models import MODELS
from kcnet_core.experiments.run import DOA_MODELS
from kcnet_core.paper.outcomes import Result
from kcnet_core.paper.recipe import Recipe, RecipeLine, quickened
from pages.ui.paper import state
from pages.ui.paper.words import title
from pages.ui.shell import measured, visitor
from pages.ui.shell.escaping import data_table
from pages.ui.shell.job_progress import measured_progress
from pages.ui.shell.watch import watch

VERSIONS = {True: "quick version", False: "full version"}


def measure(recipe: Recipe, job, drawn: str | None) -> None:
    """Buttons with what they cost, or the measurement `job`, if it is under way.

    `drawn` is its state when the result above was read, which it writes.
    """
    st.header("Measure it here", anchor=False)
    missing = state.missing_data(recipe)
    if missing:
        everything = len(missing) == len(recipe.datasets)
        st.info(
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not on this machine"
            + (". " if everything else "; the others can be measured. ")
            + "Download on the Data page.",
            icon=":material/download:",
        )
        st.page_link("pages/data.py", label="To the Data page", icon=":material/dataset:")
    measured.problem("reproduce")
    if job is not None:
        watch(job, drawn, lambda: progress(recipe, job), f"paper_job_{recipe.name}")
    if drawn in state.ACTIVE:
        return
    quick, cut_off = quickened(recipe), state.interrupted(recipe.name)
    for is_quick, left in cut_off.items():
        st.warning(interruption(left, VERSIONS[is_quick]), icon=":material/power_off:")
    with st.container(horizontal=True):
        for version, words, primary in ((quick, "Quick", True), (recipe, "In full", False)):
            seconds, label = state.measurement(version).cost.seconds, words
            if left := cut_off.get(version is quick):
                seconds *= 1 - left.finished / left.planned
                label = f"Go on with the {VERSIONS[version is quick]}"
            st.button(
                f"{label}, about {in_words(seconds)}",
                key=f"measure_{words}",
                type="primary" if primary else "secondary",
                icon=":material/play_arrow:",
                on_click=state.start,
                args=(version,),
                disabled=bool(missing) and len(missing) == len(recipe.datasets),
            )
    st.caption(
        f"Quick: {what(quick)}. In full: {what(recipe)}. What was measured before is not "
        "measured again; a run that is stopped goes on from there. Estimates are rough and grow "
        "when the machine is busy."
    )
    command = f"python -m kcnet_core reproduce {recipe.name}"
    st.code(f"{command} --quick\n{command}", language="bash")


def interruption(left: Result, version: str) -> str:
    seen = datetime.fromisoformat(left.about["date"])
    return (
        f"The measurement of the {version} was interrupted, unless it still runs in a terminal: it "
        f"was last seen at {seen:%H:%M UTC on %d %B %Y} with {left.finished} of {left.planned} "
        "measurements. They are kept, so it can go on from there."
    )


def what(recipe: Recipe) -> str:
    """What a version trains, in a few words."""
    units = recipe.units()
    text = f"{len(units)} measurements"
    if recipe.repeats > 1:
        text += f" ({recipe.repeats} repeats for each of {len(recipe.lines)} figures)"
    rows = max(line.rows for line in recipe.lines)
    if recipe.is_quick and rows:
        text += f" on at most {rows:,} training images"
    tried = max((line.tried for line in recipe.lines if line.tuning), default=0)
    return text + (f", {tried} settings tried where models are tuned" if tried else "")


def progress(recipe: Recipe, job) -> None:
    """How far a measurement is, and what it has found so far."""
    lead = VERSIONS[job.config.quick].capitalize()
    measured_progress(job, "measurements", lead, cancelled="stopped")
    view = job.view
    if view.finished:
        return
    if job.owned_by(visitor.owner()):
        st.button(
            "Stop", key=f"stop_{recipe.name}", icon=":material/stop:", on_click=measured.stop,
            args=(job,), disabled=view.asked == "stop",
            help="What is measured is kept; the next run goes on from there.",
        )  # fmt: skip
    else:
        st.caption("Somebody else started this; its result will be yours too.")
    if view.snapshot is not None and view.snapshot.result.finished:
        so_far(view.snapshot.result)


def so_far(result: Result) -> None:
    lines = [
        {"Figure": title(o.key), "Paper": o.paper, "Ours so far": o.mean, "Repeats": o.n}
        for o in result.outcomes
        if o.n
    ]
    number = st.column_config.NumberColumn
    data_table(
        pd.DataFrame(lines),
        hide_index=True,
        height="content" if len(lines) <= 8 else 300,
        placeholder="",
        column_config={name: number(format="%.4f") for name in ("Paper", "Ours so far")},
        key="paper_so_far",
    )


def open_on_train(recipe: Recipe, result: Result | None) -> None:
    """One line's settings on the Train page, with the split and seed of its first repeat."""
    lines = [line for line in recipe.lines if MODELS[line.model].network]
    if not lines:
        return
    st.header("Train it yourself", anchor=False)
    key = st.selectbox(
        "Settings of", [line.key for line in lines], format_func=title,
        key=f"paper_line_{recipe.name}",
    )  # fmt: skip
    line = recipe.line(key)
    outcome = result.outcome(key) if result else None
    found = dict(outcome.found or {}) if outcome else {}
    run = line.run(repeat=0, found=found)
    st.page_link(
        "pages/train.py",
        label=f"Open {run.describe()}",
        icon=":material/play_circle:",
        query_params=run.to_query(),
    )
    for words in unlike(line):
        st.caption(words)


def unlike(line: RecipeLine) -> list[str]:
    """What the Train page does differently from this line."""
    words = []
    if line.oversampling or (line.alteration and line.alteration[0] == "oversampled"):
        words.append("The Train page does not oversample.")
    if line.alteration and line.alteration[0] == "background" and line.alteration[1]:
        words.append("The Train page has the images without a background.")
    if line.options.get("per") == "compound":
        words.append("The Train page counts labels per stimulus.")
    if line.beyond.get("stop_rule") == "published":
        words.append("The Train page stops by Algorithm 1, not by the published code's rule.")
    if line.beyond.get("restore_best") is False:
        words.append("The Train page keeps the wiring of the best validation epoch.")
    if line.protocol == "paper_split" and line.model in DOA_MODELS:
        words.append("The Train page keeps a molecule's rows together inside DOA.")
    return words
