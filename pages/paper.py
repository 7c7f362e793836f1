"""Paper: every table and figure of Hong & Pavlic (2021), beside what this code measures."""

from __future__ import annotations

import streamlit as st

from kcnet_core.paper.outcomes import Result
from kcnet_core.paper.recipe import Recipe
from kcnet_core.paper.result_file import file_name, result_text
from kcnet_core.smell.recipes import NoseRecipe
from pages.ui.paper import measuring, nose, overview, provenance, state, verdict, views
from pages.ui.shell.frame import heading
from pages.ui.shell.watch import state_of


def main() -> None:
    heading(
        "The paper, reproduced",
        "Every table and figure of Hong & Pavlic (2021), beside what this code measures.",
    )
    recipe = overview.choice()
    if isinstance(recipe, NoseRecipe):
        nose.show(recipe)
        return
    if recipe is None:
        overview.overview()
        return
    st.header(f"{overview.place(recipe)}: {recipe.title}", anchor=False)
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
        provenance.show(result, under_way=state.active(recipe.name, result.quick) is not None)
        views.VIEWS[recipe.view](recipe, result)
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


main()
