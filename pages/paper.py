"""Paper: every table and figure of Hong & Pavlic (2021), beside what this code measures."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from kcnet_core.experiments.cost import in_words
from kcnet_core.paper.outcomes import Result
from kcnet_core.paper.recipes import Recipe
from kcnet_core.paper.result_file import file_name, result_text
from pages.ui.paper import measuring, overview, state, verdict, views
from pages.ui.paper.words import dataset_title, title
from pages.ui.shell.escaping import escape_markdown
from pages.ui.shell.frame import heading
from pages.ui.shell.watch import state_of


def main() -> None:
    heading(
        "The paper, reproduced",
        "Every table and figure of Hong & Pavlic (2021), beside what this code measures.",
    )
    recipe = overview.choice()
    if recipe is None:
        overview.overview()
        return
    st.subheader(f"{overview.place(recipe)}: {recipe.title}", anchor=False)
    st.markdown(recipe.question)
    job = state.job(recipe.name)
    drawn = state_of(job)  # before the result is read, which it writes
    result = pick(recipe, state.results(recipe.name))
    if result is None:
        st.info(
            "Not measured yet on this installation. Run the quick version below to see it with "
            "your own data, or leave the full one running.",
            icon=":material/science:",
        )
    else:
        provenance(result, under_way=state.active(recipe.name, result.quick) is not None)
        views.draw(recipe, result)
        verdict.verdict(recipe, result)
        views.table(recipe, result)
        st.download_button(
            "Result as JSON", lambda: result_text(result),
            file_name=file_name(result.recipe, result.quick), mime="application/json",
            icon=":material/data_object:", on_click="ignore",
        )  # fmt: skip
    with st.expander("What to know about it", icon=":material/info:", expanded=result is None):
        st.markdown("\n".join(f"- {note}" for note in recipe.notes))
    measuring.measure(recipe, job, drawn)
    measuring.open_on_train(recipe, result)


def pick(recipe: Recipe, results: list[Result]) -> Result | None:
    """The most telling result, or the visitor's choice when there are a full and a quick one."""
    versions = {}
    for result in results:
        versions.setdefault("Quick" if result.quick else "In full", result)
    if len(versions) < 2:
        return results[0] if results else None
    chosen = st.segmented_control(
        "Version", list(versions), default=next(iter(versions)), required=True,
        key=f"paper_version_{recipe.name}", label_visibility="collapsed",
    )  # fmt: skip
    return versions[chosen]


def provenance(result: Result, under_way: bool) -> None:
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
    st.caption(
        f"Measured {days(about['since'], about['date'])}: "
        f"{result.finished:,} measurements, {span}, {about['settings_tried']:,} settings tried, "
        f"{in_words(about['seconds'])} in all on {machine['cores']} cores "
        f"({machine['processor']}{threads(about['threads'])}, mean load "
        f"{about['mean_load']}); Python {about['versions']['python']}, "
        f"torch {about['versions']['torch']}, scikit-learn {about['versions']['scikit-learn']}."
    )


def days(first: str, last: str) -> str:
    dates = [f"{datetime.fromisoformat(date):%d %B %Y}" for date in (first, last)]
    return f"on {dates[0]}" if dates[0] == dates[1] else f"from {dates[0]} to {dates[1]}"


def threads(counts: list[int]) -> str:
    """How many each measurement had, where its rows tell."""
    if not counts:
        return ""
    return f", {' or '.join(map(str, counts))} thread{'s' * (counts[-1] > 1)} each"


main()
