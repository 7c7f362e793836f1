"""What is measured of the nose: results beyond the paper that have tables of their own."""

from __future__ import annotations

import streamlit as st

from kcnet_core.smell.recipes import NOSE_RECIPES, WHERE, NoseRecipe
from pages.ui.paper import state
from pages.ui.shell.escaping import data_table, escape_markdown

TITLE = "The nose, beyond the paper"


def cards() -> None:
    """One for every measurement, as the overview has them for recipes."""
    st.header(TITLE, anchor=False)
    with st.grid(min_column_width=270, border=True) as grid:
        for recipe in NOSE_RECIPES.values():
            with grid.cell():
                st.markdown(f"**{WHERE}**  \n{recipe.title}")
                st.caption("Not measured yet." if recipe.read() is None else "Measured.")
                st.button(
                    "Open the question",
                    key=f"open_{recipe.name}",
                    icon=":material/psychology_alt:",
                    on_click=state.choose,
                    args=(recipe.name,),
                )


def show(recipe: NoseRecipe) -> None:
    st.header(f"Question: {recipe.title}", anchor=False)
    st.markdown(recipe.question)
    found = recipe.read()
    if found is None:
        st.info("The result that comes with the project is missing or damaged; measure it again "
                "with the command below.", icon=":material/science:")  # fmt: skip
    else:
        data_table(recipe.table(found), hide_index=True, alt=f"{recipe.title}: what was measured")
        st.caption(escape_markdown(found.how[:1].upper() + found.how[1:]).rstrip(".") + ".")
        st.download_button(
            "Result as JSON", lambda: recipe.path.read_bytes(), file_name=recipe.file,
            mime="application/json", icon=":material/data_object:", on_click="ignore",
        )  # fmt: skip
    st.markdown(f"To measure it again, which takes {recipe.duration}:")
    st.code(f"python -m kcnet_core reproduce {recipe.name}", language="bash")
    st.page_link("pages/smell.py", label="Ask the nose", icon=":material/local_florist:")
